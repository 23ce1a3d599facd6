export type {
  Access,
  ErrorClass,
  History,
  HistoryHeader,
  Operation,
  OperationError,
  OperationKind,
  TargetStamp,
} from './history.js';

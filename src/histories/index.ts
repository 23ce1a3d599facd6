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
export {
  type InterleavingEntry,
  type InterleavingStyle,
  interleave,
  renderInterleaving,
  resultText,
} from './interleaving.js';

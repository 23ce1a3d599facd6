export type {
  AccessState,
  AccessStep,
  AccessVersion,
  ExpectedAccess,
  RowAccess,
} from './access-step.js';
export { expectedAccess, expectedUnderPivots } from './expected-access.js';
export type { Checked, ContractComparison, MechanismResult, SkippedReason } from './result.js';
export {
  type MechanismTrace,
  type TraceLock,
  type TraceMoment,
  type TraceRead,
  type TraceRow,
  type TraceTransaction,
  type TraceVersion,
  traceMechanism,
} from './trace.js';
export { type VerifyOptions, verifyMechanism } from './verify.js';

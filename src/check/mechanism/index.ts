export type { Checked, ContractComparison, MechanismResult, SkippedReason } from './result.js';
export { type VerifyOptions, verifyMechanism } from './verify.js';

export {
  type Case,
  type CaseSession,
  countStatements,
  namedNode,
  type StatementRef,
  type TransactionSpan,
  transactionsOf,
} from './case.js';
export { caseDialects, parseCaseFile, printCaseFile } from './case-file.js';
export type { Permutation } from './notations/spec.js';
export {
  type OrderReason,
  type Schedule,
  type ScheduledCase,
  scheduleProblem,
  serialOrder,
  totalOrder,
} from './schedule.js';
export { parsePermutations, parseScript, printScript, type ScriptOptions } from './script.js';
export { spellBegins } from './spell-begins.js';

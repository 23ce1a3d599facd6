export type { Asked } from '../judge/index.js';
export { type BuryOptions, buryCase } from './bury.js';
export { type Candidate, type CaseSize, candidateOf, contentKey, sizeOf } from './candidate.js';
export { type CaseModel, type ModelOperation, modelOf, restrictTo, type Subset } from './case-model.js';
export { type ComparedRow, compareStrategies, renderComparison } from './compare.js';
export {
  DatabaseOracle,
  type DatabaseOracleOptions,
  type TrialOptions,
  type TrialSetting,
} from './database-oracle.js';
export {
  type DependencyGraph,
  type DependencySource,
  dependencyGraph,
  type RowAccess,
} from './dependencies.js';
export { firstDivergence, orderThatShows, type RawFinding, rawFinding } from './from-history.js';
export { weakerStatements } from './passes/index.js';
export type { PassContext } from './passes/pass.js';
export {
  type NotReproduced,
  type ReductionOptions,
  type ReductionProgress,
  type ReductionResult,
  reduceCase,
} from './reduce.js';
export {
  type FindingOptions,
  type FindingOutcome,
  reduceFinding,
  reduceRaw,
} from './reduce-finding.js';
export { renderProgress, renderReduced, renderSummary, renderTable } from './render.js';
export { chooseFinding, type SeenFinding, witnessOf } from './seen-finding.js';
export { type RepeatOptions, repeatFor, settleVerdict } from './sequential-test.js';
export { sqlAccesses } from './sql-accesses.js';
export { readState, writeState } from './state-file.js';
export { type StrategyName, strategies } from './strategies/index.js';
export {
  type NoSubject,
  type ReduceOptions,
  type ReduceOutcome,
  type ReplayableHistory,
  reduce,
  reduceSubject,
  replayableHistory,
  type Subject,
  subjectOfCase,
  subjectOfHistory,
} from './subject.js';
export {
  type AutoOptions,
  describeTrial,
  type EditableCase,
  type EditableStatement,
  editableCase,
  editLine,
  effectiveCase,
  type Hint,
  type LineRef,
  mergeTransactions,
  moveLine,
  type ShrinkNode,
  type ShrinkOptions,
  ShrinkSession,
  switchLines,
} from './together/index.js';
export {
  contractOf,
  engineOf,
  historyContract,
  type TranslatedHistory,
  translateHistory,
} from './translate-history.js';
export type { FindingOracle, ObservedRun, TrialOracle, TrialResult, Verdict } from './trial.js';
export { type TrialCounts, Trials } from './trials.js';

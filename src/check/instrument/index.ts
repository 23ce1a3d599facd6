export {
  checkInstrumented,
  type InstrumentedCheck,
  type InstrumentedCheckOptions,
} from './check-instrumented.js';
export { type Dependencies, type Dependency, edgesOf, inferDependencies } from './dependencies.js';
export { type EngineWords, engineWords } from './engine-words.js';
export { instrumentCase } from './instrument-case.js';
export type {
  Instrumented,
  InstrumentedTable,
  InstrumentOptions,
  ObservedQuery,
  PlannedSearch,
  StatementPlan,
  WritePlan,
} from './instrumented.js';
export type { RowProblem } from './list-reader.js';
export { listColumn, ridColumn } from './marks.js';
export type { RowChain } from './row-chains.js';
export { type StrippedHistory, stripResults } from './strip-results.js';

export {
  checkInstrumented,
  type InstrumentedCheck,
  type InstrumentedCheckOptions,
} from './check-instrumented.js';
export { type Dependencies, type Dependency, edgesOf, inferDependencies } from './dependencies.js';
export {
  type Instrumented,
  type InstrumentedTable,
  type InstrumentOptions,
  instrumentCase,
  type ObservedQuery,
  type StatementPlan,
  type WritePlan,
} from './instrument-case.js';
export { listColumn, ridColumn } from './marks.js';
export type { RowChain, RowProblem } from './row-chains.js';
export { type StrippedHistory, stripResults } from './strip-results.js';

export {
  type CounterexampleFile,
  parseCounterexample,
  printCounterexample,
} from './counterexample-file.js';
export {
  counterexampleId,
  type KeptCounterexample,
  keepCounterexample,
  listCounterexamples,
  reportCounterexample,
} from './counterexample-shelf.js';
export { exportProperty } from './export-property.js';
export { type FaultKind, faultKinds } from './fault-kinds.js';
export { defaultWorkload, generatePlan, type PlanOptions, propertyProfile } from './generate-plan.js';
export {
  type Check,
  type CheckInteraction,
  type Count,
  describeCheck,
  type FaultInteraction,
  type Interaction,
  type OwnCheck,
  type Plan,
  printPlan,
  type ResultId,
  type StatementInteraction,
} from './interaction.js';
export { type LearnedCapabilities, learnCapabilities } from './learn-capabilities.js';
export {
  type Action,
  type Column,
  type Db,
  type Gen,
  isProperty,
  type Meanwhile,
  type Mix,
  type Property,
  type PropertyNeeds,
  type PropertyOptions,
  property,
  type Result,
  type Table,
  type TableRow,
  type That,
} from './property.js';
export { type Replayed, replayCounterexample } from './replay.js';
export {
  type PlanCounts,
  type PlanFailure,
  type PlanOutcome,
  type PlanPlace,
  runPlan,
  type Sent,
} from './run-plan.js';
export type { ShadowOptions, ShadowState } from './shadow-state.js';
export { shippedProperties } from './shipped/index.js';
export { type ShrinkOptions, type Shrunk, shrinkPlan } from './shrink.js';
export type { TableState, Tables } from './tables.js';
export {
  type Counterexample,
  type Counts,
  type PropertyProgress,
  type PropertyTestOptions,
  type PropertyTestResult,
  shadowOf,
  testProperties,
} from './test-properties.js';

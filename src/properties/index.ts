export {
  type CounterexampleFile,
  parseCounterexample,
  printCounterexample,
} from './counterexample-file.js';
export { counterexampleId, keepCounterexample, reportCounterexample } from './counterexample-shelf.js';
export { exportProperty } from './export-property.js';
export { type FaultKind, faultKinds } from './fault-kinds.js';
export { defaultWorkload, generatePlan, type PlanOptions, propertyProfile } from './generate-plan.js';
export {
  type Check,
  type Count,
  describeCheck,
  type Interaction,
  type OwnCheck,
  type Plan,
  printPlan,
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
export { type PlanFailure, type PlanOutcome, type PlanPlace, runPlan } from './run-plan.js';
export { shippedProperties } from './shipped/index.js';
export { type ShrinkOptions, type Shrunk, shrinkPlan } from './shrink.js';
export {
  type Counterexample,
  type PropertyProgress,
  type PropertyTestOptions,
  type PropertyTestResult,
  shadowOf,
  testProperties,
} from './test-properties.js';

export { type Difference, type DifferenceKind, differenceOf } from './compare.js';
export { FindingReplays, findOrder, type OrderSearch, type Replayed } from './find-order.js';
export {
  type AmbiguousStatement,
  type Inference,
  type InferOptions,
  type InferredOrder,
  inferSchedule,
  namedBefore,
  openInference,
  type UnexplainedStatement,
} from './infer.js';
export type { BrokenInvariant } from './invariants.js';
export type { StepPair } from './order-graph.js';
export { rawInProgram } from './raw-in-program.js';
export { type Refined, type RefineOptions, refineOrder } from './refine.js';
export { compareReplay, type ReplayMode, type ReplayReport, replay, replayModes } from './replay.js';
export {
  type ReproduceOptions,
  type Reproduction,
  reproduce,
  reproduceOrder,
} from './reproduction.js';
export type { LeftOut } from './steps.js';
export { wilsonInterval } from './wilson.js';

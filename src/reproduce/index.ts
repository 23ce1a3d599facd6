export {
  type AmbiguousStatement,
  type InferOptions,
  type InferredOrder,
  inferSchedule,
  type UnexplainedStatement,
} from './infer.js';
export type { BrokenInvariant } from './invariants.js';
export type { LeftOut } from './steps.js';

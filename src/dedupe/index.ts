export type { Behaviour } from './behaviour.js';
export { answerKey, operationOf, sameAnswers, witnessOperations } from './evidence.js';
export { type Experiment, experimentsOf } from './experiments.js';
export {
  describeBehaviour,
  headlineOf,
  nameOf,
  signatureOf,
  signatureVersion,
  triggerOf,
  variantOf,
} from './signature.js';

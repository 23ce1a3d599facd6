export type { Behaviour } from './behaviour.js';
export {
  describeBehaviour,
  headlineOf,
  nameOf,
  signatureOf,
  signatureVersion,
  triggerOf,
  variantOf,
} from './signature.js';

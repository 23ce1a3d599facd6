export type { Behaviour } from './behaviour.js';
export {
  describeBehaviour,
  headlineOf,
  nameOf,
  signatureOf,
  signatureVersion,
  variantOf,
} from './signature.js';

export type { Behaviour } from './behaviour.js';
export {
  describeBehaviour,
  nameOf,
  signatureOf,
  signatureVersion,
  variantOf,
} from './signature.js';

export {
  type Behaviour,
  describeBehaviour,
  nameOf,
  signatureOf,
  signatureVersion,
  variantOf,
} from './signature.js';

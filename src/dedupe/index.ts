export { type Behaviour, describeBehaviour, nameOf, signatureOf, variantOf } from './signature.js';

export { type Behaviour, describeBehaviour, signatureOf } from './signature.js';

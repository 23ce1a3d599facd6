export { type FaultName, type FaultSpec, faultNames, parseFault, showFault } from './fault-spec.js';
export { withFault } from './faulty-target.js';

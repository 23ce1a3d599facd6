export { type FaultName, type FaultSpec, faultNames, parseFault, showFault } from './fault-spec.js';
export { UnfitFault, withFault } from './faulty-target.js';

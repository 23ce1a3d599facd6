export {
  type FaultName,
  type FaultSpec,
  faultNames,
  parseFault,
  showFault,
  withFault,
} from './faults/index.js';
export { defaultTargetUrl, hidePassword, openTarget, targetDrivers } from './registry.js';
export type {
  Answer,
  OpenOptions,
  Scratch,
  Session,
  SessionOptions,
  Target,
  TargetDriver,
  TargetFeatures,
  TargetLevel,
} from './target.js';

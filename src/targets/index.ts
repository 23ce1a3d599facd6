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

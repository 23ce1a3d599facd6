export { type AdmitOptions, admit, type ForeignSql, findForbiddenStatement, sqlOfCase } from './admit.js';
export type { BugField, BugPart, GenerationLimits, ReproDriver, TargetDeclaration } from './declaration.js';
export { findDeclaration, targetDeclarations } from './declarations.js';
export {
  type FaultName,
  type FaultSpec,
  faultNames,
  parseFault,
  showFault,
  withFault,
} from './faults/index.js';
export { defaultTargetUrl, inOwnProcess, isEmbedded, openTarget } from './registry.js';
export type { FoundScratch } from './scratch-mark.js';
export type {
  Answer,
  OpenOptions,
  Scratch,
  Session,
  SessionOptions,
  Target,
  TargetFeatures,
  TargetLevel,
  TargetOpener,
  TargetReach,
} from './target.js';

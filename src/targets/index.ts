export { type AdmitOptions, admit, type ForeignSql, findForbiddenStatement, sqlOfCase } from './admit.js';
export type {
  BugField,
  BugPart,
  FoundEngine,
  GenerationLimits,
  IndexKind,
  Releases,
  ReproDriver,
  TargetDeclaration,
} from './declaration.js';
export { indexKinds } from './declaration.js';
export { declarationOfScheme, findDeclaration, targetDeclarations } from './declarations.js';
export {
  type FaultName,
  type FaultSpec,
  faultNames,
  parseFault,
  showFault,
  UnfitFault,
  withFault,
} from './faults/index.js';
export { type EngineReport, findEngines } from './find-engines.js';
export { otherVersionUrl } from './other-version.js';
export { privateEngine } from './private-engine.js';
export { answersTo, type ScriptLine } from './programs.js';
export {
  defaultTargetUrl,
  inOwnProcess,
  isEmbedded,
  normalizeUrl,
  openTarget,
  splitFault,
} from './registry.js';
export type { FoundScratch } from './scratch-mark.js';
export type {
  Answer,
  OneRequest,
  OpenOptions,
  Scratch,
  Session,
  SessionOptions,
  Target,
  TargetFeatures,
  TargetLevel,
  TargetNode,
  TargetOpener,
  TargetReach,
} from './target.js';
export {
  cacheFolder,
  type Environment,
  type FetchOptions,
  type FetchProgress,
  type FoundVersion,
  fetchVersion,
  findVersion,
  listCached,
  listLocal,
  listPublished,
  type PublishedVersion,
  splitVersion,
  withVersion,
} from './versions/index.js';
export type { NpmOptions } from './versions/npm.js';

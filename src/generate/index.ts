export {
  type Capabilities,
  capabilitiesOf,
  findCapabilities,
  knownTargets,
  oneRowOf,
} from './capabilities.js';
export { parseCapabilities, printCapabilities } from './capabilities-file.js';
export { type ConflictOptions, conflictSchedules } from './conflicts.js';
export {
  caseOfRows,
  contendedProgram,
  type RowCondition,
  type RowMix,
  type RowProgram,
  type RowStatement,
  setupOfRows,
  sqlOfRowStatement,
} from './contended-rows.js';
export {
  allFeatures,
  defaultWeights,
  type Feature,
  type GroupName,
  isFeature,
  type OptionOf,
  type Weights,
} from './features.js';
export {
  begunBy,
  type Generated,
  type GenerateOptions,
  generate,
  generateCase,
  type Interleaving,
  observeTables,
  type PredictedRows,
} from './generate-case.js';
export { type Evidence, learnFromHistory, learnFromSetup, learnFromStatements } from './learn.js';
export { FeatureLog, type LostFeature } from './lost-features.js';
export { findProfile, makeProfile, type Profile, parseProfile, profiles, type Range } from './profile.js';
export { Random } from './random.js';
export type { RowValues } from './rows.js';
export type { ScenarioName } from './scenarios/scenario.js';
export { randomSchedule } from './schedules.js';
export { type ColumnModel, type IndexModel, ridColumn, type TableModel, versionColumn } from './schema.js';
export { featuresOf } from './statement-features.js';
export { type SourceTable, StatementSource } from './statement-source.js';
export { generateFromTemplate, type TemplateOptions } from './template.js';
export type { ColumnKind } from './values.js';

export {
  type Burst,
  type BurstFile,
  type BurstFinding,
  type BurstForm,
  type BurstOptions,
  type BurstOutcome,
  type BurstParts,
  type BurstProgram,
  type BurstRate,
  type BurstResult,
  type BurstRun,
  type BurstShareOptions,
  type BurstSize,
  type BurstTarget,
  type BurstTurn,
  burstForms,
  burstLine,
  burstNames,
  burstPrograms,
  burstsOf,
  keepBurst,
  listBursts,
  noComparison,
  parseBurst,
  printBurst,
  type ReducedBurst,
  rateBurst,
  ratesOf,
  runBursts,
  sizeText,
} from './burst/index.js';
export { type HuntCounters, newCounters, type UndecidedReason } from './counters.js';
export { CrashedEngines, EngineOpener } from './crashed-engines.js';
export { type FoundTemplates, readTemplates, templatesOfStore } from './found-templates.js';
export { hunt } from './hunt.js';
export type { HuntEvent, HuntOptions, HuntResult, Shelf, Shelved, ShelvedBurst } from './hunt-options.js';
export type { HuntRequest } from './hunt-request.js';
export { type HuntName, type HuntState, HuntStateFile } from './hunt-state.js';
export { notesFolder } from './notes-folder.js';
export {
  type Outcome,
  type Pursued,
  type PursueOptions,
  pursue,
  type Raw,
} from './pursue.js';
export { duration, type HuntStyle, renderBug, renderCounters } from './render.js';
export { type ReplayFacts, replayLine } from './replay-line.js';
export { groupSize, type OracleShare, type Round, type RoundOptions, Rounds } from './round.js';
export { type OpenShelf, openShelf, type ShelfOptions } from './shelf.js';
export { addReasons, noRoundDecided, renderUndecided } from './undecided.js';

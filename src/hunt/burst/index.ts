export {
  type BurstFinding,
  type BurstOptions,
  type BurstRate,
  type BurstResult,
  rateBurst,
  runBursts,
} from './burst.js';
export { type BurstFile, parseBurst, printBurst } from './burst-file.js';
export {
  type Burst,
  type BurstForm,
  type BurstSize,
  type BurstTarget,
  burstCase,
  burstForms,
  burstsOf,
} from './burst-form.js';
export type { BurstOutcome, BurstParts, BurstProgram, BurstRun, BurstTurn } from './burst-program.js';
export { burstPrograms } from './burst-programs.js';
export { type BurstPlace, BurstShare, type BurstShareOptions, usualBurstShare } from './burst-share.js';
export {
  burstLine,
  burstNames,
  keepBurst,
  listBursts,
  noComparison,
  ratesOf,
  sizeText,
} from './burst-shelf.js';
export type { ReducedBurst } from './reduce-burst.js';

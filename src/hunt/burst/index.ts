export {
  type BurstFinding,
  type BurstOptions,
  type BurstRate,
  type BurstResult,
  rateBurst,
  runBursts,
} from './burst.js';
export { type BurstFile, parseBurst, printBurst } from './burst-file.js';
export { type Burst, type BurstForm, type BurstSize, burstCase, burstForms, burstsOf } from './burst-form.js';
export type { BurstOutcome, BurstProgram, BurstRun } from './burst-program.js';
export { burstPrograms } from './burst-programs.js';
export { type BurstPlace, BurstShare, type BurstShareOptions, usualBurstShare } from './burst-share.js';
export { burstLine, burstNames, keepBurst, listBursts, ratesOf } from './burst-shelf.js';

export {
  type BurstFinding,
  type BurstOptions,
  type BurstRate,
  type BurstResult,
  rateBurst,
  runBursts,
} from './burst.js';
export { type Burst, type BurstForm, type BurstSize, burstCase, burstForms, burstsOf } from './burst-form.js';
export type { BurstOutcome, BurstProgram, BurstRun } from './burst-program.js';
export { burstPrograms } from './burst-programs.js';

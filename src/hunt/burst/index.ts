export {
  type BurstFinding,
  type BurstOptions,
  type BurstRate,
  type BurstResult,
  type BurstSize,
  burstCase,
  runBursts,
} from './burst.js';
export {
  type BurstOutcome,
  type BurstProgram,
  type BurstRun,
  burstPrograms,
} from './burst-program.js';

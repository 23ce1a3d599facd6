import { creduce } from './creduce.js';
import { ddmin } from './ddmin.js';
import { pisco } from './pisco.js';
import type { Strategy, StrategyName } from './strategy.js';
import { witness } from './witness.js';

export {
  type Problem,
  type Strategy,
  type StrategyName,
  type SubsetTrials,
  subsetTrials,
} from './strategy.js';

/** The default first. */
export const strategies: Readonly<Record<StrategyName, Strategy>> = { witness, pisco, ddmin, creduce };

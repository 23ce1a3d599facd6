/** The oracles of recorded key-value histories, in the order in which they are asked. */
import type { Oracle } from '../oracle.js';
import { workloadOracle } from '../workloads/index.js';
import { kvOracle } from './kv-oracle.js';

export const kvOracles: readonly Oracle[] = [workloadOracle, kvOracle];

/**
 * What judges recorded key-value histories and nothing else. A program that imports only this waits for none of the SQL oracles to be
 * loaded: `isolde check` starts so.
 */
import type { Demand } from '../demand.js';
import { parseCheckLevel } from '../levels.js';
import type { CheckOptions, CheckResult } from '../oracle.js';
import { type CheckableHistory, judgeRecorded } from '../recorded.js';
import { kvOracles } from './kv-oracles.js';

export { findingsToDot } from '../dot.js';
export { explain } from '../explain.js';
export { workloadNames, workloadOf } from '../workloads/index.js';

/** `check` of a key-value history, held to a level. */
export function checkKeyValues(
  history: CheckableHistory,
  demand: Demand,
  options: CheckOptions,
): CheckResult {
  return judgeRecorded(kvOracles, history, demand, options);
}

/** What a level alone demands. */
export function demandOfLevel(level: string | undefined): Demand {
  return level === undefined ? {} : { level: parseCheckLevel(level) };
}

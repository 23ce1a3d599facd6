/**
 * `check(history, contract)`: the verdict on a recorded history, by whichever oracle judges histories of its kind.
 *
 *     const history = await readHistory('run.history.jsonl');
 *     const { valid, findings, unknownReasons } = check(history, 'postgres:repeatable-read');
 */
import type { Contract } from '../contracts/index.js';
import { type Demand, parseDemand } from './demand.js';
import { findCheckLevel } from './levels.js';
import type { CheckOptions, CheckResult } from './oracle.js';
import { type CheckableHistory, judgeRecorded } from './recorded.js';
import { oracles } from './registry.js';

/**
 * What is demanded: a contract, the name of one (`postgres:repeatable-read`, `adya`) or of a level of the lattice (`serializable`). By default key-value
 * histories must be serializable, and SQL histories keep the contract of the database and level they name.
 */
export function check(
  history: CheckableHistory,
  demanded: Contract | string | Demand = {},
  options: CheckOptions = {},
): CheckResult {
  return judgeRecorded(oracles, history, demandOf(demanded), options);
}

function demandOf(demanded: Contract | string | Demand): Demand {
  if (typeof demanded === 'string') {
    const level = findCheckLevel(demanded);
    return level === undefined ? parseDemand(undefined, demanded) : { level };
  }
  return 'forbids' in demanded ? { contract: demanded } : demanded;
}

/**
 * `check(history, contract)`: the verdict on a recorded history, by whichever oracle judges histories of its kind.
 *
 *     const history = await readHistory('run.history.jsonl');
 *     const { valid, findings, unknownReasons } = check(history, 'postgres:repeatable-read');
 */
import type { Contract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { AnyHistory, History, KvHistory } from '../histories/index.js';
import { type Demand, parseDemand } from './demand.js';
import type { Finding } from './finding.js';
import type { CheckOptions, CheckResult, RecordedHistory } from './oracle.js';
import { oracles } from './registry.js';

/** A history as it was read from any format, run by us, or built. */
export type CheckableHistory = AnyHistory | History | KvHistory;

/**
 * What is demanded: a contract, the name of one (`postgres:repeatable-read`, `adya`), or a level of the lattice. By default key-value
 * histories must be serializable, and SQL histories keep the contract of the database and level they name.
 */
export function check(
  history: CheckableHistory,
  demanded: Contract | string | Demand = {},
  options: CheckOptions = {},
): CheckResult {
  const recorded = recordedHistory(history);
  const demand = demandOf(demanded);
  let beside: readonly Finding[] = [];
  for (const oracle of oracles) {
    const result = oracle.check?.(recorded, demand, options);
    if (result === undefined) continue;
    if (oracle.needs.run !== 'any')
      return beside.length === 0
        ? result
        : { ...result, valid: false, findings: [...beside, ...result.findings] };
    beside = [...beside, ...result.findings];
  }
  throw new IsoldeError('usage', `no oracle judges recorded ${recorded.kind} histories`);
}

function recordedHistory(history: CheckableHistory): RecordedHistory {
  if ('kind' in history && history.kind === 'kv') {
    const { operations } = history;
    return { kind: 'kv', history: history.history, ...(operations !== undefined && { operations }) };
  }
  if ('operations' in history) {
    return { kind: 'sql', history, ...('truncated' in history && history.truncated && { truncated: true }) };
  }
  return { kind: 'kv', history };
}

function demandOf(demanded: Contract | string | Demand): Demand {
  if (typeof demanded === 'string') return parseDemand(undefined, demanded);
  return 'forbids' in demanded ? { contract: demanded } : demanded;
}

/** A recorded history, whatever it came from, before the oracles that judge recorded ones. */
import { IsoldeError } from '../errors.js';
import type { AnyHistory, History, KvHistory } from '../histories/index.js';
import type { Demand } from './demand.js';
import type { Finding } from './finding.js';
import { unlessNothingRan } from './nothing-ran.js';
import type { CheckOptions, CheckResult, Oracle, RecordedHistory } from './oracle.js';

/** A history as it was read from any format, run by us, or built. */
export type CheckableHistory = AnyHistory | History | KvHistory;

/** The verdict of the first oracle that judges histories of this kind, with what those that judge every run found beside it. */
export function judgeRecorded(
  oracles: readonly Oracle[],
  history: CheckableHistory,
  demand: Demand,
  options: CheckOptions,
): CheckResult {
  const recorded = recordedHistory(history);
  let beside: readonly Finding[] = [];
  for (const oracle of oracles) {
    const result = oracle.check?.(recorded, demand, options);
    if (result === undefined) continue;
    if (oracle.needs.run !== 'any') {
      if (beside.length > 0) return { ...result, valid: false, findings: [...beside, ...result.findings] };
      return recorded.kind === 'sql' ? unlessNothingRan(result, recorded.history) : result;
    }
    beside = [...beside, ...result.findings];
  }
  throw new IsoldeError('usage', `no oracle judges recorded ${recorded.kind} histories`);
}

function recordedHistory(history: CheckableHistory): RecordedHistory {
  if ('kind' in history && history.kind === 'kv') {
    const { operations } = history;
    return { kind: 'kv', history: history.history, ...(operations !== undefined && { operations }) };
  }
  if ('operations' in history) return { kind: 'sql', history };
  return { kind: 'kv', history };
}

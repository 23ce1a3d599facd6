/** Which step of a transaction fixed what its plain reads see: the contract's pivot (Pisco §6.2.1). */
import type { Mechanism } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import type { Steps } from './steps.js';

const control = new Set(['begin', 'commit', 'rollback', 'savepoint', 'release', 'rollback-to', 'set']);

/** For each transaction the step that took its snapshot; −1: every statement has its own, or none was taken. */
export function snapshotSteps(
  steps: Steps,
  operations: readonly Operation[],
  { pivot, readsLock, protocol }: Mechanism,
): Int32Array {
  const found = new Int32Array(steps.transactionCount).fill(-1);
  if (pivot === 'statement' || pivot === 'uncommitted') return found;
  for (let step = 0; step < steps.count; step++) {
    const transaction = steps.transaction[step]!;
    const source = steps.source[step]!;
    if (found[transaction]! >= 0 || source < 0 || steps.replaced[step]) continue;
    const { kind, sql = '', error } = operations[source]!;
    // A statement that could not even begin (SQLITE_BUSY) lets its snapshot go again.
    if (error?.class === 'busy' && protocol === 'single-writer') continue;
    if (kind === 'begin') {
      if (pivot === 'begin' || /consistent\s+snapshot/i.test(sql)) found[transaction] = step;
    } else if (pivot === 'first-statement' || pivot === 'begin') {
      if (!control.has(kind)) found[transaction] = step;
    } else if (kind === 'select' && !readsLock && !/\bfor\s+(update|share)\b|\block\s+in\b/i.test(sql)) {
      found[transaction] = step;
    }
  }
  return found;
}

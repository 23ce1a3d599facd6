/** Which step of each transaction fixed what its plain reads see, most likely (`rows/snapshot-rule.ts`). */
import type { Mechanism } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import { fixesSnapshot, hasSnapshot } from '../rows/index.js';
import type { Dialect } from '../sql/index.js';
import type { Steps } from './steps.js';

/** For each transaction the step that took its snapshot; −1: every statement has its own, or none was taken. */
export function snapshotSteps(
  steps: Steps,
  operations: readonly Operation[],
  mechanism: Mechanism,
  dialect: Dialect,
): Int32Array {
  const found = new Int32Array(steps.transactionCount).fill(-1);
  if (!hasSnapshot(mechanism)) return found;
  const { pivot, readsLock, protocol, snapshotPer, writeConflict } = mechanism;
  for (let step = 0; step < steps.count; step++) {
    const transaction = steps.transaction[step]!;
    const source = steps.source[step]!;
    if (found[transaction]! >= 0 || source < 0 || steps.replaced[step]) continue;
    const operation = operations[source]!;
    // A statement that could not even begin (SQLITE_BUSY) lets its snapshot go again.
    if (operation.error?.class === 'busy' && protocol === 'single-writer') continue;
    // So does one that met another writer at once, if it was the first of its transaction (HSQLDB's MVCC).
    const fails = protocol === 'locking' && writeConflict === 'fails';
    if (fails && operation.error?.class === 'serialization') continue;
    // Where each table has a snapshot of its own, rows that are put in need none.
    if (snapshotPer === 'table' && operation.kind === 'insert') continue;
    const likelihood = fixesSnapshot(operation, pivot, dialect);
    // Reads that lock see current rows.
    if (likelihood !== 'certainly' && likelihood !== 'likely') continue;
    if (pivot === 'first-read' && readsLock && operation.kind !== 'begin') continue;
    found[transaction] = step;
  }
  return found;
}

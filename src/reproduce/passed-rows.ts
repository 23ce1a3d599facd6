/**
 * Where a statement locks rows as it passes them and lets go of those that do not match (InnoDB's READ COMMITTED), the waits of one that was
 * sent before others had ended. It goes through the rows by their keys. At a row that somebody holds whose committed version satisfies the
 * condition it waits; rows behind it sees later. Three things follow, all of them guesses:
 *
 * - Who held a row when the statement was sent, or stood in the queue for it, was there before it, and ended after it was sent.
 * - Who came later to a row and still had it before the statement came while that waited for a row before: before the end of that wait. If it
 *   had waited for none, it was slow to come: it is sent after the other.
 * - A row that does not satisfy the condition any more when its lock is free is not changed; but a lock that was waited for is kept to the
 *   end of the transaction.
 */
import type { OrderStepId, RowId } from '../ids.js';
import { isHit, type Satisfies } from '../rows/index.js';
import * as role from './conflicts.js';
import { because } from './evidence.js';
import type { MirrorState } from './mirror-state.js';

/**
 * Adds what such a statement tells. `rows`: in the order of their keys. Returns the rows from the first wait for one it did not change on: they are
 * not seen when the statement is sent.
 */
export function followPassed(
  state: MirrorState,
  step: OrderStepId,
  rows: readonly RowId[],
  { touched, where }: { readonly touched: readonly RowId[]; readonly where: Satisfies },
): readonly RowId[] {
  const { steps, locks, edges } = state;
  const { start, end, endOf, transaction } = steps;
  const own = state.doing[transaction[step]!]?.writes;
  let [first, waited] = [-1, -1];
  const later = new Set<RowId>();
  state.afterWaits.set(step, later);
  rows.forEach((row, i) => {
    if (own?.wrote(row) === true) return;
    const isTouched = touched.includes(row);
    // Whoever began to end only after the answer was not waited for.
    const lockings = [...locks.sharers(step, row), ...locks.holdersAround(step, row)].filter((one) => {
      const ending = endOf[transaction[one]!]!;
      return ending >= 0 && start[ending]! <= end[step]!;
    });
    const hiding = lockings.find((one) => hid(state, row, endOf[transaction[one]!]!, where));
    if (!isTouched && hiding === undefined) return;
    // In the queue for a row stands whoever was sent before; but who waits for a row that is deleted may not wait in turn.
    const isGone = !state.keepsGone && state.imageFor(transaction[step]!, row) === 'absent';
    const queued = lockings.find((one) => start[locks.cameBy(one, row)]! < start[step]!);
    const locking = isTouched ? lockings[0] : isGone ? hiding : (queued ?? hiding);
    if (locking === undefined) return;
    if (isGone && hiding !== undefined) state.metGone = true;
    const ending = endOf[transaction[locking]!]!;
    const holder = locks.cameBy(locking, row);
    if (start[ending]! < start[step]!) return;
    const before = waited < 0 ? step : waited;
    if (waited >= 0) later.add(row);
    if (transaction[holder] !== transaction[before])
      edges.add({ from: locking, to: before, why: because.lock, object: row }, true);
    // It had ended when the statement came.
    if (waited >= 0 && end[ending]! <= end[waited]!) return;
    if (!isTouched) {
      state.early.add(step);
      edges.add({ from: step, to: ending, why: because.misses, object: row }, true);
      state.lock(step, row, role.lock, { waited: true });
      if (first < 0) first = i;
    }
    waited = ending;
  });
  return first < 0 ? [] : rows.slice(first);
}

/** Whether a row satisfied a condition before a COMMIT, and did not do so after it. */
function hid({ objects }: MirrorState, row: RowId, commit: OrderStepId, where: Satisfies): boolean {
  const version = objects.chains[row]?.versions.lastIndexOf(commit) ?? -1;
  return (
    version >= 0 &&
    isHit(objects.imageOf(row, version - 1), where) === true &&
    isHit(objects.imageOf(row, version), where) !== true
  );
}

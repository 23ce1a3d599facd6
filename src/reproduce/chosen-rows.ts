/**
 * Statements that choose rows, wait for them, and look at them again (PostgreSQL's READ COMMITTED): what one that waited tells about
 * the order, once it is known which rows it changed.
 *
 * 1. Versions. A row it changed satisfied the condition when the statement was sent, was not deleted since, and still satisfied it
 *    when its lock was free. A row it did not change failed one of these. Each row says which COMMITs came before the statement and
 *    which after (`version-order.ts`).
 * 2. Locks. It went through the rows it had chosen in the order in which their versions were written, and waited at each until nobody
 *    held it. So whoever held a row before it either was there when the statement was sent, or came while the statement waited for a
 *    row before that one. These are alternatives, for `solve.ts`.
 *
 * Not every history can be brought back. When the holder of a row commits, all who wait for it are woken, and on a busy machine one that
 * came later, or was only just sent, may be faster. No order of sending makes a statement that waits for its first row be overtaken.
 */
import type { OrderStepId, RowId } from '../ids.js';
import { isHit, type Satisfies, type Table } from '../rows/index.js';
import * as role from './conflicts.js';
import { because, type Order, softness } from './evidence.js';
import type { MirrorState } from './mirror-state.js';

export interface ChosenRows {
  readonly table: Table;
  readonly where: Satisfies;
  /** The rows it changed. */
  readonly touched: readonly RowId[];
  /** COMMITs that its own snapshot misses. */
  readonly unseen: ReadonlySet<number>;
}

/** Adds what such a statement tells; returns the rows it changed in the order in which it came to them. */
export function followWaits(state: MirrorState, step: OrderStepId, rows: ChosenRows): readonly RowId[] {
  const { table, where, touched, unseen } = rows;
  const own = new Set(state.doing[state.steps.transaction[step]!]?.writes.rows ?? []);
  const object = state.tableObject[table.number]!;
  state.scans.push({ step, snapshot: step, table: object, where, known: own, kept: new Set(touched) });
  const chosen = inTurn(state, step, rows, own);
  // To come to the rows in the same order it has to see the same versions of them.
  for (const row of chosen)
    for (const commit of state.objects.newerThan(row, step, unseen, state.steps))
      state.edges.add({ from: step, to: commit, why: because.misses, object: row }, true);
  /** The last ending that it waited for before it came to a row. */
  let waited = -1;
  for (const row of chosen) {
    const last = followHolders(state, step, row, waited);
    if (last < 0) continue;
    // It waited for rows that it did not change in the end, too, and keeps the lock of those that are still the ones it chose.
    if (!touched.includes(row)) {
      if (!state.objects.goneSince(row, step, unseen, state.steps)) state.lock(step, row, role.lock);
      else state.edges.add({ from: last, to: step, why: because.lock, object: row }, softness.waited);
    }
    if (waited < 0 || state.steps.end[last]! > state.steps.end[waited]!) waited = last;
  }
  return chosen.filter((row) => touched.includes(row));
}

/** The rows it chose, in the order in which it came to them; its own are the newest. */
export function inTurn(
  { objects, steps, rows }: MirrorState,
  step: OrderStepId,
  { table, where, touched, unseen }: ChosenRows,
  own: ReadonlySet<RowId>,
): readonly RowId[] {
  const chosen: { readonly row: RowId; readonly place: number }[] = [];
  for (const row of rows[table.number]!.values()) {
    const version = objects.shownAt(row, step, unseen, steps);
    const changed = touched.includes(row);
    if (!changed && (own.has(row) || isHit(objects.imageOf(row, version), where) === false)) continue;
    chosen.push({ row, place: own.has(row) ? Number.MAX_VALUE : objects.placeOf(row, version) });
  }
  return chosen.sort((a, b) => a.place - b.place).map(({ row }) => row);
}

/** Those who held a row before the statement got it; returns the ending it waited for, if any. */
function followHolders(state: MirrorState, step: OrderStepId, row: RowId, waited: OrderStepId): OrderStepId {
  const { steps, locks } = state;
  const { transaction, start, endOf } = steps;
  const order = (from: number, to: number): Order => ({ from, to, why: because.lock, object: row });
  let last = -1;
  for (const holder of locks.holdersAround(step, row)) {
    const ending = endOf[transaction[holder]!]!;
    if (ending < 0) continue;
    if (last < 0) last = ending;
    const there = [order(holder, step)];
    const alternatives = [there];
    if (waited >= 0) {
      const isSame = transaction[waited] === transaction[holder];
      const meanwhile = [order(step, waited), ...(isSame ? [] : [order(holder, waited)])];
      if (start[holder]! > start[step]!) alternatives.unshift(meanwhile);
      else alternatives.push(meanwhile);
    }
    locks.choices.push({ step, object: row, what: 'turn', alternatives });
  }
  return last;
}

/**
 * UPDATE, DELETE and INSERT: which rows they touched, what these became, and whether they were allowed to.
 *
 * For each row of the table, its WHERE on every version the statement may meet: satisfied by all, the row was certainly
 * touched; by none, certainly not; otherwise perhaps. The count of matched rows then decides what it can: as many as are
 * certain means that no doubtful row was touched, as many as are possible means that all were, and a count outside that
 * range is a finding. Rows that stay doubtful get a version that may or may not exist.
 *
 * A statement that meets current rows (InnoDB, PostgreSQL's READ COMMITTED) and finds a row changing may see either
 * version, wait, look again, or pass it by, so a row is certain for it only while one version is possible.
 */

import {
  type ChangePlan,
  type Image,
  type InsertPlan,
  intervalOf,
  mergeImages,
  type OpaquePlan,
  type RowsOf,
  rowKey,
  type Table,
} from '../../rows/index.js';
import { certainRows } from './certain-state.js';
import { checkCondition } from './conditions.js';
import { checkFirstUpdaterWins, checkLock, reportCount } from './conflicts.js';
import type { Write } from './followed-write.js';
import { type Effect, effectOn, isIdle, needsRow } from './idle-writes.js';
import { expectRow } from './judge-read.js';
import type { MirrorTable } from './mirror.js';
import { baseOf, lookAt, type Outlook } from './outlook.js';
import { noteVainDelete } from './own-deletes.js';
import type { RowChain } from './row-chain.js';
import { followMovedRows, followNewRows, imagesMet } from './taken-places.js';
import type { Verification } from './verification.js';

interface Touched {
  readonly outlook: Outlook;
  readonly met: readonly Image[];
  readonly images: readonly Image[];
}

/**
 * The rows of tables for a subquery. Where writes see the snapshot, so do their subqueries; where they see current rows,
 * engines differ in what a subquery sees, so the rows must be the same from the snapshot until now. Where plain reads see what is
 * not committed, a subquery may, too, although the write around it does not.
 */
export function bindTables(
  verification: Verification,
  write: Write,
  reads: readonly Table[],
): RowsOf | string {
  const { tx, operation } = write;
  const span = { start: Math.min(tx.start, operation.start), end: intervalOf(operation).end };
  const dirty = tx.contract?.mechanism?.pivot === 'uncommitted';
  const view = write.view.current ? { span, current: true, dirty } : write.view;
  const states = new Map<Table, ReturnType<RowsOf>>();
  for (const table of reads) {
    const rows = certainRows(verification, verification.tables.get(table.name)!, tx, view);
    if (typeof rows === 'string') return rows;
    states.set(table, rows);
  }
  return (table) => states.get(table) ?? [];
}

export function judgeChange(
  verification: Verification,
  write: Write,
  plan: ChangePlan,
  loseTime: number,
): void {
  const { tx, operation, view } = write;
  const table = verification.tables.get(plan.table.name)!;
  const rowsOf = bindTables(verification, write, plan.reads);
  const bound = typeof rowsOf === 'string' ? undefined : plan.bind(rowsOf);
  if (typeof rowsOf === 'string') verification.tally.skip('write', rowsOf);
  const where = bound?.where ?? (() => undefined);
  const apply = bound?.apply ?? (() => undefined);
  const pending = verification.inFlight.on(table.info.name, tx, view.span);
  // A row that is being inserted may be there already.
  for (const { keys } of pending) for (const key of keys ?? []) table.row(key);
  const rows = plan.keys === undefined ? [...table.rows.values()] : plan.keys.map((key) => table.row(key));
  // What could not be followed may have taken any row away.
  const blind = table.blindSpot(tx, view.span.end);
  // It may have written rows we do not know, and sees those from now on, however old its snapshot is.
  if (blind !== undefined && operation.matched !== 0) table.lose(blind, Number.POSITIVE_INFINITY, tx);
  const look = { view, tx, exclusive: verification.exclusive, pending };
  const certain: Touched[] = [];
  const doubtful: Touched[] = [];
  for (const row of rows) {
    const outlook = lookAt(row, look);
    const { mayBeIn, mayBeOut, open } = expectRow(outlook, { where }, view);
    if (!mayBeIn) continue;
    const base = baseOf(outlook, write, verification.exclusive);
    const { inside } = expectRow(base, { where }, view);
    if (inside.length === 0 && !open) continue;
    const images: Image[] = inside.map((image) => apply(image) ?? 'unknown');
    if (open) images.push(plan.type === 'delete' ? 'absent' : 'unknown');
    const touched = { outlook, met: imagesMet(base, where), images: mergeImages(images) };
    (mayBeOut || blind !== undefined ? doubtful : certain).push(touched);
  }
  if (plan.type === 'delete') {
    const byKey = plan.keys !== undefined;
    noteVainDelete(verification, write, { rows, where, pending, blind, byKey });
  }
  const { matched } = operation;
  const complete = table.closed && blind === undefined && !pending.some(({ keys }) => keys === undefined);
  if (typeof rowsOf === 'string' && blind === undefined)
    checkCondition(verification, write, plan, { rows, pending, complete });
  let trusted = true;
  if (matched !== undefined && tx.unjudged === undefined) {
    if (matched < certain.length || (complete && matched > certain.length + doubtful.length)) {
      reportCount(verification, write, plan, {
        certain: certain.map(({ outlook }) => outlook),
        doubtful: doubtful.map(({ outlook }) => outlook),
      });
      trusted = false;
    } else if (matched === certain.length) doubtful.length = 0;
    else if (complete && matched === certain.length + doubtful.length) certain.push(...doubtful.splice(0));
  }
  verification.tally.writes++;
  if (doubtful.length > 0)
    verification.tally.skip('row', 'a write may or may not have touched it', doubtful.length);
  recordAll(verification, write, { certain, doubtful, trusted });
  // Rows that a query inserts at the same time are known only when it is answered.
  const inserting = pending.some(({ addsUnknown }) => addsUnknown);
  if ((!table.closed || inserting) && plan.keys === undefined && matched !== certain.length)
    table.lose('a write before it may have met rows that are not known', loseTime, tx);
  const written = [...certain, ...doubtful].map(({ outlook: { row }, met, images }) => ({
    row,
    met,
    images,
  }));
  followMovedRows(verification, write, table, written);
}

interface Met {
  readonly certain: readonly Touched[];
  readonly doubtful: readonly Touched[];
  /** The count of matched rows fits. */
  readonly trusted: boolean;
}

function recordAll(verification: Verification, write: Write, { certain, doubtful, trusted }: Met): void {
  const { tx } = write;
  for (const [touched, sure] of [
    [certain, trusted],
    [doubtful, false],
  ] as const) {
    for (const { outlook, images } of touched) {
      verification.observer?.met(write, outlook);
      // Whether a statement of its own met a row that it did not change matters to nobody.
      if (!sure && trusted && !tx.explicit && isIdle(write)) continue;
      const effect = sure ? effectOn(write, outlook, images) : 'doubtful';
      if (!needsRow(write, effect) || isPermitted(verification, write, outlook))
        record(write, outlook.row, images, effect);
      // What two writers that should have excluded each other leave behind is anybody's guess.
      else record(write, outlook.row, ['unknown'], 'doubtful');
    }
  }
}

/** Whether the write may have the row; reports it if not. */
export function isPermitted(verification: Verification, write: Write, outlook: Outlook): boolean {
  const unlocked = checkLock(verification, write, outlook.row, 'exclusive');
  return checkFirstUpdaterWins(verification, write, outlook) && unlocked;
}

/** `doubtful`: it may have missed the row. */
export function record(
  { tx, operation, touch }: Write,
  row: RowChain,
  images: readonly Image[],
  effect: Effect | 'doubtful',
): void {
  const idle = effect === 'idle';
  // Nobody sees what an idle statement leaves that is a transaction of its own.
  if (idle && !tx.explicit) return;
  const certain = effect === 'written';
  const met = effect !== 'doubtful';
  row.write(tx, { operation: operation.index, span: intervalOf(operation), images, certain, met, idle });
  touch(row);
}

export function judgeInsert(
  verification: Verification,
  write: Write,
  plan: InsertPlan,
  loseTime: number,
): void {
  const { tx, operation } = write;
  const table = verification.tables.get(plan.table.name)!;
  const rowsOf = bindTables(verification, write, plan.reads);
  const rows = typeof rowsOf === 'string' ? rowsOf : plan.bind(rowsOf);
  const lose = (why: string) => {
    verification.tally.skip('write', why);
    table.lose(`an INSERT before it could not be followed: ${why}`, loseTime, tx);
  };
  if (typeof rows === 'string') {
    lose(rows);
    return;
  }
  if (operation.matched !== undefined && operation.matched !== rows.length) {
    lose('an INSERT that reports another number of rows than it has');
    return;
  }
  followNewRows(verification, write, table, rows);
  verification.tally.writes++;
  const { identity, basis } = table.info;
  for (const values of rows) {
    if (basis !== 'shown' && identity.length > 0 && rowKey(values, identity) === undefined) {
      lose('the identity of an inserted row is not known');
      return;
    }
    record(write, table.insertedRow(values), [values], 'written');
  }
}

/** A write that cannot be followed: its rows, or its whole tables, are unknown once it may be visible. */
export function followOpaque(
  verification: Verification,
  write: Write,
  plan: OpaquePlan,
  loseTime: number,
): void {
  const { tx } = write;
  verification.tally.skip('write', plan.reason);
  const tables: MirrorTable[] =
    plan.tables === undefined
      ? [...verification.tables.values()]
      : plan.tables.map(({ name }) => verification.tables.get(name)!);
  for (const table of tables) {
    if (plan.keys === undefined)
      table.lose(`a write before it could not be followed: ${plan.reason}`, loseTime, tx);
    else for (const key of plan.keys) record(write, table.row(key), ['unknown'], 'doubtful');
  }
}

/**
 * Judges the answer of a SELECT: finds out which state it looked at and which lines it returned, hands both to the judge
 * for its form, and takes the row locks it asked for.
 */

import type { Operation } from '../../histories/index.js';
import {
  hasSnapshot,
  intervalOf,
  type QueryPlan,
  type ScanPlan,
  splitObject,
  type Table,
  type Tx,
} from '../../rows/index.js';
import { classifyStatement } from '../../sql/index.js';
import { checkLock } from './conflicts.js';
import { mayStayInIndex } from './covered-read.js';
import { judgeQuery } from './judge-query.js';
import { judgeScan } from './judge-read.js';
import { linesOfAccesses, linesOfRows } from './lines.js';
import type { View } from './row-chain.js';
import type { Read } from './scan-read.js';
import { SnapshotBounds } from './snapshot-bounds.js';
import { boundsOf, type Verification, viewAt } from './verification.js';
import { readsLockRows } from './view.js';

/** Why the reads of a transaction are not judged; undefined: they are. */
function unjudgedReason(tx: Tx): string | undefined {
  if (tx.unjudged !== undefined) return tx.unjudged;
  if (tx.contract?.mechanism === undefined) return 'no contract says how its level works';
  return tx.contract.mechanism.ownWrites ? undefined : 'the contract does not promise own writes';
}

export function judgeRead(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  plan: ScanPlan | QueryPlan,
): void {
  const reason = unjudgedReason(tx);
  if (reason !== undefined) {
    verification.tally.skip('read', reason);
    return;
  }
  const mode = plan.lock === 'none' ? 'plain' : 'locking';
  if (plan.type !== 'scan' && tx.contract!.mechanism!.snapshotPer === 'table') {
    verification.tally.skip('read', 'its tables may have snapshots of different times');
    return;
  }
  const view = viewAt(verification, tx, operation, mode);
  if (plan.type === 'scan') judgeLines(verification, { tx, operation, view }, plan);
  else if (verification.traced && operation.rows === undefined) judgeTracedLines(verification, tx, operation);
  else judgeQuery(verification, { tx, operation, view: nested(verification, { tx, operation, view }) }, plan);
}

/**
 * A locking clause is for the tables of its own SELECT: subqueries read on plainly (MySQL, Locking Reads), at READ UNCOMMITTED also what is
 * not committed. Which table is read how is not distinguished here, so rows must be the same for both.
 */
function nested(verification: Verification, { tx, operation, view }: Read): View {
  const selects = operation.sql?.match(/\bselect\b/gi)?.length ?? 0;
  if (!view.current || view.dirty || selects < 2) return view;
  if (tx.contract?.mechanism?.pivot === 'uncommitted') return { ...view, dirty: true };
  if (tx.snapshot === undefined) return view;
  const { start, end } = view.span;
  const snapshot = verification.lag?.widen(tx, tx.snapshot) ?? tx.snapshot;
  return { ...view, span: { start: Math.min(start, snapshot.start), end } };
}

function judgeLines(verification: Verification, read: Read, plan: ScanPlan): void {
  const { tx, operation } = read;
  const { tally, catalog } = verification;
  const mechanism = tx.contract!.mechanism!;
  const table = verification.tables.get(plan.table.name)!;
  const blind = table.blindSpot(tx, read.view.span.end);
  if (blind !== undefined) {
    tally.skip('read', blind);
    return;
  }
  const byAccess = verification.traced && operation.rows === undefined;
  if (!byAccess && operation.rows?.some((row) => row.length !== plan.width)) {
    tally.skip('read', 'its result has other columns than the table we know');
    return;
  }
  const lines = byAccess
    ? linesOfAccesses(operation.accesses ?? [], table, catalog.dialect)
    : linesOfRows(operation, plan);
  const bounds =
    hasSnapshot(mechanism) && !read.view.current
      ? boundsOf(verification, tx, plan.table.name)
      : new SnapshotBounds(verification.lag?.shownBefore(tx, operation.start));
  const ofTable = mechanism.snapshotPer === 'table' && !read.view.current;
  const view = ofTable ? { ...read.view, span: bounds.narrow(read.view.span) } : read.view;
  // What showed rows has used the table.
  if (ofTable && lines.length > 0) bounds.takenBy(intervalOf(operation).end);
  const rows = judgeScan(verification, { tx, operation, plan, view, table, lines, bounds });
  const lock = plan.lock === 'none' && readsLockRows(tx, mechanism) ? 'share' : plan.lock;
  if (lock !== 'share' && lock !== 'exclusive') return;
  if (lock === 'share' && tx.contract!.mechanism?.shareLocksNothing === true) return;
  if (lock === 'share' && mayStayInIndex(plan, verification.history)) return;
  for (const row of rows) checkLock(verification, { tx, operation }, row, lock);
}

/** A query we cannot evaluate, but whose rows the trace names: each is judged, none is required. */
export function judgeTracedLines(verification: Verification, tx: Tx, operation: Operation): void {
  const { tally, catalog } = verification;
  const reason = unjudgedReason(tx);
  if (reason !== undefined) {
    tally.skip('read', reason);
    return;
  }
  tally.skip('read', 'only the rows it returned are judged: its condition cannot be evaluated');
  const locking = classifyStatement(operation.sql ?? '', catalog.dialect).locking !== 'none';
  const view = viewAt(verification, tx, operation, locking ? 'locking' : 'plain');
  const byTable = new Map<Table, Map<string, NonNullable<Operation['accesses']>[number]>>();
  for (const access of operation.accesses ?? []) {
    const [table] = splitObject(access.object);
    const known = catalog.find(table);
    if (known === undefined || access.mode !== 'read') continue;
    const accesses = byTable.get(known) ?? new Map();
    byTable.set(known, accesses);
    // A join may show one row often; a locking one may even find it changed.
    accesses.set(locking ? access.object : JSON.stringify(access), access);
  }
  for (const [table, accesses] of byTable) {
    const own = { ...operation, accesses: [...accesses.values()] };
    const plan: ScanPlan = {
      type: 'scan',
      table,
      where: () => true,
      keys: own.accesses.map(({ object }) => splitObject(object)[1]),
      project: (row) => row,
      width: 0,
      shows: [],
      complete: true,
      identityAt: undefined,
      wholeAt: undefined,
      lock: locking ? 'key-share' : 'none',
      skipsLocked: true,
    };
    judgeLines(verification, { tx, operation: own, view }, plan);
  }
}

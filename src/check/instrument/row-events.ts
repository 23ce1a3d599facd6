/**
 * What a history of an instrumented run says about rows: who read which version, who deleted which, what the observer
 * found before and after, and what became of every write statement. Nothing is concluded here.
 */
import type { History, Operation } from '../../histories/index.js';
import type { Value } from '../../sql/index.js';
import type { Instrumented, StatementPlan } from './instrumented.js';
import { parseEntries, sourcesOf } from './marks.js';
import { addedColumns, isObserver, planOf } from './strip-results.js';
import type { TraceForm } from './trace-query.js';

export type TransactionStatus = 'committed' | 'aborted' | 'unknown';

export interface TransactionInfo {
  readonly id: number;
  readonly session: number;
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly status: TransactionStatus;
  /** It undid a part of itself (ROLLBACK TO). */
  readonly partial: boolean;
}

/** A row in a result. */
export interface RowRead {
  readonly rid: string;
  /** As the database returned it. */
  readonly list: Value;
  /** Index of the operation in the history given. */
  readonly operation: number;
  readonly transaction: number;
  readonly what: 'read' | 'written' | 'deleted';
  readonly locking: boolean;
}

/** A write statement as it ran. */
export interface WriteRun {
  readonly operation: number;
  readonly transaction: number;
  readonly plan: StatementPlan & { readonly write: NonNullable<StatementPlan['write']> };
  /** `undone`: it failed, was rolled back to a savepoint, or never ended well. */
  readonly effect: 'done' | 'undone' | 'unknown';
  readonly count?: number;
}

/** A search that returned all rows that matched. */
export interface ScanRun {
  readonly scan: number;
  readonly operation: number;
  readonly transaction: number;
  readonly locking: boolean;
  readonly found: ReadonlySet<string>;
}

export interface ObservedState {
  /** By table, each row's id and list; tables whose query failed are missing. */
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Value>>;
  /** By scan, the rows that match. */
  readonly scans: ReadonlyMap<number, ReadonlySet<string>>;
}

export interface RowEvents {
  readonly transactions: ReadonlyMap<number, TransactionInfo>;
  readonly reads: readonly RowRead[];
  readonly writes: ReadonlyMap<string, WriteRun>;
  readonly scans: readonly ScanRun[];
  readonly before?: ObservedState;
  readonly after?: ObservedState;
  /** How a person knows a row: `t[id=1]`. */
  readonly labels: ReadonlyMap<string, string>;
  /** Results the database cut off. */
  readonly cut: number;
}

export function readRowEvents(history: History, instrumented: Instrumented): RowEvents {
  const transactions = collectTransactions(history, instrumented);
  const reads: RowRead[] = [];
  const writes = new Map<string, WriteRun>();
  const scans: ScanRun[] = [];
  const observer: Operation[] = [];
  let cut = 0;
  for (const operation of history.operations) {
    if (isObserver(operation, instrumented)) {
      observer.push(operation);
      continue;
    }
    const plan = planOf(operation, instrumented);
    if (plan === undefined) continue;
    const { index, transaction } = operation;
    if (plan.write !== undefined) {
      const count =
        operation.matched ?? operation.changed ?? (plan.write.deletes ? operation.rows?.length : undefined);
      writes.set(plan.write.token, {
        operation: index,
        transaction,
        plan: plan as WriteRun['plan'],
        effect: operation.outcome === 'ok' ? 'done' : operation.outcome === 'error' ? 'undone' : 'unknown',
        ...(count === undefined ? {} : { count }),
      });
    }
    if (operation.outcome !== 'ok' || operation.rows === undefined || plan.traces.length === 0) continue;
    const { locking } = plan;
    const found = tracedRows(operation, plan.traces);
    cut += found.cut;
    for (const { rid, list } of found.all) {
      reads.push({ rid, list, operation: index, transaction, what: plan.rows, locking });
    }
    if (plan.scan !== undefined && found.cut === 0) {
      scans.push({ scan: plan.scan, operation: index, transaction, locking, found: found.first });
    }
  }
  markUndone(transactions, instrumented, writes);
  const { before, after, labels } = readObserver(observer, instrumented);
  addSources(reads, [before, after], writes);
  return {
    transactions,
    reads,
    writes,
    scans,
    labels,
    cut,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

/** What INSERT … SELECT read, as the ids of the rows it made tell. They may have been made from such rows themselves. */
function addSources(
  reads: RowRead[],
  states: readonly (ObservedState | undefined)[],
  writes: ReadonlyMap<string, WriteRun>,
): void {
  const seen = new Set(reads.map(({ rid }) => rid));
  for (const state of states) {
    for (const rows of state?.tables.values() ?? []) for (const rid of rows.keys()) seen.add(rid);
  }
  // A set grows while it is walked, and each id is walked once.
  for (const rid of seen) {
    const made = sourcesOf(rid);
    const run = made === undefined ? undefined : writes.get(made.token);
    if (made === undefined || run === undefined) continue;
    const { operation, transaction } = run;
    for (const { rid: source, list } of made.rows) {
      seen.add(source);
      reads.push({ rid: source, list, operation, transaction, what: 'read', locking: true });
    }
  }
}

/** The rows behind the added columns; `first`: those of the first trace. */
function tracedRows(operation: Operation, traces: readonly TraceForm[]) {
  const all: { rid: string; list: Value }[] = [];
  const first = new Set<string>();
  let cut = 0;
  for (const row of operation.rows ?? []) {
    let at = row.length - addedColumns(traces);
    traces.forEach((form, t) => {
      if (form === 'pair') {
        const [rid, list] = [row[at], row[at + 1]];
        at += 2;
        // The empty side of an outer join.
        if (typeof rid !== 'string') return;
        all.push({ rid, list: list ?? null });
        if (t === 0) first.add(rid);
        return;
      }
      const parsed = parseEntries(row[at++]);
      if (parsed.cut) cut++;
      for (const entry of parsed.entries) {
        all.push(entry);
        if (t === 0) first.add(entry.rid);
      }
    });
  }
  return { all, first, cut };
}

function collectTransactions(history: History, instrumented: Instrumented): Map<number, TransactionInfo> {
  const groups = new Map<number, Operation[]>();
  for (const operation of history.operations) {
    if (isObserver(operation, instrumented)) continue;
    const group = groups.get(operation.transaction);
    if (group === undefined) groups.set(operation.transaction, [operation]);
    else group.push(operation);
  }
  const perSession = new Map<number, number>();
  for (const [first] of groups.values())
    perSession.set(first!.session, (perSession.get(first!.session) ?? 0) + 1);
  const numbered = new Map<number, number>();
  const transactions = new Map<number, TransactionInfo>();
  for (const [id, operations] of groups) {
    const { session } = operations[0]!;
    const number = (numbered.get(session) ?? 0) + 1;
    numbered.set(session, number);
    const name = history.header.sessions[session] ?? `session ${session}`;
    const ends = operations.at(-1)!.ends;
    transactions.set(id, {
      id,
      session,
      name: perSession.get(session) === 1 ? name : `${name}#${number}`,
      operations,
      status: ends === 'commit' ? 'committed' : ends === 'rollback' ? 'aborted' : 'unknown',
      partial: operations.some(({ kind, outcome }) => kind === 'rollback-to' && outcome === 'ok'),
    });
  }
  return transactions;
}

/** Writes between a savepoint and a ROLLBACK TO it are gone. */
function markUndone(
  transactions: ReadonlyMap<number, TransactionInfo>,
  instrumented: Instrumented,
  writes: Map<string, WriteRun>,
): void {
  for (const { operations, partial } of transactions.values()) {
    if (!partial) continue;
    const savepoints: { name: string; at: number }[] = [];
    operations.forEach((operation, at) => {
      if (operation.outcome !== 'ok') return;
      const name = savepointName(operation.sql ?? '');
      if (operation.kind === 'savepoint') savepoints.push({ name, at });
      const found = savepoints.findLastIndex((savepoint) => savepoint.name === name);
      if (operation.kind === 'release' && found >= 0) savepoints.length = found;
      if (operation.kind !== 'rollback-to') return;
      // A savepoint we did not see set: anything before may be gone.
      const from = found < 0 ? 0 : savepoints[found]!.at;
      if (found >= 0) savepoints.length = found + 1;
      for (const undone of operations.slice(from, at)) {
        const token = planOf(undone, instrumented)?.write?.token;
        const run = token === undefined ? undefined : writes.get(token);
        if (run !== undefined) writes.set(token!, { ...run, effect: 'undone' });
      }
    });
  }
}

function savepointName(sql: string): string {
  return (/([\w$"`]+)\s*;?\s*$/.exec(sql)?.[1] ?? '').replaceAll(/["`]/g, '').toLowerCase();
}

/** The observer runs all its queries before the case and all again after it. */
function readObserver(operations: readonly Operation[], instrumented: Instrumented) {
  const { observed } = instrumented;
  const labels = new Map<string, string>();
  const read = (from: number): ObservedState | undefined => {
    const part = operations.slice(from, from + observed.length);
    if (observed.length === 0 || part.length < observed.length) return undefined;
    const tables = new Map<string, Map<string, Value>>();
    const scans = new Map<number, Set<string>>();
    for (const [i, query] of observed.entries()) {
      const { outcome, rows } = part[i]!;
      if (outcome !== 'ok' || rows === undefined) continue;
      if (query.type === 'scan') {
        scans.set(query.scan, new Set(rows.flatMap(([rid]) => (typeof rid === 'string' ? [rid] : []))));
        continue;
      }
      const lists = new Map<string, Value>();
      for (const row of rows) {
        const rid = row.at(-2);
        if (typeof rid !== 'string') continue;
        lists.set(rid, row.at(-1) ?? null);
        if (!labels.has(rid)) labels.set(rid, labelOf(row, query.table, instrumented));
      }
      tables.set(query.table, lists);
    }
    return { tables, scans };
  };
  const before = read(0);
  const after =
    operations.length >= 2 * observed.length ? read(operations.length - observed.length) : undefined;
  return { before, after, labels };
}

function labelOf(row: readonly Value[], name: string, instrumented: Instrumented): string {
  const table = instrumented.tables.find((each) => each.name === name)!;
  const parts = table.label.map((column) => {
    const value = row[table.columns.indexOf(column)] ?? null;
    const shown = typeof value === 'object' && value !== null ? Object.values(value)[0] : value;
    return `${column}=${shown === null ? 'NULL' : String(shown)}`;
  });
  return `${name}[${parts.join(', ')}]`;
}

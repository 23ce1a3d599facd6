/**
 * What a history of an instrumented run says about rows: who read which version, who deleted which, what the observer
 * found before and after, and what became of every write statement. Nothing is concluded here.
 */

import type { History, Operation } from '../../histories/index.js';
import { undoneOperations } from '../../rows/index.js';
import type { Row, Value } from '../../sql/index.js';
import type { Instrumented, StatementPlan } from './instrumented.js';
import { parseEntries } from './marks.js';
import { NotedReads } from './noted-reads.js';
import type {
  ExpectedRows,
  ObservedState,
  RowEvents,
  RowRead,
  ScanRun,
  TransactionInfo,
  WriteRun,
} from './row-event-types.js';
import { addedColumns, isObserver, planOf } from './strip-results.js';
import type { TraceForm } from './trace-query.js';

export function readRowEvents(history: History, instrumented: Instrumented): RowEvents {
  const transactions = collectTransactions(history, instrumented);
  const seen = new SeenOperations();
  const observer: Operation[] = [];
  for (const operation of history.operations) {
    if (isObserver(operation, instrumented)) observer.push(operation);
    else seen.add(operation, planOf(operation, instrumented));
  }
  const { reads, writes, scans, notes, expected, cut } = seen;
  const undone = undoneOperations(history, instrumented.dialect);
  for (const [token, run] of writes)
    if (undone.has(run.operation)) writes.set(token, { ...run, effect: 'undone' });
  const { before, after, labels, notes: observedNotes } = readObserver(observer, instrumented);
  const noted = new NotedReads(writes, instrumented);
  for (const note of [...notes, ...observedNotes]) noted.addNotes(note);
  noted.addSources(reads, [before, after]);
  const silent = [...writes.values()].filter(
    ({ plan: { write, traces }, effect, count }) =>
      effect === 'done' &&
      count === 0 &&
      !write.readBefore &&
      (write.noted > 0 || traces.some((form) => form === 'list')),
  );
  return {
    dialect: instrumented.dialect,
    ...(history.header.nodes && { nodes: history.header.nodes }),
    transactions,
    reads: [...reads, ...noted.reads],
    writes,
    scans: [...scans, ...noted.scans],
    labels,
    cut: cut + noted.cut,
    silent: silent.length,
    expected,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

/** What the answers to the case's own statements show, and those to the queries put before them. */
class SeenOperations {
  readonly reads: RowRead[] = [];
  readonly writes = new Map<string, WriteRun>();
  readonly scans: ScanRun[] = [];
  readonly notes: Value[] = [];
  readonly expected: ExpectedRows[] = [];
  cut = 0;

  add(operation: Operation, plan: StatementPlan | undefined): void {
    if (plan === undefined) return;
    if (plan.write !== undefined) this.#addWrite(operation, plan as WriteRun['plan']);
    if (operation.outcome !== 'ok') return;
    if (plan.write?.scan !== undefined) {
      // The rows it found it wrote: they hold its mark, or it deleted them.
      const { scan, token } = plan.write;
      const { index, transaction } = operation;
      this.scans.push({ scan, operation: index, transaction, locking: true, found: new Set(), write: token });
    }
    if (operation.rows !== undefined && plan.traces.length > 0)
      this.#addRows(operation, operation.rows, plan);
  }

  #addWrite(operation: Operation, plan: WriteRun['plan']): void {
    const count =
      operation.matched ?? operation.changed ?? (plan.write.deletes ? operation.rows?.length : undefined);
    this.writes.set(plan.write.token, {
      operation: operation.index,
      transaction: operation.transaction,
      plan,
      effect: operation.outcome === 'ok' ? 'done' : operation.outcome === 'error' ? 'undone' : 'unknown',
      ...(count === undefined ? {} : { count }),
    });
  }

  #addRows({ index, transaction }: Operation, rows: readonly Row[], plan: StatementPlan): void {
    const { locking } = plan;
    const found = tracedRows(rows, plan.traces);
    this.cut += found.cut.filter((each) => each).length;
    this.notes.push(...found.notes);
    for (const { rid, list, form } of found.all) {
      const what = form === 'pair' ? plan.rows : 'read';
      this.reads.push({ rid, list, operation: index, transaction, what, locking });
    }
    for (const { trace, scan, decides } of plan.searches) {
      if (found.cut[trace] === true || (!decides && rows.length === 0)) continue;
      this.scans.push({ scan, operation: index, transaction, locking, found: found.rids[trace]! });
    }
    if (plan.matches === true && found.cut[0] !== true && rows.length === 1)
      this.expected.push({ rows: found.rids[0]!, operation: index, original: plan.original });
  }
}

/** The rows behind the added columns, in all and by trace. */
function tracedRows(rows: readonly Row[], traces: readonly TraceForm[]) {
  const all: { rid: string; list: Value; form: TraceForm }[] = [];
  const rids = traces.map(() => new Set<string>());
  const cut = traces.map(() => false);
  const notes: Value[] = [];
  for (const row of rows) {
    let at = row.length - addedColumns(traces);
    for (const [t, form] of traces.entries()) {
      if (form === 'pair') {
        const [rid, list] = [row[at], row[at + 1]];
        at += 2;
        // The empty side of an outer join.
        if (typeof rid !== 'string') continue;
        all.push({ rid, list: list ?? null, form });
        rids[t]!.add(rid);
        continue;
      }
      const value = row[at++];
      if (form === 'notes') {
        notes.push(value ?? null);
        continue;
      }
      const parsed = parseEntries(value);
      if (parsed.cut) cut[t] = true;
      for (const entry of parsed.entries) {
        all.push({ ...entry, form });
        rids[t]!.add(entry.rid);
      }
    }
  }
  return { all, rids, cut, notes };
}

function collectTransactions(history: History, instrumented: Instrumented): Map<number, TransactionInfo> {
  const groups = new Map<number, Operation[]>();
  for (const operation of history.operations) {
    if (isObserver(operation, instrumented)) continue;
    const group = groups.get(operation.transaction);
    if (group === undefined) groups.set(operation.transaction, [operation]);
    else group.push(operation);
  }
  const transactions = new Map<number, TransactionInfo>();
  for (const [id, operations] of groups) {
    const { ends } = operations.at(-1)!;
    transactions.set(id, {
      id,
      session: operations[0]!.session,
      operations,
      status: ends === 'commit' ? 'committed' : ends === 'rollback' ? 'aborted' : 'unknown',
      partial: operations.some(({ kind, outcome }) => kind === 'rollback-to' && outcome === 'ok'),
    });
  }
  return transactions;
}

/** The observer runs all its queries before the case and all again after it. */
function readObserver(operations: readonly Operation[], instrumented: Instrumented) {
  const { observed, tables: known } = instrumented;
  const noting = new Set(known.filter((table) => table.notes).map(({ name }) => name));
  const labels = new Map<string, string>();
  const notes: Value[] = [];
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
        if (noting.has(query.table)) notes.push(row.at(-3) ?? null);
        if (!labels.has(rid)) labels.set(rid, labelOf(row, query.table, instrumented));
      }
      tables.set(query.table, lists);
    }
    return { tables, scans };
  };
  const before = read(0);
  const after =
    operations.length >= 2 * observed.length ? read(operations.length - observed.length) : undefined;
  return { before, after, labels, notes };
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

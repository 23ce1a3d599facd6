/**
 * What the known bugs need, each asked of the history alone: which transaction did what, before the finding shows. A cause is looked for in
 * the transactions that the finding names, before the last operation of each that it names; what another transaction did, or what came later,
 * explains nothing. Where a history leaves open whether a cause was there (which rows an UPDATE met), it counts unless the text rules it out.
 */
import type { Finding } from '../../check/index.js';
import type { History, Operation } from '../../histories/index.js';
import {
  type Catalog,
  catalogOf,
  columnsUsed,
  mayMeet,
  namedKeys,
  splitObject,
  type Table,
  type Touch,
  touchOf,
} from '../../rows/index.js';
import { type Assignment, parseStatement, type Statement } from '../../sql/index.js';

/** A finding, and what was done before it showed. */
export interface Shown {
  readonly finding: Finding;
  readonly history: History;
  readonly catalog: Catalog;
  /** When it shows. */
  readonly until: number;
  /** The operations that the finding names. */
  readonly named: readonly Operation[];
  /** The transaction in which it shows. */
  readonly own: Witness | undefined;
  /** All transactions that the finding names, the own one included. */
  readonly all: readonly Witness[];
}

/** A transaction that a finding names: the last of its operations that are named, and everything it did before. */
export interface Witness {
  readonly last: Operation;
  /** Answered before `last` was sent. */
  readonly before: readonly Operation[];
}

/** A finding shows at the last of the operations it names; a write that is gone, only at the end. */
export function shownBy(finding: Finding, history: History): Shown {
  const { operations } = history;
  const numbers = new Set(finding.operations.map(({ index }) => index));
  const named = operations.filter(({ index }) => numbers.has(index));
  const all = finding.transactions.flatMap(({ id }) => {
    const theirs = operations.filter(({ transaction }) => transaction === id);
    const last = latest(theirs.filter(({ index }) => numbers.has(index))) ?? latest(theirs);
    if (last === undefined) return [];
    return [{ last, before: theirs.filter(({ end }) => end !== null && end <= last.start) }];
  });
  const shows = latest(named);
  const atEnd = finding.kind === 'lost-write' || shows === undefined;
  return {
    ...{ finding, history, named, all },
    catalog: catalogOf(history),
    until: atEnd ? Number.POSITIVE_INFINITY : shows.start,
    own: all.find(({ last }) => last.transaction === shows?.transaction),
  };
}

function latest(operations: readonly Operation[]): Operation | undefined {
  return operations.reduce<Operation | undefined>(
    (last, op) => (last === undefined || op.start > last.start ? op : last),
    undefined,
  );
}

/** An UPDATE that found rows and changed fewer, of a table that the operation uses in which the finding shows. */
export function updatesNothing({ own, catalog }: Shown): boolean {
  return (
    own?.before.some(
      (operation) =>
        operation.kind === 'update' &&
        operation.matched !== undefined &&
        operation.changed !== undefined &&
        operation.changed < operation.matched &&
        sharesTable(operation, own.last, catalog),
    ) === true
  );
}

/** The transaction in which it shows has moved rows in an index of a table that it then uses. */
export function movesRows({ own, catalog }: Shown): boolean {
  return (
    own?.before.some(
      (operation) => isKeyMove(operation, catalog) && sharesTable(operation, own.last, catalog),
    ) === true
  );
}

/** It has written a table in which another transaction moved rows to other keys, and committed that after it had begun. */
export function writesMovedRows({ own, history, catalog }: Shown): boolean {
  const began = own?.before[0]?.start ?? Number.POSITIVE_INFINITY;
  const writes = own?.before.filter(
    (write) => write.kind === 'update' && write.outcome === 'ok' && sharesTable(write, own.last, catalog),
  );
  return (
    writes?.some((write) =>
      history.operations.some(
        (other) =>
          other.transaction !== write.transaction &&
          other.start < endOf(write) &&
          endOfTransaction(history, other) > began &&
          isKeyMove(other, catalog) &&
          sharesTable(other, write, catalog),
      ),
    ) === true
  );
}

function isKeyMove(operation: Operation, catalog: Catalog): boolean {
  const statement = statementOf(operation, catalog);
  if (operation.outcome !== 'ok' || statement.type !== 'update') return false;
  const table = statement.table.type === 'table' ? catalog.find(statement.table.name) : undefined;
  return table !== undefined && assignsIndexed(statement.set, table);
}

/** A write in a table from which, or from whose indexes, another transaction took rows that it committed after the write's own had begun. */
export function passesTakenRows({ own, history, catalog }: Shown): boolean {
  const began = own?.before[0]?.start;
  if (own === undefined || began === undefined || own.last.kind === 'select') return false;
  return history.operations.some(
    (other) =>
      other.transaction !== own.last.transaction &&
      (isKeyMove(other, catalog) || (other.kind === 'delete' && other.outcome === 'ok')) &&
      other.start < endOf(own.last) &&
      endOfTransaction(history, other) > began &&
      sharesTable(other, own.last, catalog),
  );
}

/** A write, while another transaction is open that has deleted from the same table. */
export function passesOpenDelete({ named, history, catalog }: Shown): boolean {
  return named.some(
    (write) =>
      write.kind !== 'select' &&
      history.operations.some(
        (other) =>
          other.kind === 'delete' &&
          other.outcome === 'ok' &&
          other.transaction !== write.transaction &&
          other.start < endOf(write) &&
          endOfTransaction(history, other) > write.start &&
          sharesTable(other, write, catalog),
      ),
  );
}

/**
 * A transaction had a snapshot, a write of it failed that can have written a row before it failed, and others have committed writes since the
 * snapshot. A write that looks up a single row by its key fails before it has written. What the finding names of the transaction came after all
 * that; or the transaction has then written, from the newer state, to a table the finding is about.
 */
export function losesSnapshot(shown: Shown): boolean {
  return [...shown.all, ...writersBefore(shown)].some((witness) => isPastSnapshot(witness, shown));
}

function isPastSnapshot({ last, before }: Witness, { history, catalog }: Shown): boolean {
  const first = before.find(takesSnapshot);
  const failed = before.some((operation) => failsInTheMiddle(operation, catalog));
  if (!failed || first === undefined) return false;
  return commitsOfOthers(history, last).some(
    ({ start, end }) => !endsBy(end, first.start) && start < endOf(last),
  );
}

/** Every write, before the finding shows, to a table it is about. */
function writersBefore({ finding, named, history, catalog, until }: Shown): readonly Witness[] {
  const tables = new Set(tablesOf(finding, named, catalog));
  const { operations } = history;
  const writes = operations.filter(
    (op) =>
      op.outcome === 'ok' &&
      op.start <= until &&
      [...touch(op, catalog).writes].some((name) => tables.has(catalog.find(name)?.name ?? '')),
  );
  return writes.map((last) => ({
    last,
    before: operations.filter(
      ({ transaction, end }) => transaction === last.transaction && endsBy(end, last.start),
    ),
  }));
}

const takesSnapshot = ({ kind, sql = '' }: Operation): boolean =>
  kind === 'begin' ? /\bCONSISTENT SNAPSHOT\b/i.test(sql) : kind !== 'set';

function failsInTheMiddle(operation: Operation, catalog: Catalog): boolean {
  if (operation.outcome !== 'error' || operation.ends !== undefined) return false;
  const statement = statementOf(operation, catalog);
  if (statement.type === 'insert')
    return (
      statement.mode === 'replace' || statement.source.type !== 'values' || statement.source.rows.length > 1
    );
  if (statement.type === 'merge') return true;
  if (statement.type !== 'update' && statement.type !== 'delete') return false;
  const table = statement.table.type === 'table' ? catalog.find(statement.table.name) : undefined;
  // Without a declared key a single row is looked for among all, and the failure may be another row's.
  if (table?.basis !== 'declared') return true;
  return namedKeys(statement.where, table, catalog.dialect)?.length !== 1;
}

/**
 * A transaction had run a statement, others have committed since, and then a statement of it waited for another transaction. It is one that the
 * finding names, and the wait came before what is named; or it has written, from a state that was old, to a table the finding is about.
 */
export function waitsAfterStatement(shown: Shown): boolean {
  const { history, catalog } = shown;
  return [...shown.all, ...writersBefore(shown)].some(({ last, before }) =>
    [...before, last].some((op) => waitsInVain(op, history, catalog)),
  );
}

/** Whether a statement waited, and reads a state that is older than the wait. Free runs do not say who waited: whoever did has another's end in its interval. */
function waitsInVain(waited: Operation, history: History, catalog: Catalog): boolean {
  const first = history.operations.find(
    ({ transaction, kind, end }) =>
      transaction === waited.transaction && kind !== 'begin' && kind !== 'set' && endsBy(end, waited.start),
  );
  if (first === undefined || waited.kind === 'commit' || waited.kind === 'rollback') return false;
  const others = history.operations.filter(({ transaction }) => transaction !== waited.transaction);
  const during = others.some(
    (end) =>
      end.ends !== undefined &&
      end.start <= endOf(waited) &&
      endOf(end) >= waited.start &&
      others.some((op) => op.transaction === end.transaction && sharesTable(op, waited, catalog)),
  );
  return (
    during &&
    commitsOfOthers(history, waited).some(
      ({ start, end }) => !endsBy(end, first.start) && start <= endOf(waited),
    )
  );
}

const endsBy = (end: number | null, time: number): boolean => end !== null && end <= time;

/** The ends of other transactions that committed. */
function commitsOfOthers({ operations }: History, { transaction }: Operation): readonly Operation[] {
  return operations.filter((each) => each.ends === 'commit' && each.transaction !== transaction);
}

/**
 * A statement without an answer, while another transaction is open that has written to its table, and in which a statement has failed or was
 * taken back by a savepoint.
 */
export function waitsForUndone({ named, history, catalog }: Shown): boolean {
  return named.some((waiting) => {
    const others = history.operations.filter(
      (op) => op.transaction !== waiting.transaction && op.start < waiting.start,
    );
    const undone = others.filter(
      ({ kind, outcome, ends }) => (outcome === 'error' && ends === undefined) || kind === 'rollback-to',
    );
    return undone.some(
      (op) =>
        endOfTransaction(history, op) > waiting.start &&
        others.some(
          (write) =>
            write.transaction === op.transaction &&
            write.outcome === 'ok' &&
            (touch(write, catalog).writes.size > 0 || /\bFOR UPDATE\b/i.test(write.sql ?? '')) &&
            sharesTable(write, waiting, catalog),
        ),
    );
  });
}

/**
 * Two transactions at once have written one row in a way that DuckDB does not take for a conflict: one took it out of its place (a DELETE, an
 * UPDATE of an indexed column) and one changed it there (an UPDATE, an upsert), or both changed other columns, or
 * one set a column to NULL that the other gave a value. The finding shows in that row's table, and names one
 * of the two, or a reader who came later.
 */
export function missesConflicts({ finding, history, named, until, catalog }: Shown): boolean {
  const shownIn = new Set(tablesOf(finding, named, catalog));
  const rows = (finding.versions ?? []).map(({ object }) => object).filter((object) => object.includes('/'));
  const writes = history.operations
    .filter(({ start, outcome }) => outcome === 'ok' && start <= until)
    .flatMap((operation) => rowWriteOf(operation, catalog) ?? [])
    .filter(({ table }) => shownIn.has(table.name));
  return writes.some((a, at) =>
    writes
      .slice(at + 1)
      .some((b) => isMissed(a, b) && areConcurrent(a, b, history) && mayBeAbout(rows, [a, b], catalog)),
  );
}

/** A statement that changed or removed rows that were there. */
interface RowWrite {
  readonly operation: Operation;
  readonly table: Table;
  readonly touch: Touch;
  /** Rows leave their place. */
  readonly removes: boolean;
  /** Columns that are set to NULL, which DuckDB keeps apart from their values. */
  readonly nulls: ReadonlySet<string>;
  /** The only rows it can have met, by name; undefined: any. */
  readonly keys: readonly string[] | undefined;
}

function rowWriteOf(operation: Operation, catalog: Catalog): RowWrite | undefined {
  const { changed, matched, rows } = operation;
  if ((changed ?? matched ?? rows?.length) === 0) return undefined;
  const statement = statementOf(operation, catalog);
  if (!('table' in statement) || typeof statement.table === 'string') return undefined;
  const table = statement.table.type === 'table' ? catalog.find(statement.table.name) : undefined;
  if (table === undefined) return undefined;
  const { dialect } = catalog;
  const all = touch(operation, catalog);
  switch (statement.type) {
    case 'delete':
    case 'update': {
      const removes = statement.type === 'delete' || assignsIndexed(statement.set, table);
      const nulls = statement.type === 'delete' ? new Set<string>() : nullsOf(statement.set);
      const keys = namedKeys(statement.where, table, dialect);
      return { operation, table, touch: all, removes, nulls, keys };
    }
    case 'insert':
    case 'merge': {
      const set = updatesOf(statement);
      if (set === undefined) return undefined;
      const assigns = set === 'every column' ? table.shape.columns.map(({ name }) => name) : columnsOf(set);
      const removes = set !== 'every column' && assignsIndexed(set, table);
      const anyRow = { ...all, rows: new Map(), assigns: new Set(assigns) };
      const nulls = set === 'every column' ? new Set<string>() : nullsOf(set);
      return { operation, table, touch: anyRow, removes, nulls, keys: undefined };
    }
    default:
      return undefined;
  }
}

/** What an upsert assigns to rows that are there; undefined: nothing, or it deletes them. */
function updatesOf(
  statement: Extract<Statement, { type: 'insert' | 'merge' }>,
): readonly Assignment[] | 'every column' | undefined {
  if (statement.type === 'merge')
    return statement.whens.map(({ action }) => action).find((action) => action.type === 'update')?.set;
  const { mode, conflict } = statement;
  return mode === 'replace' ? 'every column' : conflict?.set;
}

const columnsOf = (set: readonly Assignment[]): readonly string[] => set.flatMap(({ columns }) => columns);

function nullsOf(set: readonly Assignment[]): ReadonlySet<string> {
  const toNull = set.filter(({ value }) => value.type === 'literal' && value.value === null);
  return new Set(columnsOf(toNull));
}

function isMissed(a: RowWrite, b: RowWrite): boolean {
  if (a.table !== b.table || !mayMeet(a.touch, b.touch)) return false;
  if (a.removes || b.removes) return a.removes !== b.removes;
  const both = [...a.touch.assigns].filter((column) => b.touch.assigns.has(column));
  return both.every((column) => a.nulls.has(column) !== b.nulls.has(column));
}

/** Neither transaction was over when the other took its snapshot, at its first statement; nor taken back before the other wrote. */
function areConcurrent(a: RowWrite, b: RowWrite, history: History): boolean {
  const [one, other] = [a.operation, b.operation];
  if (one.transaction === other.transaction) return false;
  const startOf = ({ transaction }: Operation) =>
    history.operations.find((op) => op.transaction === transaction && op.kind !== 'begin')!.start;
  const isGone = (write: Operation, before: Operation) =>
    history.operations.some(
      ({ transaction, ends, end }) =>
        transaction === write.transaction && ends === 'rollback' && end !== null && end < before.start,
    );
  return (
    startOf(one) < endOfTransaction(history, other) &&
    startOf(other) < endOfTransaction(history, one) &&
    !isGone(one, other) &&
    !isGone(other, one)
  );
}

/** Where the finding names rows, both writes can have met one of them. */
function mayBeAbout(rows: readonly string[], pair: readonly RowWrite[], catalog: Catalog): boolean {
  return (
    rows.length === 0 ||
    rows.some((object) => {
      const [name, key] = splitObject(object);
      return pair.every(
        ({ table, keys }) => table === catalog.find(name) && (keys === undefined || keys.includes(key)),
      );
    })
  );
}

/** The tables a finding is about: those of the rows it names, else those that its operations use. */
function tablesOf(
  { versions = [] }: Finding,
  named: readonly Operation[],
  catalog: Catalog,
): readonly string[] {
  const objects = versions.map(({ object }) => splitObject(object)[0]);
  const tables = objects.flatMap((name) => catalog.find(name)?.name ?? []);
  if (tables.length > 0) return tables;
  if (named.length === 0) return catalog.tables.map(({ name }) => name);
  return named.flatMap((operation) => {
    const { reads, writes } = touch(operation, catalog);
    return [...reads, ...writes].flatMap((name) => catalog.find(name)?.name ?? []);
  });
}

function assignsIndexed(set: readonly Assignment[], { definition }: Table): boolean {
  const indexed = new Set(definition?.indexes.flatMap(columnsUsed));
  return columnsOf(set).some((column) => indexed.has(column));
}

function sharesTable(a: Operation, b: Operation, catalog: Catalog): boolean {
  const [one, other] = [touch(a, catalog), touch(b, catalog)];
  return [...one.reads, ...one.writes].some((table) => other.reads.has(table) || other.writes.has(table));
}

const statementOf = ({ sql = '' }: Operation, { dialect }: Catalog): Statement =>
  parseStatement(sql, dialect);

const touch = (operation: Operation, catalog: Catalog): Touch =>
  touchOf(statementOf(operation, catalog), catalog.dialect);

const endOf = ({ end }: Operation): number => end ?? Number.POSITIVE_INFINITY;

function endOfTransaction({ operations }: History, { transaction }: Operation): number {
  const last = operations.find((op) => op.transaction === transaction && op.ends !== undefined);
  return last === undefined ? Number.POSITIVE_INFINITY : endOf(last);
}

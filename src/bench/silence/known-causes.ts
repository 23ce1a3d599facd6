/**
 * What the known bugs need, each asked of the history alone: which transaction did what, before the finding shows. A cause is looked for in
 * the transactions that the finding names, before the last operation of each that it names; what another transaction did, or what came later,
 * explains nothing. Where a history leaves open whether a cause was there (which rows an UPDATE met), it counts unless the text rules it out.
 * Those of DuckDB, which all come from the two ways it writes a row, are in `duckdb-causes.ts`; those of rows that others have moved in
 * `moved-rows.ts`, of updates that change nothing in `idle-updates.ts`, and of an INSERT that another's ROLLBACK removes in `undone-inserts.ts`. Which row a finding is about: `row-writes.ts`.
 */
import type { Finding } from '../../check/index.js';
import type { History, Operation } from '../../histories/index.js';
import {
  type Catalog,
  catalogOf,
  columnConstants,
  columnsUsed,
  namedKeys,
  type Table,
  type Touch,
} from '../../rows/index.js';
import { type Assignment, nameKey, sameName, statementFeatures, valueKey } from '../../sql/index.js';
import {
  type About,
  columnsOf,
  mayMeetInKey,
  mayNameRowOf,
  type RowWrite,
  rowWritesOf,
  statementOf,
  tablesOf,
  touch,
} from './row-writes.js';

/** A finding, and what was done before it showed. */
export interface Shown extends About {
  /** When it shows. */
  readonly until: number;
  /** When the first of its causes was there: where only the closing read shows it, somebody had read one of two versions before. */
  readonly begun: number;
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

/**
 * A finding shows at the last of the operations it names; a write that is gone, only at the end. Two orders of versions take two readers: where
 * only one is named, the other is the closing read.
 */
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
  const byClosingRead = finding.kind === 'incompatible-order' && named.length === 1;
  const atEnd = finding.kind === 'lost-write' || byClosingRead || shows === undefined;
  return {
    ...{ finding, history, named, all },
    catalog: catalogOf(history),
    until: atEnd ? Number.POSITIVE_INFINITY : shows.start,
    begun: byClosingRead ? endOf(named[0]!) : Number.POSITIVE_INFINITY,
    own: all.find(({ last }) => last.transaction === shows?.transaction),
  };
}

function latest(operations: readonly Operation[]): Operation | undefined {
  return operations.reduce<Operation | undefined>(
    (last, op) => (last === undefined || op.start > last.start ? op : last),
    undefined,
  );
}

/**
 * The transaction in which it shows has written, in a way that counts, a row that another one had written, and committed since the first began:
 * the row that the finding names, and that the operation can have met in which it shows. Inserting a row meets none.
 */
export function writesAfterOthers(
  shown: Shown,
  counts: (write: RowWrite) => boolean,
  countsOfOthers: (other: RowWrite) => boolean = () => true,
): boolean {
  const { own, named, history, catalog } = shown;
  if (own === undefined) return false;
  const shownIn = new Set(tablesOf(shown));
  const before = rowWritesOf(own.before, catalog).filter(
    ({ table, change }) => shownIn.has(table.name) && change !== 'insert',
  );
  // Where the finding says which write is not seen, it is that one.
  const missed = before.filter(({ operation }) => named.includes(operation));
  const writes = (missed.length > 0 ? missed : before).filter(counts);
  if (writes.length === 0) return false;
  const others = rowWritesOf(history.operations, catalog).filter(countsOfOthers);
  const seen = touch(own.last, catalog);
  return writes.some((write) =>
    others.some(
      (other) =>
        other.table === write.table &&
        endsMeanwhile(other.operation, write.operation, own, history) &&
        mayMeetInKey(write.touch, other, catalog) &&
        mayMeetInKey(seen, write, catalog) &&
        mayMeetInKey(seen, other, catalog) &&
        mayNameRowOf([write, other], shown),
    ),
  );
}

/** Whether an operation belongs to another transaction that committed after `own` began, and before a write of `own` was answered. */
function endsMeanwhile(other: Operation, write: Operation, { before }: Witness, history: History): boolean {
  const commit = commitOf(history, other);
  return (
    other.transaction !== write.transaction &&
    other.outcome === 'ok' &&
    commit !== undefined &&
    endOf(commit) > before[0]!.start &&
    commit.start < endOf(write)
  );
}

/**
 * The transaction in which it shows has moved a row to a smaller key of an index, and then meets that row: one that the finding can be about. A move to a
 * larger key does no harm, where the text says both keys. A row that holds one write twice may be shown by any reader: there it is the writer that met it.
 */
export function movesRows(shown: Shown): boolean {
  const { own, all, finding, catalog } = shown;
  const meetings = finding.kind === 'duplicate-write' ? all.flatMap(eachChange) : [];
  if (own !== undefined) meetings.push(own);
  return meetings.some(({ last, before }) => {
    const met = touch(last, catalog);
    return rowWritesOf(before, catalog).some(
      (move) =>
        movesToSmallerKey(move, met, catalog) &&
        mayMeetInKey(met, move, catalog) &&
        mayNameRowOf([move], shown),
    );
  });
}

/** Every UPDATE of a transaction, with what the transaction did before it. */
function eachChange({ last, before }: Witness): Witness[] {
  return [...before, last]
    .filter(({ kind, outcome }) => kind === 'update' && outcome === 'ok')
    .map((change) => ({ last: change, before: before.filter((other) => endOf(other) <= change.start) }));
}

/** Whether an UPDATE can have moved a row that a statement then meets: by its old key, or by its new one. */
function movesToSmallerKey(
  { operation, set, where, table }: RowWrite,
  met: Touch,
  { dialect }: Catalog,
): boolean {
  if (operation.kind !== 'update') return false;
  const old = columnConstants(where, dialect);
  return set.some((assignment) => {
    const [column, ...others] = assignment.columns;
    if (!assignsIndexed([assignment], table)) return false;
    const from = column === undefined ? undefined : old.get(nameKey(column, dialect));
    const to = assignment.value.type === 'literal' ? assignment.value.value : undefined;
    if (from === undefined || typeof to !== 'number' || others.length > 0) return true;
    if (from.every((key) => typeof key === 'number' && key <= to)) return false;
    const sought = met.rows.get(nameKey(column!, dialect));
    return sought === undefined || [...from, to].some((key) => sought.has(valueKey(key)));
  });
}

const takesFromIndex = ({ operation, set, table }: RowWrite): boolean =>
  operation.kind === 'delete' || (operation.kind === 'update' && assignsIndexed(set, table));

/**
 * A write in a table from which, or from whose indexes, another transaction took a row, and committed that after the write's own had begun and before the write
 * was answered: a row that the write can have met, and that the finding can be about.
 */
export function passesTakenRows(shown: Shown, takes = takesFromIndex): boolean {
  const { own, history, catalog } = shown;
  if (own?.before[0] === undefined || own.last.kind === 'select') return false;
  const met = touch(own.last, catalog);
  return rowWritesOf(history.operations, catalog).some(
    (other) =>
      takes(other) &&
      endsMeanwhile(other.operation, own.last, own, history) &&
      mayMeetInKey(met, other, catalog) &&
      mayNameRowOf([other], shown),
  );
}

/**
 * A write, while another transaction is open that has deleted, or changed in a column that the write names, a row that the write can have met, and
 * the finding can be about.
 */
export function passesOpenWrite(shown: Shown): boolean {
  const { named, history, catalog } = shown;
  const writes = rowWritesOf(history.operations, catalog);
  return named.some(
    (write) =>
      write.kind !== 'select' &&
      writes.some(
        (other) =>
          hidesFrom(other, statementFeatures(statementOf(write, catalog)).columns, catalog) &&
          other.operation.transaction !== write.transaction &&
          other.operation.start < endOf(write) &&
          endOfTransaction(history, other.operation) > write.start &&
          mayMeetInKey(touch(write, catalog), other, catalog) &&
          mayNameRowOf([other], shown),
      ),
  );
}

/** Whether it may keep a row from a condition on these columns. */
function hidesFrom({ change, set }: RowWrite, columns: readonly string[], { dialect }: Catalog): boolean {
  if (change === 'delete') return true;
  return (
    change === 'update' &&
    columnsOf(set).some((name) => columns.some((column) => sameName(column, name, dialect)))
  );
}

/**
 * A transaction had a snapshot, a write of it failed that can have written a row before it failed, and others have committed writes since the
 * snapshot. A write that looks up a single row by its key fails before it has written. What the finding names of the transaction came after all
 * that; or the transaction has then written, from the newer state, a row the finding can be about.
 */
export function losesSnapshot(shown: Shown): boolean {
  return [...shown.all, ...writersBefore(shown)].some((witness) => isPastSnapshot(witness, shown));
}

function isPastSnapshot({ last, before, wrote }: Writer, { history, catalog }: Shown): boolean {
  const first = before.find(takesSnapshot);
  const failed = before.some((operation) => failsInTheMiddle(operation, catalog));
  if (!failed || first === undefined) return false;
  return commitsBetween(first, last, history).some((commit) => bearsOn(commit, wrote, history, catalog));
}

/** A transaction that a finding names; or one that it does not name, but that wrote what the finding is about. */
interface Writer extends Witness {
  readonly wrote?: RowWrite;
}

/**
 * Every write, before the finding shows, of a row that it can be about: one it names, and one that the operation can have met in which it shows. Where
 * it shows a cycle there are none: whoever has a part in that is named.
 */
function writersBefore(shown: Shown): readonly Writer[] {
  const { finding, history, catalog, until, own } = shown;
  if (finding.cycle !== undefined) return [];
  const tables = new Set(tablesOf(shown));
  const { operations } = history;
  const writes = rowWritesOf(operations, catalog).filter(
    (write) =>
      write.operation.start <= until &&
      tables.has(write.table.name) &&
      (own === undefined || mayMeetInKey(touch(own.last, catalog), write, catalog)) &&
      mayNameRowOf([write], shown),
  );
  return writes.map((wrote) => ({
    wrote,
    last: wrote.operation,
    before: operations.filter(
      ({ transaction, end }) =>
        transaction === wrote.operation.transaction && endsBy(end, wrote.operation.start),
    ),
  }));
}

/** Commits of others that a transaction does not see, or sees too early, by the time of its first statement. */
function commitsBetween(first: Operation, last: Operation, history: History): readonly Operation[] {
  return history.operations.filter(
    ({ ends, transaction, start, end }) =>
      ends === 'commit' &&
      transaction !== last.transaction &&
      !endsBy(end, first.start) &&
      start <= endOf(last),
  );
}

/** Whether a write comes out differently by what was committed there: they have a row in common, or it reads what was written. */
function bearsOn(
  commit: Operation,
  wrote: RowWrite | undefined,
  { operations }: History,
  catalog: Catalog,
): boolean {
  if (wrote === undefined) return true;
  const theirs = operations.filter(({ transaction }) => transaction === commit.transaction);
  return rowWritesOf(theirs, catalog).some((other) => mayMeetInKey(wrote.touch, other, catalog));
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
  return namedKeys(statement.where, table, catalog)?.length !== 1;
}

/**
 * A transaction had run a statement, others have committed since, and then it meets what they wrote, as it was at that first statement. It is one that
 * the finding names; or it has then written, from the old state, a row the finding can be about. A cycle takes part of whatever its transactions did.
 */
export function readsFirstState(shown: Shown): boolean {
  const { all, finding } = shown;
  const isCycle = finding.cycle !== undefined;
  const named = all.flatMap(({ before, last }) => (isCycle ? [...before, last] : [last]));
  const writers = writersBefore(shown).map(({ last }) => last);
  return [...named, ...writers].some((op) => isOutdated(op, shown));
}

function isOutdated(operation: Operation, shown: Shown): boolean {
  const { history, catalog, finding } = shown;
  const first = history.operations.find(
    ({ transaction, kind, end }) =>
      transaction === operation.transaction &&
      kind !== 'begin' &&
      kind !== 'set' &&
      endsBy(end, operation.start),
  );
  if (first === undefined) return false;
  const met = touch(operation, catalog);
  const shownIn = new Set(tablesOf(shown));
  const commits = new Set(commitsBetween(first, operation, history).map(({ transaction }) => transaction));
  return rowWritesOf(history.operations, catalog).some(
    (other) =>
      commits.has(other.operation.transaction) &&
      mayMeetInKey(met, other, catalog) &&
      // What it reads only to find rows, or to compute them, is not what the finding names.
      (finding.cycle !== undefined ||
        met.writes.size > 0 ||
        !shownIn.has(other.table.name) ||
        mayNameRowOf([other], shown)),
  );
}

const endsBy = (end: number | null, time: number): boolean => end !== null && end <= time;

/**
 * A statement without an answer, sent while another transaction was open that wrote to its table, and in which a statement failed or was taken back
 * by a savepoint: both before, or while the other waited.
 */
export function waitsForUndone({ named, history, catalog }: Shown): boolean {
  return named.some((waiting) => {
    const ofOthers = history.operations.filter(({ transaction }) => transaction !== waiting.transaction);
    const began = new Set(ofOthers.filter(({ start }) => start < waiting.start).map((op) => op.transaction));
    const undone = ofOthers.filter(
      ({ kind, outcome, ends }) => (outcome === 'error' && ends === undefined) || kind === 'rollback-to',
    );
    return undone.some(
      (op) =>
        began.has(op.transaction) &&
        endOfTransaction(history, op) > waiting.start &&
        ofOthers.some(
          (write) =>
            write.transaction === op.transaction &&
            write.outcome === 'ok' &&
            (touch(write, catalog).writes.size > 0 || /\bFOR UPDATE\b/i.test(write.sql ?? '')) &&
            sharesTable(write, waiting, catalog),
        ),
    );
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

export const endOf = ({ end }: Operation): number => end ?? Number.POSITIVE_INFINITY;

export function endOfTransaction({ operations }: History, { transaction }: Operation): number {
  const last = operations.find((op) => op.transaction === transaction && op.ends !== undefined);
  return last === undefined ? Number.POSITIVE_INFINITY : endOf(last);
}

export function commitOf({ operations }: History, { transaction }: Operation): Operation | undefined {
  return operations.find((op) => op.transaction === transaction && op.ends === 'commit');
}

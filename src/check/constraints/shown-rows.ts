/**
 * What results show: two rows with one key, NULL where there must be none, a row that breaks a condition.
 *
 * A condition and NOT NULL hold for every row that was ever there, committed or not. Keys hold for states, not for rows, so
 * the result must show one state:
 *
 * - while nobody else changes the table, any read does, unless its transaction reads an older snapshot together with rows it
 *   wrote itself: uniqueness is checked against current rows, and PostgreSQL and InnoDB then show a deleted row beside its
 *   successor;
 * - while others change it, a plain read from a snapshot does, if its transaction has not written the table;
 * - where keys are compared at COMMIT only (TiDB's optimistic transactions), a transaction that has written the table may see its row
 *   beside the one that has the key already. Nobody else does, for its COMMIT fails.
 */
import type { Operation } from '../../histories/index.js';
import { intervalOf, type ScanPlan, type Table, type Tx } from '../../rows/index.js';
import { type Evaluated, type EvaluatedRow, isUndecidable, showValue } from '../../sql/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { DeclaredKey } from './declared.js';
import type { RunFacts } from './run-facts.js';

/** What is wrong with the rows an operation returned. */
export function judgeShownRows(facts: RunFacts, operation: Operation): Finding[] {
  const { rows = [] } = operation;
  if (operation.outcome !== 'ok' || rows.length === 0) return [];
  const plan = facts.planOf(operation);
  if (plan.type !== 'scan' && !(plan.type === 'query' && plan.part !== undefined)) return [];
  const scan = plan.type === 'scan' ? plan : plan.part!;
  if (rows.some((row) => row.length !== scan.width)) return [];
  return [...duplicates(facts, operation, scan), ...brokenRows(facts, operation, scan)];
}

function duplicates(facts: RunFacts, operation: Operation, scan: ScanPlan): Finding[] {
  const { rows = [] } = operation;
  if (rows.length < 2) return [];
  const found: Finding[] = [];
  for (const key of facts.declared.keys) {
    if (key.table !== scan.table) continue;
    const at = key.columns.map((column) => scan.shows.indexOf(column));
    if (at.includes(-1)) continue;
    const twice = firstDuplicate(rows, at);
    if (twice === undefined || !showsOneState(facts, operation, scan)) continue;
    const shown = `(${twice.map(showValue).join(', ')})`;
    const clause = clauseOfKey(key);
    const wrote = writersOf(facts, key, twice, operation);
    found.push(
      facts.finding(
        'duplicate-key',
        clause,
        [operation, ...wrote],
        [
          say.rule`${ofData(describeKey(key))} is declared: no two rows of a state share it.`,
          ...wrote.map((write) => say.fact`${ofTransaction(write.transaction)} ran ${ofOperation(write)}.`),
          say.contradiction`${ofTransaction(operation.transaction)} ran ${ofOperation(operation)}, and two rows of the result have the key ${ofData(shown)}.`,
        ],
      ),
    );
  }
  return found;
}

function firstDuplicate(rows: readonly EvaluatedRow[], at: readonly number[]): Exact[] | undefined {
  const seen = new Set<string>();
  for (const row of rows) {
    const cells = at.map((position) => row[position]);
    if (!cells.every(isExact)) continue;
    const text = JSON.stringify(cells);
    if (seen.has(text)) return cells;
    seen.add(text);
  }
  return undefined;
}

type Exact = number | string;

/** A value that says all of itself: integers, and texts in which nothing had to be replaced. */
export function isExact(cell: Evaluated | undefined): cell is Exact {
  return typeof cell === 'string' ? !cell.includes('\ufffd') : Number.isSafeInteger(cell);
}

export function describeKey({ table, primary, columns }: DeclaredKey): string {
  const names = columns.map((at) => table.shape.columns[at]!.name).join(', ');
  return `${primary ? 'PRIMARY KEY' : 'UNIQUE'} (${names}) of ${table.shape.name}`;
}

export function clauseOfKey({ primary }: DeclaredKey): string {
  return primary ? 'declared primary key' : 'declared unique key';
}

/** Whether the rows of a result were there together in one state of the database. */
function showsOneState(facts: RunFacts, operation: Operation, scan: ScanPlan): boolean {
  const tx = facts.txOf(operation);
  const span = intervalOf(operation);
  const mechanism = tx.contract?.mechanism;
  const wrote = wroteBefore(facts, scan.table, tx, operation);
  // Its own rows have not been compared with anybody's yet.
  if (wrote && mechanism?.keysCheckedAtCommit === true) return false;
  if (!facts.isBusy(scan.table, span, tx))
    return !wrote || !facts.isBusy(scan.table, { start: tx.start, end: span.end }, tx);
  if (wrote || scan.lock !== 'none' || mechanism === undefined || tx.unjudged !== undefined) return false;
  // Reads of SQL Server's that lock row by row may meet a row that moves twice.
  const locked = mechanism.readsLock || mechanism.readsLockBriefly === true;
  return mechanism.pivot !== 'uncommitted' && !(mechanism.pivot === 'statement' && locked);
}

function wroteBefore(facts: RunFacts, table: Table, tx: Tx, { index }: Operation): boolean {
  const first = facts.firstWriteOf(table, tx);
  return first !== undefined && first.index <= index;
}

/** The INSERTs that put in rows with this key, where their text says so; nobody has to be named. */
function writersOf(facts: RunFacts, key: DeclaredKey, cells: readonly Exact[], read: Operation): Operation[] {
  return facts
    .insertsOf(key.table)
    .filter(
      ({ operation, rows }) =>
        operation.index <= read.index &&
        rows.some((row) => key.columns.every((at, i) => row[at] === cells[i])),
    )
    .map(({ operation }) => operation);
}

function brokenRows(facts: RunFacts, operation: Operation, scan: ScanPlan): Finding[] {
  const { rows = [] } = operation;
  const { table, shows, wholeAt } = scan;
  const { notNull, checks } = facts.declared;
  const broken = (clause: string, what: string, row: EvaluatedRow) =>
    facts.finding(
      'broken-constraint',
      clause,
      [operation],
      [
        say.rule`${ofData(what)} of ${ofData(table.shape.name)} is declared: every row satisfies it.`,
        say.contradiction`${ofTransaction(operation.transaction)} ran ${ofOperation(operation)}, and the result has the row ${ofData(`(${row.map(show).join(', ')})`)}.`,
      ],
    );
  for (const column of notNull.get(table) ?? []) {
    const at = shows.indexOf(column);
    const row = at < 0 ? undefined : rows.find((each) => each[at] === null);
    if (row !== undefined)
      return [broken('declared not null', `${table.shape.columns[column]!.name} NOT NULL`, row)];
  }
  if (wholeAt === undefined) return [];
  for (const check of checks) {
    if (check.table !== table) continue;
    const row = rows.find((each) => check.isBrokenBy(wholeAt.map((at) => each[at]!)));
    if (row !== undefined) return [broken('declared check', `CHECK (${check.text})`, row)];
  }
  return [];
}

const show = (cell: Evaluated): string => (isUndecidable(cell) ? '?' : showValue(cell));

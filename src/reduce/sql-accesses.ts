/**
 * Which rows the operations of a case access, as far as its SQL and one run of it tell. Three sources, the best first:
 *
 * 1. Accesses the run's recorder knew (imported traces).
 * 2. Rows a read returned, by the value of the column that names rows: the primary key, a column called `rid`, or the
 *    first column.
 * 3. `column = constant` and `column IN (constants)` on that column in a WHERE, and the rows of an INSERT.
 *
 * Everything else counts as an access to the whole table; what cannot be parsed counts as writing the tables it
 * mentions.
 *
 * An UPDATE that sets constants, by a condition on that column alone, is blind to what its rows hold; so are INSERTs of
 * constants and DELETEs by such a condition.
 */
import type { StatementRef } from '../cases/index.js';
import type { History, Operation } from '../histories/index.js';
import {
  type CreateTableStatement,
  type Dialect,
  type Expression,
  parseStatement,
  type Statement,
  statementFeatures,
  valueKey,
} from '../sql/index.js';
import type { CaseModel } from './case-model.js';
import type { DependencySource, RowAccess } from './dependencies.js';

/** `history`: a run of the model's case, operations named by their statement. */
export function sqlAccesses(model: CaseModel, dialect: Dialect, history?: History): DependencySource {
  const keys = rowColumns(model.candidate.case.setup, dialect);
  const known = new Map<string, StatementAccesses>();
  const runs = new Map<string, Operation>();
  for (const operation of history?.operations ?? []) {
    if (operation.statement !== undefined) runs.set(refKey(operation.statement), operation);
  }
  const fromSql = (sql: string): StatementAccesses => {
    const accesses = known.get(sql) ?? statementAccesses(parseStatement(sql, dialect), keys);
    known.set(sql, accesses);
    return accesses;
  };
  return {
    accesses(id) {
      const { ref, sql } = model.operations[id]!;
      const run = runs.get(refKey(ref));
      const { accesses, writing } = fromSql(sql);
      if (run?.accesses !== undefined) return run.accesses.map((access) => recorded(access, writing));
      return run === undefined ? accesses : withRowsRead(accesses, run, keys);
    },
  };
}

function refKey([session, position]: StatementRef): string {
  return `${session}/${position}`;
}

/** How a statement writes rows, whichever they are. */
type Writing = Pick<RowAccess, 'blind' | 'keepsRow'>;

interface StatementAccesses {
  readonly accesses: readonly RowAccess[];
  readonly writing: Writing;
}

function recorded({ object, mode }: NonNullable<Operation['accesses']>[number], writing: Writing): RowAccess {
  const slash = object.indexOf('/');
  const table = slash < 0 ? '' : object.slice(0, slash);
  const access = { table: table.toLowerCase(), row: object.slice(slash + 1) };
  return mode === 'read' ? { ...access, writes: false } : { ...access, writes: true, ...writing };
}

/** Reads of whole tables become reads of the rows that came back, where the result names them. */
function withRowsRead(told: readonly RowAccess[], run: Operation, keys: RowColumns): readonly RowAccess[] {
  const { columns, rows } = run;
  if (columns === undefined || rows === undefined || told.some(({ writes }) => writes)) return told;
  return told.flatMap((access): readonly RowAccess[] => {
    const at = columns.findIndex((name) => name.toLowerCase() === keys.get(access.table)?.name);
    if (access.row !== undefined || at < 0) return [access];
    return rows.map((row) => ({ table: access.table, row: valueKey(row[at] ?? null), writes: false }));
  });
}

/** Per table, lower-case, the column that names its rows, and where it stands in the table. */
type RowColumns = ReadonlyMap<string, { readonly name: string; readonly position: number }>;

function rowColumns(setup: readonly string[], dialect: Dialect): RowColumns {
  const columns = new Map<string, { readonly name: string; readonly position: number }>();
  for (const sql of setup) {
    if (!/^\s*create\b/i.test(sql)) continue;
    const statement = parseStatement(sql, dialect);
    if (statement.type !== 'create-table') continue;
    const name = rowColumn(statement);
    const position = statement.columns.findIndex((column) => column.name === name);
    if (name === undefined || position < 0) continue;
    columns.set(statement.name.toLowerCase(), { name: name.toLowerCase(), position });
  }
  return columns;
}

function rowColumn({ columns, constraints }: CreateTableStatement): string | undefined {
  const inline = columns.find((column) => column.constraints.some(({ type }) => type === 'primary-key'));
  if (inline !== undefined) return inline.name;
  for (const constraint of constraints) {
    if (constraint.type !== 'primary-key' || constraint.columns.length !== 1) continue;
    const { expression } = constraint.columns[0]!;
    if (expression.type === 'column') return expression.name;
  }
  return (columns.find(({ name }) => /^(rid|pkid)$/i.test(name)) ?? columns[0])?.name;
}

function statementAccesses(statement: Statement, keys: RowColumns): StatementAccesses {
  if (statement.type === 'begin' || statement.type === 'commit' || statement.type === 'rollback')
    return { accesses: [], writing: {} };
  const { reads, writes } = statementFeatures(statement);
  const written = new Set(writes.map(({ name }) => name.toLowerCase()));
  const rows = namedRows(statement, keys);
  const writing = writingOf(statement, keys);
  const accesses = (table: string, isWrite: boolean): RowAccess[] => {
    const how = isWrite ? { writes: true, ...writing } : { writes: false };
    return rows?.table === table ? rows.rows.map((row) => ({ table, row, ...how })) : [{ table, ...how }];
  };
  const read = [...new Set(reads.map(({ name }) => name.toLowerCase()))].filter((name) => !written.has(name));
  const all = [
    ...[...written].flatMap((name) => accesses(name, true)),
    ...read.flatMap((name) => accesses(name, false)),
  ];
  return { accesses: all, writing };
}

function writingOf(statement: Statement, keys: RowColumns): Writing {
  const blind = { blind: true };
  switch (statement.type) {
    case 'insert': {
      const { source, conflict } = statement;
      if (source.type !== 'values' || conflict !== undefined) return {};
      return source.rows.flat().every(isConstant) ? blind : {};
    }
    case 'delete':
      return statement.table.type === 'table' && byRowAlone(statement.where, statement.table.name, keys)
        ? blind
        : {};
    case 'update': {
      if (statement.table.type !== 'table') return {};
      const { table, set, where } = statement;
      const key = keys.get(table.name.toLowerCase())?.name;
      if (set.some(({ columns }) => columns.some((name) => name.toLowerCase() === key))) return {};
      const isBlind = set.every(({ value }) => isConstant(value)) && byRowAlone(where, table.name, keys);
      return { keepsRow: true, ...(isBlind && blind) };
    }
    default:
      return {};
  }
}

/** Whether a condition looks at nothing but the column that names rows. */
function byRowAlone(where: Expression | undefined, table: string, keys: RowColumns): boolean {
  if (where === undefined) return true;
  const column = keys.get(table.toLowerCase())?.name;
  const isColumn = (e: Expression) => e.type === 'column' && e.name.toLowerCase() === column;
  switch (where.type) {
    case 'binary':
      return where.op === 'AND'
        ? byRowAlone(where.left, table, keys) && byRowAlone(where.right, table, keys)
        : [where.left, where.right].every((side) => isColumn(side) || isConstant(side));
    case 'in-list':
      return isColumn(where.operand) && where.list.every(isConstant);
    default:
      return false;
  }
}

/** The rows of its one table that a statement can touch, if its text names them. */
function namedRows(
  statement: Statement,
  keys: RowColumns,
): { readonly table: string; readonly rows: readonly string[] } | undefined {
  switch (statement.type) {
    case 'insert': {
      const table = statement.table.name.toLowerCase();
      const column = keys.get(table);
      if (column === undefined || statement.source.type !== 'values') return undefined;
      const at =
        statement.columns?.findIndex((name) => name.toLowerCase() === column.name) ?? column.position;
      const rows = statement.source.rows.map((row) => constant(row[at]));
      return at < 0 || rows.includes(undefined) ? undefined : { table, rows: rows as string[] };
    }
    case 'update':
    case 'delete':
      return statement.table.type === 'table'
        ? rowsOf(statement.table.name, statement.where, keys)
        : undefined;
    case 'select': {
      const { body } = statement;
      const from = body.type === 'core' && body.from.length === 1 ? body.from[0]! : undefined;
      if (body.type !== 'core' || from?.type !== 'table') return undefined;
      return rowsOf(from.name, body.where, keys);
    }
    default:
      return undefined;
  }
}

function rowsOf(name: string, where: Expression | undefined, keys: RowColumns) {
  const table = name.toLowerCase();
  const column = keys.get(table)?.name;
  const rows = column === undefined || where === undefined ? undefined : rowsIn(where, column);
  return rows === undefined ? undefined : { table, rows };
}

/** Constants the column must equal one of for the condition to hold. */
function rowsIn(where: Expression, column: string): readonly string[] | undefined {
  const isColumn = (e: Expression) => e.type === 'column' && e.name.toLowerCase() === column;
  if (where.type === 'binary' && where.op === 'AND') {
    return rowsIn(where.left, column) ?? rowsIn(where.right, column);
  }
  if (where.type === 'binary' && where.op === '=') {
    const other = isColumn(where.left) ? where.right : isColumn(where.right) ? where.left : undefined;
    const row = constant(other);
    return row === undefined ? undefined : [row];
  }
  if (where.type === 'in-list' && !where.negated && isColumn(where.operand)) {
    const rows = where.list.map(constant);
    return rows.includes(undefined) ? undefined : (rows as string[]);
  }
  return undefined;
}

function isConstant(expression: Expression): boolean {
  return constant(expression) !== undefined;
}

function constant(expression: Expression | undefined): string | undefined {
  return expression?.type === 'literal' ? valueKey(expression.value) : undefined;
}

/**
 * Tables as the shadow state knows them, and what one statement does to them. Values never change: a statement gives new
 * tables and leaves the old ones, so that a snapshot is a reference.
 *
 * Everything is evaluated by `sql/evaluate`, which answers exactly or not at all. What it cannot decide makes a table
 * unknown until its rows are known again (it is emptied, or dropped and created): nothing is ever concluded from an
 * unknown table.
 */
import type { TableModel } from '../generate/index.js';
import {
  type Arithmetic,
  applyInsert,
  type CreateTableStatement,
  compileUpdate,
  compileWhere,
  type DeleteStatement,
  type Dialect,
  type EvaluatedRow,
  type EvaluateOptions,
  evaluateSelect,
  type InsertStatement,
  isUndecidable,
  nameKey,
  type SelectResult,
  type SelectStatement,
  type Statement,
  statementFeatures,
  type TableShape,
  tableShape,
  type Undecidable,
  type UpdateStatement,
  undecidable,
} from '../sql/index.js';

export interface TableState {
  readonly shape: TableShape;
  /** How it was drawn; absent: somebody wrote its CREATE TABLE by hand. */
  readonly model?: TableModel | undefined;
  readonly rows: readonly EvaluatedRow[] | Undecidable;
  /** Keys of tables whose updates and deletes change this one, too: it refers to them with CASCADE or SET NULL. */
  readonly follows?: readonly string[];
}

/** By `nameKey` of their names. */
export type Tables = ReadonlyMap<string, TableState>;

export const noTables: Tables = new Map();

/** The tables after a statement that worked. */
export function applyStatement(
  tables: Tables,
  statement: Statement,
  arithmetic: Arithmetic,
  model?: TableModel,
): Tables {
  const { dialect } = arithmetic;
  switch (statement.type) {
    case 'create-table':
      return created(tables, statement, dialect, model);
    case 'drop': {
      if (statement.what !== 'TABLE') return tables;
      const left = new Map(tables);
      for (const { name } of statement.names) left.delete(nameKey(name, dialect));
      return left;
    }
    case 'insert':
    case 'update':
    case 'delete':
      return written(tables, statement, arithmetic);
    case 'opaque':
      return statement.kind === 'select' || statement.kind === 'set' ? tables : forgotten(tables, statement);
    case 'merge':
      return forgetTables(tables, namesIn(statement, dialect).written, 'a MERGE');
    case 'select':
      return forgetTables(tables, namesIn(statement, dialect).written, 'a write inside WITH');
    default:
      return tables;
  }
}

/** What a query returns on these tables. */
export function answerOf(
  tables: Tables,
  query: SelectStatement,
  arithmetic: Arithmetic,
): SelectResult | Undecidable {
  return evaluateSelect(query, optionsOf(tables, arithmetic));
}

/** The same tables with some of them unknown. */
export function forgetTables(tables: Tables, names: Iterable<string>, why: string): Tables {
  const left = new Map(tables);
  for (const name of names) {
    const table = left.get(name);
    if (table !== undefined) left.set(name, { ...table, rows: undecidable(why) });
  }
  return left;
}

/** The keys of the tables a statement writes, and of those it reads. */
export function namesIn(
  statement: Statement,
  dialect: Dialect,
): {
  readonly written: readonly string[];
  readonly read: readonly string[];
} {
  const { reads, writes } = statementFeatures(statement);
  const keys = (uses: typeof reads) => uses.map(({ name }) => nameKey(name, dialect));
  return { written: keys(writes), read: keys(reads) };
}

function optionsOf(tables: Tables, arithmetic: Arithmetic): EvaluateOptions {
  const { dialect } = arithmetic;
  return {
    ...arithmetic,
    table: (name) => {
      const found = tables.get(nameKey(name, dialect));
      return found && { columns: found.shape.columns, rows: found.rows };
    },
  };
}

function created(
  tables: Tables,
  statement: CreateTableStatement,
  dialect: Dialect,
  model: TableModel | undefined,
): Tables {
  const name = nameKey(statement.name, dialect);
  if (tables.has(name) && statement.ifNotExists) return tables;
  const rows = statement.as === undefined ? [] : undecidable('CREATE TABLE … AS');
  const follows = followedBy(statement, dialect);
  const state = { shape: tableShape(statement, dialect), model, rows };
  return new Map(tables).set(name, follows.length === 0 ? state : { ...state, follows });
}

/** The tables a new one refers to with an action. */
function followedBy({ columns, constraints }: CreateTableStatement, dialect: Dialect): string[] {
  const all = [...columns.flatMap((column) => column.constraints), ...constraints];
  return all.flatMap((each) =>
    (each.type === 'references' || each.type === 'foreign-key') &&
    /CASCADE|SET (NULL|DEFAULT)/.test(each.references.actions ?? '')
      ? [nameKey(each.references.table, dialect)]
      : [],
  );
}

/** The tables that change when rows of this one are deleted or their keys updated, over any number of steps. */
function followers(tables: Tables, name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const reach = (from: string): void => {
    for (const [key, { follows }] of tables) {
      if (found.has(key) || follows?.includes(from) !== true) continue;
      found.add(key);
      reach(key);
    }
  };
  reach(name);
  return found;
}

/** What a statement nobody understands may have changed: the tables it names, or all of them when it names none. */
function forgotten(tables: Tables, statement: Extract<Statement, { type: 'opaque' }>): Tables {
  if (statement.kind === 'other' && isMaintenance(statement.sql)) return tables;
  return forgetTables(tables, tables.keys(), 'a statement that could not be read');
}

/** Statements that change how data is stored, and none of it. */
export function isMaintenance(sql: string): boolean {
  return /^\s*(?:CHECKPOINT|VACUUM|ANALYZE|REINDEX|EXPLAIN)\b/i.test(sql);
}

type Write = InsertStatement | UpdateStatement | DeleteStatement;

function written(tables: Tables, statement: Write, arithmetic: Arithmetic): Tables {
  const { dialect } = arithmetic;
  const { table } = statement;
  if (table.type !== 'table')
    return forgetTables(tables, namesIn(statement, dialect).written, 'a write to several tables');
  const name = nameKey(table.name, dialect);
  const old = tables.get(name);
  if (old === undefined) return tables;
  const rows = rowsAfter(old, statement, optionsOf(tables, arithmetic));
  const after = new Map(tables).set(name, { ...old, rows });
  const others = namesIn(statement, dialect).written.filter((each) => each !== name);
  const removes = statement.type !== 'insert' || statement.mode === 'replace';
  const followed = forgetTables(after, removes ? followers(tables, name) : [], 'a referential action');
  return forgetTables(followed, others, 'a write inside WITH');
}

function rowsAfter(
  { shape, rows }: TableState,
  statement: Write,
  options: EvaluateOptions,
): readonly EvaluatedRow[] | Undecidable {
  // A table that is emptied is known again, whatever was in it.
  if (statement.type === 'delete' && statement.where === undefined && statement.limit === undefined)
    return statement.using.length === 0 ? [] : undecidable('a DELETE over several tables');
  if (isUndecidable(rows)) return rows;
  if (statement.type === 'insert') {
    if (statement.conflict !== undefined || statement.mode !== undefined)
      return undecidable('an INSERT that resolves conflicts');
    const added = applyInsert(statement, shape, options);
    return isUndecidable(added) ? added : [...rows, ...added];
  }
  const holds = compileWhere(statement, shape, options);
  const change = statement.type === 'update' ? compileUpdate(statement, shape, options) : undefined;
  const after: EvaluatedRow[] = [];
  for (const row of rows) {
    const hit = holds(row);
    if (isUndecidable(hit)) return hit;
    if (hit !== true) after.push(row);
    else if (change !== undefined) {
      const changed = change(row);
      if (isUndecidable(changed)) return changed;
      after.push(changed);
    }
  }
  return after;
}

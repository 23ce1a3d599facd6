/**
 * What writes do to rows: which rows an UPDATE or DELETE touches, what a row becomes, which rows an INSERT adds. Constraints are
 * not checked here and conflicts not resolved: a row the engine refuses never reaches a history.
 *
 * A cell that is not certain is `Undecidable` on its own; the others of its row still count. MySQL assigns from left to
 * right and later expressions see earlier results; the other dialects read the old row throughout.
 */
import type {
  Assignment,
  DeleteStatement,
  Expression,
  FromItem,
  InsertStatement,
  UpdateStatement,
} from '../ast.js';
import type { Dialect } from '../dialect.js';
import { columnOf, nameKey, sameName } from '../names.js';
import { doubleValue, type Value } from '../value.js';
import { visitNodes } from '../walk.js';
import { coerce } from './coerce.js';
import { compileTruth, textAs } from './condition.js';
import { contextOf } from './evaluate.js';
import { compileValue } from './expression.js';
import {
  type Context,
  type Env,
  type EvaluateOptions,
  type Scope,
  type ScopeColumn,
  scopeColumns,
} from './scope.js';
import { compileQuery } from './select.js';
import type { ShapeColumn, TableShape } from './shape.js';
import { type SqlType, sqlType, types } from './types.js';
import {
  decide,
  type Evaluated,
  type EvaluatedRow,
  isUndecidable,
  NotDecidable,
  type Truth,
  type Undecidable,
  undecidable,
} from './undecidable.js';

/** The condition under which an UPDATE or DELETE touches a row of its table. */
export function compileWhere(
  statement: UpdateStatement | DeleteStatement,
  shape: TableShape,
  options: EvaluateOptions,
): (row: EvaluatedRow) => Truth {
  const compiled = decide(() => {
    const { scope, ctx } = prepare(statement, shape, options);
    return statement.where === undefined ? () => true : compileTruth(statement.where, scope, ctx);
  });
  if (isUndecidable(compiled)) return () => compiled;
  const env: Env = { row: [], outer: undefined };
  return (row) => {
    env.row = row;
    return compiled(env);
  };
}

function prepare(
  statement: UpdateStatement | DeleteStatement,
  shape: TableShape,
  options: EvaluateOptions,
): { scope: Scope; ctx: Context } {
  const others =
    statement.type === 'update' ? [...statement.from, ...(statement.moreTables ?? [])] : statement.using;
  if (others.length > 0) throw new NotDecidable('a write over several tables');
  if (statement.with !== undefined) throw new NotDecidable('a write with common tables');
  if (statement.limit !== undefined) throw new NotDecidable('a write with LIMIT');
  return { scope: tableScope(statement.table, shape, options), ctx: contextOf(options) };
}

function tableScope(table: FromItem, shape: TableShape, options: EvaluateOptions): Scope {
  if (table.type !== 'table' || !sameName(table.name, shape.name, options.dialect)) {
    throw new NotDecidable('a write to another table');
  }
  return { columns: shapeColumns(shape, options.dialect, table.alias ?? table.name), parent: undefined };
}

/** By shape, the columns of its latest scope: a table is nearly always called by its own name. */
const latestColumns = new WeakMap<TableShape, { readonly called: string; readonly columns: ScopeColumn[] }>();

function shapeColumns(shape: TableShape, dialect: Dialect, name: string): readonly ScopeColumn[] {
  const called = `${dialect} ${name}`;
  const latest = latestColumns.get(shape);
  if (latest?.called === called) return latest.columns;
  const columns = scopeColumns(shape.columns, dialect, name);
  latestColumns.set(shape, { called, columns });
  return columns;
}

/** How an UPDATE changes a row it touches. */
export function compileUpdate(
  update: UpdateStatement,
  shape: TableShape,
  options: EvaluateOptions,
): (row: EvaluatedRow) => EvaluatedRow | Undecidable {
  const compiled = decide(() => {
    const { scope, ctx } = prepare(update, shape, options);
    const steps = update.set.flatMap((assignment) => compileAssignment(assignment, shape, scope, ctx));
    if (ctx.dialect === 'mysql') rejectUnsureOrder(update, ctx);
    if (ctx.dialect === 'sqlite') rejectOwnReads(update, shape, ctx);
    return { steps, generated: generatedColumns(shape, scope, ctx) };
  });
  if (isUndecidable(compiled)) return () => compiled;
  const sequential = options.dialect === 'mysql';
  return (row) => {
    const changed: Evaluated[] = [...row];
    const env: Env = { row: sequential ? changed : row, outer: undefined };
    for (const { index, run } of compiled.steps) changed[index] = run(env);
    for (const { index, run } of compiled.generated) changed[index] = run({ row: changed, outer: undefined });
    return changed;
  };
}

/** MariaDB assigns all at once when the statement has a subquery, and one after the other when it has none; TiDB in an UPDATE, but not in an upsert. */
function rejectUnsureOrder(update: UpdateStatement, { dialect, assignsAtOnce }: Context): void {
  if (update.set.length < 2) return;
  if (!assignsAtOnce && !JSON.stringify([update.set, update.where]).includes('"type":"select"')) return;
  const assigned = new Set<string>();
  for (const { columns, value } of update.set) {
    visitNodes(value, {
      expression: (node) => {
        if (node.type === 'column' && assigned.has(nameKey(node.name, dialect))) {
          throw new NotDecidable('an assignment that reads an assigned column');
        }
      },
    });
    for (const name of columns) assigned.add(nameKey(name, dialect));
  }
}

/** SQLite runs a correlated subquery of SET on the table as it is by then, with the rows changed before. */
function rejectOwnReads(update: UpdateStatement, shape: TableShape, ctx: Context): void {
  for (const { value } of update.set) {
    visitNodes(value, {
      from: (item) => {
        if (item.type === 'table' && sameName(item.name, shape.name, ctx.dialect)) {
          throw new NotDecidable('an assignment that reads its own table');
        }
      },
    });
  }
}

interface Step {
  readonly index: number;
  readonly run: (env: Env) => Evaluated;
}

function compileAssignment(assignment: Assignment, shape: TableShape, scope: Scope, ctx: Context): Step[] {
  const { columns, value } = assignment;
  const values = assignment.tuple === true && value.type === 'row' ? value.items : [value];
  if (values.length !== columns.length) throw new NotDecidable('an assignment of several columns at once');
  return columns.map((name, i) => {
    const index = columnIndex(name, shape, ctx);
    return { index, run: compileStored(values[i]!, shape.columns[index]!, scope, ctx) };
  });
}

function columnIndex(name: string, shape: TableShape, ctx: Context): number {
  const index = columnOf(shape.columns, name, ctx.dialect);
  if (index < 0) throw unlikeShape(shape, `no column ${name} is known`);
  return index;
}

/** What is written does not fit the columns that are known; the table may have others. */
function unlikeShape({ derived }: TableShape, problem: string): NotDecidable {
  return new NotDecidable(derived === true ? 'the columns of its table come from a query' : problem);
}

/** An expression as the value its column will hold. What cannot be compiled is undecidable in this cell only. */
function compileStored(e: Expression, column: ShapeColumn, scope: Scope, ctx: Context): Step['run'] {
  const compiled = decide(() => {
    if (e.type === 'default') return compileDefault(column, ctx);
    const to = sqlType(column.type, ctx.dialect);
    const { type, run } = compileColumnValue(e, to, scope, ctx);
    const kept = { from: type, to, column };
    return (env: Env) => store(run(env), kept, ctx);
  });
  return isUndecidable(compiled) ? () => compiled : compiled;
}

const nowhere: Env = { row: [], outer: undefined };
const noColumns: Scope = { columns: [], parent: undefined };

/** What a column will hold of an expression that names none. */
function storedConstant(e: Expression, column: ShapeColumn, ctx: Context): Evaluated {
  if (e.type !== 'literal') return compileStored(e, column, noColumns, ctx)(nowhere);
  const to = sqlType(column.type, ctx.dialect);
  const { type, run } = compileColumnValue(e, to, noColumns, ctx);
  return store(run(nowhere), { from: type, to, column }, ctx);
}

function compileColumnValue(e: Expression, to: SqlType, scope: Scope, ctx: Context) {
  if (e.type === 'literal' && typeof e.value === 'string' && ctx.dialect !== 'sqlite') {
    const value = textAs(e.value, to, { dialect: 'postgres' });
    if (value !== undefined) return { type: to, run: () => value };
  }
  return compileValue(e, scope, ctx);
}

function store(
  value: Evaluated,
  { from, to, column }: { readonly from: SqlType; readonly to: SqlType; readonly column: ShapeColumn },
  ctx: Context,
): Evaluated {
  if (isUndecidable(value)) return value;
  if (value === null) return column.notNull ? undecidable(`${column.name} cannot be NULL`) : null;
  if (ctx.dialect === 'sqlite') return storeInSqlite(value, from, to);
  return coerce(value, from, to, ctx.dialect);
}

/** SQLite's affinities change only what they can change without loss. */
function storeInSqlite(value: Value, from: SqlType, to: SqlType): Evaluated {
  if (typeof value === 'boolean') return storeInSqlite(Number(value), types.bigint, to);
  const large = typeof value === 'object' && value !== null && 'int' in value;
  switch (to.family) {
    case 'text':
      if (large) return value.int;
      if (typeof value !== 'number') return value;
      // A whole float keeps its point: 5.0 becomes '5.0'.
      return from.family === 'int' && Number.isInteger(value)
        ? String(value)
        : undecidable('a float as text');
    case 'unknown':
      return value;
    default:
      if (typeof value === 'string')
        return Number.isNaN(Number(value)) ? value : undecidable('a number in text form');
      if (to.family === 'double') return large ? doubleValue(Number(value.int)) : value;
      return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
        ? undecidable('a float as a large integer')
        : value;
  }
}

function compileDefault(column: ShapeColumn, ctx: Context): Step['run'] {
  if (column.automatic) throw new NotDecidable(`${column.name} is given by the engine`);
  if (column.generated !== undefined) return () => null;
  const { default: value } = column;
  if (value === undefined)
    return () => (column.notNull ? undecidable(`${column.name} cannot be NULL`) : null);
  return compileStored(value, column, noColumns, ctx);
}

function generatedColumns(shape: TableShape, scope: Scope, ctx: Context): Step[] {
  const steps: Step[] = [];
  for (const [index, column] of shape.columns.entries()) {
    if (column.generated === undefined) continue;
    steps.push({ index, run: compileStored(column.generated, column, scope, ctx) });
  }
  return steps;
}

/** The rows an INSERT offers to its table, before conflicts are looked at. */
export function applyInsert(
  insert: InsertStatement,
  shape: TableShape,
  options: EvaluateOptions,
): readonly EvaluatedRow[] | Undecidable {
  return decide(() => {
    if (insert.with !== undefined) throw new NotDecidable('a write with common tables');
    const ctx = contextOf(options);
    const scope = tableScope(insert.table, shape, options);
    const listed =
      insert.columns ??
      shape.columns.filter(({ generated }) => generated === undefined).map(({ name }) => name);
    const targets = listed.map((name) => columnIndex(name, shape, ctx));
    const generated = generatedColumns(shape, scope, ctx);
    const defaults: Step['run'][] = [];
    return sourceRows(insert, targets, shape, ctx).map((given) => {
      const row = new Array<Evaluated | undefined>(shape.columns.length).fill(undefined);
      given.forEach((cell, i) => {
        row[targets[i]!] = orAutomatic(cell, shape.columns[targets[i]!]!, ctx);
      });
      const whole = row.map((cell, i) => {
        if (cell !== undefined) return cell;
        defaults[i] ??= defaultOf(shape.columns[i]!, ctx);
        return defaults[i](nowhere);
      });
      for (const { index, run } of generated) whole[index] = run({ row: whole, outer: undefined });
      return whole;
    });
  });
}

/** Offered NULL, and in MySQL 0, an engine gives the columns it numbers a value of its own. */
function orAutomatic(cell: Evaluated, column: ShapeColumn, ctx: Context): Evaluated {
  const asksForOne = cell === null || (cell === 0 && ctx.dialect === 'mysql');
  return column.automatic && asksForOne ? undecidable(`${column.name} is given by the engine`) : cell;
}

function defaultOf(column: ShapeColumn, ctx: Context): Step['run'] {
  const compiled = decide(() => compileDefault(column, ctx));
  return isUndecidable(compiled) ? () => compiled : compiled;
}

function readsTables(rows: readonly (readonly Expression[])[]): boolean {
  return JSON.stringify(rows).includes('"type":"select"');
}

/** What is given for the listed columns; a row of VALUES without a list of columns may be shorter. */
function sourceRows(
  insert: InsertStatement,
  targets: readonly number[],
  shape: TableShape,
  ctx: Context,
): EvaluatedRow[] {
  const { source } = insert;
  if (source.type === 'defaults') return [[]];
  if (source.type === 'values') {
    // MariaDB's later rows see the earlier ones of the same statement.
    if (ctx.dialect === 'mysql' && source.rows.length > 1 && readsTables(source.rows)) {
      throw new NotDecidable('several rows with subqueries');
    }
    return source.rows.map((row) => {
      if (row.length > targets.length || (insert.columns !== undefined && row.length !== targets.length)) {
        throw unlikeShape(shape, 'VALUES of another width than the columns');
      }
      return row.map((e, i) => storedConstant(e, shape.columns[targets[i]!]!, ctx));
    });
  }
  const relation = compileQuery(source.query, undefined, ctx);
  if (relation.columns.length > targets.length)
    throw unlikeShape(shape, 'a query of another width than the columns');
  return relation.run(undefined).rows.map((row) =>
    row.map((cell, i) => {
      const column = shape.columns[targets[i]!]!;
      const to = sqlType(column.type, ctx.dialect);
      return store(cell, { from: relation.columns[i]?.type ?? types.unknown, to, column }, ctx);
    }),
  );
}

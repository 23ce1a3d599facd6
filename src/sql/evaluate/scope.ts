/** What names mean where an expression stands: the columns of the row at hand, then those of the queries around it. */
import type { ColumnExpression, Expression, SelectStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { sameName } from '../names.js';
import type { TextOrder } from './compare.js';
import { type SqlType, sqlType } from './types.js';
import {
  type Evaluated,
  type EvaluatedRow,
  NotDecidable,
  type Truth,
  type Undecidable,
} from './undecidable.js';

/** A column as callers describe it. `type` is the declared type; without it, what depends on it is undecidable. */
export interface ColumnInfo {
  readonly name: string;
  /** The table or alias that may stand before the dot. */
  readonly table?: string | undefined;
  readonly type?: string | undefined;
}

export interface TableRows {
  readonly columns: readonly ColumnInfo[];
  /** A cell may be undecidable on its own; `Undecidable` as a whole: which rows there are is not known. */
  readonly rows: readonly EvaluatedRow[] | Undecidable;
}

/**
 * How an engine evaluates: the dialect that it speaks, and whether that is the dialect of another engine. Where engines of one dialect
 * differ, what a borrower gives is not known: quotients and averages, texts that differ in case or trailing blanks, where NULL stands in an
 * order, what LIKE takes for an escape or for one character, GREATEST of NULL, sums of floats and decimals, a decimal without a scale.
 */
export interface Arithmetic {
  readonly dialect: Dialect;
  readonly borrowed: boolean;
  /** The engine computes all assignments of an UPDATE from the row as it was (TiDB, unlike MySQL whose dialect it speaks). */
  readonly assignsAtOnce?: boolean | undefined;
}

/** The arithmetic of a target; MySQL's relatives compute as it does, and SQLite's; those that speak PostgreSQL each have their own way. */
export function arithmeticOf(dialect: Dialect, target: string | undefined): Arithmetic {
  return {
    dialect,
    borrowed: dialect === 'postgres' && target !== undefined && target !== dialect,
    ...(target === 'tidb' && { assignsAtOnce: true }),
  };
}

export interface EvaluateOptions {
  readonly dialect: Dialect;
  /** What is known of the order of texts; default: binary for SQLite and DuckDB, the root collation's for the others. */
  readonly textOrder?: TextOrder;
  /** The engine only speaks the dialect (`Arithmetic`). */
  readonly borrowed?: boolean;
  readonly assignsAtOnce?: boolean | undefined;
  /** The rows of a table, for subqueries and FROM. */
  readonly table?: (name: string, schema?: string) => TableRows | undefined;
}

export interface ScopeColumn {
  readonly table: string | undefined;
  readonly name: string;
  readonly type: SqlType;
  /** The second of two columns that USING merged: only its qualified name finds it. */
  readonly hidden?: boolean;
}

export interface Scope {
  readonly columns: readonly ScopeColumn[];
  readonly parent: Scope | undefined;
  /** Aggregate calls and grouping expressions already computed: where in the row their values stand. */
  readonly computed?: ReadonlyMap<Expression, { readonly index: number; readonly type: SqlType }>;
  /** Set when a name was found further out: the query must then run again for every outer row. */
  correlated?: boolean;
}

/** The rows at hand while an expression runs. A cell may itself be undecidable. */
export interface Env {
  row: readonly Evaluated[];
  readonly outer: Env | undefined;
}

export interface Compiled {
  readonly type: SqlType;
  readonly run: (env: Env) => Evaluated;
}

export type CompiledTruth = (env: Env) => Truth;

/** A query, ready to run for a row of the query around it. */
export interface Relation {
  readonly columns: readonly ScopeColumn[];
  readonly correlated: boolean;
  readonly run: (outer: Env | undefined) => RelationRows;
}

export interface RelationRows {
  readonly rows: readonly (readonly Evaluated[])[];
  /** `total`: the rows can only stand in this order; `partial`: rows with equal keys may change places. */
  readonly order: 'none' | 'partial' | 'total';
}

/** What compiling needs besides the scope. */
export interface Context {
  readonly dialect: Dialect;
  readonly textOrder: TextOrder;
  readonly borrowed: boolean;
  readonly assignsAtOnce: boolean;
  readonly table: (name: string, schema?: string) => Relation | undefined;
  /** Expressions and queries can stand inside each other; the files that compile them reach each other here. */
  readonly compileValue: (expression: Expression, scope: Scope, context: Context) => Compiled;
  readonly compileQuery: (query: SelectStatement, parent: Scope | undefined, context: Context) => Relation;
}

/** Columns as a scope knows them. */
export function scopeColumns(
  columns: readonly ColumnInfo[],
  dialect: Dialect,
  table?: string,
): ScopeColumn[] {
  return columns.map((column) => ({
    table: table ?? column.table,
    name: column.name,
    type: sqlType(column.type, dialect),
  }));
}

/** Finds a column here or in a scope further out. */
export function resolveColumn(
  column: ColumnExpression,
  scope: Scope,
  dialect: Dialect,
): { depth: number; index: number; type: SqlType } {
  let depth = 0;
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent, depth++) {
    const index = indexOfColumn(column, at.columns, dialect);
    if (index === undefined) continue;
    for (let passed: Scope = scope; passed !== at; passed = passed.parent!) passed.correlated = true;
    return { depth, index, type: at.columns[index]!.type };
  }
  throw new NotDecidable(`no column ${column.name} is known`);
}

export function indexOfColumn(
  column: ColumnExpression,
  columns: readonly ScopeColumn[],
  dialect: Dialect,
): number | undefined {
  let found: number | undefined;
  for (let i = 0; i < columns.length; i++) {
    const candidate = columns[i]!;
    if (!sameName(candidate.name, column.name, dialect)) continue;
    if (column.table === undefined) {
      if (candidate.hidden === true) continue;
    } else if (candidate.table === undefined || !sameName(candidate.table, column.table, dialect)) continue;
    if (found !== undefined) throw new NotDecidable(`column ${column.name} is ambiguous`);
    found = i;
  }
  return found;
}

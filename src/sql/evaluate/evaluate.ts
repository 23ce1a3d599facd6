/**
 * What a statement means on given rows: the mirror the verifier holds up to a database.
 *
 * Every answer is either exactly what the dialect's engines answer, or `Undecidable` with the reason. Nothing is guessed: text
 * under an unknown collation, implicit conversions, overflow, rounding and unknown functions are undecidable.
 */
import type { Expression, SelectStatement } from '../ast.js';
import { defaultTextOrder } from './compare.js';
import { compileTruth } from './condition.js';
import { compileValue } from './expression.js';
import {
  type ColumnInfo,
  type Context,
  type Env,
  type EvaluateOptions,
  type Relation,
  type Scope,
  scopeColumns,
} from './scope.js';
import { compileQuery } from './select.js';
import type { SqlType } from './types.js';
import {
  decide,
  type Evaluated,
  type EvaluatedRow,
  isUndecidable,
  NotDecidable,
  type Truth,
  type Undecidable,
} from './undecidable.js';

/** What compiling needs, made from a caller's options. */
export function contextOf(options: EvaluateOptions): Context {
  let relations: Map<string, Relation> | undefined;
  return {
    dialect: options.dialect,
    textOrder: options.textOrder ?? defaultTextOrder(options.dialect),
    borrowed: options.borrowed ?? false,
    assignsAtOnce: options.assignsAtOnce ?? false,
    compileValue,
    compileQuery,
    table: (name, schema) => {
      const key = JSON.stringify([schema, name]);
      const known = relations?.get(key);
      if (known !== undefined) return known;
      const table = options.table?.(name, schema);
      if (table === undefined) return undefined;
      const relation: Relation = {
        columns: scopeColumns(table.columns, options.dialect, name),
        correlated: false,
        run: () => {
          if (isUndecidable(table.rows)) throw new NotDecidable(table.rows.undecidable);
          return { rows: table.rows, order: 'none' };
        },
      };
      relations ??= new Map();
      relations.set(key, relation);
      return relation;
    },
  };
}

export function scopeOf(columns: readonly ColumnInfo[], options: EvaluateOptions): Scope {
  return { columns: scopeColumns(columns, options.dialect), parent: undefined };
}

/**
 * A condition ready for many rows. Compile once, call per row: this is the verifier's inner loop.
 *
 *     const isAdult = compilePredicate(where, [{ name: 'age', type: 'INT' }], { dialect: 'postgres' });
 *     isAdult([17]) // false
 */
export function compilePredicate(
  expression: Expression,
  columns: readonly ColumnInfo[],
  options: EvaluateOptions,
): (row: EvaluatedRow) => Truth {
  const compiled = decide(() => compileTruth(expression, scopeOf(columns, options), contextOf(options)));
  if (isUndecidable(compiled)) return () => compiled;
  const env: Env = { row: [], outer: undefined };
  return (row) => {
    env.row = row;
    return compiled(env);
  };
}

/** An expression ready for many rows. */
export function compileExpression(
  expression: Expression,
  columns: readonly ColumnInfo[],
  options: EvaluateOptions,
): (row: EvaluatedRow) => Evaluated {
  const compiled = decide(() => compileValue(expression, scopeOf(columns, options), contextOf(options)));
  if (isUndecidable(compiled)) return () => compiled;
  return (row) => compiled.run({ row, outer: undefined });
}

export interface SelectResult {
  readonly columns: readonly string[];
  readonly types: readonly SqlType[];
  /** A cell may be undecidable on its own; which rows there are is certain. */
  readonly rows: readonly EvaluatedRow[];
  /** `total`: the rows must come in this order; `partial`: rows of equal rank may change places; `none`: any order. */
  readonly order: 'none' | 'partial' | 'total';
}

/** The rows a query returns on the tables of `options.table`. */
export function evaluateSelect(query: SelectStatement, options: EvaluateOptions): SelectResult | Undecidable {
  return decide(() => {
    const relation = compileQuery(query, undefined, contextOf(options));
    const { rows, order } = relation.run(undefined);
    return {
      columns: relation.columns.map(({ name }) => name),
      types: relation.columns.map(({ type }) => type),
      rows,
      order,
    };
  });
}

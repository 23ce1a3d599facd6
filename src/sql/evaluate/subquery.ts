/** Subqueries inside expressions. One that uses nothing from outside runs once. */
import type { Expression, QuantifiedExpression, SelectStatement } from '../ast.js';
import type { Compiled, CompiledTruth, Context, Env, Relation, RelationRows, Scope } from './scope.js';
import { compareCompiled, negateTruth } from './truth.js';
import { type Evaluated, isUndecidable, NotDecidable, type Truth, undecidable } from './undecidable.js';

/** The query's rows for an outer row. */
function rowsOf(relation: Relation): (env: Env) => RelationRows {
  if (relation.correlated) return (env) => relation.run(env);
  let once: RelationRows | undefined;
  return () => {
    once ??= relation.run(undefined);
    return once;
  };
}

function compileColumn(
  query: SelectStatement,
  scope: Scope,
  ctx: Context,
): { relation: Relation; rows: (env: Env) => RelationRows } {
  const relation = ctx.compileQuery(query, scope, ctx);
  if (relation.columns.length !== 1) throw new NotDecidable('a subquery with several columns');
  return { relation, rows: rowsOf(relation) };
}

/** Runs something that may meet an undecidable row. */
function guard<T extends Evaluated | Truth>(work: () => T): T | ReturnType<typeof undecidable> {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotDecidable) return undecidable(error.message);
    throw error;
  }
}

export function compileExists(query: SelectStatement, scope: Scope, ctx: Context): CompiledTruth {
  const rows = rowsOf(ctx.compileQuery(query, scope, ctx));
  return (env) => guard(() => rows(env).rows.length > 0);
}

export function compileScalarQuery(query: SelectStatement, scope: Scope, ctx: Context): Compiled {
  const { relation, rows } = compileColumn(query, scope, ctx);
  const many = undecidable('a scalar subquery with several rows');
  return {
    type: relation.columns[0]!.type,
    run: (env) =>
      guard(() => {
        const result = rows(env).rows;
        return result.length === 0 ? null : result.length === 1 ? result[0]![0]! : many;
      }),
  };
}

export function compileInQuery(
  operand: Expression,
  query: SelectStatement,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  if (operand.type === 'row') throw new NotDecidable('IN with rows and a query');
  return anyRow({ operand, op: '=', query }, scope, ctx);
}

export function compileQuantified(e: QuantifiedExpression, scope: Scope, ctx: Context): CompiledTruth {
  if (e.quantifier === 'ANY') return anyRow(e, scope, ctx);
  const opposite = { '=': '<>', '<>': '=', '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;
  return negateTruth(anyRow({ ...e, op: opposite[e.op] }, scope, ctx));
}

/** Whether the comparison holds for a row of the query. */
function anyRow(
  { operand, op, query }: Pick<QuantifiedExpression, 'operand' | 'op' | 'query'>,
  scope: Scope,
  ctx: Context,
): CompiledTruth {
  const value = ctx.compileValue(operand, scope, ctx);
  const { relation, rows } = compileColumn(query, scope, ctx);
  // A second row holds the candidate, so that the ordinary comparison can be used on both.
  const left: Compiled = { type: value.type, run: (env) => env.row[0]! };
  const right: Compiled = { type: relation.columns[0]!.type, run: (env) => env.row[1]! };
  const compare = compareCompiled(op, left, right, ctx);
  return (env) =>
    guard(() => {
      const x = value.run(env);
      let result: Truth = false;
      for (const [candidate] of rows(env).rows) {
        const holds = compare({ row: [x, candidate!], outer: undefined });
        if (holds === true) return true;
        if (isUndecidable(holds)) result = holds;
        else if (holds === null && result === false) result = null;
      }
      return result;
    });
}

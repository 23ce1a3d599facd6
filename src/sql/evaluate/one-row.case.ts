/**
 * The evaluator asked about one row at a time, as tests ask it. Isolde itself compiles a condition or an update once and then runs it over
 * many rows (`compileExpression`, `compileWhere`, `compileUpdate`).
 */
import type { DeleteStatement, Expression, UpdateStatement } from '../ast.js';
import { compileExpression } from './evaluate.js';
import type { ColumnInfo, EvaluateOptions } from './scope.js';
import type { TableShape } from './shape.js';
import type { Evaluated, EvaluatedRow, Truth, Undecidable } from './undecidable.js';
import { compileUpdate, compileWhere } from './write.js';

/** The value of an expression for one row. */
export function evaluateExpression(
  expression: Expression,
  scope: { readonly columns: readonly ColumnInfo[]; readonly row: EvaluatedRow },
  options: EvaluateOptions,
): Evaluated {
  return compileExpression(expression, scope.columns, options)(scope.row);
}

/** Whether an UPDATE or DELETE touches a row. */
export function evaluateWhere(
  statement: UpdateStatement | DeleteStatement,
  shape: TableShape,
  row: EvaluatedRow,
  options: EvaluateOptions,
): Truth {
  return compileWhere(statement, shape, options)(row);
}

/** The row an UPDATE leaves behind. */
export function applyUpdate(
  update: UpdateStatement,
  shape: TableShape,
  row: EvaluatedRow,
  options: EvaluateOptions,
): EvaluatedRow | Undecidable {
  return compileUpdate(update, shape, options)(row);
}

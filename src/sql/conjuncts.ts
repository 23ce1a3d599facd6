/** The parts of a condition that must all hold. */
import type { Expression } from './ast.js';

/** `a AND (b AND c)` is a, b and c; any other condition is one part. */
export function conjunctsOf(condition: Expression): Expression[] {
  if (condition.type !== 'binary' || condition.op !== 'AND') return [condition];
  return [...conjunctsOf(condition.left), ...conjunctsOf(condition.right)];
}

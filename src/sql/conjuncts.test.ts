import { expect, it } from 'vitest';
import { conjunctsOf, parseStatement, printExpression } from './index.js';

it.each([
  ['a = 1', ['a = 1']],
  ['a = 1 AND b = 2 AND c = 3', ['a = 1', 'b = 2', 'c = 3']],
  ['a = 1 AND (b = 2 AND c = 3)', ['a = 1', 'b = 2', 'c = 3']],
  ['a = 1 OR b = 2 AND c = 3', ['a = 1 OR b = 2 AND c = 3']],
  ['NOT (a = 1 AND b = 2)', ['NOT (a = 1 AND b = 2)']],
])('%s', (where, parts) => {
  const statement = parseStatement(`DELETE FROM t WHERE ${where}`, 'postgres');
  if (statement.type !== 'delete') throw new Error('expected a DELETE');
  expect(conjunctsOf(statement.where!).map((part) => printExpression(part, 'postgres'))).toEqual(parts);
});

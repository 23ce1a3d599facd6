/** What is not known of an engine that only speaks PostgreSQL's dialect (H2, HSQLDB, Derby), where PostgreSQL's own answer is. */
import { expect, it } from 'vitest';
import { parseStatement } from '../parse/parse.js';
import type { Row } from '../value.js';
import { evaluateSelect } from './evaluate.js';
import { isUndecidable } from './undecidable.js';

const columns = [
  { name: 'i', type: 'INT' },
  { name: 'n', type: 'INT' },
  { name: 's', type: 'VARCHAR(9)' },
  { name: 'f', type: 'DOUBLE PRECISION' },
];
const rows: readonly Row[] = [
  [1, null, 'a  ', { double: '0.1' } as unknown as Row[number]],
  [2, 5, '😀', 0.5],
];

function answer(sql: string, borrowed: boolean) {
  const statement = parseStatement(sql, 'postgres');
  if (statement.type !== 'select') throw new Error(sql);
  return evaluateSelect(statement, {
    dialect: 'postgres',
    borrowed,
    table: () => ({ columns, rows: rows.slice() }),
  });
}

const open = (result: ReturnType<typeof answer>): boolean =>
  isUndecidable(result) || result.rows.some((row) => row.some((cell) => isUndecidable(cell)));

it.each([
  "SELECT i FROM t WHERE s = 'a'",
  "SELECT i FROM t WHERE s = 'A  '",
  "SELECT i FROM t WHERE s LIKE '_'",
  "SELECT i FROM t WHERE s LIKE 'a\\%'",
  'SELECT i FROM t ORDER BY n LIMIT 1',
  'SELECT GREATEST(i, n) FROM t',
  'SELECT f + 0.2 FROM t WHERE i = 2',
  'SELECT CAST(i AS DECIMAL) FROM t',
  'SELECT i AS n, COUNT(*) FROM t GROUP BY n',
  'SELECT i / 2 FROM t',
  'SELECT i FROM t WHERE (n > 1) IS NOT TRUE',
])('%s', (sql) => {
  expect(open(answer(sql, true))).toBe(true);
});

it.each([
  ["SELECT i FROM t WHERE s = 'b' AND i = 1", []],
  ["SELECT i FROM t WHERE s = 'a  ' AND i = 1", [[1]]],
  ['SELECT i FROM t ORDER BY n NULLS FIRST LIMIT 1', [[1]]],
  ['SELECT i FROM t ORDER BY i DESC LIMIT 1', [[2]]],
  ['SELECT GREATEST(i, 7) FROM t WHERE i = 1', [[7]]],
  ["SELECT i FROM t WHERE s LIKE 'x%' AND i = 1", []],
  ['SELECT i FROM t WHERE (n > 1) IS TRUE', [[2]]],
  ['SELECT f + f FROM t WHERE i = 2', [[1]]],
])('%s is the same everywhere', (sql, expected) => {
  const result = answer(sql, true);
  expect(isUndecidable(result) ? result : result.rows.map((row) => row.map(Number))).toEqual(expected);
});

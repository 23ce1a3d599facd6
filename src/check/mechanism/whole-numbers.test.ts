import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v BIGINT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

/** As HSQLDB answers: BIGINT and INT add up to a DECIMAL. */
function asDecimals({ header, operations }: History): History {
  const decimal = (cell: unknown) => ({ decimal: String(cell) });
  return {
    header,
    operations: operations.map(({ rows, ...operation }) => ({
      ...operation,
      ...(rows && { rows: rows.map((row) => [...row.slice(0, -1), decimal(row.at(-1))]) }),
    })),
  };
}

it.each([
  ['with names', 'A: SELECT id, v + 1 FROM t -> 1,11 | 2,21', '2,22'],
  ['without', 'A: SELECT v + 1 FROM t -> 11 | 21', '22'],
  ['in a join', 'A: SELECT a.id, a.v + b.v FROM t AS a JOIN t AS b ON a.id = b.id -> 1,20 | 2,40', '2,41'],
])('takes a decimal for the integer that it is, %s', (_, text, wrong) => {
  const kinds = (answer: string) =>
    verifyMechanism(asDecimals(story(answer, { setup })), findContract('hsqldb:read-committed+locks')!)
      .findings.length;
  expect(kinds(text)).toBe(0);
  expect(kinds(text.replace(/\| .*/, `| ${wrong}`))).toBeGreaterThan(0);
});

/** What `/` and AVG give is known only of the engine whose dialect it is; what does not depend on it stays judged. */
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v BIGINT)', 'INSERT INTO t VALUES (1, 1000), (2, -5)'];

function kinds(text: string, name: string, tables: readonly string[] = setup): readonly string[] {
  const { header, operations } = story(text, { setup: tables });
  const target = { name, version: '1', url: `${name}:`, settings: {} };
  const contract = findContract(`${name}:${name === 'derby' ? 'serializable' : 'read-committed'}`)!;
  const { findings } = verifyMechanism({ header: { ...header, target }, operations }, contract);
  return findings.map(({ kind }) => kind);
}

it.each([
  'SELECT AVG(v) AS x FROM t -> 7',
  'WITH c AS (SELECT AVG(v) AS a FROM t) SELECT a FROM c -> 7',
  'SELECT v / 3 AS x FROM t WHERE id = 1 -> 7',
  'SELECT id FROM t WHERE v / 3 = 333 -> 2',
])('%s is judged only on the engine whose dialect it is', (sql) => {
  for (const name of ['derby', 'h2']) expect(kinds(`T1: ${sql}`, name)).toEqual([]);
  expect(kinds(`T1: ${sql}`, 'postgres')).not.toEqual([]);
});

it.each([
  ['UPDATE t SET v = v / 3 WHERE id = 1 -> 1', '1,334 | 2,-5'],
  ['INSERT INTO t VALUES (3, 10 / 3) -> 1', '1,1000 | 2,-5 | 3,4'],
])('what %s has written is not known', (sql, seen) => {
  const text = `T1: ${sql}\nT1: SELECT id, v FROM t -> ${seen}`;
  for (const name of ['derby', 'h2']) expect(kinds(text, name)).toEqual([]);
  expect(kinds(text, 'postgres')).not.toEqual([]);
});

describe.each(['h2', 'derby'])('%s', (name) => {
  it.each([
    [
      'a generated column',
      'w NUMERIC GENERATED ALWAYS AS (v / 3.0) STORED',
      '(id, v) VALUES (1, 10), (2, 20)',
    ],
    ['a default', 'w NUMERIC DEFAULT (7 / 2.0)', '(id, v) VALUES (1, 10), (2, 20)'],
    ['the set-up', 'w NUMERIC', 'VALUES (1, 10, 10 / 3.0), (2, 20, 20 / 3.0)'],
  ])('the quotient of %s is not known', (_, column, rows) => {
    const tables = [`CREATE TABLE t (id INT PRIMARY KEY, v INT, ${column})`, `INSERT INTO t ${rows}`];
    const read = (seen: string) =>
      `T1: UPDATE t SET v = 11 WHERE id = 1 -> 1\nT1: SELECT id, v, w FROM t -> ${seen}`;
    expect(kinds(read('1,11,3 | 2,20,6'), name, tables)).toEqual([]);
    expect(kinds(read('1,11,3 | 2,20,6'), 'postgres', tables)).not.toEqual([]);
    expect(kinds(read('1,10,3 | 2,20,6'), name, tables)).not.toEqual([]);
    expect(kinds(read('1,11,3'), name, tables)).toEqual(['missing-row']);
  });

  it('a write that divides leaves other rows, and which rows there are, judged', () => {
    const halved = (seen: string, count = 1) =>
      `T1: UPDATE t SET v = v / 2 WHERE id = 2 -> ${count}\nT1: SELECT id, v FROM t -> ${seen}`;
    expect(kinds(halved('1,1000 | 2,-3'), name)).toEqual([]);
    expect(kinds(halved('1,11 | 2,-3'), name)).toEqual(['wrong-version']);
    expect(kinds(halved('1,1000'), name)).toEqual(['missing-row']);
    expect(kinds(halved('1,1000 | 2,-3', 0), name)).toEqual(['write-missed-row']);
  });
});

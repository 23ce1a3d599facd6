/**
 * A planner reads statements of one shape once, and fills in the constants of the others. What it says of the second must be what one
 * says that never saw the first, for every place in which a constant can mean something else than a value.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect, EvaluatedRow } from '../sql/index.js';
import { openCatalog } from './catalog.js';
import { shapeOf } from './constant-shape.js';
import type { Plan, RowsOf } from './plan-types.js';
import { Planner } from './planner.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(9))',
  "INSERT INTO t VALUES (1, 10, 5, 'x'), (2, 20, 6, 'y')",
  'CREATE TABLE u (id INT PRIMARY KEY, w INT)',
];
const rows: readonly EvaluatedRow[] = [
  [1, 10, 5, 'x'],
  [2, 20, 6, 'y'],
  [3, 20, 1, null],
  [4, null, 3, ''],
];
const rowsOf: RowsOf = ({ name }) => (name === 't' ? rows : [[2, 7] as EvaluatedRow, [3, 8] as EvaluatedRow]);

/** What a plan does to the rows, as text. */
function effect(plan: Plan): string {
  switch (plan.type) {
    case 'scan':
      return JSON.stringify([
        plan.type,
        plan.keys,
        plan.lock,
        plan.complete,
        rows.map((row) => [plan.where(row) ?? 'open', plan.project(row)]),
      ]);
    case 'query':
      return JSON.stringify([
        plan.type,
        plan.run(rowsOf),
        plan.part && rows.map((row) => plan.part!.where(row) ?? 'open'),
      ]);
    case 'update':
    case 'delete': {
      const { where, apply } = plan.bind(rowsOf);
      return JSON.stringify([
        plan.type,
        plan.keys,
        rows.map((row) => [where(row) ?? 'open', apply(row) ?? 'open']),
      ]);
    }
    case 'insert':
      return JSON.stringify([plan.type, plan.bind(rowsOf)]);
    case 'upsert': {
      const { changes, apply } = plan.bind(rowsOf);
      const each = rows.map((row) => [
        plan.meets(row) ?? 'open',
        changes(row) ?? 'open',
        apply(row) ?? 'open',
      ]);
      return JSON.stringify([plan.type, plan.effect, plan.rows, plan.bent, each]);
    }
    case 'opaque':
      return JSON.stringify([plan.type, plan.writes, plan.keys, plan.tables?.map(({ name }) => name)]);
    default:
      return plan.type;
  }
}

type Shape = (x: number, y: number, text: string) => string;

const shapes: readonly Shape[] = [
  // Positions of columns, not values.
  (x) => `SELECT id, a FROM t ORDER BY ${1 + (x % 2)} LIMIT 2`,
  (x, y) => `SELECT a, b FROM t ORDER BY ${1 + (x % 2)}, ${1 + (y % 2)} LIMIT 1`,
  (x) => `SELECT a, COUNT(*) FROM t GROUP BY ${1 + (x % 1)}`,
  // Numbers of rows.
  (x) => `SELECT id FROM t ORDER BY id LIMIT ${x}`,
  (x, y) => `SELECT id FROM t ORDER BY id LIMIT ${x} OFFSET ${y}`,
  (x) => `SELECT id, a FROM t LIMIT ${x}`,
  // Lists, ranges, several conditions.
  (x, y) => `SELECT id FROM t WHERE id IN (${x}, ${y})`,
  (x, y) => `SELECT id FROM t WHERE id BETWEEN ${x} AND ${y}`,
  (x, y) => `SELECT id FROM t WHERE id = ${x} OR id = ${y}`,
  (x, y) => `SELECT id FROM t WHERE id = ${x} AND id = ${y}`,
  (x, y) => `SELECT id FROM t WHERE ${x} = ${y}`,
  (x, y) => `SELECT id FROM t WHERE id + ${x} = ${y}`,
  (x, y) => `SELECT id, ${x} FROM t WHERE a > ${y}`,
  (x) => `SELECT id, a + ${x} AS "n" FROM t`,
  // Texts.
  (_, __, text) => `SELECT id FROM t WHERE c = '${text}'`,
  (x, _, text) => `SELECT id FROM t WHERE c = '${text}' AND id > ${x}`,
  (_, __, text) => `SELECT id FROM t WHERE c LIKE '${text}%'`,
  (_, __, text) => `SELECT id, '${text}' FROM t`,
  (x, _, text) => `UPDATE t SET c = '${text}' WHERE id = ${x}`,
  // Writes.
  (x, y) => `UPDATE t SET a = ${x}, b = ${y} WHERE id = ${x}`,
  (x, y) => `UPDATE t SET b = ${x}, a = ${y} WHERE id = 2`,
  (x, y) => `UPDATE t SET a = b, b = ${x} WHERE a = ${y}`,
  (x, y) => `UPDATE t SET a = CASE WHEN id = ${x} THEN ${y} ELSE a END`,
  (x, y) => `UPDATE t SET a = (SELECT MAX(w) FROM u WHERE id = ${x}) WHERE id = ${y}`,
  (x) => `DELETE FROM t WHERE a = ${x}`,
  (x) => `DELETE FROM t WHERE id IN (SELECT id FROM u WHERE w > ${x})`,
  (x, y, text) => `INSERT INTO t VALUES (${x}, ${y}, 1, '${text}'), (9, 1, ${x}, '${text}')`,
  (x, y) => `INSERT INTO t (b, id) VALUES (${x}, ${y})`,
  (x, y) => `INSERT INTO u SELECT id + ${x}, a FROM t WHERE id > ${y}`,
  (x, y) => `INSERT INTO u VALUES (${x}, ${y} + 1)`,
  (x, y) => `SELECT COUNT(*) FROM t WHERE a = ${x} OR b = ${y}`,
  (x) => `SELECT t.id FROM t JOIN u ON t.id = u.id WHERE w = ${x}`,
  (x) => `SELECT id FROM t WHERE a IS NULL OR a = ${x} FOR UPDATE`,
];

const ofPostgres: readonly Shape[] = [
  (x, y) => `INSERT INTO t (id, a) VALUES (${x}, ${y}) ON CONFLICT (id) DO UPDATE SET a = ${y}`,
  (x, y) =>
    `INSERT INTO t (id, a) VALUES (${x}, 1) ON CONFLICT (id) DO UPDATE SET a = t.a + ${y} WHERE t.b > ${x}`,
  (x) => `INSERT INTO t (id) VALUES (${x}) ON CONFLICT DO NOTHING`,
  (_, __, text) => `SELECT id FROM t WHERE c = DATE '2026-01-0${text.length}'`,
];
const ofMysql: readonly Shape[] = [
  (x, y) => `INSERT INTO t (id, a) VALUES (${x}, ${y}) ON DUPLICATE KEY UPDATE a = a + ${y}`,
  (x, y) => `REPLACE INTO u VALUES (${x}, ${y})`,
  (x, y) => `SELECT id FROM t ORDER BY id LIMIT ${x}, ${y}`,
  (x) => `UPDATE t SET a = 0 ORDER BY id LIMIT ${x}`,
];

const numbers = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(20, 70_000, 2 ** 31, 2 ** 40));
const constants = fc.array(fc.tuple(numbers, numbers, fc.constantFrom('x', '', 'y', 'X', 'long enough')), {
  minLength: 2,
  maxLength: 4,
});

describe('a plan of a statement whose shape was seen before', () => {
  it.each([
    ['postgres', [...shapes, ...ofPostgres]],
    ['mysql', [...shapes, ...ofMysql]],
    ['sqlite', shapes],
    ['duckdb', shapes],
  ] as const)('is the one it had been given alone (%s)', (dialect: Dialect, all) => {
    const catalog = openCatalog({ dialect, setup, statements: [] });
    for (const [i, shape] of all.entries()) {
      fc.assert(
        fc.property(constants, (list) => {
          const warm = new Planner(catalog);
          for (const [x, y, text] of list) {
            const sql = shape(x, y, text);
            expect(effect(warm.plan(sql)), sql).toBe(effect(new Planner(catalog).plan(sql)));
          }
        }),
        { seed: i, numRuns: 6 },
      );
    }
  });
});

describe('the shape of a statement', () => {
  it.each([
    ['SELECT a FROM t WHERE id = 12', 'SELECT a FROM t WHERE id = ?i', [12]],
    ["UPDATE t SET c = 'x' WHERE id = 1", 'UPDATE t SET c = ?t WHERE id = ?i', ['x', 1]],
    ['SELECT a1 FROM t2', 'SELECT a1 FROM t2', []],
    ['SELECT "1" FROM t WHERE a = 2', 'SELECT "1" FROM t WHERE a = ?i', [2]],
    ['SELECT a - 1 FROM t', 'SELECT a - ?i FROM t', [1]],
    ["INSERT INTO t VALUES ('', 0)", 'INSERT INTO t VALUES (?t, ?i)', ['', 0]],
  ])('%s', (sql, key, found) => {
    expect(shapeOf(sql, 'postgres')).toEqual({ key, constants: found });
  });

  it.each([
    ['a fraction', 'SELECT 1.5'],
    ['an exponent', 'SELECT 1e9'],
    ['hexadecimal', 'SELECT 0x1f'],
    ['a sign', 'SELECT -1'],
    ['a fraction without a leading digit', 'SELECT .5'],
    ['an integer that no double holds', 'SELECT 12345678901234567'],
    ['a quote in a text', "SELECT 'it''s'"],
    ['an escape', "SELECT 'a\\'"],
    ['a comment', 'SELECT 1 -- 2'],
    ['another comment', 'SELECT /* 1 */ 2'],
    ['a dollar quote', 'SELECT $$1$$'],
    ['a parameter', 'SELECT $1'],
    ['a text that does not end', "SELECT 'a"],
    ['a name that does not end', 'SELECT "a'],
    ['a long text', `SELECT '${'x'.repeat(3000)}'`],
  ])('is not told where there is %s', (_, sql) => {
    expect(shapeOf(sql, 'postgres')).toBeUndefined();
  });

  it('is not told where quotes mean texts in one mode and names in another', () => {
    expect(shapeOf('SELECT "a"', 'mysql')).toBeUndefined();
    expect(shapeOf('SELECT 1 # 2', 'mysql')).toBeUndefined();
    expect(shapeOf('SELECT `1` FROM t', 'mysql')).toEqual({ key: 'SELECT `1` FROM t', constants: [] });
  });
});

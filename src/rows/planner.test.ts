import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect, EvaluatedRow } from '../sql/index.js';
import { openCatalog } from './catalog.js';
import type { Plan } from './plan-types.js';
import { Planner } from './planner.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, a INT, b SMALLINT, c TEXT)',
  "INSERT INTO t VALUES (1, 10, 5, 'x'), (2, 20, 6, 'y')",
];

function planner(dialect: Dialect): Planner {
  return new Planner(openCatalog({ dialect, setup, statements: [] }));
}

const rows: readonly EvaluatedRow[] = [
  [1, 10, 5, 'x'],
  [2, 20, 6, 'y'],
  [7, 30, 6, null],
  [7, { undecidable: 'test' }, 6, ''],
  [{ undecidable: 'test' }, 1, 1, ''],
];

/** Everything a plan says about some rows, as text. */
function described(plan: Plan): string {
  const { type } = plan;
  switch (plan.type) {
    case 'scan': {
      const { keys, lock, shows, complete, identityAt, wholeAt, width } = plan;
      const lines = rows.map((row) => [plan.where(row) ?? 'open', plan.project(row)]);
      return JSON.stringify([type, keys, lock, shows, complete, identityAt, wholeAt, width, lines]);
    }
    case 'update':
    case 'delete': {
      const { where, apply } = plan.bind(() => []);
      return JSON.stringify([type, plan.keys, rows.map((row) => [where(row) ?? 'open', apply(row)])]);
    }
    case 'insert':
      return JSON.stringify([type, plan.bind(() => [])]);
    default:
      return type;
  }
}

describe('Planner', () => {
  const shapes: ((x: number, y: number, text: string) => string)[] = [
    (x) => `SELECT id, a FROM t WHERE id = ${x}`,
    (x) => `SELECT * FROM t WHERE id = ${x} FOR UPDATE`,
    (x, y) => `SELECT id FROM t WHERE id = ${x} AND a = ${y}`,
    (x) => `DELETE FROM t WHERE id = ${x}`,
    (x, y) => `UPDATE t SET a = ${x} WHERE id = ${y}`,
    (x, y) => `UPDATE t SET a = a + ${x} WHERE id = ${y}`,
    (x, y) => `UPDATE t SET b = ${x} WHERE id = ${y}`,
    (x, y, text) => `INSERT INTO t VALUES (${x}, ${y}, 1, '${text}')`,
    (x, y) => `INSERT INTO t (a, id) VALUES (${x}, ${y})`,
  ];
  const numbers = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(70_000, 2 ** 31, 2 ** 40));

  it.each(['postgres', 'mysql', 'sqlite', 'duckdb'] as const)(
    'says of a statement the same whatever it has read before (%s)',
    (dialect) => {
      fc.assert(
        fc.property(
          fc.constantFrom(...shapes),
          fc.array(fc.tuple(numbers, numbers, fc.constantFrom('x', '', 'long')), {
            minLength: 2,
            maxLength: 4,
          }),
          (shape, constants) => {
            const warm = planner(dialect);
            for (const [x, y, text] of constants) {
              const sql = shape(x, y, text);
              expect(described(warm.plan(sql))).toBe(described(planner(dialect).plan(sql)));
            }
          },
        ),
        { seed: 20261116, numRuns: 150 },
      );
    },
  );
});

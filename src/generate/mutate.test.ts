/** Changes to statements: what they must keep, checked by evaluating the statements before and after. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compilePredicate,
  type Dialect,
  parseExpressionText,
  parseStatement,
  printStatement,
  type Statement,
} from '../sql/index.js';
import { literal } from './build.js';
import { harmlessQuery, moveValues, otherPredicates, rebuild } from './mutate.js';
import { Random } from './random.js';
import { conflictWeight, touchesOf } from './touches.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];
const parse = (sql: string) => parseStatement(sql, 'postgres');
const print = (statement: Statement) => printStatement(statement, 'postgres');

describe('rebuilding a tree', () => {
  it('without a change gives the same tree', () => {
    for (const sql of [
      'SELECT a, COUNT(*) FROM t WHERE a = 1 AND b IN (1, 2) GROUP BY a HAVING COUNT(*) > 1 ORDER BY a LIMIT 3',
      "UPDATE t SET a = a + 1, s = 'x' WHERE id = 5",
      'INSERT INTO t VALUES (1, NULL), (2, 1.50)',
      'CREATE TABLE t (a INT PRIMARY KEY DEFAULT 5)',
    ])
      expect(rebuild(parse(sql), (node) => node)).toEqual(parse(sql));
  });

  it('does not take the value of a constant for a node', () => {
    const seen: unknown[] = [];
    rebuild(literal({ decimal: '1.50' }), (node) => {
      seen.push(node.type);
      return node;
    });
    expect(seen).toEqual(['literal']);
  });

  it('changes inner nodes before outer ones', () => {
    const order: unknown[] = [];
    rebuild(parseExpressionText('a + 1', 'postgres'), (node) => {
      order.push(node.type);
      return node;
    });
    expect(order).toEqual(['column', 'literal', 'binary']);
  });
});

describe('moved values', () => {
  const numbers = (statement: Statement) => {
    const found: number[] = [];
    rebuild(statement, (node) => {
      if (node.type === 'literal' && typeof node.value === 'number') found.push(node.value);
      return node;
    });
    return found;
  };

  it('keep their order, and equal ones stay equal', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 6 }),
        fc.string(),
        (values, seed) => {
          const statement = parse(`SELECT a FROM t WHERE a IN (${values.join(', ')})`);
          const moved = numbers(moveValues(new Random(seed))(statement));
          for (const [i, a] of values.entries())
            for (const [j, b] of values.entries())
              expect(Math.sign(moved[i]! - moved[j]!)).toBe(Math.sign(a - b));
        },
      ),
    );
  });

  it('leave LIMIT and OFFSET, texts and NULL alone', () => {
    const statement = parse("SELECT a FROM t WHERE s = 'x' OR a IS NULL LIMIT 2 OFFSET 1");
    for (let seed = 0; seed < 20; seed++)
      expect(print(moveValues(new Random(String(seed)))(statement))).toBe(print(statement));
  });

  it('move all statements of a case by the same function', () => {
    const move = moveValues(new Random('x'));
    const [a] = numbers(move(parse('SELECT 7 FROM t')));
    const [b] = numbers(move(parse('DELETE FROM t WHERE id = 7')));
    expect(a).toBe(b);
  });
});

describe('other predicates', () => {
  const columns = [
    { name: 'a', type: 'INT' },
    { name: 'b', type: 'INT' },
  ];
  const conditions = [
    'a = 1',
    'a = 1 AND b = 2',
    'a = 1 OR b = 2',
    '(a = 1 OR b = 0) AND a = 2',
    'a > 1',
    'a = b',
    'a = NULL',
  ];

  it('never lose a row that the condition found', () => {
    const cell = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(
        fc.constantFrom(...conditions),
        fc.string(),
        fc.tuple(cell, cell),
        (condition, seed, row) => {
          const before = parse(`DELETE FROM t WHERE ${condition}`);
          const after = otherPredicates(before, new Random(seed));
          const holds = (statement: Statement) => {
            if (statement.type !== 'delete') throw new Error('no DELETE');
            return compilePredicate(statement.where!, columns, { dialect: 'postgres' })(row);
          };
          if (holds(before) === true) expect(holds(after), print(after)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('can be read back', () => {
    for (let seed = 0; seed < 40; seed++)
      for (const condition of conditions) {
        const after = otherPredicates(parse(`SELECT a FROM t WHERE ${condition}`), new Random(String(seed)));
        expect(parse(print(after))).toEqual(after);
      }
  });

  it('are only those of conditions: other statements stay', () => {
    for (const sql of [
      'INSERT INTO t VALUES (1)',
      'SELECT a FROM t',
      'DELETE FROM t',
      'COMMIT',
      'UPDATE t SET a = 1',
    ])
      expect(otherPredicates(parse(sql), new Random('x'))).toEqual(parse(sql));
  });
});

describe('constants', () => {
  it.each(dialects)('are read back as what they were, in %s', (dialect) => {
    const values = [
      0,
      -1,
      5,
      0.5,
      -2.25,
      1e-7,
      1e300,
      -1e300,
      'x',
      "o'k",
      'a\\b',
      null,
      { decimal: '1.50' },
      { int: '9223372036854775807' },
    ];
    for (const value of values) {
      const expression = literal(value);
      const sql = printStatement(
        { type: 'delete', table: { type: 'table', name: 't' }, using: [], where: expression, orderBy: [] },
        dialect,
      );
      expect(parseStatement(sql, dialect), sql).toMatchObject({ where: expression });
    }
  });
});

describe('statements that meet', () => {
  const weight = (one: string, other: string) => conflictWeight(touchesOf(one), touchesOf(other));

  it.each<[one: string, other: string, weight: number]>([
    ['UPDATE t SET a = 1', 'UPDATE t SET a = 2', 4],
    ['UPDATE t SET a = 1', 'DELETE FROM t', 4],
    ['SELECT * FROM t', 'UPDATE t SET a = 1', 1],
    ['SELECT * FROM t', 'SELECT * FROM t', 0],
    ['UPDATE t SET a = 1', 'UPDATE u SET a = 1', 0],
    ['SELECT * FROM t FOR UPDATE', 'SELECT * FROM t FOR UPDATE', 4],
    ['SELECT * FROM t FOR UPDATE', 'SELECT * FROM t', 1],
    ['INSERT INTO u SELECT * FROM t', 'DELETE FROM t', 1],
    ['COMMIT', 'DELETE FROM t', 0],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(weight(one, other)).toBe(expected);
    expect(weight(other, one)).toBe(expected);
  });
});

it('a harmless query reads its table and writes nothing', () => {
  const sql = print(harmlessQuery('t'));
  expect(sql).toBe('SELECT COUNT(*) AS n FROM t');
  expect(touchesOf(sql).writes.size).toBe(0);
});

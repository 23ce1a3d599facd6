import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sqlArbitraries } from './arbitrary.case.js';
import type { Expression } from './ast.js';
import { parseStatement } from './parse/parse.js';
import { printStatement } from './print/print.js';
import { mapExpressions, visitNodes } from './walk.js';

test('mapExpressions replaces constants everywhere, subqueries included', () => {
  const statement = parseStatement(
    'UPDATE t SET v = 1 WHERE id IN (SELECT id FROM u WHERE w = 2)',
    'postgres',
  );
  const mapped = mapExpressions(
    statement,
    (e): Expression => (e.type === 'literal' ? { type: 'literal', value: 0 } : e),
  );
  expect(printStatement(mapped, 'postgres')).toBe(
    'UPDATE t SET v = 0 WHERE id IN (SELECT id FROM u WHERE w = 0)',
  );
});

test('a mapping that changes nothing returns the very same tree', () => {
  fc.assert(
    fc.property(sqlArbitraries('postgres').statement, (statement) => {
      expect(mapExpressions(statement, (e) => e)).toBe(statement);
    }),
    { numRuns: 100 },
  );
});

test('visitNodes and mapExpressions meet the same expressions', () => {
  fc.assert(
    fc.property(sqlArbitraries('duckdb').statement, (statement) => {
      const visited: Expression[] = [];
      const mapped: Expression[] = [];
      visitNodes(statement, { expression: (e) => visited.push(e) });
      mapExpressions(statement, (e) => {
        mapped.push(e);
        return e;
      });
      expect(new Set(mapped)).toEqual(new Set(visited));
      expect(mapped.length).toBe(visited.length);
    }),
    { numRuns: 100 },
  );
});

test('visitNodes meets queries and tables', () => {
  const tables: string[] = [];
  let queries = 0;
  visitNodes(
    parseStatement('SELECT * FROM a JOIN (SELECT * FROM b) AS c ON EXISTS (SELECT 1 FROM d)', 'postgres'),
    {
      query: () => {
        queries++;
      },
      from: (item) => {
        if (item.type === 'table') tables.push(item.name);
      },
    },
  );
  expect(queries).toBe(3);
  expect(tables).toEqual(['a', 'b', 'd']);
});

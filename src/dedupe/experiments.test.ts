import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyScheduledCase } from '../cases/arbitrary.case.js';
import { parseScript, scheduleProblem, serialOrder } from '../cases/index.js';
import { experimentsOf, mostExperiments } from './experiments.js';

function experiments(script: string) {
  const { case: program, schedule = serialOrder(program) } = parseScript(script, {
    file: 'x.sql',
    dialect: 'duckdb',
  });
  return new Map(
    experimentsOf({ case: program, schedule }).map(({ name, case: changed, schedule: order }) => [
      name,
      order.batches.map((batch) =>
        batch
          .map(([s, p]) => `${changed.sessions[s]!.name}: ${changed.sessions[s]!.statements[p]}`)
          .join(' | '),
      ),
    ]),
  );
}

const deleted = `
  CREATE TABLE t (a INT PRIMARY KEY, b INT);
  T1: BEGIN
  T1: UPDATE t SET b = NULL WHERE a = 1 RETURNING b
  T2: DELETE FROM t WHERE a = 1
  T1: COMMIT`;

describe('experiments', () => {
  it('look closer: when all is over, before a transaction ends, before a write', () => {
    const found = experiments(deleted);
    expect(found.get('every table read when all is over')!.at(-1)).toBe('later: SELECT * FROM t');
    expect(found.get('every row updated when all is over')!.slice(-2)).toEqual([
      'later: UPDATE t SET b = b',
      'later: SELECT * FROM t',
    ]);
    expect(found.get('T1 reads every table before its transaction ends')!.slice(-2)).toEqual([
      'T1: SELECT * FROM t',
      'T1: COMMIT',
    ]);
    expect(found.get('T1 reads every table first')!.slice(0, 2)).toEqual([
      'T1: BEGIN',
      'T1: SELECT * FROM t',
    ]);
    expect(found.get('a read of every table before T2.1')![2]).toBe('T2: SELECT * FROM t');
  });

  it('take conditions away, or change them', () => {
    const found = experiments(deleted);
    expect(found.get('T1.2 without RETURNING')![1]).toBe('T1: UPDATE t SET b = NULL WHERE a = 1');
    expect(found.get('T1.2 with a value in place of NULL')![1]).toContain('SET b = 1 WHERE');
    expect(found.get('UPDATE in place of T2.1')![2]).toBe('T2: UPDATE t SET b = 6 WHERE a = 1');
    expect(found.get('DELETE in place of T1.2')![1]).toBe('T1: DELETE FROM t WHERE a = 1');
    expect(found.get('without T2.1')).toHaveLength(3);
    expect(found.get('T2.1 twice')).toHaveLength(5);
    expect(found.get('T1 rolls back')![3]).toBe('T1: ROLLBACK');
  });

  it.each([
    ['0', '77'],
    ["'a'", "'ax'"],
    ["CAST('a' AS BLOB)", "CAST('ax' AS BLOB)"],
    ['b', undefined],
  ])('set another value in place of %s', (value, other) => {
    const found = experiments(`CREATE TABLE t (b INT);\nT1: UPDATE t SET b = ${value}`);
    const expected = other === undefined ? undefined : [`T1: UPDATE t SET b = ${other}`];
    expect(found.get('T1.1 with another value')).toEqual(expected);
  });

  it.each([
    'INSERT INTO t (b) VALUES (0)',
    'INSERT OR REPLACE INTO t (b) VALUES (0)',
    'INSERT INTO t (b) VALUES (0) ON CONFLICT (b) DO UPDATE SET b = 1',
    'MERGE INTO t USING (SELECT 0 AS b) AS s ON t.b = s.b WHEN NOT MATCHED THEN INSERT (b) VALUES (0)',
  ])('insert before, and delete or update in place of %s', (sql) => {
    const { case: program } = parseScript(`CREATE TABLE t (b INT);\nT1: ${sql}`, {
      ...{ file: 'x.sql', dialect: 'duckdb' },
    });
    const found = experimentsOf({ case: program, schedule: serialOrder(program) }).filter(({ name }) =>
      name.endsWith('in place of T1.1'),
    );
    expect(found.map(({ case: changed }) => [changed.setup.at(-1), changed.sessions[0]!.statements])).toEqual(
      [
        ['INSERT INTO t (b) VALUES (0)', ['DELETE FROM t']],
        ['INSERT INTO t (b) VALUES (0)', ['UPDATE t SET b = 6']],
      ],
    );
  });

  it('are schedules of their cases, few, and always the same', () => {
    fc.assert(
      fc.property(anyScheduledCase, ({ case: program, schedule = serialOrder(program) }) => {
        const scheduled = { case: program, schedule };
        const found = experimentsOf(scheduled);
        expect(found.length).toBeLessThanOrEqual(mostExperiments);
        for (const { case: changed, schedule: order } of found)
          expect(scheduleProblem(changed, order)).toBeUndefined();
        expect(experimentsOf(scheduled)).toEqual(found);
      }),
      { numRuns: 100 },
    );
  });
});

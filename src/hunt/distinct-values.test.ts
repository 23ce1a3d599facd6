import { describe, expect, it } from 'vitest';
import type { Dialect } from '../sql/index.js';
import { withDistinctValues } from './distinct-values.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT, s TEXT, d DATE, ref INT)',
  "INSERT INTO t VALUES (1, 0, 'a', '2020-01-01', 0)",
];

function distinct(dialect: Dialect, ...statements: readonly string[]): readonly string[] {
  const program = { name: 'c', setup, sessions: [{ name: 'T1', statements }] };
  const changed = withDistinctValues(program, dialect);
  expect(changed.setup).toBe(setup);
  return changed.sessions[0]!.statements;
}

describe('every write stores values of its own', () => {
  it('in UPDATE, whatever the case already holds', () => {
    expect(
      distinct('postgres', 'UPDATE t SET v = 0 WHERE id = 71', "UPDATE t SET v = -1, s = 'a'", 'COMMIT'),
    ).toEqual(['UPDATE t SET v = 72 WHERE id = 71', "UPDATE t SET v = 73, s = 'v74'", 'COMMIT']);
  });

  it('in INSERT, except for keys and what conditions go by', () => {
    expect(
      distinct(
        'postgres',
        "INSERT INTO t VALUES (2, 0, 'a', '2020-01-01', 5), (3, 0, NULL, NULL, 5)",
        'INSERT INTO t (v, id) VALUES (0, 4)',
        'SELECT v FROM t WHERE ref = 5',
      ),
    ).toEqual([
      "INSERT INTO t VALUES (2, 71, 'v72', '2020-01-01', 5), (3, 73, NULL, NULL, 5)",
      'INSERT INTO t (v, id) VALUES (74, 4)',
      'SELECT v FROM t WHERE ref = 5',
    ]);
  });

  it('in upserts of both spellings', () => {
    expect(
      distinct('postgres', 'INSERT INTO t (id, v) VALUES (1, 0) ON CONFLICT (id) DO UPDATE SET v = 0'),
    ).toEqual(['INSERT INTO t (id, v) VALUES (1, 72) ON CONFLICT (id) DO UPDATE SET v = 71']);
    expect(
      distinct('mysql', 'INSERT INTO t (id, v) VALUES (1, 0) ON DUPLICATE KEY UPDATE v = 0, ref = v + 1'),
    ).toEqual(['INSERT INTO t (id, v) VALUES (1, 72) ON DUPLICATE KEY UPDATE v = 71, ref = v + 1']);
  });

  it('in MERGE', () => {
    expect(
      distinct(
        'postgres',
        'MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (1, 0)',
      ),
    ).toEqual([
      'MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = 71 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (1, 72)',
    ]);
  });

  it('and nothing else is touched', () => {
    const others = ['DELETE FROM t WHERE v = 0', 'UPDATE  t SET v = v + 1', 'VACUUM  t', 'SELECT  0'];
    expect(distinct('postgres', ...others)).toEqual(others);
  });
});

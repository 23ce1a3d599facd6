/** What the planner makes of each form of statement: which plan, which rows, what becomes of them. */
import { describe, expect, it } from 'vitest';
import type { Dialect, EvaluatedRow } from '../sql/index.js';
import { openCatalog } from './catalog.js';
import type { Plan, RowsOf } from './plan-types.js';
import { Planner } from './planner.js';

const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
  'CREATE TABLE u (id INT PRIMARY KEY, w INT)',
  'INSERT INTO u VALUES (2, 7)',
];
const state: Readonly<Record<string, readonly EvaluatedRow[]>> = {
  t: [
    [1, 10],
    [2, 20],
    [3, null],
  ],
  u: [[2, 7]],
};
const rowsOf: RowsOf = ({ name }) => state[name] ?? [];

function plan(sql: string, dialect: Dialect = 'postgres'): Plan {
  return new Planner(openCatalog({ dialect, setup, statements: [] })).plan(sql);
}

function planOf<Type extends Plan['type']>(type: Type, sql: string, dialect?: Dialect) {
  const made = plan(sql, dialect);
  if (made.type !== type) throw new Error(`${sql} is planned as ${made.type}`);
  return made as Extract<Plan, { type: Type }>;
}

describe('the kind of plan', () => {
  it.each([
    ['SELECT * FROM t', 'scan'],
    ['SELECT v, id FROM t WHERE v > 3', 'scan'],
    ['SELECT v + 1 FROM t', 'scan'],
    ['SELECT * FROM t AS x WHERE x.id = 1 FOR UPDATE', 'scan'],
    ['SELECT * FROM t, u', 'query'],
    ['SELECT COUNT(*) FROM t', 'query'],
    ['SELECT DISTINCT v FROM t', 'query'],
    ['SELECT * FROM t ORDER BY id LIMIT 1', 'query'],
    ['SELECT v FROM t UNION SELECT w FROM u', 'query'],
    ['INSERT INTO t VALUES (3, 30)', 'insert'],
    ['INSERT INTO t SELECT id + 10, w FROM u', 'insert'],
    ['INSERT INTO t VALUES (3, 30) ON CONFLICT DO NOTHING', 'upsert'],
    ['INSERT INTO t VALUES (3, 30) ON CONFLICT (id) DO UPDATE SET v = 1', 'upsert'],
    ['UPDATE t SET v = 1', 'update'],
    ['UPDATE t SET v = (SELECT MAX(w) FROM u) WHERE id = 1', 'update'],
    ['DELETE FROM t WHERE id IN (SELECT id FROM u)', 'delete'],
    ['BEGIN', 'idle'],
    ['COMMIT', 'idle'],
    ['SAVEPOINT s', 'idle'],
    ['SELECT * FROM missing', 'opaque'],
    ['UPDATE missing SET v = 1', 'opaque'],
    ['UPDATE t SET v = 1 FROM u WHERE u.id = t.id', 'opaque'],
  ] as const)('%s: %s', (sql, type) => {
    expect(plan(sql).type).toBe(type);
  });

  it.each([
    ['mysql', 'REPLACE INTO t VALUES (1, 11)', 'replace'],
    ['mysql', 'INSERT INTO t VALUES (1, 11) ON DUPLICATE KEY UPDATE v = v + 1', 'update'],
    ['mysql', 'INSERT IGNORE INTO t VALUES (1, 11)', 'nothing'],
    ['sqlite', 'INSERT OR REPLACE INTO t VALUES (1, 11)', 'replace'],
    ['sqlite', 'INSERT OR IGNORE INTO t VALUES (1, 11)', 'nothing'],
    ['postgres', 'INSERT INTO t VALUES (1, 11) ON CONFLICT DO NOTHING', 'nothing'],
  ] as const)('%s: %s leaves what is in the way to "%s"', (dialect, sql, effect) => {
    expect(planOf('upsert', sql, dialect).effect).toBe(effect);
  });
});

function keysOf(sql: string): readonly string[] | undefined {
  const made = plan(sql);
  if (made.type !== 'update' && made.type !== 'delete') throw new Error(`${sql} is planned as ${made.type}`);
  return made.keys;
}

describe('the rows a statement names', () => {
  it.each<[string, readonly string[] | undefined]>([
    ['id = 1', ['1']],
    ['1 = id', ['1']],
    ['id IN (1, 2)', ['1', '2']],
    ['id = 1 AND v = 10', ['1']],
    ['id = 1 OR id = 2', ['1', '2']],
    ['id = 1 OR v = 2', undefined],
    ['v = 10', undefined],
    ['id > 1', undefined],
    ['NOT id = 1', undefined],
    ['id = v', undefined],
  ])('%s', (condition, keys) => {
    const sorted = (list: readonly string[] | undefined) => list && [...list].sort();
    expect(sorted(planOf('scan', `SELECT * FROM t WHERE ${condition}`).keys)).toEqual(keys);
    expect(sorted(keysOf(`DELETE FROM t WHERE ${condition}`))).toEqual(keys);
    expect(sorted(keysOf(`UPDATE t SET v = 1 WHERE ${condition}`))).toEqual(keys);
  });
});

describe('what a statement does', () => {
  it('a scan returns its rows line by line, and says where a line names its row', () => {
    const scan = planOf('scan', 'SELECT v, id FROM t WHERE v > 10');
    expect(state.t!.map((row) => scan.where(row))).toEqual([false, true, false]);
    expect(scan.project([2, 20])).toEqual([20, 2]);
    expect([scan.width, scan.shows, scan.identityAt, scan.wholeAt]).toEqual([2, [1, 0], [1], [1, 0]]);
    expect(planOf('scan', 'SELECT v FROM t').identityAt).toBeUndefined();
    expect(planOf('scan', 'SELECT v FROM t').wholeAt).toBeUndefined();
  });

  it.each([
    ['', 'none'],
    ['FOR UPDATE', 'exclusive'],
    ['FOR NO KEY UPDATE', 'no-key-update'],
    ['FOR SHARE', 'share'],
    ['FOR KEY SHARE', 'key-share'],
  ] as const)('SELECT … %s locks: %s', (clause, lock) => {
    expect(planOf('scan', `SELECT * FROM t ${clause}`).lock).toBe(lock);
  });

  it('SKIP LOCKED leaves rows out', () => {
    expect(planOf('scan', 'SELECT * FROM t FOR UPDATE SKIP LOCKED').skipsLocked).toBe(true);
    expect(planOf('scan', 'SELECT * FROM t FOR UPDATE').skipsLocked).toBe(false);
  });

  it.each<[string, readonly EvaluatedRow[]]>([
    ['SELECT COUNT(*), SUM(v) FROM t', [[3, 30]]],
    ['SELECT t.id, w FROM t JOIN u ON t.id = u.id', [[2, 7]]],
    ['SELECT v FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)', [[20]]],
  ])('a query runs on the tables given: %s', (sql, rows) => {
    const made = plan(sql);
    if (made.type === 'query') expect(made.run(rowsOf)).toEqual(rows);
    else expect(made.type).toBe('query');
  });

  it.each<[string, readonly (EvaluatedRow | 'absent' | undefined)[]]>([
    [
      'UPDATE t SET v = v + 1',
      [
        [1, 11],
        [2, 21],
        [3, null],
      ],
    ],
    ['UPDATE t SET v = 0 WHERE v IS NULL', [undefined, undefined, [3, 0]]],
    [
      'UPDATE t SET v = (SELECT w FROM u WHERE u.id = t.id)',
      [
        [1, null],
        [2, 7],
        [3, null],
      ],
    ],
    ['UPDATE t SET v = 1 WHERE id IN (SELECT id FROM u)', [undefined, [2, 1], undefined]],
    ['DELETE FROM t WHERE v = 10', ['absent', undefined, undefined]],
    ['DELETE FROM t WHERE v <> 10', [undefined, 'absent', undefined]],
    ['DELETE FROM t', ['absent', 'absent', 'absent']],
  ])('%s', (sql, expected) => {
    const made = plan(sql);
    if (made.type !== 'update' && made.type !== 'delete') throw new Error(made.type);
    const { where, apply } = made.bind(rowsOf);
    expect(state.t!.map((row) => (where(row) === true ? apply(row) : undefined))).toEqual(expected);
  });

  it('names the tables that subqueries of a write read', () => {
    const reads = (sql: string) => {
      const made = plan(sql);
      return 'reads' in made ? made.reads.map(({ name }) => name) : [];
    };
    expect(reads('UPDATE t SET v = 1')).toEqual([]);
    expect(reads('UPDATE t SET v = (SELECT MAX(w) FROM u)')).toEqual(['u']);
    expect(reads('DELETE FROM t WHERE id IN (SELECT id FROM u)')).toEqual(['u']);
    expect(reads('INSERT INTO t SELECT id + 5, w FROM u')).toEqual(['u']);
  });

  it.each<[string, readonly EvaluatedRow[]]>([
    [
      'INSERT INTO t VALUES (3, 30), (4, NULL)',
      [
        [3, 30],
        [4, null],
      ],
    ],
    ['INSERT INTO t (id) VALUES (5)', [[5, null]]],
    ['INSERT INTO t (v, id) VALUES (1, 2 + 3)', [[5, 1]]],
    ['INSERT INTO t SELECT id + 10, w FROM u', [[12, 7]]],
    ['INSERT INTO t SELECT id, w FROM u WHERE w > 100', []],
  ])('%s adds %j', (sql, rows) => {
    expect(planOf('insert', sql).bind(rowsOf)).toEqual(rows);
  });

  it('an upsert says which rows are in its way and what constants make of them', () => {
    const upsert = planOf('upsert', 'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 6');
    expect(state.t!.map((row) => upsert.meets(row))).toEqual([true, false, false]);
    const { changes, apply } = upsert.bind(rowsOf);
    expect([changes([1, 10]), apply([1, 10])]).toEqual([true, [1, 6]]);
    expect(upsert.rows).toEqual([[1, 5]]);
  });

  it.each<[string, EvaluatedRow | 'absent' | 'stays' | undefined]>([
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = t.v + EXCLUDED.v', [1, 15]],
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 0 WHERE t.v > 100', 'stays'],
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = 0 WHERE t.v > excluded.v', [1, 0]],
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = (SELECT MAX(w) FROM u)', [1, 7]],
    // Ambiguous in PostgreSQL.
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = v + 1', undefined],
    ['INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = (SELECT t.v FROM u)', [1, 10]],
    [
      'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = (SELECT excluded.v + u.w + t.v FROM u)',
      [1, 22],
    ],
    // A derived table's names are not looked at.
    [
      'INSERT INTO t VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET v = (SELECT d.w FROM (SELECT w FROM u) AS d)',
      undefined,
    ],
    ['INSERT INTO t VALUES (1, 5), (2, 6) ON CONFLICT (id) DO UPDATE SET v = excluded.v', [1, 5]],
    // The second row may read what the first has changed.
    [
      'INSERT INTO t VALUES (1, 5), (2, 6) ON CONFLICT (id) DO UPDATE SET v = (SELECT MAX(v) FROM t)',
      undefined,
    ],
    [
      'INSERT INTO t VALUES (1, 5), (2, 6) ON CONFLICT (id) DO UPDATE SET v = excluded.v + (SELECT MAX(w) FROM u)',
      [1, 12],
    ],
    [
      'MERGE INTO t USING (SELECT 1 AS k, 3 AS n) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = t.v * s.n',
      [1, 30],
    ],
    [
      'MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED AND t.v < 5 THEN UPDATE SET v = 0',
      'stays',
    ],
    ['MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED AND v = 10 THEN DELETE', 'absent'],
    [
      'MERGE INTO t USING (SELECT 1 AS k, 3 AS n) AS s ON t.id = s.k WHEN MATCHED AND t.v < s.n THEN DELETE WHEN MATCHED AND t.v = 10 THEN UPDATE SET v = t.v + s.n WHEN MATCHED THEN DELETE',
      [1, 13],
    ],
    [
      'MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED AND t.v = 10 THEN DO NOTHING WHEN MATCHED THEN DELETE',
      'stays',
    ],
    [
      'MERGE INTO t USING (SELECT 1 AS k) AS s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = (SELECT MAX(w) FROM u)',
      [1, 7],
    ],
  ])('%s makes of a row in its way %j', (sql, expected) => {
    const { changes, apply } = planOf('upsert', sql).bind(rowsOf);
    expect(changes([1, 10]) === false ? 'stays' : apply([1, 10])).toEqual(expected);
  });

  it('MERGE adds what it computes from its source', () => {
    const merge =
      'MERGE INTO t USING (SELECT 9 AS k) AS s ON t.id = s.k WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.k + 1)';
    expect(planOf('upsert', merge).rows).toEqual([[9, 10]]);
  });

  it('MERGE adds by the first condition that holds', () => {
    const merge = (k: number) =>
      `MERGE INTO t USING (SELECT ${k} AS k) AS s ON t.id = s.k WHEN NOT MATCHED AND s.k > 8 THEN INSERT VALUES (s.k, 1) WHEN NOT MATCHED AND s.k > 4 THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (s.k, 2)`;
    expect([9, 5, 4].map((k) => planOf('upsert', merge(k)).rows)).toEqual([[[9, 1]], [], [[4, 2]]]);
  });

  it.each<[string, readonly EvaluatedRow[], readonly (EvaluatedRow | 'absent' | 'stays' | undefined)[]]>([
    [
      'INSERT INTO t SELECT id, w FROM u ON CONFLICT (id) DO UPDATE SET v = excluded.v + 1',
      [[2, 7]],
      ['stays', [2, 8], 'stays'],
    ],
    [
      'INSERT INTO t SELECT id + 7, w FROM u ON CONFLICT (id) DO NOTHING',
      [[9, 7]],
      ['stays', 'stays', 'stays'],
    ],
    [
      'INSERT INTO t VALUES (1, (SELECT MAX(w) FROM u)) ON CONFLICT (id) DO UPDATE SET v = excluded.v',
      [[1, 7]],
      [[1, 7], 'stays', 'stays'],
    ],
    [
      'MERGE INTO t USING u AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.w WHEN NOT MATCHED THEN INSERT VALUES (s.id, 0)',
      [[2, 0]],
      ['stays', [2, 7], 'stays'],
    ],
    [
      'MERGE INTO t USING (SELECT w AS n, id FROM u WHERE w > 0) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.n',
      [],
      ['stays', [2, 7], 'stays'],
    ],
    [
      'MERGE INTO t USING (VALUES (1, 5), (8, 6)) AS s (k, n) ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.k, s.n)',
      [
        [1, 5],
        [8, 6],
      ],
      [[1, 5], 'stays', 'stays'],
    ],
  ])('%s offers %j', (sql, rows, become) => {
    const resolved = planOf('opaque', sql).resolve!.bind(rowsOf)!;
    expect(resolved.rows).toEqual(rows);
    const { changes, apply } = resolved.bind(rowsOf);
    const after = (row: EvaluatedRow) =>
      resolved.meets(row) !== true || resolved.effect === 'nothing' || changes(row) === false
        ? 'stays'
        : apply(row);
    expect(state.t!.map(after)).toEqual(become);
  });

  it.each([
    'INSERT INTO t VALUES (1, 5), (1, 6) ON CONFLICT (id) DO NOTHING',
    'INSERT INTO t VALUES (1, 5), (2, 6) ON CONFLICT (id) DO UPDATE SET id = 9',
    'MERGE INTO t USING u AS s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE',
    'MERGE INTO t USING (SELECT MAX(w) AS n FROM u) AS s ON t.id = s.n WHEN MATCHED THEN DELETE',
  ])('%s is not followed', (sql) => {
    expect(planOf('opaque', sql).resolve?.bind(rowsOf)).toBeUndefined();
  });

  it('names the rows that an upsert may write, unless a query tells which', () => {
    const keys = (id: string) =>
      planOf('opaque', `INSERT INTO t VALUES (${id}, 5), (4, 5) ON CONFLICT DO NOTHING`).keys;
    expect(keys('4')).toEqual(['4', '4']);
    expect(keys('(SELECT COALESCE(MAX(w), 0) + 1 FROM u)')).toBeUndefined();
  });

  it('what cannot be followed names the tables it may write, and why', () => {
    const opaque = planOf('opaque', 'UPDATE t SET v = 1 FROM u WHERE u.id = t.id');
    expect([opaque.writes, opaque.tables?.map(({ name }) => name)]).toEqual([true, ['t']]);
    expect(opaque.reason).not.toBe('');
    expect(planOf('opaque', 'SELECT * FROM missing').writes).toBe(false);
  });
});

/** Small random programs that touch each other's rows in every way Table 1 knows, for tests. The same seed, the same case. */
import type { Case } from '../../cases/index.js';
import type { Dialect } from '../../sql/index.js';

export interface RandomCaseOptions {
  readonly seed: number;
  readonly dialect: Dialect;
  readonly sessions?: number;
  readonly transactions?: number;
  readonly lockingReads?: boolean;
  /** Only statements whose rows come in a known order or as a bag: all of them; off: point reads and writes. */
  readonly complex?: boolean;
  /** A table without a key; off where the engine is known to lose updates of it. */
  readonly keyless?: boolean;
}

/** Numbers from a seed: xorshift, enough for tests. */
export function random(seed: number): (below: number) => number {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

export function randomCase(options: RandomCaseOptions): Case {
  const next = random(options.seed);
  const pick = <T>(items: readonly T[]): T => items[next(items.length)]!;
  const second = options.keyless === false ? 'b INT PRIMARY KEY, c INT' : 'b INT, c INT';
  const setup = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT, g INT)',
    `CREATE TABLE u (${second})`,
    'INSERT INTO t VALUES (1, 10, 0), (2, 20, 1), (3, 30, 0), (4, 40, 1)',
    'INSERT INTO u VALUES (1, 1), (2, 2), (3, 1)',
  ];
  const id = () => next(6) + 1;
  const condition = () =>
    pick([
      () => `id = ${id()}`,
      () => `id < ${id()}`,
      () => `v > ${next(50)}`,
      () => `g = ${next(2)}`,
      () => `id IN (${id()}, ${id()})`,
      () => `v BETWEEN ${next(20)} AND ${next(60)}`,
    ])();
  const reads: (() => string)[] = [
    () => `SELECT * FROM t WHERE ${condition()}`,
    () => `SELECT v FROM t WHERE id = ${id()}`,
    () => 'SELECT * FROM u',
    () => `SELECT id, v + 1 AS w FROM t WHERE ${condition()} ORDER BY id`,
  ];
  const complex: (() => string)[] = [
    () => `SELECT COUNT(*), SUM(v) FROM t WHERE ${condition()}`,
    () => 'SELECT g, COUNT(*) FROM t GROUP BY g',
    () => 'SELECT g, MAX(v) FROM t GROUP BY g HAVING COUNT(*) > 1',
    () => `SELECT DISTINCT g FROM t WHERE ${condition()}`,
    () => `SELECT t.v, u.c FROM t JOIN u ON t.id = u.b WHERE u.c < ${next(4)}`,
    () => `SELECT * FROM t LEFT JOIN u ON t.id = u.b WHERE ${condition()}`,
    () => 'SELECT g FROM t UNION SELECT c FROM u',
    () => 'SELECT id FROM t UNION ALL SELECT b FROM u',
    () => 'SELECT id FROM t INTERSECT SELECT b FROM u',
    () => 'SELECT id FROM t EXCEPT SELECT b FROM u ORDER BY id',
    () => `SELECT * FROM t WHERE id IN (SELECT b FROM u WHERE c = ${next(3)})`,
    () => 'SELECT id, (SELECT COUNT(*) FROM u WHERE u.b = t.id) AS n FROM t',
    () => `SELECT q.id FROM (SELECT id, v FROM t WHERE ${condition()}) AS q WHERE q.v > 5`,
    () => 'SELECT * FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) AS q WHERE q.n > 0',
    () => `WITH q AS (SELECT * FROM t WHERE ${condition()}) SELECT id FROM q`,
    () => `SELECT id FROM t WHERE ${condition()} ORDER BY id LIMIT 2`,
    () => 'SELECT * FROM t WHERE EXISTS (SELECT * FROM u WHERE u.b = t.id)',
    () => 'SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.id = b.g',
  ];
  const upsert = () =>
    options.dialect === 'mysql'
      ? `INSERT INTO t VALUES (${id()}, ${next(60)}, ${next(2)}) ON DUPLICATE KEY UPDATE v = v + 1`
      : `INSERT INTO t VALUES (${id()}, ${next(60)}, ${next(2)}) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`;
  const replace = () => {
    const verb = options.dialect === 'mysql' ? 'REPLACE' : 'INSERT OR REPLACE';
    return `${verb} INTO t (id, v, g) VALUES (${id()}, ${next(60)}, ${next(2)})`;
  };
  const writes: (() => string)[] = [
    () => `UPDATE t SET v = v + ${next(9)} WHERE ${condition()}`,
    () => `UPDATE t SET v = ${next(60)} WHERE id = ${id()}`,
    () => `UPDATE u SET c = c + 1 WHERE b = ${id()}`,
    () => `DELETE FROM t WHERE id = ${id()}`,
    () => `DELETE FROM t WHERE ${condition()}`,
    () => `DELETE FROM u WHERE b = ${id()}`,
    () => `INSERT INTO t VALUES (${next(90) + 7}, ${next(60)}, ${next(2)})`,
    () => `INSERT INTO t (id, v) VALUES (${next(90) + 7}, 1), (${next(90) + 100}, 2)`,
    () => `INSERT INTO u SELECT id + ${100 + next(1000)}, g FROM t WHERE ${condition()}`,
    upsert,
  ];
  const far = () => 200 + next(100_000);
  const reading: (() => string)[] = [
    () => `UPDATE t SET v = v + 1 WHERE id IN (SELECT b FROM u WHERE c < ${next(4)})`,
    () => `UPDATE t SET v = (SELECT COUNT(*) FROM u) WHERE ${condition()}`,
    () =>
      'UPDATE t SET v = (SELECT MAX(u.c) FROM u WHERE u.b = t.id) WHERE EXISTS (SELECT 1 FROM u WHERE u.b = t.id)',
    () => `UPDATE u SET c = c + 1 WHERE b <= (SELECT MIN(id) FROM t WHERE ${condition()})`,
    () => `UPDATE t SET v = v + 1 WHERE v >= (SELECT MIN(s.v) FROM t AS s WHERE s.g = ${next(2)})`,
    () => `DELETE FROM t WHERE id IN (SELECT b FROM u WHERE c = ${next(4)})`,
    () => `DELETE FROM u WHERE b < ${id()} AND NOT EXISTS (SELECT 1 FROM t WHERE t.id = u.b)`,
    () => `INSERT INTO u SELECT id + ${far()}, (SELECT COUNT(*) FROM u) FROM t WHERE ${condition()}`,
    () => `INSERT INTO u SELECT DISTINCT g + ${far()}, 1 FROM t WHERE ${condition()}`,
    () => `INSERT INTO u SELECT COUNT(*) + ${far()}, MAX(v) FROM t WHERE ${condition()}`,
    () => `INSERT INTO t VALUES (${far()}, (SELECT MAX(c) FROM u WHERE b < ${id()}), 0)`,
  ];
  writes.push(...reading);
  if (options.dialect === 'mysql') {
    writes.push(
      () =>
        `INSERT INTO t SELECT b, c, 0 FROM u WHERE b < ${id()} ON DUPLICATE KEY UPDATE v = v + (SELECT COUNT(*) FROM u AS s)`,
    );
  } else {
    writes.push(
      () =>
        `INSERT INTO t SELECT b, c, 0 FROM u WHERE b < ${id()} AND c <= (SELECT MAX(s.c) FROM u AS s) ON CONFLICT (id) DO UPDATE SET v = t.v + 1`,
      () => `UPDATE t SET g = 1 FROM u WHERE t.id = u.b AND u.c < ${next(4)}`,
    );
  }
  if (options.dialect !== 'postgres') writes.push(replace);
  if (options.dialect === 'postgres' || options.dialect === 'duckdb') {
    writes.push(
      () => `DELETE FROM t USING u WHERE t.id = u.b AND u.c = ${next(4)}`,
      () =>
        `MERGE INTO t USING (SELECT b, c FROM u WHERE b < ${id()}) AS q ON t.id = q.b WHEN MATCHED THEN UPDATE SET v = q.c WHEN NOT MATCHED THEN INSERT (id, v, g) VALUES (q.b, (SELECT COUNT(*) FROM u), 0)`,
      () =>
        `MERGE INTO t USING (SELECT ${id()} AS b, ${next(60)} AS c) AS q ON t.id = q.b WHEN MATCHED THEN UPDATE SET v = q.c WHEN NOT MATCHED THEN INSERT (id, v, g) VALUES (q.b, q.c, 0)`,
    );
  }
  if (options.dialect === 'mysql') {
    writes.push(
      () => `UPDATE t JOIN u ON t.id = u.b SET t.v = t.v + u.c, u.c = ${next(4)} WHERE u.c < ${next(4)}`,
      () => `DELETE t FROM t JOIN u ON t.id = u.b WHERE u.c = ${next(3)}`,
    );
  }
  const locking: (() => string)[] = [
    () => `SELECT * FROM t WHERE id = ${id()} FOR UPDATE`,
    () => `SELECT v FROM t WHERE ${condition()} FOR UPDATE`,
  ];
  const all = [...reads, ...reads, ...writes];
  if (options.complex !== false) all.push(...complex);
  if (options.lockingReads === true) all.push(...locking);
  const sessions = Array.from({ length: options.sessions ?? 3 }, (_, s) => {
    const statements: string[] = [];
    for (let i = 0; i < (options.transactions ?? 3); i++) {
      if (next(6) === 0) {
        statements.push(pick(all)());
        continue;
      }
      statements.push('BEGIN');
      for (let n = next(4) + 1; n > 0; n--) statements.push(pick(all)());
      statements.push(next(6) === 0 ? 'ROLLBACK' : 'COMMIT');
    }
    return { name: `S${s + 1}`, statements };
  });
  return { name: `random ${options.seed}`, dialect: options.dialect, setup, sessions };
}

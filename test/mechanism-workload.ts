/** A small random workload for the mechanism verifier: two tables, one with a primary key and one without any key. */
import type { Case } from '../src/cases/index.js';
import type { Target } from '../src/targets/index.js';

export const observed = ['SELECT id, v, w FROM t', 'SELECT rid, v FROM n'];

/** Numbers in [0, 1) from a seed: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface WorkloadOptions {
  readonly seed: number;
  readonly sessions: number;
  readonly transactions: number;
  readonly target: Target;
  /**
   * Only writes whose conflicts DuckDB notices. It does not notice an update and a delete of one row (duckdb #17223), nor
   * updates of two columns of one row.
   */
  readonly oneKindOfWrite?: boolean;
}

export function randomCase({ seed, sessions, transactions, target, oneKindOfWrite }: WorkloadOptions): Case {
  const random = seeded(seed);
  const below = (n: number) => Math.floor(random() * n);
  let fresh = 100;
  const id = () => 1 + below(6);
  const statement = (): string => {
    const lock = target.features.lockingReads && below(4) === 0 ? ' FOR UPDATE' : '';
    const choices: (() => string)[] = [
      () => `SELECT id, v, w FROM t${lock}`,
      () => `SELECT id, v FROM t WHERE id = ${id()}${lock}`,
      () => `SELECT v FROM t WHERE v >= ${below(40)}`,
      () => `SELECT id, v, w FROM t WHERE v < ${below(40)} OR w = ${below(5)}`,
      () => `SELECT * FROM n`,
      () => `SELECT COUNT(*) FROM t WHERE v > ${below(40)}`,
      () => `UPDATE t SET v = ${below(40)} WHERE id = ${id()}`,
      () => `UPDATE t SET v = v + 1 WHERE v >= ${20 + below(20)}`,
      () => `UPDATE n SET v = ${below(40)} WHERE rid = ${id()}`,
      () => `INSERT INTO t VALUES (${fresh++}, ${below(40)}, 0)`,
    ];
    const more: (() => string)[] = [
      () => `UPDATE t SET v = v + 1, w = ${below(5)} WHERE id = ${id()}`,
      () => `UPDATE t SET w = ${below(5)} WHERE v >= ${20 + below(20)}`,
      () => `DELETE FROM t WHERE id = ${id()}`,
      () => `DELETE FROM n WHERE rid = ${id()}`,
    ];
    if (oneKindOfWrite !== true) choices.push(...more);
    return choices[below(choices.length)]!();
  };
  const transaction = (): string[] => {
    if (below(5) === 0) return [statement()];
    const body = Array.from({ length: 1 + below(4) }, statement);
    if (target.features.savepoints && below(6) === 0)
      body.push('SAVEPOINT a', statement(), 'ROLLBACK TO SAVEPOINT a', statement());
    return ['BEGIN', ...body, below(8) === 0 ? 'ROLLBACK' : 'COMMIT'];
  };
  return {
    name: `mechanism-${seed}`,
    setup: [
      'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)',
      `INSERT INTO t VALUES ${[1, 2, 3, 4, 5, 6].map((i) => `(${i}, ${i * 5}, ${i % 3})`).join(', ')}`,
      'CREATE TABLE n (rid INT, v INT)',
      `INSERT INTO n VALUES ${[1, 2, 3, 4, 5, 6].map((i) => `(${i}, ${i * 5})`).join(', ')}`,
    ],
    sessions: Array.from({ length: sessions }, (_, s) => ({
      name: `S${s + 1}`,
      statements: Array.from({ length: transactions }, transaction).flat(),
    })),
  };
}

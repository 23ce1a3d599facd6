/**
 * Raw cases for the benchmarks of reproduction and reduction: many sessions of random short transactions over few rows and
 * few values, so that a known bug of an engine, or a fault planted in it, shows somewhere among thousands of operations.
 */
import type { Case } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import type { Dialect } from '../sql/index.js';

export interface RawCaseOptions {
  readonly name: string;
  readonly dialect: Dialect;
  readonly level: Level;
  /** Statements of all sessions, BEGIN and COMMIT included; the last transactions may go over it. */
  readonly operations: number;
  readonly sessions: number;
  readonly rows: number;
  /** Written values are 0 … values − 1; few of them make an UPDATE to the value that is there already likely. */
  readonly values: number;
  /** Of a hundred writes, how many are DELETEs, and how many INSERTs that bring deleted rows back. */
  readonly deletes: number;
  readonly inserts: number;
  readonly primaryKey: boolean;
  readonly seed: number;
}

export function rawCase(options: RawCaseOptions): Case {
  const { rows, sessions } = options;
  const random = generator(options.seed);
  const texts: string[][] = Array.from({ length: sessions }, () => []);
  for (let sent = 0, turn = 0; sent < options.operations; turn++) {
    const transaction = transactionOf(options, random);
    texts[turn % sessions]!.push(...transaction);
    sent += transaction.length;
  }
  const key = options.primaryKey ? ' PRIMARY KEY' : '';
  const values = Array.from({ length: rows }, (_, id) => `(${id}, ${id % options.values})`);
  return {
    name: options.name,
    dialect: options.dialect,
    level: options.level,
    setup: [`CREATE TABLE t (id INT${key}, v INT)`, `INSERT INTO t VALUES ${values.join(', ')}`],
    sessions: texts.map((statements, s) => ({ name: `S${s + 1}`, statements })),
  };
}

function transactionOf(options: RawCaseOptions, random: () => number): string[] {
  const pick = (count: number) => Math.floor(random() * count);
  // Rows in ascending order keep deadlocks rare; a little locality makes a transaction meet its own rows again.
  const first = pick(options.rows);
  const ids = Array.from({ length: 2 + pick(2) }, (_, i) => (first + i) % options.rows).sort((a, b) => a - b);
  const statements: string[] = [readOf(ids[0]!, pick)];
  for (const id of ids) {
    statements.push(writeOf(id, options, pick));
    if (random() < 0.7) statements.push(readOf(id, pick));
  }
  return ['BEGIN', ...statements, random() < 0.95 ? 'COMMIT' : 'ROLLBACK'];
}

function readOf(id: number, pick: (count: number) => number): string {
  if (pick(4) === 0) return `SELECT id, v FROM t WHERE id IN (${id}, ${id + 1})`;
  return `SELECT id, v FROM t WHERE id = ${id}`;
}

function writeOf(id: number, options: RawCaseOptions, pick: (count: number) => number): string {
  const kind = pick(100);
  if (kind < options.deletes) return `DELETE FROM t WHERE id = ${id}`;
  if (kind < options.deletes + options.inserts)
    return `INSERT INTO t VALUES (${id}, ${pick(options.values)})`;
  return `UPDATE t SET v = ${pick(options.values)} WHERE id = ${id}`;
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

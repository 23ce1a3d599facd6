/** What tests on live clusters share. */
import type { Scratch, Session } from '../target.js';

/** Two rows, the first with this value. */
export const setup = (v: number): readonly string[] => [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
  `INSERT INTO t VALUES (1, ${v}), (2, 20)`,
];

export function sessionOn(scratch: Scratch, node: string): Promise<Session> {
  return scratch.openSession({
    level: 'repeatable read',
    node,
    statementTimeoutMs: 10_000,
    lockTimeoutMs: 5000,
  });
}

/** Which statements get in each other's way, guessed from their text (`rows/touched.ts`). */
import { mayMeet, type Touch, touchOf } from '../rows/index.js';
import { type Dialect, parseStatement } from '../sql/index.js';

/** What a statement touches. A SELECT that locks rows counts as writing them. */
export function touchesOf(sql: string, dialect: Dialect = 'postgres'): Touch {
  const statement = parseStatement(sql, dialect);
  const touch = touchOf(statement, dialect);
  if (statement.type === 'opaque' && statement.kind === 'select') return { ...touch, writes: new Set() };
  const locks = statement.type === 'select' && statement.locks.length > 0;
  return locks ? { ...touch, writes: touch.reads } : touch;
}

/** How much the order of two statements may matter: not at all, for what one reads, or for what both write. */
export function conflictWeight(one: Touch, other: Touch): number {
  if (!mayMeet(one, other)) return 0;
  return [...one.writes].some((name) => other.writes.has(name)) ? 4 : 1;
}

import type { Dialect } from '../sql/index.js';

/** Whether a write that fails keeps the rows that it had written by then (SQLite's `INSERT OR FAIL`). */
export function keepsRowsOfFailed(sql: string | undefined, dialect: Dialect): boolean {
  return dialect === 'sqlite' && /\bor\s+fail\b/i.test(sql ?? '');
}

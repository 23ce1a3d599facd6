/** What an operation of a history tells about rows: those of its result, and the locks in its text. */
import type { Operation } from '../histories/index.js';
import { type RowLock, rowKey, type ScanPlan, unknownCell } from '../rows/index.js';
import { classifyStatement, type Dialect, type Evaluated } from '../sql/index.js';

/** The rows of a result by their names; undefined: the result does not name them. */
export function resultRows(
  op: Operation,
  plan: ScanPlan,
): { name: string; cells: Evaluated[] }[] | undefined {
  const { table, shows } = plan;
  if (op.rows === undefined) return undefined;
  const named = table.identity.length > 0 && table.identity.every((at) => shows.includes(at));
  const single = plan.keys?.length === 1 ? plan.keys[0]! : undefined;
  if (!named && single === undefined) return undefined;
  const found: { name: string; cells: Evaluated[] }[] = [];
  for (const line of op.rows) {
    const cells: Evaluated[] = new Array(table.shape.columns.length).fill(unknownCell);
    for (let i = 0; i < shows.length; i++) if (shows[i]! >= 0) cells[shows[i]!] = line[i] ?? null;
    const name = named ? rowKey(cells, table.identity) : single;
    if (name === undefined) return undefined;
    found.push({ name, cells });
  }
  return found;
}

/** The lock that a query asks for in its text. */
export function lockOfText({ kind, sql }: Operation, dialect: Dialect): RowLock {
  // Millions of texts have none of these words, and need not be read.
  if (kind !== 'select' || sql === undefined || !/\b(for|lock)\b/i.test(sql)) return 'none';
  const { locking } = classifyStatement(sql, dialect);
  return locking === 'update' ? 'exclusive' : locking;
}

/**
 * Shared locks of InnoDB on an index alone. A row is locked where it was found: a locking read through a secondary index that has all
 * columns it asks for locks the records of that index, and looks up the row itself only for an exclusive lock (MySQL, “Locks Set by
 * Different SQL Statements in InnoDB”). Who has the row by its primary key then neither waits for such a reader nor keeps it waiting.
 *
 * Which index is taken is the optimizer's affair. Only a search for one primary key certainly goes to the row; otherwise a read
 * whose columns one index has, together with the primary key, may have stayed there.
 */
import type { History } from '../../histories/index.js';
import { columnsUsed, type Definition, type ScanPlan } from '../../rows/index.js';
import { type Dialect, nameKey } from '../../sql/index.js';

/** Whether a read may have locked no row but records of an index. */
export function mayStayInIndex({ table, shows, keys }: ScanPlan, history: History): boolean {
  const dialect = history.header.dialect ?? 'postgres';
  const { definition, identity, shape } = table;
  if (dialect !== 'mysql' || definition === undefined) return false;
  const fold = (names: readonly string[]) => names.map((name) => nameKey(name, dialect));
  const primary = fold(definition.indexes.filter((index) => index.primary).flatMap(columnsUsed));
  const named = fold(identity.map((at) => shape.columns[at]!.name));
  if (keys?.length === 1 && primary.length > 0 && named.join() === primary.join()) return false;
  if (addsIndexes(history)) return true;
  const shown = fold(shows.flatMap((at) => shape.columns[at]?.name ?? []));
  return secondaryIndexes(definition, dialect).some((columns) =>
    shown.every((name) => columns.includes(name) || primary.includes(name)),
  );
}

/** The columns of each; a foreign key has one of its own. */
function secondaryIndexes({ indexes, foreignKeys }: Definition, dialect: Dialect): string[][] {
  const declared = indexes.filter(({ primary }) => !primary).map(columnsUsed);
  return [...declared, ...foreignKeys.map(({ columns }) => columns)].map((columns) =>
    columns.map((name) => nameKey(name, dialect)),
  );
}

const additions = new WeakMap<History, boolean>();

/** Whether a table may have more indexes than its definition says. */
function addsIndexes(history: History): boolean {
  let adds = additions.get(history);
  if (adds === undefined) {
    const sent = history.operations.flatMap(({ kind, sql = '' }) => (kind === 'ddl' ? [sql] : []));
    adds =
      (history.header.setup ?? []).some((sql) => /^\s*alter\b.*\b(index|key|unique)\b/is.test(sql)) ||
      sent.some((sql) => /^\s*(alter|create)\b.*\b(index|key|unique)\b/is.test(sql));
    additions.set(history, adds);
  }
  return adds;
}

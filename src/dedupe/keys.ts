/** Which columns a case's set-up puts under a key or an index: changing one of those is more than changing a value. */
import type { Case } from '../cases/index.js';
import { type Dialect, parseStatement, tableShape } from '../sql/index.js';

/** Whether a column of a table, both in lower case, is part of a key or an index. */
export type KeyColumns = (table: string, column: string) => boolean;

export function keyColumnsOf({ setup, dialect }: Case, spelt: Dialect | undefined): KeyColumns {
  const keyed = new Set<string>();
  const add = (table: string, columns: readonly string[]) => {
    for (const column of columns) keyed.add(`${table}.${column}`.toLowerCase());
  };
  for (const sql of setup) {
    const statement = parseStatement(sql, dialect ?? spelt);
    if (statement.type === 'create-table') {
      for (const { columns } of tableShape(statement, dialect ?? spelt ?? 'postgres').keys)
        add(statement.name, columns);
    } else if (statement.type === 'create-index') {
      const columns = statement.columns.flatMap(({ expression }) =>
        expression.type === 'column' ? [expression.name] : [],
      );
      add(statement.table.name, columns);
    }
  }
  return (table, column) => keyed.has(`${table}.${column}`);
}

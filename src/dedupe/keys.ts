/** Which columns a case's set-up puts under a key or an index: changing one of those is more than changing a value. */
import type { Case } from '../cases/index.js';
import { columnsUsed, definitionsIn } from '../rows/index.js';
import { type Dialect, nameKey, parseStatement } from '../sql/index.js';

/** Whether a column of a table, both by their keys (`nameKey`), is part of a key or an index. */
export type KeyColumns = (table: string, column: string) => boolean;

export function keyColumnsOf(program: Case, spelt: Dialect | undefined): KeyColumns {
  const dialect = program.dialect ?? spelt ?? 'postgres';
  const setup = program.setup.map((sql) => parseStatement(sql, dialect));
  const keyed = new Set(
    definitionsIn(setup, dialect).flatMap(({ create, indexes }) =>
      indexes
        .flatMap(columnsUsed)
        .map((column) => `${nameKey(create.name, dialect)}.${nameKey(column, dialect)}`),
    ),
  );
  return (table, column) => keyed.has(`${table}.${column}`);
}

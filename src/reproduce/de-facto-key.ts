/**
 * Names for the rows of a table that declares no key. A column will do whose values were distinct and not NULL in this history,
 * whatever the schema would allow: over the rows of the set-up and all rows that statements put in, if no statement ever assigns
 * it. The first such column is taken.
 *
 * Refused, because the rows could not be told apart for certain: a value that was put in twice (also if a DELETE came
 * between), rows that a query or a default made, and anything that changes the table's rows without being understood.
 */
import type { Operation } from '../histories/index.js';
import {
  applyInsert,
  type Dialect,
  type Evaluated,
  isUndecidable,
  parseStatement,
  statementFeatures,
} from '../sql/index.js';
import { addRow, cellName, type Table, tableKey } from './schema.js';

const changes: ReadonlySet<string> = new Set(['insert', 'update', 'replace', 'merge', 'ddl', 'other']);

/** Columns of one table that may name its rows, until a statement shows that they do not. */
class Candidates {
  readonly #seen: (Set<string> | undefined)[];

  constructor(readonly table: Table) {
    this.#seen = table.columns.map(() => new Set<string>());
  }

  addRow(cells: readonly Evaluated[]): void {
    this.#seen.forEach((seen, at) => {
      const name = cellName(cells[at]);
      if (name === undefined || seen?.has(name) === true) this.refuse(at);
      else seen?.add(name);
    });
  }

  refuse(at: number): void {
    this.#seen[at] = undefined;
  }

  refuseAll(): void {
    this.#seen.fill(undefined);
  }

  get first(): number | undefined {
    const at = this.#seen.findIndex((seen) => seen !== undefined);
    return at < 0 ? undefined : at;
  }
}

/** Finds names for the rows of tables without a key, as far as there are any. */
export function nameRows(
  tables: ReadonlyMap<string, Table>,
  operations: readonly Operation[],
  dialect: Dialect,
): void {
  const open = new Map([...tables].filter(([, { identity }]) => identity.length === 0).map(candidatesOf));
  // Recorders that name rows have names of their own.
  if (open.size > 0 && operations.some(({ accesses }) => accesses !== undefined)) open.clear();
  if (open.size > 0)
    for (const { kind, sql, outcome } of operations)
      if (sql !== undefined && outcome !== 'error' && changes.has(kind)) look(sql, open, dialect);
  for (const [key, table] of tables) {
    const column = open.get(key)?.first;
    if (column !== undefined) [table.identity, table.unindexed] = [[column], true];
    else if (table.unnamed.length > 0) table.initial = undefined;
    for (const row of column === undefined ? [] : table.unnamed) addRow(table, row);
    table.unnamed = [];
  }
}

function candidatesOf([key, table]: readonly [string, Table]): [string, Candidates] {
  const candidates = new Candidates(table);
  for (const cells of table.unnamed) candidates.addRow(cells);
  if (table.initial === undefined) candidates.refuseAll();
  return [key, candidates];
}

function look(sql: string, open: ReadonlyMap<string, Candidates>, dialect: Dialect): void {
  const statement = parseStatement(sql, dialect);
  const target =
    (statement.type === 'insert' || statement.type === 'update') && statement.table.type === 'table'
      ? open.get(tableKey(statement.table.name))
      : undefined;
  if (target === undefined) {
    const { writes } = statementFeatures(statement);
    for (const { name } of writes) open.get(tableKey(name))?.refuseAll();
    if (writes.length === 0) for (const candidates of open.values()) candidates.refuseAll();
  } else if (statement.type === 'update') {
    for (const name of statement.set.flatMap(({ columns }) => columns))
      target.refuse(target.table.columns.indexOf(name.toLowerCase()));
  } else if (statement.type === 'insert') {
    const plain =
      statement.source.type === 'values' && statement.mode === undefined && statement.conflict === undefined;
    const made = plain ? applyInsert(statement, target.table.shape!, { dialect }) : undefined;
    if (made === undefined || isUndecidable(made)) target.refuseAll();
    else for (const cells of made) target.addRow(cells);
  }
}

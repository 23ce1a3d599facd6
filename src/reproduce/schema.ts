/**
 * The tables of a history's set-up: their columns, how their rows are named, and the rows they start with.
 *
 * A row is named by the column `rid` (generated tables) or `pkId` (Pisco's), else by the primary key, else by a column that
 * happened to tell all rows apart (`de-facto-key.ts`). A table with none of these has no named rows, and every statement on it
 * concerns the whole table.
 */
import {
  applyInsert,
  type Dialect,
  type Evaluated,
  isUndecidable,
  parseStatement,
  showValue,
  type TableShape,
  tableShape,
} from '../sql/index.js';

/** A row's cells in column order (a cell may be unknown), `null`: there is no such row, `undefined`: nothing is known. */
export type Image = readonly Evaluated[] | null | undefined;

export interface Table {
  readonly number: number;
  /** As it stands before the slash of an object's name. */
  readonly name: string;
  readonly shape: TableShape | undefined;
  /** Lower-case names of the columns, in order; columns that only a trace mentions are added as they appear. */
  readonly columns: string[];
  /** Positions of the columns that name a row; empty: rows have no names. */
  identity: readonly number[];
  /** No index leads to the rows by their names: a statement that names one still passes all of them. */
  unindexed: boolean;
  /** Rows of the set-up that nothing names yet. */
  unnamed: (readonly Evaluated[])[];
  /** Rows after the set-up, by name; undefined: the set-up does something we cannot follow, or some have no name. */
  initial: Map<string, Image> | undefined;
}

export const unknownCell: Evaluated = { undecidable: 'not recorded' };

/** Reads the set-up. Statements that are not understood leave the tables they may touch without known rows. */
export function readSchema(setup: readonly string[], dialect: Dialect): Map<string, Table> {
  const tables = new Map<string, Table>();
  for (const sql of setup) {
    const statement = parseStatement(sql, dialect);
    if (statement.type === 'create-table' && statement.as === undefined) {
      addTable(tables, statement.name, tableShape(statement, dialect));
    } else if (statement.type === 'insert' && statement.table.type === 'table') {
      const table = tables.get(tableKey(statement.table.name));
      if (table?.shape === undefined || table.initial === undefined) continue;
      const rows =
        statement.source.type === 'values' && statement.mode === undefined && statement.conflict === undefined
          ? applyInsert(statement, table.shape, { dialect })
          : undefined;
      if (rows === undefined || isUndecidable(rows)) table.initial = undefined;
      else for (const row of rows) addRow(table, row);
    } else if (!/^(create-index|drop)$/.test(statement.type) && !/^\s*(alter|analyze|set)\b/i.test(sql)) {
      for (const table of tables.values()) table.initial = undefined;
    }
  }
  return tables;
}

/** A table known only by its name, as traces without a schema have them. */
export function addTable(tables: Map<string, Table>, name: string, shape?: TableShape): Table {
  const columns = (shape?.columns ?? []).map((column) => column.name.toLowerCase());
  const table: Table = {
    number: tables.size,
    name,
    shape,
    columns,
    identity: identityOf(columns, shape),
    unindexed: false,
    unnamed: [],
    initial: shape === undefined ? undefined : new Map(),
  };
  tables.set(tableKey(name), table);
  return table;
}

export function tableKey(name: string): string {
  return name.toLowerCase();
}

function identityOf(columns: readonly string[], shape: TableShape | undefined): readonly number[] {
  for (const name of ['rid', 'pkid']) if (columns.includes(name)) return [columns.indexOf(name)];
  const key = shape?.keys.find(({ primary }) => primary)?.columns ?? [];
  return key.map((name) => columns.indexOf(name.toLowerCase())).filter((at) => at >= 0);
}

export function addRow(table: Table, row: readonly Evaluated[]): void {
  const name = rowName(table, row);
  if (table.identity.length === 0) table.unnamed.push(row);
  else if (name === undefined) table.initial = undefined;
  else table.initial?.set(name, row);
}

/** The name of a row with these cells, if it has one. `1` and `'1'` name the same row: traces write values as text. */
export function rowName(table: Table, cells: readonly Evaluated[]): string | undefined {
  const { identity } = table;
  if (identity.length === 0) return undefined;
  if (identity.length === 1) return cellName(cells[identity[0]!]);
  const names = identity.map((at) => cellName(cells[at]));
  return names.includes(undefined) ? undefined : names.join(',');
}

export function cellName(cell: Evaluated | undefined): string | undefined {
  if (cell === undefined || cell === null || isUndecidable(cell)) return undefined;
  return typeof cell === 'number' ? String(cell) : showValue(cell);
}

/**
 * Whether a stored cell is what a result shows. Only NULL, texts and numbers are told apart for certain; other types
 * have several spellings.
 */
export function sameCell(stored: Evaluated, shown: Evaluated): boolean | undefined {
  if (stored === shown) return true;
  if (isUndecidable(stored) || isUndecidable(shown)) return undefined;
  if (stored === null || shown === null) return false;
  const a = typeof stored;
  const b = typeof shown;
  if (a === 'number' && b === 'number') return false;
  if (a === 'object' || b === 'object' || a === 'boolean' || b === 'boolean')
    return showValue(stored) === showValue(shown) ? true : undefined;
  return String(stored) === String(shown);
}

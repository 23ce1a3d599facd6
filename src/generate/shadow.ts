/**
 * The shadow state: which rows the tables would hold if the transactions generated so far had run one after another.
 *
 * It exists so that statements hit something: predicates are built around rows that are alive, keys are fresh or taken
 * on purpose. Each write is evaluated as the verifier would evaluate it (`sql/evaluate`). It is a prediction, not an
 * oracle: a cell that cannot be computed is undecidable, a row that may or may not be there is not `sure`, and nothing
 * is ever concluded from those.
 *
 * Every change is logged, so that ROLLBACK and ROLLBACK TO cost as much as what they undo.
 */
import { columnConstants, WriteLog } from '../rows/index.js';
import {
  applyInsert,
  compileUpdate,
  compileWhere,
  type DeleteStatement,
  type Dialect,
  type EvaluatedRow,
  type EvaluateOptions,
  type Expression,
  type InsertStatement,
  isUndecidable,
  type TableRows,
  type TableShape,
  tableShape,
  type Undecidable,
  type UpdateStatement,
  undecidable,
  type Value,
} from '../sql/index.js';
import { type ColumnModel, createTable, ridColumn, type TableModel } from './schema.js';

export interface ShadowRow {
  readonly rid: number;
  /** In the order of the table's columns. */
  readonly cells: EvaluatedRow;
  readonly sure: boolean;
}

const unsure = undecidable('rows that may or may not be there');
const unknown = undecidable('a write of which the effect is not known');

export class ShadowTable {
  readonly shape: TableShape;
  /** Columns a statement may write, `rid` apart. */
  readonly writable: readonly ColumnModel[];
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #rows = new Map<number, ShadowRow>();
  #list: readonly ShadowRow[] | undefined;
  nextRid = 1;
  /** Supply of values for keys and unique columns, beyond the small ones keys are drawn from. */
  nextFresh = 100;
  /** Rids up to here belong to initial rows that other tables refer to. */
  pinned = 0;

  constructor(
    readonly model: TableModel,
    dialect: Dialect,
  ) {
    this.shape = tableShape(createTable(model, dialect, true), dialect);
    this.writable = model.columns.filter(({ role }) => role !== 'rid' && role !== 'generated');
    this.#indexes = new Map(model.columns.map(({ name }, index) => [name, index]));
  }

  get size(): number {
    return this.#rows.size;
  }

  row(rid: number): ShadowRow | undefined {
    return this.#rows.get(rid);
  }

  /** Rows a statement may aim at: there, or perhaps there. Between changes it is always the same list. */
  list(): readonly ShadowRow[] {
    this.#list ??= [...this.#rows.values()];
    return this.#list;
  }

  /** What a row holds in a column; undefined: not known. */
  value(row: ShadowRow, column: string): Value | undefined {
    const cell = row.cells[this.index(column)]!;
    return isUndecidable(cell) ? undefined : cell;
  }

  index(column: string): number {
    return this.#indexes.get(column)!;
  }

  /** Sets or removes a row. Changes that may have to be undone go through `Shadow`. */
  set(rid: number, row: ShadowRow | undefined): void {
    this.#list = undefined;
    if (row === undefined) this.#rows.delete(rid);
    else this.#rows.set(rid, row);
  }
}

export class Shadow {
  readonly tables: readonly ShadowTable[];
  readonly #options: EvaluateOptions;
  readonly #log = new WriteLog<{ table: ShadowTable; rid: number }, ShadowRow | undefined>();
  #nextVersion = 1;

  constructor(models: readonly TableModel[], dialect: Dialect) {
    this.tables = models.map((model) => new ShadowTable(model, dialect));
    this.#options = { dialect, table: (name) => this.#rowsOf(name) };
  }

  table(name: string): ShadowTable | undefined {
    return this.tables.find(({ model }) => model.name === name);
  }

  /** A number no earlier write of a version column used. `manyRows`: each row of the write adds its `rid` to it. */
  nextVersion(manyRows: boolean): number {
    const version = this.#nextVersion++;
    return manyRows || version >= versionStep ? version * versionStep : version;
  }

  /** A point to which `undo` can return. */
  mark(): number {
    return this.#log.mark();
  }

  undo(mark: number): void {
    this.#log.undo(mark, ({ table, rid }, before) => table.set(rid, before));
  }

  /** What was logged so far can no longer be undone. */
  keep(): void {
    this.#log.clear();
  }

  remove(table: ShadowTable, rid: number): void {
    this.#log.write({ table, rid }, table.row(rid), undefined);
    table.set(rid, undefined);
  }

  #put(table: ShadowTable, row: ShadowRow): void {
    const { rid } = row;
    this.#log.write({ table, rid }, table.row(rid), row);
    table.set(rid, row);
  }

  /** A table as a subquery sees it. */
  #rowsOf(name: string): TableRows | undefined {
    const table = this.table(name);
    if (table === undefined) return undefined;
    const rows = table.list();
    const { columns } = table.shape;
    return { columns, rows: rows.every(({ sure }) => sure) ? rows.map(({ cells }) => cells) : unsure };
  }

  /** The rows a write may touch, each with whether it does; decided on the state before. */
  #hits(
    table: ShadowTable,
    statement: UpdateStatement | DeleteStatement,
  ): (readonly [row: ShadowRow, hit: true | Undecidable])[] {
    const { where } = statement;
    const rids = columnConstants(where, this.#options.dialect).get(ridColumn);
    const named = rids && [...new Set(rids)].flatMap((rid) => table.row(rid as number) ?? []);
    // `rid = 3` alone needs no evaluation: most writes are of that kind.
    if (named !== undefined && isComparison(where!)) return named.map((row) => [row, true]);
    const holds = compileWhere(statement, table.shape, this.#options);
    const hits: (readonly [ShadowRow, true | Undecidable])[] = [];
    for (const row of named ?? table.list()) {
      const hit = holds(row.cells);
      if (hit !== false && hit !== null) hits.push([row, hit]);
    }
    return hits;
  }

  /** Follows a DELETE. */
  delete(table: ShadowTable, statement: DeleteStatement): void {
    for (const [row, hit] of this.#hits(table, statement)) {
      if (hit === true) this.remove(table, row.rid);
      else if (row.sure) this.#put(table, { ...row, sure: false });
    }
  }

  /** Follows an UPDATE. Which rows it changes, and to what, is decided on the state before. */
  update(table: ShadowTable, statement: UpdateStatement): void {
    const hits = this.#hits(table, statement);
    if (hits.length === 0) return;
    const change = compileUpdate(statement, table.shape, this.#options);
    const changed = hits.map(([row, hit]): ShadowRow => {
      const cells = hit === true ? change(row.cells) : hit;
      const { rid, sure } = row;
      return { rid, cells: isUndecidable(cells) ? forget(table, row.cells, statement) : cells, sure };
    });
    for (const row of changed) this.#put(table, row);
  }

  /** Follows an INSERT of constants, or of one computed row for each row of a table that a condition on `rid` names. */
  insert(table: ShadowTable, statement: InsertStatement): void {
    if (statement.source.type !== 'query') {
      this.#insert(table, statement, this.#options, true);
      return;
    }
    // Copies of rows that may not be there may not be there either.
    const all = table.list();
    const sources = [all.filter(({ sure }) => sure), ...all.filter(({ sure }) => !sure).map((row) => [row])];
    for (const rows of sources) {
      const source: TableRows = { columns: table.shape.columns, rows: rows.map(({ cells }) => cells) };
      this.#insert(table, statement, { ...this.#options, table: () => source }, rows[0]?.sure ?? true);
    }
  }

  #insert(table: ShadowTable, statement: InsertStatement, options: EvaluateOptions, sure: boolean): void {
    const rows = applyInsert(statement, table.shape, options);
    if (isUndecidable(rows)) return;
    const at = table.index(ridColumn);
    for (const cells of rows) this.#put(table, { rid: cells[at] as number, cells, sure });
  }
}

/** More than any `rid`. */
const versionStep = 1_000_000;

/** A row after an UPDATE that may have changed it: what it assigns, and what depends on that, is no longer known. */
function forget(table: ShadowTable, row: EvaluatedRow, { set }: UpdateStatement): EvaluatedRow {
  const cells = [...row];
  for (const { columns } of set) for (const name of columns) cells[table.index(name)] = unknown;
  table.shape.columns.forEach(({ generated }, i) => {
    if (generated !== undefined) cells[i] = unknown;
  });
  return cells;
}

function isComparison(where: Expression): boolean {
  return where.type === 'binary' && where.op === '=';
}

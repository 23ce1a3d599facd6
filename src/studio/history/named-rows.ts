/**
 * The rows and keys that an operation names, for finding it again among a million: what its recorder wrote down, else what the
 * statement and its answer say. A row is `table/name`, as in findings; a statement that names no row still counts for its table. It
 * is a way to search, not evidence: a condition like `v > 3` names no row here, and of a join only the first table's rows are named.
 *
 * Which columns name the rows of a table is the rule of `rows/identity.ts`, asked of the set-up alone: the file is read once, and what
 * statements assign later is not known yet. Of tables that the set-up does not create, columns called `rid`, `pkId` or `id` do.
 *
 * Parsing a million statements would take minutes. Those that differ in constants alone are parsed once: with a mark in the place of
 * each constant, so that the names found say which constants they are made of. What was found in a text is kept by the text.
 */
import type { HistoryHeader, Operation } from '../../histories/index.js';
import {
  type Catalog,
  type ConstantShape,
  cellKey,
  columnConstants,
  conditionOf,
  constantShapeOf,
  namedKeys,
  openCatalog,
  rowKey,
  type Table,
} from '../../rows/index.js';
import {
  columnOf,
  type Dialect,
  parseStatement,
  type Statement,
  statementFeatures,
  type TableUse,
} from '../../sql/index.js';

/** Of a longer statement only the tables are found that its beginning names. */
const longestStatement = 4000;
/** A table scan of ten thousand rows is found by its table. */
const mostRows = 40;
const textsKept = 20_000;
const longestKept = 500;
const usual: readonly string[] = ['rid', 'pkid', 'id'];

/** What a statement says, whatever is answered. */
interface Named {
  readonly tables: readonly string[];
  /** The first table, as objects call it. */
  readonly first: string | undefined;
  readonly table: Table | undefined;
  readonly rows: readonly string[];
}

/** Marks: integers and texts that no statement has. */
const markOf = { i: (n: number) => String(900_000_000_000_000 + n), t: (n: number) => `'\uE000${n}\uE000'` };
const marks = /9000000000(\d{5})|\uE000(\d+)\uE000/g;
const shapesKept = 2000;
const mostConstants = 200;

export class RowNames {
  readonly #dialect: Dialect;
  readonly #setup: readonly string[];
  #catalog: Catalog | undefined;
  /** By shape, what its marked statement names; undefined: constants do not only stand where they are. */
  readonly #shapes = new Map<string, Named | undefined>();
  readonly #texts = new Map<string, Named>();

  /** Without a dialect, names in all quotes are read that some dialect has. */
  constructor({ dialect = 'sqlite', setup = [] }: Pick<HistoryHeader, 'dialect' | 'setup'> = {}) {
    this.#dialect = dialect;
    this.#setup = setup;
  }

  of(operation: Operation): readonly string[] {
    const names = new Set<string>();
    for (const { object } of operation.accesses ?? []) {
      if (names.size >= mostRows) break;
      names.add(object);
    }
    if (operation.sql === undefined) return [...names];
    const { tables, first, table, rows } = this.#named(operation.sql);
    for (const name of tables) names.add(name);
    if (first === undefined) return [...names];
    for (const row of rows) {
      if (names.size >= mostRows) return [...names];
      names.add(`${first}/${row}`);
    }
    this.#addAnswered(operation, first, table, names);
    return [...names];
  }

  #addAnswered(
    { columns, rows }: Operation,
    first: string,
    table: Table | undefined,
    names: Set<string>,
  ): void {
    if (columns === undefined || rows === undefined) return;
    const at = this.#positions(table, columns);
    if (at.length === 0) return;
    for (const row of rows) {
      if (names.size >= mostRows) return;
      const key = rowKey(row, at);
      if (key !== undefined) names.add(`${first}/${key}`);
    }
  }

  #named(sql: string): Named {
    const kept = this.#texts.get(sql);
    if (kept !== undefined) return kept;
    const named = this.#byShape(sql) ?? this.#parsed(sql);
    if (sql.length > longestKept) return named;
    if (this.#texts.size >= textsKept) this.#texts.clear();
    this.#texts.set(sql, named);
    return named;
  }

  #byShape(sql: string): Named | undefined {
    const shape = constantShapeOf(sql, this.#dialect);
    if (shape === undefined || shape.constants.length > mostConstants) return undefined;
    let template = this.#shapes.get(shape.key);
    if (template === undefined && !this.#shapes.has(shape.key)) {
      template = this.#templateOf(sql, shape);
      if (this.#shapes.size >= shapesKept) this.#shapes.clear();
      this.#shapes.set(shape.key, template);
    }
    return template === undefined ? undefined : filled(template, shape);
  }

  /** What a shape names, if filling in the constants of this statement gives what parsing it does. */
  #templateOf(sql: string, shape: ConstantShape): Named | undefined {
    let count = 0;
    const marked = shape.key.replaceAll(/\?([it])/g, (_, kind: 'i' | 't') => markOf[kind](count++));
    if (count !== shape.constants.length) return undefined;
    const template = this.#parsed(marked);
    const same = JSON.stringify(filled(template, shape)?.rows) === JSON.stringify(this.#parsed(sql).rows);
    return same ? template : undefined;
  }

  #parsed(sql: string): Named {
    const statement = parseStatement(sql.slice(0, longestStatement), this.#dialect);
    const { reads, writes } = statementFeatures(statement);
    const uses = [...writes, ...reads];
    this.#catalog ??= openCatalog({ dialect: this.#dialect, setup: this.#setup, statements: [] });
    const { find } = this.#catalog;
    const tables = [...new Set(uses.map(({ name }) => find(name)?.name ?? name))];
    const [use] = uses;
    if (use === undefined) return { tables, first: undefined, table: undefined, rows: [] };
    const table = find(use.name);
    return { tables, first: table?.name ?? use.name, table, rows: this.#rowsOf(statement, use, table) };
  }

  /** The rows that a statement's text names. */
  #rowsOf(statement: Statement, { name, alias }: TableUse, table: Table | undefined): readonly string[] {
    if (statement.type === 'insert') return this.#insertedRows(statement, table);
    const where = conditionOf(statement);
    const qualifiers = [alias ?? name];
    if (table !== undefined && table.identity.length > 0)
      return namedKeys(where, table, { dialect: this.#dialect }, qualifiers) ?? [];
    const constants = columnConstants(where, this.#dialect, qualifiers);
    const column = [...constants.keys()].find((key) => usual.includes(key.toLowerCase()));
    return column === undefined ? [] : constants.get(column)!.flatMap((value) => cellKey(value) ?? []);
  }

  #insertedRows(
    { columns, source }: Extract<Statement, { type: 'insert' }>,
    table: Table | undefined,
  ): readonly string[] {
    if (source.type !== 'values') return [];
    const names = columns ?? table?.shape.columns.map(({ name }) => name) ?? [];
    const found = this.#positions(table, names);
    // Where nothing is known of the columns, the first is likely to be the key.
    const at = found.length === 0 && (table?.identity.length ?? 0) === 0 ? [0] : found;
    return source.rows.slice(0, mostRows).flatMap((row) => {
      const cells = row.map((cell) => (cell.type === 'literal' ? cell.value : undefined));
      return rowKey(cells, at) ?? [];
    });
  }

  /** Where the columns stand that name a row; empty: they do not all. */
  #positions(table: Table | undefined, columns: readonly string[]): readonly number[] {
    if (table === undefined || table.identity.length === 0) {
      const at = columns.findIndex((name) => usual.includes(name.toLowerCase()));
      return at < 0 ? [] : [at];
    }
    const named = columns.map((name) => ({ name }));
    const at = table.identity.map((each) => columnOf(named, table.shape.columns[each]!.name, this.#dialect));
    return at.includes(-1) ? [] : at;
  }
}

/** A template with the constants of a statement; undefined: one of them cannot stand in a name as it is. */
function filled(template: Named, { constants }: ConstantShape): Named | undefined {
  if (template.rows.length === 0) return template;
  let plain = true;
  const rows = template.rows.map((row) =>
    row.replaceAll(marks, (_, integer?: string, text?: string) => {
      const value = String(constants[Number(integer ?? text)]);
      plain &&= !/[\\,]/.test(value);
      return value;
    }),
  );
  return plain ? { ...template, rows } : undefined;
}

/**
 * Which rows the statements of a round access, told from their text and the rows there are. For a statistic, not for a
 * verdict: it follows the last version of every row, whoever wrote it, and asks no contract who may see what.
 *
 * - A row is known by a key of its table; where there is none, by having been inserted.
 * - A query reads the rows of which *some* version satisfies those of its conditions that concern their table alone: what
 *   a search misses because it looks at an older version, it has searched for all the same (Adya's predicate reads).
 * - UPDATE and DELETE write the rows whose last version satisfies their condition, unless the database says that no row
 *   matched; INSERT writes its rows, an upsert the row it meets, too.
 *
 * What cannot be evaluated is not counted: MERGE, functions the evaluator does not know, tables it cannot follow.
 */
import type { History } from '../histories/index.js';
import {
  applyInsert,
  compilePredicate,
  compileUpdate,
  compileWhere,
  type DeleteStatement,
  type EvaluateOptions,
  type Expression,
  type FromItem,
  type InsertStatement,
  isUndecidable,
  parseStatement,
  type QueryBody,
  type Row,
  type SelectCore,
  type Statement,
  type TableReference,
  type TableShape,
  tableShape,
  type UpdateStatement,
  valueKey,
  visitNodes,
} from '../sql/index.js';

export interface MirrorRow {
  /** `table/key`, or the table and a number. */
  readonly name: string;
  /** Every version it ever had. */
  readonly versions: Row[];
  /** undefined: it is gone. */
  current: Row | undefined;
}

export interface RowAccess {
  readonly row: MirrorRow;
  readonly writes: boolean;
}

interface MirrorTable {
  readonly shape: TableShape;
  readonly rows: MirrorRow[];
}

/** What a transaction has changed, for the case that it takes it back. */
interface Undo {
  readonly changes: { readonly row: MirrorRow; readonly before: Row | undefined }[];
  readonly savepoints: Map<string, number>;
}

export class RowMirror {
  readonly #tables = new Map<string, MirrorTable>();
  readonly #undo = new Map<number, Undo>();
  readonly #options: EvaluateOptions;
  readonly #parsed: Map<string, Statement>;

  /** `parsed`: statements read before; rounds of a group share them. */
  constructor({ header }: History, parsed = new Map<string, Statement>()) {
    this.#parsed = parsed;
    this.#options = {
      dialect: header.dialect ?? 'postgres',
      table: (name) => {
        const table = this.#tables.get(name.toLowerCase());
        return (
          table && {
            columns: table.shape.columns,
            rows: table.rows.flatMap(({ current }) => (current === undefined ? [] : [current])),
          }
        );
      },
    };
    for (const sql of header.setup ?? []) this.#setUp(this.#parse(sql));
    this.#undo.clear();
  }

  /** The rows a statement accesses. `tried`: it was refused, and left nothing behind. */
  access(sql: string, transaction: number, tried: boolean, matched?: number): readonly RowAccess[] {
    const statement = this.#parse(sql);
    switch (statement.type) {
      case 'select':
        return this.#reads(statement);
      case 'insert':
        return [...this.#reads(statement), ...this.#insert(statement, transaction, tried)];
      case 'update':
      case 'delete':
        return [...this.#reads(statement), ...this.#change(statement, transaction, tried, matched)];
      case 'savepoint':
        this.#undoOf(transaction).savepoints.set(statement.name, this.#undoOf(transaction).changes.length);
        return [];
      case 'rollback-to':
        this.#takeBack(transaction, this.#undoOf(transaction).savepoints.get(statement.name) ?? 0);
        return [];
      default:
        return [];
    }
  }

  /** Ends a transaction. */
  end(transaction: number, committed: boolean): void {
    if (!committed) this.#takeBack(transaction, 0);
    this.#undo.delete(transaction);
  }

  #parse(sql: string): Statement {
    const known = this.#parsed.get(sql);
    if (known !== undefined) return known;
    const statement = parseStatement(sql, this.#options.dialect);
    this.#parsed.set(sql, statement);
    return statement;
  }

  #setUp(statement: Statement): void {
    if (statement.type === 'create-table' && statement.as === undefined) {
      const shape = tableShape(statement, this.#options.dialect);
      this.#tables.set(statement.name.toLowerCase(), { shape, rows: [] });
    } else if (statement.type === 'insert') this.#insert(statement, -1, false);
    else if (statement.type === 'update' || statement.type === 'delete') this.#change(statement, -1, false);
  }

  #undoOf(transaction: number): Undo {
    const known = this.#undo.get(transaction);
    if (known !== undefined) return known;
    const undo = { changes: [], savepoints: new Map() };
    this.#undo.set(transaction, undo);
    return undo;
  }

  #takeBack(transaction: number, to: number): void {
    const { changes } = this.#undoOf(transaction);
    while (changes.length > to) {
      const { row, before } = changes.pop()!;
      row.current = before;
    }
  }

  #set(row: MirrorRow, transaction: number, to: Row | undefined): void {
    this.#undoOf(transaction).changes.push({ row, before: row.current });
    row.current = to;
    if (to !== undefined) row.versions.push(to);
  }

  #insert(statement: InsertStatement, transaction: number, tried: boolean): RowAccess[] {
    const table = this.#tables.get(statement.table.name.toLowerCase());
    const offered = table && applyInsert(statement, table.shape, this.#options);
    if (table === undefined || offered === undefined || isUndecidable(offered)) return [];
    return offered.map((cells) => {
      const given = cells as Row;
      const met = this.#rowLike(table, given);
      const row = met ?? { name: nameOf(table, given), versions: [], current: undefined };
      // A refused INSERT met the row that stands in its way; what it offered never was.
      if (tried) return { row, writes: true };
      if (met === undefined) table.rows.push(row);
      // What an upsert makes of the row it meets stays unknown; that it writes it is enough.
      if (row.current === undefined || statement.mode === 'replace') this.#set(row, transaction, given);
      return { row, writes: true };
    });
  }

  /** The row with the same key, if there is one. */
  #rowLike({ shape, rows }: MirrorTable, given: Row): MirrorRow | undefined {
    return rows.find(({ versions }) =>
      shape.keys.some(({ columns }) => {
        const at = columns.map((name) => shape.columns.findIndex((column) => column.name === name));
        const key = keyOf(given, at);
        return key !== undefined && versions.some((version) => keyOf(version, at) === key);
      }),
    );
  }

  #change(
    statement: UpdateStatement | DeleteStatement,
    transaction: number,
    tried: boolean,
    matched?: number,
  ): RowAccess[] {
    const table =
      statement.table.type === 'table' ? this.#tables.get(statement.table.name.toLowerCase()) : undefined;
    if (table === undefined) return [];
    const where = compileWhere(statement, table.shape, this.#options);
    const apply =
      statement.type === 'update' ? compileUpdate(statement, table.shape, this.#options) : undefined;
    // All conditions are looked at before anything changes.
    const hits = table.rows.map((row) => ({
      row,
      now: row.current !== undefined && where(row.current) === true,
      ever: row.versions.some((version) => where(version) === true),
    }));
    return hits.flatMap(({ row, now, ever }): RowAccess[] => {
      if (!now || matched === 0) return ever ? [{ row, writes: false }] : [];
      if (!tried) {
        const changed = apply?.(row.current!);
        this.#set(row, transaction, isUndecidable(changed) ? row.current : (changed as Row | undefined));
      }
      return [{ row, writes: true }];
    });
  }

  /** The rows that all queries in a statement read, subqueries included. */
  #reads(statement: Statement): RowAccess[] {
    const found = new Set<MirrorRow>();
    visitNodes(statement, {
      query: ({ body, with: common }) => {
        const hidden = new Set((common?.ctes ?? []).map(({ name }) => name.toLowerCase()));
        for (const core of coresOf(body)) this.#readCore(core, hidden, found);
      },
    });
    return [...found].map((row) => ({ row, writes: false }));
  }

  #readCore(core: SelectCore, hidden: ReadonlySet<string>, found: Set<MirrorRow>): void {
    const references = core.from.flatMap(tablesOf);
    const alone = references.length === 1;
    const conditions = core.where === undefined ? [] : conjuncts(core.where);
    for (const { name, alias } of references) {
      const table = hidden.has(name.toLowerCase()) ? undefined : this.#tables.get(name.toLowerCase());
      if (table === undefined) continue;
      const columns = table.shape.columns.map((column) => ({ ...column, table: alias ?? name }));
      const tests = conditions.map((condition) => compilePredicate(condition, columns, this.#options));
      const holds = (version: Row) =>
        tests.every((test) => {
          const truth = test(version);
          // In a join a condition that cannot be decided here is one of another table, or of both.
          return truth === true || (!alone && isUndecidable(truth));
        });
      for (const row of table.rows) if (row.versions.some(holds)) found.add(row);
    }
  }
}

/** A query in brackets is a query of its own and visited as one. */
function coresOf(body: QueryBody): SelectCore[] {
  if (body.type === 'core') return [body];
  return body.type === 'set-operation' ? [...coresOf(body.left), ...coresOf(body.right)] : [];
}

function tablesOf(item: FromItem): TableReference[] {
  if (item.type === 'table') return [item];
  return item.type === 'join' ? [...tablesOf(item.left), ...tablesOf(item.right)] : [];
}

function conjuncts(condition: Expression): Expression[] {
  if (condition.type !== 'binary' || condition.op !== 'AND') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}

function nameOf({ shape, rows }: MirrorTable, given: Row): string {
  const { columns = [] } = shape.keys.find(({ primary }) => primary) ?? {};
  const at = columns.map((name) => shape.columns.findIndex((column) => column.name === name));
  return `${shape.name}/${at.length === 0 ? rows.length : keyOf(given, at)}`;
}

/** NULL and what is not known are no part of a key. */
function keyOf(row: Row, at: readonly number[]): string | undefined {
  const cells = at.map((index) => row[index]);
  if (cells.some((cell) => cell === undefined || cell === null || isUndecidable(cell))) return undefined;
  return cells.map((cell) => valueKey(cell!)).join(',');
}

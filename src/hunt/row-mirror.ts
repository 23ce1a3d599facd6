/**
 * Which rows the statements of a round access, as known from their text and the rows there are. For a statistic, not for a
 * verdict: it follows the last version of every row, whoever wrote it, and asks no contract who may see what.
 *
 * - Tables, names and keys are those of `rows/`; a row is known by a key of its table; where there is none, by having been
 *   inserted.
 * - A query reads the rows of which *some* version satisfies those of its conditions that concern their table alone: what
 *   a search misses because it looks at an older version, it has searched for all the same (Adya's predicate reads).
 * - UPDATE and DELETE write the rows whose last version satisfies their condition, unless the database says that no row
 *   matched; INSERT writes its rows, an upsert the row it meets, too.
 *
 * What cannot be evaluated is not counted: functions the evaluator does not know, tables it cannot follow.
 */

import type { History } from '../histories/index.js';
import type { TransactionId } from '../ids.js';
import {
  type Catalog,
  type ChangePlan,
  type InsertPlan,
  openCatalog,
  type Planner,
  plannerOf,
  rowKey,
  Savepoints,
  sharesKey,
  type Table,
  type UpsertPlan,
  WriteLog,
} from '../rows/index.js';
import {
  compilePredicate,
  conjunctsOf,
  type EvaluatedRow,
  type EvaluateOptions,
  type FromItem,
  isUndecidable,
  nameKey,
  type QueryBody,
  type SelectCore,
  type Statement,
  sameName,
  shapeParserOf,
  type TableReference,
  visitNodes,
} from '../sql/index.js';

export interface MirrorRow {
  /** `table/key`, or the table and a number. */
  readonly name: string;
  /** Every version it ever had. */
  readonly versions: EvaluatedRow[];
  /** undefined: it is gone. */
  current: EvaluatedRow | undefined;
}

export interface RowAccess {
  readonly row: MirrorRow;
  readonly writes: boolean;
}

/** A statement of a transaction and how it ended. */
export interface Sent {
  readonly sql: string;
  readonly transaction: TransactionId;
  /** It was refused, and left nothing behind. */
  readonly tried: boolean;
  /** Rows it matched, as far as the database says. */
  readonly matched?: number | undefined;
}

/** What a transaction has changed, for the case that it takes it back. */
interface OpenWrites {
  readonly log: WriteLog<MirrorRow, EvaluatedRow | undefined>;
  readonly savepoints: Savepoints<number>;
}

/** What depends on the set-up alone. */
interface Program {
  readonly catalog: Catalog;
  readonly planner: Planner;
}

/** Rounds of a group share their set-up and statements: what was learned of them is kept for the latest groups. */
export class KnownPrograms {
  readonly #kept = new Map<string, Program>();

  of({ header }: History): Program {
    const { dialect = 'postgres', setup = [] } = header;
    const key = JSON.stringify([dialect, setup]);
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    // Tables that sessions make for themselves are nobody else's: the set-up tells all that rounds can meet in.
    const catalog = openCatalog({ dialect, setup, statements: [] });
    const program = { catalog, planner: plannerOf(catalog) };
    if (this.#kept.size >= programsKept) this.#kept.clear();
    this.#kept.set(key, program);
    return program;
  }
}

const programsKept = 16;

export class RowMirror {
  readonly #catalog: Catalog;
  readonly #planner: Planner;
  readonly #rows = new Map<Table, MirrorRow[]>();
  readonly #open = new Map<TransactionId, OpenWrites>();

  constructor({ catalog, planner }: Program) {
    this.#catalog = catalog;
    this.#planner = planner;
    for (const table of this.#catalog.tables) {
      this.#rows.set(table, []);
      for (const row of table.initial ?? []) this.#add(table, row).current = row;
    }
  }

  /** The rows a statement accesses. */
  access(sent: Sent): readonly RowAccess[] {
    const { sql, transaction } = sent;
    const { statement } = shapeParserOf(this.#catalog.dialect).parse(sql);
    switch (statement.type) {
      case 'select':
        return this.#reads(statement);
      case 'insert':
      case 'update':
      case 'delete':
      case 'merge':
        return [...this.#reads(statement), ...this.#write(sent)];
      case 'savepoint':
      case 'release':
      case 'rollback-to': {
        const { log, savepoints } = this.#openOf(transaction);
        const name = nameKey(statement.name, this.#catalog.dialect);
        const undone = savepoints.follow({ kind: statement.type, name }, log.mark());
        if (undone !== undefined) log.undo(undone.backTo ?? 0, putBack);
        return [];
      }
      default:
        return [];
    }
  }

  /** Ends a transaction. */
  end(transaction: TransactionId, committed: boolean): void {
    if (!committed) this.#open.get(transaction)?.log.undo(0, putBack);
    this.#open.delete(transaction);
  }

  #openOf(transaction: TransactionId): OpenWrites {
    const known = this.#open.get(transaction);
    if (known !== undefined) return known;
    const open: OpenWrites = { log: new WriteLog(), savepoints: new Savepoints() };
    this.#open.set(transaction, open);
    return open;
  }

  #set(row: MirrorRow, transaction: TransactionId, to: EvaluatedRow | undefined): void {
    this.#openOf(transaction).log.write(row, row.current, to);
    row.current = to;
    if (to !== undefined) row.versions.push(to);
  }

  #add(table: Table, version: EvaluatedRow): MirrorRow {
    const rows = this.#rows.get(table)!;
    const row = this.#newRow(table, version);
    rows.push(row);
    row.versions.push(version);
    return row;
  }

  #newRow(table: Table, version: EvaluatedRow): MirrorRow {
    const key = rowKey(version, table.identity) ?? `#${this.#rows.get(table)!.length}`;
    return { name: `${table.name}/${key}`, versions: [], current: undefined };
  }

  #currentRows = (table: Table): EvaluatedRow[] =>
    this.#rows.get(table)!.flatMap(({ current }) => (current === undefined ? [] : [current]));

  #write(sent: Sent): RowAccess[] {
    const plan = this.#planner.plan(sent.sql);
    switch (plan.type) {
      case 'insert':
        return this.#insert(plan, sent);
      case 'update':
      case 'delete':
        return this.#change(plan, sent);
      case 'upsert':
        return this.#upsert(plan, sent);
      case 'opaque': {
        const resolved = plan.resolve?.bind(this.#currentRows);
        return resolved === undefined ? [] : this.#upsert(resolved, sent);
      }
      default:
        return [];
    }
  }

  #insert({ table, bind }: InsertPlan, { transaction, tried }: Sent): RowAccess[] {
    const offered = bind(this.#currentRows);
    if (typeof offered === 'string') return [];
    return offered.map((given) => {
      const met = this.#rowLike(table, given);
      // A refused INSERT met the row that stands in its way; what it offered never was.
      if (tried) return { row: met ?? this.#newRow(table, given), writes: true };
      const row = met ?? this.#add(table, given);
      this.#set(row, transaction, given);
      return { row, writes: true };
    });
  }

  /** REPLACE, upserts and MERGE write the rows they meet, and insert what meets none. */
  #upsert(plan: UpsertPlan, { transaction, tried }: Sent): RowAccess[] {
    const { table, rows, meets, meetsEach, bind, effect } = plan;
    const met = this.#rows
      .get(table)!
      .filter(({ current }) => current !== undefined && meets(current) === true);
    const added = rows.filter((_, i) => !met.some(({ current }) => meetsEach[i]!(current!) === true));
    const { changes, apply } = bind(this.#currentRows);
    const accesses = met.map((row) => {
      const before = row.current!;
      if (effect === 'update' && changes(before) === false) return { row, writes: false };
      const changed =
        effect === 'replace' ? rows.find((_, i) => meetsEach[i]!(before) === true) : apply(before);
      // What cannot be known stays as it was; that the row is written is enough.
      if (!tried && changed !== undefined)
        this.#set(row, transaction, changed === 'absent' ? undefined : changed);
      return { row, writes: effect !== 'nothing' };
    });
    const insert: InsertPlan = { type: 'insert', table, reads: [], bind: () => added };
    return [...accesses, ...this.#insert(insert, { sql: '', transaction, tried })];
  }

  /** The row with the same key, if there is one. */
  #rowLike(table: Table, given: EvaluatedRow): MirrorRow | undefined {
    const { shape, identity, basis, uniqueKeys = [] } = table;
    const keys = basis === 'given' ? [...uniqueKeys, identity] : uniqueKeys;
    const { dialect } = this.#catalog;
    return this.#rows
      .get(table)!
      .find(({ versions }) =>
        versions.some((version) => sharesKey(version, given, keys, { shape, dialect }) === true),
      );
  }

  #change({ table, bind }: ChangePlan, { transaction, tried, matched }: Sent): RowAccess[] {
    const { where, apply } = bind(this.#currentRows);
    // All conditions are looked at before anything changes.
    const hits = this.#rows.get(table)!.map((row) => ({
      row,
      now: row.current !== undefined && where(row.current) === true,
      ever: row.versions.some((version) => where(version) === true),
    }));
    return hits.flatMap(({ row, now, ever }): RowAccess[] => {
      if (!now || matched === 0) return ever ? [{ row, writes: false }] : [];
      const changed = apply(row.current!);
      if (!tried && changed !== undefined)
        this.#set(row, transaction, changed === 'absent' ? undefined : changed);
      return [{ row, writes: true }];
    });
  }

  /** The rows that all queries in a statement read, subqueries included. */
  #reads(statement: Statement): RowAccess[] {
    const found = new Set<MirrorRow>();
    visitNodes(statement, {
      query: ({ body, with: common }) => {
        const hidden = (common?.ctes ?? []).map(({ name }) => name);
        for (const core of coresOf(body)) this.#readCore(core, hidden, found);
      },
    });
    return [...found].map((row) => ({ row, writes: false }));
  }

  /** `hidden`: names that mean common tables here. */
  #readCore(core: SelectCore, hidden: readonly string[], found: Set<MirrorRow>): void {
    const { dialect, find } = this.#catalog;
    const options: EvaluateOptions = {
      dialect,
      table: (name) => {
        const table = find(name);
        return table && { columns: table.shape.columns, rows: this.#currentRows(table) };
      },
    };
    const references = core.from.flatMap(tablesOf);
    const alone = references.length === 1;
    const conditions = core.where === undefined ? [] : conjunctsOf(core.where);
    for (const { name, alias } of references) {
      const table = hidden.some((other) => sameName(name, other, dialect)) ? undefined : find(name);
      if (table === undefined) continue;
      const columns = table.shape.columns.map((column) => ({ ...column, table: alias ?? name }));
      const tests = conditions.map((condition) => compilePredicate(condition, columns, options));
      const holds = (version: EvaluatedRow) =>
        tests.every((test) => {
          const truth = test(version);
          // In a join a condition that cannot be decided here is one of another table, or of both.
          return truth === true || (!alone && isUndecidable(truth));
        });
      for (const row of this.#rows.get(table)!) if (row.versions.some(holds)) found.add(row);
    }
  }
}

function putBack(row: MirrorRow, before: EvaluatedRow | undefined): void {
  row.current = before;
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

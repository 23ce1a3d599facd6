/**
 * Collects a plan: interactions with their groups and numbers, and the shadow state as it will be when all of them have
 * run. An instance of a property that gives up half-way leaves nothing behind.
 */
import type { Random, RowValues, SourceTable, StatementSource } from '../generate/index.js';
import {
  type Dialect,
  isUndecidable,
  nameKey,
  parseStatement,
  printExpression,
  printName,
  printStatement,
  type Row,
  type Value,
} from '../sql/index.js';
import { endsTransactions, type FaultKind } from './fault-kinds.js';
import { type CheckInteraction, describeCheck, type Interaction, type Plan } from './interaction.js';
import { keyOfRow } from './judge-check.js';
import {
  type Action,
  type Column,
  type Gen,
  type Meanwhile,
  type Property,
  type Result,
  type Table,
  type TableRow,
  that,
} from './property.js';
import type { ShadowState } from './shadow-state.js';
import type { TableState } from './tables.js';

/** No instance of the property can be made now. */
export class NotNow extends Error {}

/** A table that was drawn and whose rows are known. */
export interface KnownTable extends SourceTable {
  readonly state: TableState;
}

export class PlanBuilder {
  readonly #interactions: Interaction[] = [];
  readonly #properties = new Map<number, string>();
  #shadow: ShadowState;
  #groups = 0;
  #ids = 0;
  #names = 0;

  constructor(
    readonly source: StatementSource,
    readonly random: Random,
    shadow: ShadowState,
  ) {
    this.#shadow = shadow;
  }

  get shadow(): ShadowState {
    return this.#shadow;
  }

  get size(): number {
    return this.#interactions.length;
  }

  get dialect(): Dialect {
    return this.source.capabilities.dialect;
  }

  plan(seed: string): Plan {
    return { seed, interactions: [...this.#interactions], properties: new Map(this.#properties) };
  }

  /** Everything `work` lists is one group; false: it gave up, and nothing was listed. */
  group(property: string | undefined, work: (group: number) => void): boolean {
    const [size, shadow] = [this.#interactions.length, this.#shadow.copy()];
    const group = this.#groups++;
    try {
      work(group);
    } catch (thrown) {
      if (!(thrown instanceof NotNow)) throw thrown;
      this.#interactions.length = size;
      this.#shadow = shadow;
      return false;
    }
    if (property !== undefined) this.#properties.set(group, property);
    return this.#interactions.length > size;
  }

  /** An instance of a property, as a group. */
  instance(property: Property): boolean {
    return this.group(property.name, (group) => property.act(this.#action(group, property)));
  }

  statement(group: number, sql: string, session = 0, more: { mayFail?: true; optional?: true } = {}): Result {
    const id = this.#ids++;
    this.#interactions.push({ type: 'statement', id, group, session, sql, ...more });
    // What may fail is meant to: the shadow state takes it for refused.
    if (more.mayFail !== true) this.#shadow.apply(session, parseStatement(sql, this.dialect));
    return { id };
  }

  check({ says, ...check }: Omit<CheckInteraction, 'says'> & { readonly says?: string | undefined }): void {
    this.#interactions.push({ ...check, says: says ?? describeCheck(check.check) });
  }

  fault(group: number, fault: FaultKind, session: number): void {
    this.#interactions.push({ type: 'fault', group, fault, session });
    const ends = endsTransactions(fault);
    if (ends === 'one') this.#shadow.rollBack(session);
    else if (ends === 'all') this.#shadow.rollBackAll();
  }

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  /** Draws a new table, creates it and fills it. */
  createTable(group: number, rows: number): string {
    const model = this.source.table(this.name('t'));
    this.#shadow.declare(model);
    for (const sql of this.source.create(model)) this.statement(group, sql);
    if (rows > 0) {
      const tables = this.known();
      const values = this.source.newRows(tables, model.name, rows);
      this.statement(group, this.#print(this.source.insertOf(tables, model.name, values)));
    }
    return model.name;
  }

  /** The tables a session sees that were drawn and whose rows are known. */
  known(session = 0): KnownTable[] {
    return [...this.#shadow.view(session).values()].flatMap((state) =>
      state.model === undefined || isUndecidable(state.rows)
        ? []
        : [{ state, model: state.model, rows: state.rows.filter((row) => !row.some(isUndecidable)) }],
    );
  }

  /** The known tables, this one among them. */
  #with(name: string): KnownTable[] {
    const tables = this.known();
    return tables.some(({ model }) => model.name === name) ? tables : giveUp();
  }

  #print(statement: Parameters<typeof printStatement>[0]): string {
    return printStatement(statement, this.dialect);
  }

  #action(group: number, { anyState }: Property): Action {
    const { random } = this;
    const about = { group, ...(anyState && { anyState }) };
    const builder = this;
    return {
      db: {
        get tables() {
          return builder.known().map((each) => builder.#table(each));
        },
      },
      pick: (from) => (from.length === 0 ? giveUp() : random.pick(from)),
      chance: (probability) => random.chance(probability),
      between: (low, high) => random.between(low, high),
      gen: this.#gen(),
      run: (sql, session) => this.statement(group, sql, session),
      attempt: (sql, session) => this.statement(group, sql, session, { mayFail: true }),
      begin: (session) => void this.statement(group, 'BEGIN', session),
      commit: (session) => void this.statement(group, 'COMMIT', session),
      rollback: (session) => void this.statement(group, 'ROLLBACK', session),
      assert: (check, says) => this.check({ type: 'assert', ...about, check, says }),
      assume: (check, says) => this.check({ type: 'assume', ...about, check, says }),
      fault: (kind, session = 0) => this.fault(group, kind, session),
      meanwhile: (options = {}) => this.#meanwhile(group, options),
      giveUp,
      that,
    };
  }

  #table({ model, state, rows }: KnownTable): Table {
    const quoted = printName(model.name, this.dialect);
    const columns = state.shape.columns.map(({ name, type }): Column => {
      const shown = printName(name, this.dialect);
      return { name, type, toString: () => shown };
    });
    const rowOf = (values: Row): TableRow => tableRow(model.name, columns, values);
    return { name: model.name, columns, rows: rows.map((row) => rowOf(row as Row)), toString: () => quoted };
  }

  #gen(): Gen {
    const { source } = this;
    const print = (statement: Parameters<typeof printStatement>[0] | undefined) =>
      statement === undefined ? giveUp() : this.#print(statement);
    return {
      row: (table) => {
        const [drawn] = source.newRows(this.#with(table.name), table.name, 1);
        return this.#stored(table, drawn!);
      },
      insertOf: (row) => {
        const state = this.#shadow.view(0).get(nameKey(row.table, this.dialect)) ?? giveUp();
        const values = Object.fromEntries(
          state.shape.columns.map(({ name }, i) => [name, row.values[i] as Value]),
        );
        return print(source.insertOf(this.#with(row.table), row.table, [values]));
      },
      predicate: (table, row, { qualified = false } = {}) => {
        const tables = this.#with(table.name);
        const condition =
          row === undefined
            ? source.condition(tables, table.name, qualified)
            : source.conditionFor(tables, table.name, row.values, qualified);
        return `(${printExpression(condition, this.dialect)})`;
      },
      select: (table) => print(source.select(this.#with(table.name), table.name)),
      insert: (table) => print(source.insert(this.#with(table.name), table.name)),
      update: (table) => print(source.update(this.#with(table.name), table.name)),
      delete: (table) => print(source.delete(this.#with(table.name), table.name)),
      name: (prefix) => this.name(prefix),
      table: () => {
        const model = source.table(this.name('t'));
        this.#shadow.declare(model);
        return { name: model.name, create: source.create(model) };
      },
    };
  }

  /** A drawn row as it will be stored: generated columns computed, values as their columns hold them. */
  #stored(table: Table, drawn: RowValues): TableRow {
    const trial = this.#shadow.copy();
    const before = rowsOf(trial.view(0).get(nameKey(table.name, this.dialect)));
    // From the text, as the database will read it: a literal can change its type on the way.
    const insert = this.#print(this.source.insertOf(this.#with(table.name), table.name, [drawn]));
    trial.apply(0, parseStatement(insert, this.dialect));
    const added = rowsOf(trial.view(0).get(nameKey(table.name, this.dialect))).at(before.length);
    if (added === undefined || added.some(isUndecidable)) return giveUp();
    return tableRow(table.name, table.columns, added as Row);
  }

  #meanwhile(group: number, { session = 0, keep, writes, most = 2 }: Meanwhile): void {
    for (let count = this.random.between(0, most); count > 0; count--) {
      const sql = this.#harmless(session, keep, writes === true);
      if (sql !== undefined) this.statement(group, sql, session, { optional: true });
    }
  }

  /** A statement that leaves a row as it is. */
  #harmless(session: number, keep: TableRow | undefined, writes: boolean): string | undefined {
    const tables = this.known(session);
    if (tables.length === 0) return undefined;
    const of = this.random.pick(tables).model.name;
    const kinds = writes ? writeKinds : (['select', ...writeKinds] as const);
    const sql = this.draw(tables, of, this.random.pick(kinds));
    if (sql === undefined || keep === undefined) return sql;
    const trial = this.#shadow.copy();
    trial.apply(session, parseStatement(sql, this.dialect));
    const key = keyOfRow(keep.values);
    const kept = rowsOf(trial.view(session).get(nameKey(keep.table, this.dialect))).some(
      (row) => !row.some(isUndecidable) && keyOfRow(row as Row) === key,
    );
    return kept ? sql : undefined;
  }

  /** A statement of a kind on a table; a table that is full is not filled further, an empty one not emptied. */
  draw(tables: readonly KnownTable[], of: string, kind: StatementKindDrawn): string | undefined {
    const { source } = this;
    const size = tables.find(({ model }) => model.name === of)?.rows.length ?? 0;
    const full = size >= mostRows;
    const wanted = kind === 'insert' && full ? 'delete' : kind === 'delete' && size <= 1 ? 'insert' : kind;
    switch (wanted) {
      case 'select':
        return this.#print(source.select(tables, of));
      case 'insert':
        return this.#print(
          !full &&
            size > 0 &&
            this.random.chance(0.15) &&
            source.capabilities.unsupported.every((each) => each !== 'statement.insert-select')
            ? source.insertSelect(tables, of)
            : source.insert(tables, of),
        );
      case 'update': {
        const statement = source.update(tables, of);
        return statement && this.#print(statement);
      }
      case 'delete':
        return this.#print(source.delete(tables, of));
      default:
        return wanted satisfies never;
    }
  }
}

export type StatementKindDrawn = 'select' | 'insert' | 'update' | 'delete';
const writeKinds = ['insert', 'update', 'delete'] as const;

/** More rows make statements slower, not more telling. */
const mostRows = 40;

function giveUp(): never {
  throw new NotNow('no instance can be made now');
}

function rowsOf(state: TableState | undefined) {
  return state === undefined || isUndecidable(state.rows) ? [] : state.rows;
}

function tableRow(table: string, columns: readonly Column[], values: Row): TableRow {
  return {
    table,
    values,
    value: (name) => {
      const at = columns.findIndex((each) => each.name === name);
      return at < 0 ? giveUp() : values[at]!;
    },
  };
}

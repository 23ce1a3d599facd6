/**
 * The shadow state: which rows the tables would hold if the transactions generated so far had run one after another.
 *
 * It exists so that statements hit something: predicates are built around rows that are alive, keys are fresh or taken
 * on purpose. It is a belief, not an oracle. A value it cannot compute is `undefined`, and a row that may or may not be
 * there is not `sure`; nothing is ever concluded from those.
 *
 * Every change is logged, so that ROLLBACK and ROLLBACK TO cost as much as what they undo.
 */
import type { Expression, Value } from '../sql/index.js';
import { type Belief, believe, believeValue } from './belief.js';
import { ridColumn, type TableModel } from './schema.js';

export interface ShadowRow {
  readonly rid: number;
  /** By column; undefined: not known. */
  readonly values: Readonly<Record<string, Value | undefined>>;
  readonly sure: boolean;
}

export class ShadowTable {
  readonly #rows = new Map<number, ShadowRow>();
  #list: readonly ShadowRow[] | undefined;
  nextRid = 1;
  /** Supply of values for keys and unique columns, beyond the small ones keys are drawn from. */
  nextFresh = 100;
  /** Rids up to here belong to initial rows that other tables refer to. */
  pinned = 0;

  constructor(readonly model: TableModel) {}

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

  /** Sets or removes a row. Changes that may have to be undone go through `Shadow`. */
  set(rid: number, row: ShadowRow | undefined): void {
    this.#list = undefined;
    if (row === undefined) this.#rows.delete(rid);
    else this.#rows.set(rid, row);
  }
}

interface Change {
  readonly table: ShadowTable;
  readonly rid: number;
  readonly before: ShadowRow | undefined;
}

export class Shadow {
  readonly tables: readonly ShadowTable[];
  #log: Change[] = [];
  #nextVersion = 1;

  constructor(models: readonly TableModel[]) {
    this.tables = models.map((model) => new ShadowTable(model));
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
    return this.#log.length;
  }

  undo(mark: number): void {
    while (this.#log.length > mark) {
      const { table, rid, before } = this.#log.pop()!;
      table.set(rid, before);
    }
  }

  /** What was logged so far can no longer be undone. */
  keep(): void {
    this.#log = [];
  }

  put(table: ShadowTable, row: ShadowRow): void {
    this.#log.push({ table, rid: row.rid, before: table.row(row.rid) });
    table.set(row.rid, row);
  }

  remove(table: ShadowTable, rid: number): void {
    this.#log.push({ table, rid, before: table.row(rid) });
    table.set(rid, undefined);
  }

  /** What a condition says of a row; an absent condition holds for all. */
  matches(table: ShadowTable, row: ShadowRow, where: Expression | undefined): Belief {
    return where === undefined ? true : believe(where, this.scope(table, row));
  }

  /** How columns of a row are found by an unaliased statement on its table. */
  scope(table: ShadowTable, row: ShadowRow): Scope {
    return { shadow: this, names: [[table.model.name, row]] };
  }

  /** The rows a condition can hold for: one, if it names a `rid`. */
  #candidates(table: ShadowTable, where: Expression | undefined): readonly ShadowRow[] {
    const rid = where === undefined ? undefined : namedRid(where);
    if (rid === undefined) return table.list();
    const row = table.row(rid);
    return row === undefined ? [] : [row];
  }

  /** Believes a DELETE. */
  delete(table: ShadowTable, where: Expression | undefined): void {
    // Decided on the state before: the condition may look at the table itself.
    const hits = this.#candidates(table, where).map((row) => [row, this.matches(table, row, where)] as const);
    for (const [row, hit] of hits) {
      if (hit === true) this.remove(table, row.rid);
      else if (hit === undefined && row.sure) this.put(table, { ...row, sure: false });
    }
  }

  /** Believes an UPDATE; all values are computed from the old row. */
  update(table: ShadowTable, where: Expression | undefined, set: Readonly<Record<string, Expression>>): void {
    // Hits are decided on the state before, and so are the values.
    const changes: ShadowRow[] = [];
    for (const row of this.#candidates(table, where)) {
      const hit = this.matches(table, row, where);
      if (hit === false || hit === null) continue;
      const values: Record<string, Value | undefined> = { ...row.values };
      for (const name of Object.keys(set)) {
        values[name] = hit === true ? believeValue(set[name]!, this.scope(table, row)) : undefined;
      }
      changes.push({ rid: row.rid, values: this.#derive(table, values), sure: row.sure });
    }
    for (const row of changes) this.put(table, row);
  }

  insert(
    table: ShadowTable,
    rid: number,
    values: Readonly<Record<string, Value | undefined>>,
    sure = true,
  ): void {
    this.put(table, { rid, values: this.#derive(table, { ...values, [ridColumn]: rid }), sure });
  }

  /** The same values with generated columns computed. */
  #derive(
    table: ShadowTable,
    values: Record<string, Value | undefined>,
  ): Readonly<Record<string, Value | undefined>> {
    for (const { name, generated } of table.model.columns) {
      if (generated === undefined) continue;
      const row = { rid: 0, values, sure: true };
      values[name] = believeValue(generated, this.scope(table, row));
    }
    return values;
  }
}

/** More than any `rid`. */
const versionStep = 1_000_000;

/** The `rid` a condition demands, if it does. */
function namedRid(where: Expression): number | undefined {
  if (where.type !== 'binary') return undefined;
  if (where.op === 'AND') return namedRid(where.left) ?? namedRid(where.right);
  const { left, right } = where;
  const named =
    where.op === '=' && left.type === 'column' && left.name === ridColumn && right.type === 'literal';
  return named && typeof right.value === 'number' ? right.value : undefined;
}

/** Where columns are looked up: the innermost table first. */
export interface Scope {
  readonly shadow: Shadow;
  readonly names: readonly (readonly [name: string, row: ShadowRow])[];
}

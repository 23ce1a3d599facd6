/** Rows to be written: fresh `rid`s, keys nobody has, values of the domains. */
import type { InsertStatement, Value } from '../sql/index.js';
import { literal, table } from './build.js';
import type { Chooser } from './chooser.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { Shadow, ShadowRow, ShadowTable } from './shadow.js';
import { freshValue } from './values.js';

export type RowValues = Readonly<Record<string, Value>>;

export class Rows {
  readonly #chooser: Chooser;
  readonly #shadow: Shadow;

  constructor(chooser: Chooser, shadow: Shadow) {
    this.#chooser = chooser;
    this.#shadow = shadow;
  }

  /** New rows for one statement: fresh `rid`s, keys and versions, the rest from the domains. */
  newRows(of: ShadowTable, count: number, small?: boolean): RowValues[] {
    const taken = new TakenKeys(of);
    const columns = of.writable;
    return Array.from({ length: count }, () => {
      const smallKey = small ?? this.#chooser.chance('write.small-key');
      const row: Record<string, Value> = { [ridColumn]: of.nextRid++, ...this.#freeKey(of, smallKey, taken) };
      for (const each of columns) if (each.role !== 'key') row[each.name] = this.value(of, each);
      return row;
    });
  }

  /**
   * A key no row has: a new one, or one of the few small ones, if one is free. Small ones are taken again after
   * a DELETE, and by two sessions at once.
   */
  freeKey(of: ShadowTable): RowValues {
    return this.#freeKey(of, this.#chooser.chance('write.small-key'), new TakenKeys(of));
  }

  #freeKey(of: ShadowTable, small: boolean, taken: TakenKeys): RowValues {
    const columns = of.writable.filter(({ role }) => role === 'key');
    if (columns.length === 0) return {};
    const draw = (n: () => number) => columns.map((each) => freshValue(each.kind, n()));
    const named = (values: readonly Value[]) =>
      Object.fromEntries(values.map((value, i) => [columns[i]!.name, value]));
    for (let attempt = 0; small && attempt < 3; attempt++) {
      const drawn = draw(() => this.#chooser.random.between(1, 12));
      if (taken.add(drawn)) return named(drawn);
    }
    return named(draw(() => of.nextFresh++));
  }

  /** A value for a column of a new or changed row. */
  value(of: ShadowTable, each: ColumnModel): Value {
    const { random } = this.#chooser;
    switch (each.role) {
      case 'version':
        return this.#shadow.nextVersion(false);
      case 'key':
      case 'unique':
        return each.nullable && random.chance(0.15) ? null : freshValue(each.kind, of.nextFresh++);
      case 'reference': {
        const parent = this.#shadow.table(each.references!.table)!;
        const rows = parent.list().filter(({ rid }) => rid <= parent.pinned);
        if (rows.length === 0) return null;
        return parent.value(random.pick(rows), each.references!.column) ?? null;
      }
      default:
        return each.nullable && random.chance(0.12) ? null : random.pickSkewed(each.domain);
    }
  }
}

/** The keys of a table's rows, collected when first asked for. */
class TakenKeys {
  #keys: Set<string> | undefined;

  constructor(readonly of: ShadowTable) {}

  /** Takes a key; false: it was taken before. */
  add(key: readonly Value[]): boolean {
    const { of } = this;
    this.#keys ??= new Set(
      of.list().map((row) => JSON.stringify(of.model.key.map((name) => of.value(row, name)))),
    );
    const { size } = this.#keys;
    return this.#keys.add(JSON.stringify(key)).size > size;
  }
}

/** The key of a row; undefined where a part of it is not known. */
export function keyOf(of: ShadowTable, row: ShadowRow): RowValues | undefined {
  const key: Record<string, Value> = {};
  for (const name of of.model.key) {
    const value = of.value(row, name);
    if (value === undefined) return undefined;
    key[name] = value;
  }
  return key;
}

export function insertRows(
  of: ShadowTable,
  columns: readonly ColumnModel[],
  rows: readonly RowValues[],
  more: Partial<InsertStatement>,
): InsertStatement {
  const names = [ridColumn, ...columns.map(({ name }) => name)];
  return {
    type: 'insert',
    table: table(of.model.name),
    columns: names,
    source: { type: 'values', rows: rows.map((row) => names.map((name) => literal(row[name]!))) },
    ...more,
  };
}

/** Rows to be written: fresh `rid`s, keys nobody has, values of the domains. */
import type { InsertStatement, Value } from '../sql/index.js';
import { literal, table } from './build.js';
import type { Chooser } from './chooser.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { Shadow, ShadowTable } from './shadow.js';
import { freshValue } from './values.js';

export type RowValues = Readonly<Record<string, Value>>;

export class Rows {
  readonly #chooser: Chooser;
  readonly #shadow: Shadow;

  constructor(chooser: Chooser, shadow: Shadow) {
    this.#chooser = chooser;
    this.#shadow = shadow;
  }

  /** A new row: fresh `rid`, key and version, the rest from the domains. */
  newRow(of: ShadowTable, smallKey = this.#chooser.chance('write.small-key')): RowValues {
    const rid = of.nextRid++;
    const row: Record<string, Value> = { [ridColumn]: rid, ...this.freeKey(of, smallKey) };
    for (const each of writable(of)) {
      if (each.role !== 'key') row[each.name] = this.value(of, each);
    }
    return row;
  }

  /**
   * A key no row has: a new one, or (`small`) one of the few small ones, if one is free. Small ones are taken again after
   * a DELETE, and by two sessions at once.
   */
  freeKey(of: ShadowTable, small = this.#chooser.chance('write.small-key')): RowValues {
    const columns = of.model.columns.filter(({ role }) => role === 'key');
    if (columns.length === 0) return {};
    const taken = new Set(
      of.list().map((row) => JSON.stringify(columns.map(({ name }) => row.values[name]))),
    );
    const entries = (n: () => number) =>
      columns.map((each) => [each.name, freshValue(each.kind, n())] as const);
    for (let attempt = 0; small && attempt < 3; attempt++) {
      const drawn = entries(() => this.#chooser.random.between(1, 12));
      if (!taken.has(JSON.stringify(drawn.map(([, value]) => value)))) return Object.fromEntries(drawn);
    }
    return Object.fromEntries(entries(() => of.nextFresh++));
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
        const value = rows.length === 0 ? null : random.pick(rows).values[each.references!.column];
        return value ?? null;
      }
      default:
        return each.nullable && random.chance(0.12) ? null : random.pickSkewed(each.domain);
    }
  }
}

/** Columns a statement may write, `rid` apart. */
export function writable(of: ShadowTable): ColumnModel[] {
  return of.model.columns.filter(({ role }) => role !== 'rid' && role !== 'generated');
}

export function keyOf(of: ShadowTable, row: RowValues): RowValues {
  return Object.fromEntries(of.model.key.map((name) => [name, row[name]!]));
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

/** Upsert, REPLACE and MERGE: writes that insert a row or change the one that has its key. */
import type { Assignment, Expression, InsertStatement, MergeStatement, Value } from '../sql/index.js';
import { assignments, binary, column, core, item, literal, query, table, update } from './build.js';
import { insertRows, keyOf } from './rows.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { ShadowRow, ShadowTable } from './shadow.js';
import type { Writes, Written } from './writes.js';

interface Meeting {
  /** The row to insert, with the key of `met` if there is one. */
  readonly row: Readonly<Record<string, Value>>;
  readonly met: ShadowRow | undefined;
}

export class Upserts {
  constructor(readonly writes: Writes) {}

  get #shadow() {
    return this.writes.predicates.shadow;
  }

  get #random() {
    return this.writes.predicates.chooser.random;
  }

  /** Whether a table is one where only the key can collide: then it is known what the statement does. */
  static fits(of: ShadowTable): boolean {
    return of.model.key.length > 0 && of.model.columns.every(({ role }) => role !== 'unique');
  }

  /** A new row; two times in three with the key of a row that is there. */
  #meet(of: ShadowTable, spared: number): Meeting {
    const row = this.writes.rows.newRows(of, 1)[0]!;
    const known = of.list().filter((each) => each.rid > spared && each.sure && keyOf(of, each) !== undefined);
    if (known.length === 0 || this.#random.chance(0.33)) return { row, met: undefined };
    const met = this.#random.pick(known);
    return { row: { ...row, ...keyOf(of, met) }, met };
  }

  /** Follows the statement: it inserts the row, or makes the assignments to the row it meets. */
  #follow(of: ShadowTable, { row, met }: Meeting, set: Readonly<Record<string, Expression>>): void {
    if (met === undefined) this.#shadow.insert(of, insertRows(of, of.writable, [row], {}));
    else {
      const where = binary('=', column(ridColumn), literal(met.rid));
      this.#shadow.update(of, update(of.model.name, set, where));
    }
  }

  /** The columns an upsert changes: never the key, never `rid`. */
  #changed(of: ShadowTable): readonly ColumnModel[] {
    const free = this.writes.changeable(of);
    const version = free.find(({ role }) => role === 'version');
    if (version !== undefined) return [version];
    return free.length === 0 ? [] : [this.#random.pick(free)];
  }

  /** ON CONFLICT … DO UPDATE or DO NOTHING, ON DUPLICATE KEY UPDATE. */
  upsert(of: ShadowTable): Written {
    const { dialect } = this.writes.predicates.chooser.capabilities;
    const meeting = this.#meet(of, 0);
    const changed = this.#changed(of);
    const columns = of.writable;
    const set = Object.fromEntries(
      changed.map((each) => [each.name, literal(this.writes.rows.value(of, each))] as const),
    );
    if (dialect === 'mysql') {
      const first = of.model.key[0]!;
      const nothing: Assignment[] = [{ columns: [first], value: column(first) }];
      const conflict = {
        type: 'on-duplicate-key',
        set: changed.length > 0 ? assignments(set) : nothing,
      } as const;
      this.#follow(of, meeting, set);
      return { statement: insertRows(of, columns, [meeting.row], { conflict }) };
    }
    const nothing = changed.length === 0 || this.#random.chance(0.25);
    const conflict: InsertStatement['conflict'] = {
      type: 'on-conflict',
      columns: of.model.key.map((name) => ({ expression: column(name) })),
      ...(nothing ? {} : { set: assignments(set) }),
    };
    this.#follow(of, meeting, nothing ? {} : set);
    return { statement: insertRows(of, columns, [meeting.row], { conflict }) };
  }

  /** REPLACE: the row that has the key goes, and with it its `rid`. */
  replace(of: ShadowTable): Written {
    const meeting = this.#meet(of, of.pinned);
    if (meeting.met !== undefined) this.#shadow.remove(of, meeting.met.rid);
    const statement = insertRows(of, of.writable, [meeting.row], { mode: 'replace' });
    this.#shadow.insert(of, statement);
    return { statement };
  }

  /** MERGE of one computed row. */
  merge(of: ShadowTable): Written {
    const meeting = this.#meet(of, 0);
    const changed = this.#changed(of);
    const name = of.model.name;
    const items = of.model.key.map((key) => item(literal(meeting.row[key]!), key));
    const source = query({ ...core({ items, from: table(name) }), from: [] });
    const on = of.model.key
      .map((key) => binary('=', column(key, name), column(key, 's')))
      .reduce((left, right) => binary('AND', left, right));
    const set = Object.fromEntries(
      changed.map((each) => [each.name, literal(this.writes.rows.value(of, each))] as const),
    );
    const columns = [ridColumn, ...of.writable.map((each) => each.name)];
    const insert: MergeStatement['whens'][number] = {
      match: 'not matched',
      action: { type: 'insert', columns, values: columns.map((each) => literal(meeting.row[each]!)) },
    };
    const change: MergeStatement['whens'][number] = {
      match: 'matched',
      action: { type: 'update', set: assignments(set) },
    };
    this.#follow(of, meeting, set);
    return {
      statement: {
        type: 'merge',
        table: table(name),
        using: { type: 'derived', query: source, alias: 's' },
        on,
        whens: changed.length > 0 ? [change, insert] : [insert],
      },
    };
  }
}

/**
 * Statements that write, each followed by the shadow state as it is built.
 *
 * What keeps them valid: rows get fresh `rid`s; keys and unique columns get values no live row has, except in a
 * deliberate collision; writes to them name one row; rows that other tables refer to are neither deleted nor re-keyed.
 */
import type { DeleteStatement, Expression, InsertStatement, Statement } from '../sql/index.js';
import { binary, both, call, column, core, item, literal, query, table, update } from './build.js';
import type { Aim, Predicates } from './predicates.js';
import { insertRows, keyOf, Rows } from './rows.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { ShadowTable } from './shadow.js';
import { freshValue, isWhole } from './values.js';

export interface Written {
  readonly statement: Statement;
  /** It is meant to fail on a key that is taken. */
  readonly collides?: true;
}

export class Writes {
  readonly rows: Rows;

  constructor(readonly predicates: Predicates) {
    this.rows = new Rows(predicates.chooser, predicates.shadow);
  }

  get #random() {
    return this.predicates.chooser.random;
  }

  get #chooser() {
    return this.predicates.chooser;
  }

  get #shadow() {
    return this.predicates.shadow;
  }

  /** INSERT … VALUES. */
  insert(of: ShadowTable): Written {
    const collides = of.model.key.length > 0 && this.#chooser.chance('write.collision');
    const taken = collides
      ? of
          .list()
          .filter(({ sure }) => sure)
          .map((row) => keyOf(of, row))
          .find((key) => key !== undefined)
      : undefined;
    const count =
      taken === undefined && this.#chooser.chance('write.multi-row') ? this.#random.between(2, 3) : 1;
    const leftOut = this.#leftOut(of);
    const columns = of.writable.filter((each) => !leftOut.has(each.name));
    const rows = this.rows.newRows(of, count);
    if (taken !== undefined) {
      const row = { ...rows[0]!, ...taken };
      return { statement: insertRows(of, columns, [row], this.#returning(of)), collides: true };
    }
    const statement = insertRows(of, columns, rows, this.#returning(of));
    this.#shadow.insert(of, statement);
    return { statement };
  }

  /** The rows a table begins with. */
  initialRows(of: ShadowTable, count: number): InsertStatement {
    const statement = insertRows(of, of.writable, this.rows.newRows(of, count, true), {});
    this.#shadow.insert(of, statement);
    return statement;
  }

  /** Nullable or defaulted columns an INSERT does not name. */
  #leftOut(of: ShadowTable): ReadonlySet<string> {
    if (!this.#chooser.chance('write.leave-out')) return new Set();
    const free = of.writable.filter(
      (each) => each.role === 'plain' && (each.nullable || each.default !== undefined),
    );
    return new Set(free.length === 0 ? [] : [this.#random.pick(free).name]);
  }

  #returning(of: ShadowTable): Pick<InsertStatement, 'returning'> {
    const asked = this.#chooser.chance('write.returning');
    return asked && !this.#fixed(of) ? { returning: [item(column(ridColumn))] } : {};
  }

  /** INSERT … SELECT: copies of initial rows under new `rid`s and keys. */
  insertSelect(of: ShadowTable): Written {
    const columns = of.writable;
    const distinct = columns.filter(({ role }) => role === 'key' || role === 'unique' || role === 'version');
    const copied = column(ridColumn, 's');
    // A block of rids: the copy of row r gets block + r, and so do its keys.
    const many = distinct.every(({ kind }) => isWhole(kind)) && this.#random.chance(0.7);
    const source = this.predicates.aimRow(of);
    const block = Math.ceil(of.nextRid / blockSize) * blockSize;
    const rid = many ? binary('+', literal(block), copied) : literal(of.nextRid);
    of.nextRid = many ? block + blockSize : of.nextRid + 1;
    const from = table(of.model.name, 's');
    const range: Expression = many
      ? {
          type: 'between',
          operand: copied,
          low: literal(1),
          high: literal(this.#random.between(2, 12)),
          negated: false,
        }
      : binary('=', copied, literal(source?.rid ?? 1));
    const windowed = this.#copiesByWindow();
    const values = columns.map((each): Expression => {
      const plain = column(each.name, 's');
      if (!distinct.includes(each)) return windowed && each.arithmetic ? largestSoFar(plain, copied) : plain;
      if (each.role === 'version') return binary('+', literal(this.#shadow.nextVersion(true)), copied);
      return many ? binary('+', literal(block), copied) : literal(freshValue(each.kind, of.nextFresh++));
    });
    if (many) of.nextFresh = Math.max(of.nextFresh, of.nextRid);
    const items = [rid, ...values].map((each) => item(each));
    const statement: InsertStatement = {
      type: 'insert',
      table: table(of.model.name),
      columns: [ridColumn, ...columns.map(({ name }) => name)],
      source: { type: 'query', query: query(core({ items, from, where: range })) },
    };
    this.#shadow.insert(of, statement);
    return { statement };
  }

  #copiesByWindow(): boolean {
    const { windowedCopies } = this.#chooser.profile;
    // Nothing is drawn where a profile does not ask for it, so that its seeds keep their meaning.
    if (windowedCopies === 0 || this.#chooser.weight('select.window') === 0) return false;
    return this.#random.chance(windowedCopies);
  }

  /** Rows that an engine with `plainParents` cannot rewrite while others refer to them. */
  #fixed(of: ShadowTable): boolean {
    return of.model.parent && this.#chooser.capabilities.plainParents === true;
  }

  /** Columns besides the key that may be changed; where rows cannot be rewritten, those no index holds. */
  changeable(of: ShadowTable): ColumnModel[] {
    const fixed = this.#fixed(of);
    const indexed = (role: ColumnModel['role']) => role === 'unique' || role === 'reference';
    return of.writable.filter(({ role }) => role !== 'key' && !(fixed && indexed(role)));
  }

  /** Whether an UPDATE has anything to change. */
  canUpdate(of: ShadowTable): boolean {
    return (
      this.changeable(of).length > 0 ||
      (of.model.key.length > 0 && of.list().some(({ rid }) => rid > of.pinned))
    );
  }

  /** UPDATE by constant, expression, CASE or subquery, of one row or many, of plain columns or of the key. */
  update(of: ShadowTable): Written {
    const targets = this.changeable(of);
    const drawn = this.predicates.aimRow(of);
    // Where nothing but the key can change, it is that of a row nobody refers to.
    const row = targets.length > 0 ? drawn : of.list().find(({ rid }) => rid > of.pinned);
    const aim: Aim = { table: of, name: of.model.name, row, writes: true };
    const movable = of.model.key.length > 0 && (aim.row?.rid ?? 0) > of.pinned;
    const kinds = ['constant', 'no-op', 'expression', 'case', 'subquery'] as const;
    const how = this.#chooser.one('set', movable ? [...kinds, 'key'] : kinds);
    if (how === 'key' || targets.length === 0) return this.#updateKey(aim);
    const version = targets.find(({ role }) => role === 'version');
    const each = version !== undefined && this.#random.chance(0.7) ? version : this.#random.pick(targets);
    const single = each.role === 'unique' || this.#chooser.profile.singleRowWrites;
    const where = single ? this.predicates.whereOne(aim) : this.predicates.where(aim);
    const set: Record<string, Expression> = { [each.name]: this.#assigned(aim, each, how, single) };
    const second = targets.filter((other) => other !== each && other.role === 'plain');
    if (second.length > 0 && this.#random.chance(0.2)) {
      const other = this.#random.pick(second);
      set[other.name] = literal(this.rows.value(of, other));
    }
    return this.#updateStatement(aim, set, where);
  }

  #updateStatement(
    aim: Aim,
    set: Readonly<Record<string, Expression>>,
    where: Expression | undefined,
  ): Written {
    const statement = update(aim.name, set, where);
    this.#shadow.update(aim.table, statement);
    return { statement: { ...statement, ...this.#returning(aim.table) } };
  }

  #updateKey(aim: Aim): Written {
    const key = this.rows.freeKey(aim.table);
    // One column of the key moves; with a fresh value no other row can have the new key.
    const name = this.#random.pick(aim.table.model.key);
    const { kind } = aim.table.model.columns.find((each) => each.name === name)!;
    const value = aim.table.model.key.length === 1 ? key[name]! : freshValue(kind, aim.table.nextFresh++);
    const where = binary('=', column(ridColumn), literal(aim.row!.rid));
    return this.#updateStatement(aim, { [name]: literal(value) }, where);
  }

  /** What a column is set to. */
  #assigned(aim: Aim, each: ColumnModel, how: string, single: boolean): Expression {
    const own = column(each.name);
    const fresh = () => literal(this.rows.value(aim.table, each));
    if (each.role === 'version') {
      // Several rows of one statement get different values, too.
      return single ? fresh() : binary('+', literal(this.#shadow.nextVersion(true)), column(ridColumn));
    }
    if (each.role === 'unique') return fresh();
    if (how === 'no-op') {
      const now = aim.row === undefined ? undefined : aim.table.value(aim.row, each.name);
      return this.#random.chance(0.3) || now === undefined || (now === null && !each.nullable)
        ? own
        : literal(now);
    }
    if (how === 'expression' && each.arithmetic) {
      return binary(this.#random.pick(['+', '-'] as const), own, literal(this.#random.between(1, 10)));
    }
    if (how === 'case') {
      const when = this.predicates.whereOne(aim);
      return { type: 'case', branches: [{ when, result: fresh() }], otherwise: own };
    }
    const other = this.predicates.otherTable(aim);
    const mayRead = other !== aim.table || this.#chooser.weight('write.self-subquery') > 0;
    if (how === 'subquery' && each.arithmetic && each.nullable && mayRead) {
      const where = binary('<=', column(ridColumn, 's'), literal(this.#random.between(1, 12)));
      // No sums: a sum of sums of sums would soon overflow.
      const sub = this.predicates.wholeNumberQuery(other, where, ['min', 'max']);
      return { type: 'subquery', query: sub };
    }
    return fresh();
  }

  /** DELETE, of rows nobody refers to. */
  #takesAll(): boolean {
    const { wholeDeletes } = this.#chooser.profile;
    // Profiles without them draw nothing, so their cases stay what they are.
    return wholeDeletes > 0 && this.#random.chance(wholeDeletes);
  }

  delete(of: ShadowTable): Written {
    const rows = of.list().filter(({ rid }) => rid > of.pinned);
    const row = rows.length === 0 ? undefined : this.#random.pick(rows);
    const aim: Aim = { table: of, name: of.model.name, row, writes: true };
    // Doubtful rows are cleared away, or the shadow would fill up with them.
    const doubtful = rows.filter(({ sure }) => !sure).slice(0, 10);
    const asked = this.#takesAll()
      ? undefined
      : doubtful.length > 0 && this.#chooser.weight('where.in-list') > 0
        ? ridIn(doubtful.map(({ rid }) => rid))
        : this.#chooser.profile.singleRowWrites
          ? this.predicates.whereOne(aim)
          : this.predicates.where(aim);
    const spare = of.pinned === 0 ? undefined : binary('>', column(ridColumn), literal(of.pinned));
    const where = both(asked, spare);
    const statement: DeleteStatement = {
      type: 'delete',
      table: table(aim.name),
      using: [],
      ...(where === undefined ? {} : { where }),
      orderBy: [],
    };
    this.#shadow.delete(of, statement);
    return { statement: { ...statement, ...this.#returning(of) } };
  }
}

/** Distance between the rids of a copied row and its copy; more than any table has initial rows. */
const blockSize = 1000;

function ridIn(rids: readonly number[]): Expression {
  const list = rids.map((rid) => literal(rid));
  return { type: 'in-list', operand: column(ridColumn), list, negated: false };
}

/** The largest value up to a row, in the order of an expression. */
function largestSoFar(value: Expression, by: Expression): Expression {
  return call('max', [value], {
    over: { partitionBy: [], orderBy: [{ expression: by, descending: false }] },
  });
}

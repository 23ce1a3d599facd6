/**
 * Queries. Where rows are shown, their `rid` is too; ORDER BY is always total, so that LIMIT means the same rows in
 * every engine.
 */
import type {
  Expression,
  FromItem,
  LockClause,
  OrderItem,
  SelectItem,
  SelectStatement,
} from '../sql/index.js';
import {
  binary,
  call,
  column,
  core,
  countStar,
  item,
  literal,
  type QueryTail,
  query,
  table,
} from './build.js';
import type { OptionOf } from './features.js';
import type { Aim, Predicates } from './predicates.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { ShadowTable } from './shadow.js';

export class Selects {
  constructor(readonly predicates: Predicates) {}

  get #random() {
    return this.predicates.chooser.random;
  }

  get #chooser() {
    return this.predicates.chooser;
  }

  /** A query on a table; `mayLock`: whether its transaction may take row locks. */
  select(of: ShadowTable, mayLock: boolean): SelectStatement {
    const shape = this.#chooser.one('select');
    switch (shape) {
      case 'plain':
        return this.#plain(of, mayLock);
      case 'inner-join':
      case 'left-join':
      case 'cross-join':
        return this.#join(of, shape, mayLock);
      case 'derived':
      case 'cte':
        return this.#nested(of, shape);
      case 'union':
      case 'intersect':
      case 'except':
        return this.#setOperation(of, shape);
      case 'aggregate':
      case 'group-by':
      case 'having':
        return this.#aggregate(of, shape);
      case 'window':
        return this.#window(of);
      default:
        return shape satisfies never;
    }
  }

  #aim(of: ShadowTable, name = of.model.name): Aim {
    return { table: of, name, row: this.predicates.aimRow(of), writes: false };
  }

  #plain(of: ShadowTable, mayLock: boolean): SelectStatement {
    const aim = this.#aim(of);
    const where = this.predicates.where(aim);
    const locks = mayLock ? this.#locks() : [];
    const items = this.#items(of);
    const from = table(of.model.name);
    // A lock on the rows of DISTINCT is refused by PostgreSQL: it no longer shows rows.
    const distinct = this.#chooser.chance('detail.distinct') && locks.length === 0;
    const body = core({ items, from, where, distinct });
    return query(body, { ...this.#order([column(ridColumn)]), locks });
  }

  /** All columns, or `rid` and some of them, perhaps computed. */
  #items(of: ShadowTable): SelectItem[] {
    if (this.#chooser.chance('detail.star')) return [{ type: 'star' }];
    const { columns } = of.model;
    const rest = columns.slice(1).filter(() => this.#random.chance(0.6));
    const items = [item(column(ridColumn)), ...rest.map((each) => item(column(each.name)))];
    const numbers = columns.filter(({ arithmetic }) => arithmetic);
    if (this.#chooser.chance('detail.arithmetic')) {
      const each = this.#random.pick(numbers);
      const op = this.#random.pick(['+', '-'] as const);
      items.push(item(binary(op, column(each.name), literal(this.#random.between(1, 9))), 'x'));
    }
    if (this.#chooser.chance('detail.case')) items.push(item(this.#case(of), 'y'));
    return items;
  }

  #case(of: ShadowTable): Expression {
    const when = this.predicates.whereOne(this.#aim(of));
    return { type: 'case', branches: [{ when, result: literal('hit') }], otherwise: literal('miss') };
  }

  #locks(): LockClause[] {
    const lock = this.#chooser.one('lock');
    if (lock === 'none') return [];
    const wait = this.#chooser.one('wait');
    const words = wait === 'nowait' ? 'NOWAIT' : 'SKIP LOCKED';
    const strength = lock === 'update' ? 'update' : this.#chooser.capabilities.shareLock;
    return [{ strength, of: [], ...(wait === 'normal' ? {} : { wait: words }) }];
  }

  /** ORDER BY columns that together name a row; LIMIT only behind it. */
  #order(by: readonly Expression[]): Pick<QueryTail, 'orderBy' | 'limit'> {
    const limited = this.#chooser.chance('detail.limit');
    if (!this.#chooser.chance('detail.order-by') && !limited) return {};
    const descending = this.#random.chance(0.3);
    const orderBy: OrderItem[] = by.map((expression) => ({ expression, descending }));
    return { orderBy, limit: limited ? this.#random.between(1, 4) : undefined };
  }

  #join(of: ShadowTable, shape: OptionOf<'select'>, mayLock: boolean): SelectStatement {
    const right = this.predicates.otherTable(this.#aim(of));
    const [mine, theirs] = this.predicates.pair(of, right);
    const kind = shape === 'inner-join' ? 'inner' : shape === 'left-join' ? 'left' : 'cross';
    const on = binary('=', column(mine.name, 'a'), column(theirs.name, 'b'));
    const from: FromItem = {
      type: 'join',
      kind,
      left: table(of.model.name, 'a'),
      right: table(right.model.name, 'b'),
      ...(kind === 'cross' ? {} : { on }),
    };
    const shown = (each: ColumnModel, name: string) => item(column(each.name, name), `${name}_${each.name}`);
    const items = [
      item(column(ridColumn, 'a'), 'a_rid'),
      item(column(ridColumn, 'b'), 'b_rid'),
      ...(mine.role === 'rid' ? [] : [shown(mine, 'a')]),
      ...(theirs.role === 'rid' ? [] : [shown(theirs, 'b')]),
    ];
    const where = this.predicates.where({ ...this.#aim(of, 'a'), joined: true });
    const locks = mayLock && kind === 'inner' ? this.#locks() : [];
    const order = this.#order([column(ridColumn, 'a'), column(ridColumn, 'b')]);
    return query(core({ items, from, where }), { ...order, locks });
  }

  #nested(of: ShadowTable, shape: 'derived' | 'cte'): SelectStatement {
    const each = this.#random.pick(of.model.columns);
    const columns = each.role === 'rid' ? [ridColumn] : [ridColumn, each.name];
    const from = table(of.model.name);
    const where = this.predicates.where(this.#aim(of));
    const inner = query(core({ items: columns.map((name) => item(column(name))), from, where }));
    const shown = columns.map((name) => item(column(name, 'w')));
    const bound = binary('>=', column(ridColumn, 'w'), literal(this.#random.between(0, 3)));
    const order = this.#order([column(ridColumn, 'w')]);
    if (shape === 'derived') {
      return query(
        core({ items: shown, from: { type: 'derived', query: inner, alias: 'w' }, where: bound }),
        order,
      );
    }
    const common = { recursive: false, ctes: [{ name: 'w', statement: inner }] };
    return query(core({ items: shown, from: table('w'), where: bound }), { with: common, ...order });
  }

  #setOperation(of: ShadowTable, shape: 'union' | 'intersect' | 'except'): SelectStatement {
    const right = this.predicates.otherTable(this.#aim(of));
    const [mine, theirs] = this.predicates.pair(of, right);
    const plain = mine.role === 'rid' || theirs.role === 'rid' || mine.kind !== theirs.kind;
    const side = (from: ShadowTable, each: ColumnModel) =>
      core({
        items: plain ? [item(column(ridColumn))] : [item(column(ridColumn)), item(column(each.name), 'c')],
        from: table(from.model.name),
        where: this.predicates.where(this.#aim(from)),
      });
    const op = shape.toUpperCase() as 'UNION' | 'INTERSECT' | 'EXCEPT';
    const all = op === 'UNION' && this.#random.chance(0.4);
    const left = side(of, mine);
    return query({ type: 'set-operation', op, all, left, right: side(right, theirs) });
  }

  #aggregate(of: ShadowTable, shape: 'aggregate' | 'group-by' | 'having'): SelectStatement {
    const { columns } = of.model;
    const from = table(of.model.name);
    const where = this.predicates.where(this.#aim(of));
    const whole = columns.filter(({ arithmetic, name }) => arithmetic || name === ridColumn);
    const each = column(this.#random.pick(whole).name);
    const sums = [
      item(countStar, 'n'),
      item(call('sum', [column(ridColumn)]), 'rids'),
      item(call(this.#random.pick(['min', 'max', 'sum']), [each]), 'x'),
    ];
    if (shape === 'aggregate') return query(core({ items: sums, from, where }));
    const by = this.#random.pick(columns.slice(1).length > 0 ? columns.slice(1) : columns);
    const group = column(by.name);
    const having =
      shape === 'having' ? binary('>', countStar, literal(this.#random.between(0, 2))) : undefined;
    return query(core({ items: [item(group), ...sums], from, where, groupBy: [group], having }));
  }

  #window(of: ShadowTable): SelectStatement {
    const rid = column(ridColumn);
    const items = [item(rid), item(this.predicates.window(of), 'w')];
    const where = this.predicates.where(this.#aim(of));
    return query(core({ items, from: table(of.model.name), where }), this.#order([rid]));
  }
}

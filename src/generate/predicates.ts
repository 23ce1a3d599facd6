/**
 * Conditions built around a row that is predicted to be alive, so that they hold for it (or for its neighbours), and
 * the values statements write.
 */
import type { ComparisonOperator, Expression, SelectStatement, Value } from '../sql/index.js';
import { binary, call, column, core, countStar, item, literal, query, table } from './build.js';
import type { Chooser } from './chooser.js';
import type { OptionOf } from './features.js';
import { type ColumnModel, ridColumn } from './schema.js';
import type { Shadow, ShadowRow, ShadowTable } from './shadow.js';
import { freshValue, isWhole } from './values.js';

/** What a condition is about. */
export interface Aim {
  readonly table: ShadowTable;
  /** How the statement calls the table. */
  readonly name: string;
  /** Other tables stand beside it, so its columns need its name. */
  readonly joined?: true;
  readonly row: ShadowRow | undefined;
  /** The statement writes: subqueries on its own table need the target's leave. */
  readonly writes: boolean;
}

/** A column of what is aimed at, as short as the statement allows. */
export function columnOf(aim: Aim, name: string): Expression {
  return aim.joined === true ? column(name, aim.name) : column(name);
}

/** Columns of whole numbers that statements may calculate with. */
const wholeColumns = ({ model }: ShadowTable): readonly ColumnModel[] =>
  model.columns.filter(({ name, arithmetic }) => arithmetic || name === ridColumn);

type Where = OptionOf<'where'>;
const nested: readonly Where[] = ['and', 'or', 'not'];
const subqueries: readonly Where[] = ['exists', 'correlated', 'in-query', 'scalar'];

export class Predicates {
  readonly #kept = new Map<ShadowTable, (readonly Where[])[]>();

  constructor(
    readonly chooser: Chooser,
    readonly shadow: Shadow,
  ) {}

  /** A row to aim at: often one of the first two, where the other sessions aim too. */
  aimRow(of: ShadowTable): ShadowRow | undefined {
    const rows = of.list();
    if (rows.length === 0) return undefined;
    const { random, profile } = this.chooser;
    return random.chance(profile.hot) ? rows[random.below(Math.min(2, rows.length))] : random.pick(rows);
  }

  /** A condition, or undefined for none. */
  where(aim: Aim): Expression | undefined {
    return this.#condition(aim, this.chooser.one('where', this.#fitting(aim, 0)), 0);
  }

  /** A condition that at most one row fulfils. */
  whereOne(aim: Aim): Expression {
    const keyed = aim.table.model.key.length > 0;
    const option = this.chooser.one('where', keyed ? ['rid', 'key'] : ['rid']);
    return this.#condition(aim, option, 0)!;
  }

  /** The options that make sense for this table at this depth; they never change, so they are kept. */
  #fitting({ table: of, writes }: Aim, depth: number): readonly Where[] {
    const kept = this.#kept.get(of) ?? [];
    this.#kept.set(of, kept);
    const slot = 2 * depth + (writes ? 1 : 0);
    kept[slot] ??= this.#findFitting(of, writes, depth);
    return kept[slot];
  }

  #findFitting(of: ShadowTable, writes: boolean, depth: number): Where[] {
    const { columns, key } = of.model;
    const has = (test: (each: ColumnModel) => boolean) => columns.some(test);
    const others = this.shadow.tables.length > 1 || !writes || this.chooser.weight('write.self-subquery') > 0;
    const fits: Readonly<Record<Where, boolean>> = {
      none: depth === 0,
      rid: true,
      key: key.length > 0,
      comparison: true,
      between: true,
      'in-list': true,
      like: has(({ kind }) => kind === 'text'),
      'is-null': has(({ nullable }) => nullable),
      and: depth < 2,
      or: depth < 2,
      not: depth < 2,
      arithmetic: has(({ arithmetic }) => arithmetic),
      case: true,
      exists: others && depth < 2,
      correlated: others && depth < 2,
      'in-query': others && depth < 2,
      scalar: others && depth < 2,
    };
    return (Object.keys(fits) as Where[]).filter((option) => fits[option]);
  }

  #condition(aim: Aim, option: Where, depth: number): Expression | undefined {
    const { random } = this.chooser;
    if (option === 'none') return undefined;
    if (nested.includes(option)) return this.#nested(aim, option, depth);
    if (subqueries.includes(option)) return this.#subquery(aim, option);
    const { columns, key } = aim.table.model;
    const at = (each: ColumnModel) => columnOf(aim, each.name);
    switch (option) {
      case 'rid':
        return binary('=', columnOf(aim, ridColumn), literal(aim.row?.rid ?? 1));
      case 'key':
        return columns
          .filter(({ name }) => key.includes(name))
          .map((each) => binary('=', at(each), literal(this.#near(each, aim) ?? freshValue(each.kind, 1))))
          .reduce((left, right) => binary('AND', left, right));
      case 'like': {
        const each = random.pick(columns.filter(({ kind }) => kind === 'text'));
        const pattern = random.pick(['a%', '%b%', '%', '_', 'k1%', '']);
        return {
          type: 'like',
          op: 'LIKE',
          operand: at(each),
          pattern: literal(pattern),
          negated: random.chance(0.2),
        };
      }
      case 'is-null': {
        const each = random.pick(columns.filter(({ nullable }) => nullable));
        return { type: 'is', operand: at(each), test: 'NULL', negated: random.chance(0.5) };
      }
      case 'arithmetic': {
        const each = random.pick(columns.filter(({ arithmetic }) => arithmetic));
        if (random.chance(0.5)) {
          return binary('=', binary('%', at(each), literal(2)), literal(random.below(2)));
        }
        const sum = binary(random.pick(['+', '-'] as const), at(each), literal(random.between(1, 3)));
        return binary(this.#operator(), sum, literal(this.#near(each, aim) ?? 1));
      }
      default:
        return this.#comparing(aim, option);
    }
  }

  /** Conditions that compare a column with constants near the value the row has. */
  #comparing(aim: Aim, option: Where): Expression {
    const { random } = this.chooser;
    const { columns } = aim.table.model;
    const comparable = columns.filter(({ kind }) => kind !== 'boolean' && kind !== 'binary');
    const each = random.pick(option === 'comparison' ? columns : comparable);
    const operand = columnOf(aim, each.name);
    const value = () => literal(this.#near(each, aim) ?? this.constant(each));
    if (option === 'between') {
      const [low, high] = this.#bounds(each, aim);
      return {
        type: 'between',
        operand,
        low: literal(low),
        high: literal(high),
        negated: random.chance(0.1),
      };
    }
    if (option === 'in-list') {
      const list = [
        value(),
        ...Array.from({ length: random.between(0, 2) }, () => literal(this.constant(each))),
      ];
      return { type: 'in-list', operand, list, negated: random.chance(0.1) };
    }
    const ordered = each.kind !== 'boolean' && each.kind !== 'binary';
    const test = binary(ordered ? this.#operator() : random.pick(['=', '<>'] as const), operand, value());
    if (option !== 'case') return test;
    const choice: Expression = {
      type: 'case',
      branches: [{ when: test, result: literal(1) }],
      otherwise: literal(0),
    };
    return binary('=', choice, literal(random.chance(0.8) ? 1 : 0));
  }

  #nested(aim: Aim, option: Where, depth: number): Expression {
    const part = () =>
      this.#condition(aim, this.chooser.one('where', this.#fitting(aim, depth + 1)), depth + 1)!;
    if (option === 'not') return { type: 'unary', op: 'NOT', operand: part() };
    return binary(option === 'and' ? 'AND' : 'OR', part(), part());
  }

  #subquery(aim: Aim, option: Where): Expression {
    const { random } = this.chooser;
    const other = this.otherTable(aim);
    const [mine, theirs] = this.pair(aim.table, other);
    const from = table(other.model.name, 's');
    const aimed = { table: other, name: 's', row: this.aimRow(other), writes: aim.writes };
    const simple = this.#condition(aimed, this.chooser.one('where', ['rid', 'comparison', 'between']), 2);
    switch (option) {
      case 'exists':
        return { type: 'exists', query: query(core({ items: [item(literal(1))], from, where: simple })) };
      case 'correlated': {
        const where = binary('=', column(theirs.name, 's'), column(mine.name, aim.name));
        const sub = query(core({ items: [item(literal(1))], from, where }));
        const exists: Expression = { type: 'exists', query: sub };
        const negated = random.chance(0.3) && this.chooser.weight('where.not') > 0;
        return negated ? { type: 'unary', op: 'NOT', operand: exists } : exists;
      }
      case 'in-query':
        if (this.#listsWindow())
          return this.#inWindow(
            aim,
            query(core({ items: [item(this.window(other, 's'))], from, where: simple })),
          );
        return {
          type: 'in-query',
          operand: columnOf(aim, mine.name),
          query: query(core({ items: [item(column(theirs.name, 's'))], from, where: simple })),
          // NOT IN with a NULL in the list holds for no row: seldom what a test wants, never wrong.
          negated: random.chance(0.15),
        };
      default:
        return binary(this.#operator(), columnOf(aim, ridColumn), {
          type: 'subquery',
          query: this.wholeNumberQuery(other, simple),
        });
    }
  }

  /** A whole number among those of a window function, as often as not among them: windows seldom give NULL. */
  #inWindow(aim: Aim, list: SelectStatement): Expression {
    const { random } = this.chooser;
    const operand = columnOf(aim, random.pick(wholeColumns(aim.table)).name);
    return { type: 'in-query', operand, query: list, negated: random.chance(0.5) };
  }

  #listsWindow(): boolean {
    const { windowedLists } = this.chooser.profile;
    // Profiles without them draw nothing, so their cases stay what they are.
    if (windowedLists === 0 || this.chooser.weight('select.window') === 0) return false;
    return this.chooser.random.chance(windowedLists);
  }

  /** A window function over the rows of a table, in the order of their ids; `name`: how the statement calls the table. */
  window(of: ShadowTable, name?: string): Expression {
    const { random } = this.chooser;
    const by = random.pick(of.model.columns);
    const over = {
      partitionBy: by.role !== 'rid' && random.chance(0.5) ? [column(by.name, name)] : [],
      orderBy: [{ expression: column(ridColumn, name), descending: false }],
    };
    const what = this.chooser.one('window').replace('-', '_');
    const args = what === 'row_number' ? [] : [column(random.pick(wholeColumns(of)).name, name)];
    return call(what, args, { over });
  }

  /** A query that gives one whole number: a count, or the least, greatest or sum of a column. */
  wholeNumberQuery(
    of: ShadowTable,
    where: Expression | undefined,
    functions: readonly string[] = ['min', 'max', 'sum'],
  ): SelectStatement {
    const { random } = this.chooser;
    const argument = column(random.pick(wholeColumns(of)).name, 's');
    const value = random.chance(0.3) ? countStar : call(random.pick(functions), [argument]);
    return query(core({ items: [item(value)], from: table(of.model.name, 's'), where }));
  }

  /** A table for a subquery. */
  otherTable(aim: Aim): ShadowTable {
    const { random } = this.chooser;
    const others = this.shadow.tables.filter((each) => each !== aim.table);
    if (others.length === 0) return aim.table;
    const self = aim.writes ? this.chooser.chance('write.self-subquery') : random.chance(0.3);
    return self ? aim.table : random.pick(others);
  }

  /** Two columns that can be compared; `rid` with `rid` when nothing else fits. */
  pair(left: ShadowTable, right: ShadowTable): readonly [ColumnModel, ColumnModel] {
    const { random } = this.chooser;
    const mine = random.pick(left.model.columns);
    const fitting = right.model.columns.filter(
      ({ kind }) => kind === mine.kind || (isWhole(kind) && isWhole(mine.kind)),
    );
    return fitting.length > 0
      ? [mine, random.pick(fitting)]
      : [left.model.columns[0]!, right.model.columns[0]!];
  }

  #operator(): ComparisonOperator {
    return this.chooser.random.pickSkewed(['=', '<=', '>=', '>', '<', '<>'] as const);
  }

  /** The value the row has, where it is known and not NULL. */
  #near(each: ColumnModel, { table: of, row }: Aim): Value | undefined {
    return (row === undefined ? undefined : of.value(row, each.name)) ?? undefined;
  }

  #bounds(each: ColumnModel, aim: Aim): readonly [Value, Value] {
    const { random } = this.chooser;
    const near = this.#near(each, aim) ?? this.constant(each);
    if (typeof near === 'number' && isWhole(each.kind))
      return [near - random.below(3), near + random.below(4)];
    const other = this.constant(each);
    const swapped = JSON.stringify(other) < JSON.stringify(near);
    return swapped ? [other, near] : [near, other];
  }

  /** A constant of a column's domain, never NULL. */
  constant(each: ColumnModel): Value {
    const { random } = this.chooser;
    if (each.role === 'rid') return random.between(1, 12);
    if (each.role === 'version') return random.between(1, 50);
    if (each.role === 'key' || each.role === 'unique') return freshValue(each.kind, random.between(1, 12));
    return random.pickSkewed(each.domain);
  }
}

/**
 * Which statements can be executed elsewhere and must give the same there: those whose result follows from the rows of the tables
 * they name, and from nothing else. Left out beforehand is what depends on
 *
 * - time, randomness, the session, functions we do not know;
 * - the order of rows: LIMIT and windows without a total order, lists of values, sums of floating-point numbers, a column beside
 *   an aggregate, one of several rows that a join gives for a row to update, keys that are moved one by one;
 * - numbers the database hands out as rows come.
 *
 * A LIMIT or window that orders by columns is kept and named in `distinct`: whether these columns tell the rows apart, the rows
 * that the statement saw will show.
 */

import type {
  Assignment,
  CallExpression,
  Dialect,
  Expression,
  InsertStatement,
  OrderItem,
  SelectCore,
  SelectStatement,
  Statement,
} from '../../sql/index.js';
import { nameKey } from '../../sql/index.js';
import { isAggregate, isSteadyCall } from '../instrument/functions.js';
import { cteNames } from '../instrument/hide-columns.js';
import { leafName, leavesOf, tableNames, walk } from '../instrument/tree.js';
import type { Setup, SetupTable } from './setup-tables.js';

/** Columns that must differ in all rows of a table. */
export interface DistinctColumns {
  readonly table: string;
  readonly columns: readonly string[];
}

export type Steadiness =
  | { readonly steady: true; readonly distinct: readonly DistinctColumns[] }
  | { readonly steady: false; readonly why: string };

const sums = new Set(['sum', 'avg', 'total']);
const orderless = new Set(['count', 'min', 'max', 'bool_and', 'bool_or', 'every', ...sums]);
const ordered = new Set([
  'row_number',
  'rank',
  'dense_rank',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'ntile',
]);

class Unsteady extends Error {}

/** Whether the statement means the same wherever it is executed on the same rows. */
export function steadinessOf(statement: Statement, setup: Setup, dialect: Dialect): Steadiness {
  try {
    const judge = new Judge(setup, dialect, new Set(commonTables(statement, dialect)));
    judge.statement(statement);
    return { steady: true, distinct: judge.distinct };
  } catch (error) {
    if (!(error instanceof Unsteady)) throw error;
    return { steady: false, why: error.message };
  }
}

/** The names of all CTEs in a statement. */
export function commonTables(statement: unknown, dialect: Dialect): string[] {
  const names: string[] = [];
  walk(statement, (node) => {
    if (node.with !== undefined) names.push(...cteNames(node as Pick<SelectStatement, 'with'>, dialect));
  });
  return names;
}

class Judge {
  readonly distinct: DistinctColumns[] = [];

  constructor(
    private readonly setup: Setup,
    private readonly dialect: Dialect,
    private readonly ctes: ReadonlySet<string>,
  ) {}

  statement(statement: Statement): void {
    if (statement.type === 'opaque') throw new Unsteady(`it is not understood (${statement.reason})`);
    for (const name of tableNames(statement)) {
      const key = nameKey(name, this.dialect);
      if (this.setup.tables.has(key) === this.ctes.has(key))
        throw new Unsteady(`${name} is no table of the set-up`);
    }
    if (statement.type === 'insert') this.#insert(statement);
    if (statement.type === 'update') {
      const several = statement.moreTables !== undefined || statement.table.type === 'join';
      if (several || statement.from.length > 0)
        throw new Unsteady('several rows of the other tables may meet one row to update');
      if (statement.mode !== undefined)
        throw new Unsteady('which rows it passes over depends on their order');
      this.#assignments(statement.set, tableNames(statement.table));
    }
    if ((statement.type === 'update' || statement.type === 'delete') && statement.limit !== undefined)
      throw new Unsteady('which rows it takes depends on their order');
    if (statement.type === 'delete' && statement.mode !== undefined)
      throw new Unsteady('which rows it passes over depends on their order');
    if (statement.type === 'merge' && this.dialect !== 'postgres')
      throw new Unsteady('several rows may meet one row to change');
    this.#tree(statement);
  }

  #insert(insert: InsertStatement): void {
    const { source, conflict, mode } = insert;
    const table = this.#table(insert.table.name);
    if (source.type === 'query' && (conflict !== undefined || mode !== undefined))
      throw new Unsteady('which of its rows meet a key first depends on their order');
    if (table.unsteadyDefault) throw new Unsteady('a default of the table differs each time');
    const given = (insert.columns ?? table.columns).map((name) => nameKey(name, this.dialect));
    for (const name of table.auto) {
      const at = given.indexOf(name);
      const literal = (row: readonly Expression[]) => row[at]?.type === 'literal' && row[at].value !== null;
      if (source.type !== 'values' || at < 0 || !source.rows.every(literal))
        throw new Unsteady(`the database numbers ${name} as rows come`);
    }
    this.#assignments(conflict?.set ?? [], [insert.table.name]);
  }

  /** Keys that move from row to row may collide on the way, or not, depending on who moves first. */
  #assignments(set: readonly Assignment[], tables: readonly string[]): void {
    const keys = tables.flatMap((name) => [...this.#table(name).keyColumns]);
    for (const { columns, value } of set) {
      const moved = columns.find((name) => keys.includes(nameKey(name, this.dialect)));
      if (moved !== undefined && value.type !== 'literal')
        throw new Unsteady(`whether values of the key ${moved} collide depends on the order of rows`);
    }
  }

  #table(name: string): SetupTable {
    const table = this.setup.tables.get(nameKey(name, this.dialect));
    if (table === undefined) throw new Unsteady(`${name} is no table of the set-up`);
    return table;
  }

  #tree(tree: unknown): void {
    walk(tree, (node) => {
      if (node.type === 'raw' || node.type === 'parameter')
        throw new Unsteady('it reads something that its text does not tell');
      if (node.type === 'call') this.#call(node as unknown as CallExpression);
      if (node.type === 'select') this.#select(node as unknown as SelectStatement);
      if (node.type === 'core') this.#core(node as unknown as SelectCore);
      if (node.type === 'subquery' && this.dialect === 'sqlite')
        this.#oneRow((node as unknown as { readonly query: SelectStatement }).query);
    });
  }

  #call({ name, args, over, bare, orderBy }: CallExpression): void {
    const key = name.toLowerCase();
    const known =
      over === undefined
        ? orderless.has(key) || key === 'values' || (isSteadyCall(key) && bare !== true)
        : orderless.has(key) || ordered.has(key);
    if (!known || orderBy !== undefined) throw new Unsteady(`${name} may answer differently each time`);
    if (!sums.has(key)) return;
    const tables = [...this.setup.tables.values()];
    const floats = new Set(tables.flatMap((table) => [...table.floats]));
    const columns = new Set(tables.flatMap((table) => table.columns));
    // A name that is no column of a table was given by a derived table, perhaps to such a number.
    const mayBeFloat = (name: string) => floats.has(name) || (floats.size > 0 && !columns.has(name));
    walk(args, (node) => {
      if (
        node.type === 'float' ||
        (node.type === 'column' && mayBeFloat(nameKey(String(node.name), this.dialect)))
      )
        throw new Unsteady('a sum of floating-point numbers depends on their order');
    });
  }

  #select({ body, orderBy, limit, offset, locks }: SelectStatement): void {
    if (locks.some(({ wait }) => wait?.toUpperCase().includes('SKIP') === true))
      throw new Unsteady('it skips rows that others have locked');
    if (limit === undefined && offset === undefined) return;
    if (body.type !== 'core' || isGrouped(body) || body.distinct)
      throw new Unsteady('which rows LIMIT keeps depends on their order');
    this.#total(body, orderBy);
  }

  #core(core: SelectCore): void {
    if (core.distinctOn !== undefined)
      throw new Unsteady('which rows DISTINCT ON keeps depends on their order');
    if (core.windows !== undefined) throw new Unsteady('it names its windows');
    for (const call of callsOf([core.items])) {
      if (call.over === undefined) continue;
      const { base, orderBy, frame } = call.over;
      const free = orderless.has(call.name.toLowerCase()) && orderBy.length === 0 && frame === undefined;
      if (base !== undefined) throw new Unsteady('it names its windows');
      if (!free) this.#total(core, orderBy);
    }
    if (isGrouped(core) && this.dialect !== 'postgres' && this.dialect !== 'duckdb') this.#groups(core);
  }

  /** Where a column beside aggregates is not refused, it comes from any row of the group. */
  #groups({ items, having, groupBy }: SelectCore): void {
    const by = new Set(groupBy.map((each) => JSON.stringify(each)));
    const names = new Set(
      groupBy.flatMap((each) => (each.type === 'column' ? [nameKey(each.name, this.dialect)] : [])),
    );
    const look = (tree: unknown): void =>
      walk(tree, (node) => {
        if (node.type === 'select' || by.has(JSON.stringify(node))) return false;
        if (node.type === 'call' && isAggregate(node as unknown as CallExpression)) return false;
        if (node.type === 'column' && !names.has(nameKey(String(node.name), this.dialect)))
          throw new Unsteady(`${String(node.name)} comes from any row of its group`);
        if (node.type === 'star') throw new Unsteady('* comes from any row of its group');
        return undefined;
      });
    look([items, having]);
  }

  /** SQLite takes the first row of a subquery that gives several. */
  #oneRow({ body }: SelectStatement): void {
    const one = body.type === 'core' && body.groupBy.length === 0 && isGrouped(body);
    if (!one) throw new Unsteady('which row a subquery gives depends on their order');
  }

  /** The columns ordered by must tell the rows of every table apart. */
  #total(core: SelectCore, orderBy: readonly OrderItem[]): void {
    const columns = orderBy.map(({ expression }) => expression);
    for (const leaf of leavesOf(core.from)) {
      const key = leaf.type === 'table' ? nameKey(leaf.name, this.dialect) : '';
      const table = this.ctes.has(key) ? undefined : this.setup.tables.get(key);
      if (table === undefined) throw new Unsteady('the order of its rows is not total');
      const single = leavesOf(core.from).length === 1;
      const own = columns.flatMap((each) => {
        if (each.type !== 'column') return [];
        const named =
          each.table === undefined
            ? single
            : nameKey(each.table, this.dialect) === nameKey(leafName(leaf)!, this.dialect);
        const name = nameKey(each.name, this.dialect);
        return named && table.columns.includes(name) ? [name] : [];
      });
      if (own.length === 0) throw new Unsteady('the order of its rows is not total');
      this.distinct.push({ table: table.name, columns: own });
    }
  }
}

function callsOf(tree: unknown): CallExpression[] {
  const calls: CallExpression[] = [];
  walk(tree, (node) => {
    if (node.type === 'select') return false;
    if (node.type === 'call') calls.push(node as unknown as CallExpression);
    return undefined;
  });
  return calls;
}

function isGrouped({ items, groupBy, having }: SelectCore): boolean {
  return groupBy.length > 0 || having !== undefined || callsOf(items).some(isAggregate);
}

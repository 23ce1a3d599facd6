/**
 * Makes a query also return which version of which row it used (IsoRel, Table 1, rows 1 to 5), without changing its
 * result: the added columns stand behind the original ones, and are taken off again by position.
 *
 * - A plain query gets two more columns for each table it joins, row id and write list. A derived table hands its own
 *   two columns up (rows 1, 2, 4, 5). UNION ALL gets them in every operand (row 3).
 * - A query that groups gets one more column per table: all rows of the group, aggregated.
 * - DISTINCT, UNION, INTERSECT and EXCEPT compare whole rows, so a column that differs from row to row would change
 *   their result: the paper's row 3 does. They get, instead, columns that are the same in every row: a subquery that
 *   reads again, in the same statement, the rows each part reads, and aggregates them (`read-again.ts`). The same serves
 *   rows used by subqueries in WHERE and in the select list, and by CTEs.
 *
 * Where a column cannot be added safely (a function that may aggregate, a lock on a UNION) the query runs without, and
 * its reads are not seen.
 */
import type {
  Dialect,
  Expression,
  FromItem,
  OrderItem,
  SelectCore,
  SelectItem,
  SelectStatement,
} from '../../sql/index.js';
import type { Catalog } from './catalog.js';
import { callKinds, isSteady } from './functions.js';
import { cteNames, itemName, widenedTable } from './hide-columns.js';
import { aggregateEntries, column, listColumn, ridColumn } from './marks.js';
import { conditionsOf, type Reread, Rereader, type Scan } from './read-again.js';
import { type Leaf, leafName, leavesOf, operandsOf } from './tree.js';

/**
 * `pair`: two columns, one row. `list`: one column, many rows as text. `notes`: one column, what the writers of the row
 * noted in it of their own reads.
 */
export type TraceForm = 'pair' | 'list' | 'notes';

export interface Search {
  /** Index in the traces. */
  readonly trace: number;
  readonly scan: Scan;
  /** A result without rows means that nothing was found. What a subquery found, a result without rows does not tell. */
  readonly decides: boolean;
}

export interface TracedQuery {
  readonly query: SelectStatement;
  /** What the columns behind the original ones hold. */
  readonly traces: readonly TraceForm[];
  /** Traces that hold everything a search found. */
  readonly searches: readonly Search[];
  /** Why nothing was added, or not all. */
  readonly untraced?: string;
}

/** Past this many added columns the rest is left out. */
const mostTraces = 24;

interface Added {
  readonly expression: Expression;
  readonly form: TraceForm;
  readonly scan?: Scan;
}

const asList = (reread: Reread): Added => ({ ...reread, form: 'list' });

/** `query` comes from `hideColumns`. */
export function traceQuery(query: SelectStatement, catalog: Catalog): TracedQuery {
  const ctes = new Set(cteNames(query, catalog.dialect));
  const tracer = new Tracer(catalog, ctes);
  const { body } = query;
  if (body.type === 'core') return tracer.core(query, body);
  if (body.type === 'set-operation') return tracer.compound(query);
  return { query, traces: [], searches: [], untraced: 'it is not a plain SELECT' };
}

/** The rows a query's tables contribute, as pairs of columns; undefined if some row cannot be named so. */
export function pairsOf(
  core: SelectCore,
  catalog: Catalog,
): readonly [rid: Expression, list: Expression][] | undefined {
  const leaves = leavesOf(core.from);
  if (leaves.length === 0 || !leaves.every((leaf) => widenedTable(leaf, catalog, new Set())))
    return undefined;
  return leaves.map((leaf) => [column(ridColumn, leafName(leaf)!), column(listColumn, leafName(leaf)!)]);
}

class Tracer {
  readonly #dialect: Dialect;
  readonly #again: Rereader;

  constructor(
    private readonly catalog: Catalog,
    private readonly ctes: ReadonlySet<string>,
  ) {
    this.#dialect = catalog.dialect;
    this.#again = new Rereader(catalog, ctes);
  }

  core(query: SelectStatement, core: SelectCore): TracedQuery {
    const kinds = callKinds([core.items, core.having, query.orderBy]);
    if (kinds.unknown)
      return { query, traces: [], searches: [], untraced: 'it calls a function that is not known' };
    const grouped = core.groupBy.length > 0 || core.having !== undefined || kinds.aggregate;
    const distinct = core.distinct || core.distinctOn !== undefined;
    const scan = this.#scanOf(query, core);
    let from = core.from;
    const added: Added[] = [];
    if (distinct) added.push(...this.#again.core(core).map(asList));
    else {
      const lifted = this.#liftDerived(core);
      from = lifted.from;
      for (const [rid, list] of lifted.pairs) {
        if (grouped && this.catalog.words.joinsTexts === false) this.#again.lacksWords = true;
        else if (grouped)
          added.push({ expression: aggregateEntries(rid, list, this.#dialect), form: 'list' });
        else added.push({ expression: rid, form: 'pair' }, { expression: list, form: 'pair' });
      }
      added.push(...lifted.again);
    }
    const parts = [core.items, core.where, core.having, core.from.map(conditionsOf)];
    added.push(...this.#again.subqueries(parts, grouped || distinct).map(asList));
    added.push(...this.#again.commonTables(query.with).map(asList));
    if (added.length === 0) return { query, traces: [], searches: [], ...this.#untraced() };
    const kept = added.slice(0, mostTraces);
    const items = [
      ...core.items,
      ...kept.map(({ expression }): SelectItem => ({ type: 'item', expression })),
    ];
    return {
      query: { ...query, body: { ...core, from, items } },
      traces: formsOf(kept),
      searches: [
        ...(scan === undefined ? [] : [{ trace: 0, scan, decides: true }]),
        // DISTINCT reads its own table again: that is the search above.
        ...searchesOf(kept).filter(({ trace }) => scan === undefined || trace > 0),
      ],
      ...this.#untraced(),
    };
  }

  #untraced(): Pick<TracedQuery, 'untraced'> {
    return this.#again.lacksWords ? { untraced: 'the database has no aggregate that joins texts' } : {};
  }

  compound(query: SelectStatement): TracedQuery {
    if (query.locks.length > 0)
      return { query, traces: [], searches: [], untraced: 'it locks a compound query' };
    const operands = operandsOf(query.body);
    if (operands.some((operand) => callKinds(operand.type === 'core' ? operand.items : []).unknown)) {
      return { query, traces: [], searches: [], untraced: 'it calls a function that is not known' };
    }
    const inRows = this.#unionAll(query);
    if (inRows !== undefined) return inRows;
    const first = operands[0]!;
    const names = first.type === 'core' ? first.items.map(itemName) : [undefined];
    if (this.#dialect === 'mysql' && (names.includes(undefined) || new Set(names).size < names.length)) {
      return { query, traces: [], searches: [], untraced: 'a derived table cannot have its column names' };
    }
    const added = [...this.#again.body(query.body), ...this.#again.commonTables(query.with)]
      .map(asList)
      .slice(0, mostTraces);
    if (added.length === 0) return { query, traces: [], searches: [], ...this.#untraced() };
    const inner: SelectStatement = { type: 'select', body: query.body, orderBy: [], locks: [] };
    const body: SelectCore = {
      type: 'core',
      distinct: false,
      items: [
        { type: 'star', table: wrapName },
        ...added.map(({ expression }): SelectItem => ({ type: 'item', expression })),
      ],
      from: [{ type: 'derived', query: inner, alias: wrapName }],
      groupBy: [],
    };
    return { query: { ...query, body }, traces: formsOf(added), searches: searchesOf(added) };
  }

  /** UNION ALL keeps every row, so each can carry its own columns; operands with fewer tables get NULLs. */
  #unionAll(query: SelectStatement): TracedQuery | undefined {
    const cores: SelectCore[] = [];
    const collect = (body: SelectStatement['body']): boolean => {
      if (body.type === 'set-operation') {
        return body.op === 'UNION' && body.all && collect(body.left) && collect(body.right);
      }
      if (body.type !== 'core' || !isPlain(body)) return false;
      cores.push(body);
      return true;
    };
    if (!collect(query.body)) return undefined;
    const pairs = cores.map((core) => pairsOf(core, this.catalog));
    if (!pairs.every((each) => each !== undefined)) return undefined;
    const width = Math.max(...pairs.map((each) => each.length));
    const missing: Expression = {
      type: 'cast',
      operand: { type: 'literal', value: null },
      to: this.#dialect === 'mysql' ? 'CHAR' : 'TEXT',
    };
    let next = 0;
    const rebuild = (body: SelectStatement['body']): SelectStatement['body'] => {
      if (body.type === 'set-operation') {
        const left = rebuild(body.left);
        return { ...body, left, right: rebuild(body.right) };
      }
      const own = pairs[next++]!.flat();
      const padded = [...own, ...Array.from({ length: 2 * width - own.length }, () => missing)];
      const core = body as SelectCore;
      return {
        ...core,
        items: [...core.items, ...padded.map((expression): SelectItem => ({ type: 'item', expression }))],
      };
    };
    return {
      query: { ...query, body: rebuild(query.body) },
      traces: Array.from({ length: width }, () => 'pair'),
      searches: [],
    };
  }

  /** Columns for the tables of FROM; derived tables hand theirs up where they can, else their rows are read again. */
  #liftDerived(core: SelectCore): {
    from: readonly FromItem[];
    pairs: [rid: Expression, list: Expression][];
    again: Added[];
  } {
    const pairs: [Expression, Expression][] = [];
    const again: Added[] = [];
    const hasStar = core.items.some((item) => item.type === 'star');
    const lift = (item: FromItem): FromItem => {
      if (item.type === 'join') {
        const left = lift(item.left);
        return { ...item, left, right: lift(item.right) };
      }
      const name = leafName(item);
      if (this.#isWidened(item)) pairs.push([column(ridColumn, name!), column(listColumn, name!)]);
      if (item.type !== 'derived') return item;
      const inner = item.query;
      const plain = inner.body.type === 'core' && inner.with === undefined && isPlain(inner.body);
      const own = plain ? pairsOf(inner.body as SelectCore, this.catalog) : undefined;
      if (own === undefined || hasStar || item.columns !== undefined || name === undefined) {
        if (item.lateral !== true) again.push(...this.#again.body(inner.body).map(asList));
        return item;
      }
      const extra = own.flatMap(([rid, list], i): SelectItem[] => {
        const [ridName, listName] = [ridColumn, listColumn].map((each) => (i === 0 ? each : `${each}_${i}`));
        pairs.push([column(ridName!, name), column(listName!, name)]);
        const alias = (as: string) => (i === 0 ? {} : { alias: as });
        return [
          { type: 'item', expression: rid, ...alias(ridName!) },
          { type: 'item', expression: list, ...alias(listName!) },
        ];
      });
      const body = inner.body as SelectCore;
      return { ...item, query: { ...inner, body: { ...body, items: [...body.items, ...extra] } } };
    };
    return { from: core.from.map(lift), pairs, again };
  }

  #scanOf(query: SelectStatement, core: SelectCore): Scan | undefined {
    const [from, ...others] = core.from;
    if (from?.type !== 'table' || others.length > 0 || !this.#isWidened(from) || query.with !== undefined)
      return undefined;
    const bounded = query.limit !== undefined || query.offset !== undefined || core.having !== undefined;
    const skips = query.locks.some(({ wait }) => wait !== undefined && /skip/i.test(wait));
    if (bounded || skips || from.hint !== undefined || !isSteady(core.where)) return undefined;
    return core.where === undefined ? { from } : { from, where: core.where };
  }

  #isWidened(leaf: Leaf): boolean {
    return widenedTable(leaf, this.catalog, this.ctes) !== undefined;
  }
}

const wrapName = 'isolde_q';

/** Each row of the result comes from one row of each table. */
export function isPlain(core: SelectCore): boolean {
  const kinds = callKinds([core.items, core.having]);
  return (
    !core.distinct &&
    core.distinctOn === undefined &&
    core.groupBy.length === 0 &&
    core.having === undefined &&
    !kinds.aggregate &&
    !kinds.unknown
  );
}

function searchesOf(added: readonly Added[]): Search[] {
  const searches: Search[] = [];
  let trace = 0;
  for (let i = 0; i < added.length; i++, trace++) {
    const { form, scan } = added[i]!;
    if (scan !== undefined) searches.push({ trace, scan, decides: false });
    if (form === 'pair') i++;
  }
  return searches;
}

function formsOf(added: readonly Added[]): TraceForm[] {
  // The two columns of a pair stand next to each other.
  const forms: TraceForm[] = [];
  for (let i = 0; i < added.length; i++) {
    forms.push(added[i]!.form);
    if (added[i]!.form === 'pair') i++;
  }
  return forms;
}

/** The text of a scan's condition, so that equal searches are asked once. */
export function scanQuery({ from, where }: Scan, order: readonly OrderItem[] = []): SelectStatement {
  const name = leafName(from)!;
  const item = (each: string): SelectItem => ({ type: 'item', expression: column(each, name) });
  const body: SelectCore = {
    type: 'core',
    distinct: false,
    items: [item(ridColumn), item(listColumn)],
    from: [from],
    ...(where === undefined ? {} : { where }),
    groupBy: [],
  };
  return { type: 'select', body, orderBy: order, locks: [] };
}

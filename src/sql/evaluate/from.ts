/** FROM: tables, derived tables and joins as rows. Nested loops: the databases of cases are small. */
import type { Expression, FromItem, Join } from '../ast.js';
import { sameName } from '../names.js';
import { compileTruth } from './condition.js';
import type { CompiledTruth, Context, Env, Relation, Scope, ScopeColumn } from './scope.js';
import { type Evaluated, isUndecidable, NotDecidable } from './undecidable.js';

type Rows = readonly (readonly Evaluated[])[];

/** The rows of FROM before WHERE. */
export interface Source {
  readonly columns: readonly ScopeColumn[];
  readonly correlated: boolean;
  readonly run: (outer: Env | undefined) => Rows;
}

const maxRows = 1_000_000;

export function compileFrom(items: readonly FromItem[], parent: Scope | undefined, ctx: Context): Source {
  const [first, ...rest] = items.map((item) => compileItem(item, parent, ctx));
  if (first === undefined) return { columns: [], correlated: false, run: () => [[]] };
  return rest.reduce((left, right) => joined({ kind: 'inner', left, right }), first);
}

function compileItem(item: FromItem, parent: Scope | undefined, ctx: Context): Source {
  switch (item.type) {
    case 'table': {
      const relation = ctx.table(item.name, item.schema);
      if (relation === undefined) throw new NotDecidable(`table ${item.name} is not known`);
      return renamed(relation, item.alias ?? item.name, item.columns);
    }
    case 'derived':
      if (item.lateral === true) throw new NotDecidable('LATERAL');
      return renamed(ctx.compileQuery(item.query, parent, ctx), item.alias, item.columns);
    case 'function':
      throw new NotDecidable('a table function');
    case 'join':
      return compileJoin(item, parent, ctx);
    default:
      return item satisfies never;
  }
}

function renamed(
  relation: Relation,
  table: string | undefined,
  names: readonly string[] | undefined,
): Source {
  const columns = relation.columns.map((column, i) => ({
    table,
    name: names?.[i] ?? column.name,
    type: column.type,
  }));
  return { columns, correlated: relation.correlated, run: (outer) => relation.run(outer).rows };
}

function compileJoin(join: Join, parent: Scope | undefined, ctx: Context): Source {
  // MySQL has none: it takes FULL for an alias.
  if (join.kind === 'full' && ctx.dialect === 'mysql') throw new NotDecidable('FULL JOIN');
  const left = compileItem(join.left, parent, ctx);
  const right = compileItem(join.right, parent, ctx);
  const shared = join.natural === true ? sharedNames(left, right, ctx) : join.using;
  if (shared !== undefined) return compileUsing(join, shared, { left, right }, ctx);
  const scope: Scope = { columns: [...left.columns, ...right.columns], parent };
  const on = join.on === undefined ? undefined : compileTruth(join.on, scope, ctx);
  return joined({ kind: join.kind, left, right }, on, scope);
}

interface Sides {
  readonly left: Source;
  readonly right: Source;
}

function joined(
  { kind, left, right }: Sides & Pick<Join, 'kind'>,
  on?: CompiledTruth,
  scope?: Scope,
): Source {
  const columns = [...left.columns, ...right.columns];
  const noLeft = left.columns.map(() => null);
  const noRight = right.columns.map(() => null);
  const run = (outer: Env | undefined): Rows => {
    const rows: Evaluated[][] = [];
    const others = right.run(outer);
    const matchedRight = new Set<number>();
    for (const a of left.run(outer)) {
      let matched = false;
      others.forEach((b, i) => {
        const row = [...a, ...b];
        if (on !== undefined && !holds(on, { row, outer })) return;
        matched = true;
        matchedRight.add(i);
        if (rows.push(row) > maxRows) throw new NotDecidable('a join with too many rows');
      });
      if (!matched && (kind === 'left' || kind === 'full')) rows.push([...a, ...noRight]);
    }
    if (kind === 'right' || kind === 'full') {
      others.forEach((b, i) => {
        if (!matchedRight.has(i)) rows.push([...noLeft, ...b]);
      });
    }
    return rows;
  };
  return { columns, correlated: left.correlated || right.correlated || scope?.correlated === true, run };
}

/** Whether a condition is true; a row of which that is not known makes the whole result unknown. */
export function holds(condition: CompiledTruth, env: Env): boolean {
  const truth = condition(env);
  if (isUndecidable(truth)) throw new NotDecidable(truth.undecidable);
  return truth === true;
}

function sharedNames(left: Source, right: Source, ctx: Context): string[] {
  return left.columns
    .filter(
      ({ name, hidden }) =>
        hidden !== true && right.columns.some((other) => sameName(name, other.name, ctx.dialect)),
    )
    .map(({ name }) => name);
}

/** USING: each shared column once; the two it came from stay reachable by their qualified names. */
function compileUsing(join: Join, names: readonly string[], { left, right }: Sides, ctx: Context): Source {
  const find = (source: Source, wanted: string) => {
    const found = source.columns.flatMap(({ name, hidden }, i) =>
      hidden !== true && sameName(name, wanted, ctx.dialect) ? [i] : [],
    );
    if (found.length !== 1) throw new NotDecidable(`column ${wanted} of USING is not unique`);
    return found[0]!;
  };
  const leftAt = names.map((name) => find(left, name));
  const rightAt = names.map((name) => find(right, name));
  const width = left.columns.length;
  const column = (index: number): Expression => ({ type: 'column', name: String(index) });
  const numbered: Scope = {
    columns: [...left.columns, ...right.columns].map(({ type }, i) => ({
      table: undefined,
      name: String(i),
      type,
    })),
    parent: undefined,
  };
  const equal = names.map(
    (_, i): Expression => ({
      type: 'binary',
      op: '=',
      left: column(leftAt[i]!),
      right: column(width + rightAt[i]!),
    }),
  );
  const on = equal.reduce<Expression | undefined>(
    (all, next) => (all === undefined ? next : { type: 'binary', op: 'AND', left: all, right: next }),
    undefined,
  );
  const inner = joined(
    { kind: join.kind, left, right },
    on === undefined ? undefined : compileTruth(on, numbered, ctx),
  );
  const hidden = inner.columns.flatMap((_, i) =>
    leftAt.includes(i) || rightAt.includes(i - width) ? [i] : [],
  );
  const shown = shownColumns({ leftAt, rightAt, width, all: inner.columns.length }, join, ctx);
  const mergedAt = new Map(leftAt.map((index, i) => [index, i]));
  const merged = (row: readonly Evaluated[], i: number): Evaluated => {
    const [a, b] = [row[leftAt[i]!]!, row[width + rightAt[i]!]!];
    return join.kind === 'right' || (join.kind === 'full' && a === null) ? b : a;
  };
  return {
    columns: [
      ...shown.map((index) => {
        const i = mergedAt.get(index);
        const joinedColumn = inner.columns[index]!;
        return i === undefined
          ? joinedColumn
          : { table: undefined, name: names[i]!, type: joinedColumn.type };
      }),
      ...hidden.map((i) => ({ ...inner.columns[i]!, hidden: true })),
    ],
    correlated: inner.correlated,
    run: (outer) =>
      inner.run(outer).map((row) => [
        ...shown.map((index) => {
          const i = mergedAt.get(index);
          return i === undefined ? row[index]! : merged(row, i);
        }),
        ...hidden.map((i) => row[i]!),
      ]),
  };
}

/** Where the two sides' shared columns stand in a joined row, how wide the left side is, and how wide the row. */
interface SharedPlaces {
  readonly leftAt: readonly number[];
  readonly rightAt: readonly number[];
  readonly width: number;
  readonly all: number;
}

/**
 * The columns that `*` shows, in order, each shared one by its place on the left. PostgreSQL puts the shared columns first, as they are
 * listed. So does MySQL, but in the order of the first table, and the first table of a RIGHT JOIN is the right one. SQLite and DuckDB
 * leave them where the left side has them.
 */
function shownColumns(
  { leftAt, rightAt, width, all }: SharedPlaces,
  { kind }: Join,
  { dialect }: Context,
): number[] {
  const places = Array.from({ length: all }, (_, i) => i);
  const own = places.filter((i) => i < width && !leftAt.includes(i));
  const others = places.filter((i) => i >= width && !rightAt.includes(i - width));
  switch (dialect) {
    case 'postgres':
      return [...leftAt, ...own, ...others];
    case 'mysql': {
      const first = kind === 'right' ? rightAt : leftAt;
      const shared = leftAt.map((_, i) => i).sort((a, b) => first[a]! - first[b]!);
      const rest = kind === 'right' ? [...others, ...own] : [...own, ...others];
      return [...shared.map((i) => leftAt[i]!), ...rest];
    }
    case 'sqlite':
    case 'duckdb':
      return [...places.slice(0, width), ...others];
    default:
      return dialect satisfies never;
  }
}

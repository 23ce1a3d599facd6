/**
 * MERGE: its source as rows of constants, and what each of them does.
 *
 * A source is followed if its rows are literals (`SELECT 1 AS k`, `VALUES (1, 2), (3, 4)`), a table, or a SELECT of columns of one table.
 * For a source row that meets an existing row, the first WHEN MATCHED counts whose condition holds; for one that meets none, the
 * first WHEN NOT MATCHED, whose condition names nothing but the source.
 */
import {
  applyInsert,
  compileWhere,
  type Evaluated,
  type EvaluatedRow,
  type Expression,
  type InsertStatement,
  isUndecidable,
  type MergeStatement,
  nameKey,
  type SelectStatement,
  sameName,
  statementFeatures,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { asRow, satisfied, scalarOptions, subqueryTables } from './plan-parts.js';
import { planSelect } from './plan-select.js';
import type { RowsOf, Satisfies, UpsertPlan } from './plan-types.js';
import type { Table } from './table.js';
import {
  anyOf,
  type Conditional,
  constant,
  type EffectClause,
  effectOfFirst,
  effectOfOne,
  type Names,
  namedAsConstants,
  planEffect,
} from './upsert-effect.js';

/** A row of the source: its columns by name, as they are known. */
type SourceRow = ReadonlyMap<string, Expression | undefined>;

export interface MergeSource {
  /** Tables whose rows must be known. */
  readonly reads: readonly Table[];
  /** Its rows; undefined: they cannot be known. */
  readonly rows: (rowsOf: RowsOf) => readonly SourceRow[] | undefined;
}

/** The source of a MERGE, or undefined where it cannot be followed. */
export function sourceOfMerge(using: MergeStatement['using'], catalog: Catalog): MergeSource | undefined {
  const { dialect } = catalog;
  if (using.type === 'table') {
    const info =
      using.schema === undefined && using.columns === undefined ? catalog.find(using.name) : undefined;
    if (info === undefined) return undefined;
    const names = info.shape.columns.map(({ name }) => name);
    return fromTable(info, names, (row) => row, catalog);
  }
  if (using.type !== 'derived' || using.lateral === true) return undefined;
  const { body } = using.query;
  if (body.type === 'values') {
    const { columns } = using;
    if (columns === undefined) return undefined;
    return literalRows(
      body.rows.map((row) => row.map((expression, i) => [columns[i] ?? '', expression])),
      catalog,
    );
  }
  if (using.columns !== undefined || body.type !== 'core') return undefined;
  if (body.from.length === 0 && body.where === undefined) {
    const items = body.items.map((item) =>
      item.type === 'star' ? undefined : ([item.alias ?? '', item.expression] as const),
    );
    return items.includes(undefined)
      ? undefined
      : literalRows([items as (readonly [string, Expression])[]], catalog);
  }
  return fromQuery(using.query, dialect, catalog);
}

function literalRows(
  rows: readonly (readonly (readonly [string, Expression])[])[],
  { dialect }: Catalog,
): MergeSource | undefined {
  const plain = rows.every((row) => row.every(([name, value]) => name !== '' && value.type === 'literal'));
  if (!plain) return undefined;
  const known = rows.map((row) => new Map(row.map(([name, value]) => [nameKey(name, dialect), value])));
  return { reads: [], rows: () => known };
}

/** A SELECT of columns of one table, each under its own name or another. */
function fromQuery(
  query: SelectStatement,
  dialect: Catalog['dialect'],
  catalog: Catalog,
): MergeSource | undefined {
  const plan = planSelect(query, statementFeatures(query), catalog);
  if (plan.type !== 'scan' || !plan.complete || plan.lock !== 'none' || query.body.type !== 'core')
    return undefined;
  const { items } = query.body;
  const names = items.some(({ type }) => type === 'star')
    ? undefined
    : items.map((item) =>
        item.type === 'star'
          ? undefined
          : (item.alias ?? (item.expression.type === 'column' ? item.expression.name : undefined)),
      );
  const { table, shows, where, project } = plan;
  const shown = names ?? shows.map((at) => table.shape.columns[at]?.name);
  if (shown.includes(undefined) || shows.includes(-1)) return undefined;
  const types = shows.map((at) => table.shape.columns[at]!.type);
  return {
    reads: [table],
    rows: (rowsOf) => {
      const found: SourceRow[] = [];
      for (const row of rowsOf(table)) {
        const fits = where(row);
        if (fits === undefined) return undefined;
        if (fits) found.push(asConstants(shown as string[], project(row), types, dialect));
      }
      return found;
    },
  };
}

function fromTable(
  info: Table,
  names: readonly string[],
  cellsOf: (row: EvaluatedRow) => readonly Evaluated[],
  { dialect }: Catalog,
): MergeSource {
  const types = info.shape.columns.map(({ type }) => type);
  return {
    reads: [info],
    rows: (rowsOf) => rowsOf(info).map((row) => asConstants(names, cellsOf(row), types, dialect)),
  };
}

function asConstants(
  names: readonly string[],
  cells: readonly Evaluated[],
  types: readonly (string | undefined)[],
  dialect: Catalog['dialect'],
): SourceRow {
  return new Map(names.map((name, i) => [nameKey(name, dialect), constant(cells[i]!, types[i], dialect)]));
}

/** The plan of a MERGE whose source rows are known, or undefined where it cannot be followed. */
export function planMergeRows(
  statement: MergeStatement,
  source: readonly SourceRow[],
  info: Table,
  catalog: Catalog,
): UpsertPlan | undefined {
  const { whens } = statement;
  if (whens.some(({ match }) => match === 'not matched by source')) return undefined;
  const rows: EvaluatedRow[] = [];
  const meetsEach: Satisfies[] = [];
  const all: (ReturnType<typeof planEffect> & { readonly meets: Satisfies })[] = [];
  const matched = whens.filter(({ match }) => match === 'matched');
  for (const each of source) {
    const clause = { table: statement.table, names: namesOfMerge(statement, each, catalog) };
    const meets = condition(statement.on, clause, info, catalog);
    const added = meets && addedRow(whens, clause, info, catalog);
    if (meets === undefined || added === undefined) return undefined;
    for (const row of added) {
      rows.push(row);
      meetsEach.push(meets);
    }
    all.push({ meets, ...effectOfFirst(matched.map((when) => conditional(when, clause, info, catalog))) });
  }
  return {
    type: 'upsert',
    table: info,
    effect: matched.some(({ action }) => action.type !== 'nothing') ? 'update' : 'nothing',
    byView: true,
    rows,
    bent: false,
    meets: anyOf(all.map(({ meets }) => meets)),
    meetsEach,
    ...effectOfOne(all, info),
  };
}

type Clause = Pick<EffectClause, 'table' | 'names'>;

function conditional(
  { action, and }: MergeStatement['whens'][number],
  clause: Clause,
  info: Table,
  catalog: Catalog,
): Conditional {
  const set = action.type === 'update' ? action.set : [];
  const effect = planEffect({ ...clause, set, where: and }, info, catalog);
  if (action.type === 'update') return { ...effect, does: 'change' };
  return { ...effect, does: action.type === 'delete' ? 'remove' : 'nothing' };
}

function namesOfMerge({ table, using }: MergeStatement, source: SourceRow, { dialect }: Catalog): Names {
  const alias =
    using.type === 'table' ? (using.alias ?? using.name) : using.type === 'derived' ? using.alias : undefined;
  return (named) => {
    if (named.type === 'call') return undefined;
    const key = nameKey(named.name, dialect);
    if (named.table === undefined) return source.has(key) ? undefined : 'existing';
    if (sameName(named.table, table.alias ?? table.name, dialect)) return 'existing';
    return alias !== undefined && sameName(named.table, alias, dialect) ? source.get(key) : undefined;
  };
}

/** Whether an existing row satisfies a condition; undefined: the condition cannot be followed. */
function condition(
  on: Expression,
  { table, names }: Clause,
  info: Table,
  catalog: Catalog,
): Satisfies | undefined {
  const where = subqueryTables([on]).length === 0 ? namedAsConstants(on, names) : undefined;
  if (where === undefined) return undefined;
  const search = { type: 'delete', table, using: [], where, orderBy: [] } as const;
  const test = compileWhere(search, info.shape, scalarOptions(catalog));
  return (image) => satisfied(test(asRow(image)));
}

/** The row that a source row adds where nothing meets it, if any; undefined: that cannot be known. */
function addedRow(
  whens: MergeStatement['whens'],
  clause: Clause,
  info: Table,
  catalog: Catalog,
): readonly EvaluatedRow[] | undefined {
  // There is no existing row to name.
  const names: Names = (named) => {
    const meant = clause.names(named);
    return meant === 'existing' ? undefined : meant;
  };
  const nothing = info.shape.columns.map(() => null);
  for (const { match, and, action } of whens) {
    if (match !== 'not matched') continue;
    const holds = and === undefined ? true : condition(and, { ...clause, names }, info, catalog)?.(nothing);
    if (holds === undefined) return undefined;
    if (holds)
      return action.type === 'insert' ? insertedRows(action, { ...clause, names }, info, catalog) : [];
  }
  return [];
}

type MergeInsert = Extract<MergeStatement['whens'][number]['action'], { type: 'insert' }>;

function insertedRows(
  { columns, values: given }: MergeInsert,
  { table, names }: Clause,
  info: Table,
  catalog: Catalog,
): readonly EvaluatedRow[] | undefined {
  if (given === undefined || subqueryTables(given).length > 0) return undefined;
  const values = given.map((each) => namedAsConstants(each, names));
  if (values.includes(undefined)) return undefined;
  const insert: InsertStatement = {
    type: 'insert',
    table,
    ...(columns === undefined ? {} : { columns }),
    source: { type: 'values', rows: [values as Expression[]] },
  };
  const rows = applyInsert(insert, info.shape, scalarOptions(catalog));
  return isUndecidable(rows) ? undefined : rows;
}

/**
 * Plans of writes that insert rows or change those that are in their way: REPLACE, INSERT … ON CONFLICT, ON DUPLICATE KEY,
 * INSERT IGNORE, and MERGE of one computed row. They can be followed if their rows are constants and it is known which
 * existing rows can be in the way.
 */
import {
  type Assignment,
  applyInsert,
  compileUpdate,
  compileWhere,
  type Expression,
  type InsertStatement,
  isUndecidable,
  type MergeStatement,
  mapExpressions,
  sameName,
  statementFeatures,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { asRow, satisfied } from './plan-parts.js';
import type { UpsertPlan } from './plan-types.js';
import type { Table } from './table.js';
import { sharesKey } from './unique-keys.js';

/** The plan, or undefined where it cannot be followed. */
export function planUpsert(
  statement: InsertStatement,
  info: Table,
  catalog: Catalog,
): UpsertPlan | undefined {
  const { dialect } = catalog;
  const { mode, conflict, source } = statement;
  const keys = info.uniqueKeys;
  const effect =
    mode === 'replace' ? 'replace' : mode === 'ignore' || isNothing(conflict) ? 'nothing' : 'update';
  if (keys === undefined || source.type !== 'values' || (mode !== undefined && conflict !== undefined))
    return undefined;
  if (mode === 'abort' || mode === 'fail' || mode === 'rollback') return undefined;
  const rows = applyInsert(statement, info.shape, { dialect });
  if (isUndecidable(rows)) return undefined;
  const shared = rows.some((row, i) =>
    rows.some((other, o) => o < i && sharesKey(row, other, keys, { shape: info.shape, dialect }) !== false),
  );
  if (shared) return undefined;
  return {
    type: 'upsert',
    table: info,
    effect,
    byView: false,
    rows,
    // IGNORE bends values that do not fit instead of refusing them.
    bent: mode === 'ignore',
    meets: (image) => {
      const meetings = rows.map((row) => sharesKey(row, image, keys, { shape: info.shape, dialect }));
      return meetings.includes(true) ? true : meetings.includes(undefined) ? undefined : false;
    },
    apply:
      effect === 'update' && conflict?.set !== undefined
        ? assignments(conflict.set, statement.table, info, catalog)
        : () => undefined,
    sure: conflict?.type !== 'on-conflict' || conflict.where === undefined,
  };
}

function isNothing(conflict: InsertStatement['conflict']): boolean {
  return conflict?.type === 'on-conflict' && conflict.set === undefined;
}

/** MERGE with one row of constants as its source, at most one action for each case and no conditions on them. */
export function planMerge(
  { table, using, on, whens, with: common }: MergeStatement,
  catalog: Catalog,
): UpsertPlan | undefined {
  const { dialect } = catalog;
  const info = table.schema === undefined ? catalog.find(table.name) : undefined;
  if (info === undefined || common !== undefined || using.type !== 'derived') return undefined;
  const constants = constantRow(using.query);
  if (constants === undefined) return undefined;
  const whenMatched = whens.filter(({ match }) => match === 'matched');
  const otherwise = whens.filter(({ match }) => match === 'not matched');
  if (whenMatched.length > 1 || otherwise.length > 1) return undefined;
  if (whens.length > whenMatched.length + otherwise.length || whens.some(({ and }) => and !== undefined))
    return undefined;
  let unknown = false;
  const condition = mapExpressions(on, (expression) => {
    if (expression.type === 'subquery' || expression.type === 'exists') unknown = true;
    if (expression.type !== 'column' || expression.table === undefined) return expression;
    if (using.alias === undefined || !sameName(expression.table, using.alias, dialect)) return expression;
    const value = constants.get(expression.name.toLowerCase());
    unknown ||= value === undefined;
    return value ?? expression;
  });
  if (unknown) return undefined;
  const search = { type: 'delete', table, using: [], where: condition, orderBy: [] } as const;
  const where = compileWhere(search, info.shape, { dialect });
  const added = otherwise[0]?.action;
  const rows = added?.type === 'insert' ? insertedRows(added, table, info, catalog) : [];
  const action = whenMatched[0]?.action;
  if (rows === undefined || !statementFeatures(search).deterministic) return undefined;
  return {
    type: 'upsert',
    table: info,
    effect: action === undefined || action.type === 'nothing' ? 'nothing' : 'update',
    byView: true,
    rows,
    bent: false,
    meets: (image) => satisfied(where(asRow(image))),
    apply:
      action?.type === 'update'
        ? assignments(action.set, table, info, catalog)
        : () => (action?.type === 'delete' ? 'absent' : undefined),
    sure: true,
  };
}

type MergeInsert = Extract<MergeStatement['whens'][number]['action'], { type: 'insert' }>;

function insertedRows(
  { columns, values }: MergeInsert,
  table: MergeStatement['table'],
  info: Table,
  { dialect }: Catalog,
): UpsertPlan['rows'] | undefined {
  if (values === undefined || !values.every(({ type }) => type === 'literal')) return undefined;
  const insert: InsertStatement = {
    type: 'insert',
    table,
    ...(columns === undefined ? {} : { columns }),
    source: { type: 'values', rows: [values] },
  };
  const rows = applyInsert(insert, info.shape, { dialect });
  return isUndecidable(rows) ? undefined : rows;
}

/** The literals of `SELECT 1 AS a, 2 AS b`, by name. */
function constantRow(query: Extract<MergeStatement['using'], { type: 'derived' }>['query']) {
  const { body } = query;
  if (body.type !== 'core' || body.from.length > 0 || body.where !== undefined) return undefined;
  const constants = new Map<string, Expression>();
  for (const item of body.items) {
    if (item.type === 'star' || item.alias === undefined || item.expression.type !== 'literal')
      return undefined;
    constants.set(item.alias.toLowerCase(), item.expression);
  }
  return constants;
}

/** What constant assignments make of a row; anything else is not known. */
function assignments(
  set: readonly Assignment[],
  table: InsertStatement['table'],
  info: Table,
  { dialect }: Catalog,
): UpsertPlan['apply'] {
  // In MySQL a bare column is the existing row's; elsewhere the new row has one of the same name.
  const plain = ({ value }: Assignment) =>
    value.type === 'literal' || (dialect === 'mysql' && value.type === 'column');
  if (!set.every(plain)) return () => undefined;
  const update = compileUpdate({ type: 'update', table, set, from: [], orderBy: [] }, info.shape, {
    dialect,
  });
  return (row) => {
    const result = update(asRow(row));
    return isUndecidable(result) ? undefined : result;
  };
}

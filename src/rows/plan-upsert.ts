/**
 * Plans of writes that insert rows or change those that are in their way: REPLACE, INSERT … ON CONFLICT, ON DUPLICATE KEY,
 * INSERT IGNORE, and MERGE of one computed row. They can be followed if their rows are constants and it is known which
 * existing rows can be in the way.
 */
import {
  applyInsert,
  compileWhere,
  type Dialect,
  type Expression,
  type InsertStatement,
  isUndecidable,
  type MergeStatement,
  nameKey,
  sameName,
  statementFeatures,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { asRow, satisfied, subqueryTables } from './plan-parts.js';
import type { UpsertPlan } from './plan-types.js';
import type { Table } from './table.js';
import { sharesKey } from './unique-keys.js';
import {
  type EffectClause,
  type Names,
  namedAsConstants,
  namesOfUpsert,
  planEffect,
  unknownEffect,
} from './upsert-effect.js';

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
  if (subqueryTables(source.rows.flat()).length > 0) return undefined;
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
    ...(conflict?.set === undefined
      ? unknownEffect
      : planEffect(
          {
            table: statement.table,
            set: conflict.set,
            where: conflict.type === 'on-conflict' ? conflict.where : undefined,
            names: namesOfUpsert(statement.table, rows, info, dialect),
          },
          info,
          catalog,
        )),
  };
}

function isNothing(conflict: InsertStatement['conflict']): boolean {
  return conflict?.type === 'on-conflict' && conflict.set === undefined;
}

/** MERGE with one row of constants as its source, at most one action for each case, and no condition on adding it. */
export function planMerge(
  { table, using, on, whens, with: common }: MergeStatement,
  catalog: Catalog,
): UpsertPlan | undefined {
  const { dialect } = catalog;
  const info = table.schema === undefined ? catalog.find(table.name) : undefined;
  if (info === undefined || common !== undefined || using.type !== 'derived') return undefined;
  const constants = constantRow(using.query, dialect);
  if (constants === undefined) return undefined;
  const whenMatched = whens.filter(({ match }) => match === 'matched');
  const otherwise = whens.filter(({ match }) => match === 'not matched');
  if (whenMatched.length > 1 || otherwise.length > 1) return undefined;
  if (whens.length > whenMatched.length + otherwise.length || otherwise[0]?.and !== undefined)
    return undefined;
  const names: Names = (named) => {
    if (named.type === 'call') return undefined;
    const value = constants.get(nameKey(named.name, dialect));
    if (named.table === undefined) return value === undefined ? 'existing' : undefined;
    if (sameName(named.table, table.alias ?? table.name, dialect)) return 'existing';
    return using.alias !== undefined && sameName(named.table, using.alias, dialect) ? value : undefined;
  };
  const condition = subqueryTables([on]).length === 0 ? namedAsConstants(on, names) : undefined;
  if (condition === undefined) return undefined;
  const search = { type: 'delete', table, using: [], where: condition, orderBy: [] } as const;
  const where = compileWhere(search, info.shape, { dialect });
  const added = otherwise[0]?.action;
  const rows = added?.type === 'insert' ? insertedRows({ added, table, names }, info, catalog) : [];
  const matched = whenMatched[0];
  if (rows === undefined || !statementFeatures(search).deterministic) return undefined;
  return {
    type: 'upsert',
    table: info,
    effect: matched === undefined || matched.action.type === 'nothing' ? 'nothing' : 'update',
    byView: true,
    rows,
    bent: false,
    meets: (image) => satisfied(where(asRow(image))),
    ...effectOf(matched, { table, names }, info, catalog),
  };
}

function effectOf(
  matched: MergeStatement['whens'][number] | undefined,
  clause: Pick<EffectClause, 'table' | 'names'>,
  info: Table,
  catalog: Catalog,
): Pick<UpsertPlan, 'reads' | 'bind'> {
  const { action, and } = matched ?? {};
  if (action?.type !== 'update' && action?.type !== 'delete') return unknownEffect;
  const effect = planEffect(
    { ...clause, set: action.type === 'update' ? action.set : [], where: and },
    info,
    catalog,
  );
  if (action.type === 'update') return effect;
  return { ...effect, bind: (rowsOf) => ({ ...effect.bind(rowsOf), apply: () => 'absent' }) };
}

type MergeInsert = Extract<MergeStatement['whens'][number]['action'], { type: 'insert' }>;

function insertedRows(
  { added, table, names }: Pick<EffectClause, 'table' | 'names'> & { readonly added: MergeInsert },
  info: Table,
  { dialect }: Catalog,
): UpsertPlan['rows'] | undefined {
  const { columns } = added;
  if (added.values === undefined || subqueryTables(added.values).length > 0) return undefined;
  const values: Expression[] = [];
  for (const given of added.values) {
    // There is no existing row to name.
    const value = namedAsConstants(given, (named) => {
      const meant = names(named);
      return meant === 'existing' ? undefined : meant;
    });
    if (value === undefined) return undefined;
    values.push(value);
  }
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
function constantRow(
  query: Extract<MergeStatement['using'], { type: 'derived' }>['query'],
  dialect: Dialect,
) {
  const { body } = query;
  if (body.type !== 'core' || body.from.length > 0 || body.where !== undefined) return undefined;
  const constants = new Map<string, Expression>();
  for (const item of body.items) {
    if (item.type === 'star' || item.alias === undefined || item.expression.type !== 'literal')
      return undefined;
    constants.set(nameKey(item.alias, dialect), item.expression);
  }
  return constants;
}

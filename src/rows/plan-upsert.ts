/**
 * Plans of writes that insert rows or change those that are in their way: REPLACE, INSERT … ON CONFLICT, ON DUPLICATE KEY,
 * INSERT IGNORE, and MERGE. They can be followed if it is known which rows they offer and which existing rows can be in the way.
 *
 * 1. The offered rows: constants, or what a query returns. In the second case there is a plan only once the rows of its tables are
 *    known (`resolve`).
 * 2. For each offered row: which existing rows it meets, and what becomes of such a row (`upsert-effect.ts`). The offered row's
 *    columns are constants there.
 * 3. Several offered rows are one plan: an existing row that exactly one of them meets becomes what that one makes of it.
 *
 * Not followed: offered rows that share a key (the second meets the first), several of them where the change moves keys or reads
 * the table (the second meets what the first has done), and WHEN NOT MATCHED BY SOURCE.
 */
import {
  applyInsert,
  type Dialect,
  type InsertStatement,
  isUndecidable,
  type MergeStatement,
  statementFeatures,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { planMergeRows, sourceOfMerge } from './plan-merge.js';
import { evaluation, hidesTable, opaqueWrite, scalarOptions, subqueryTables } from './plan-parts.js';
import type { OpaquePlan, Satisfies, UpsertPlan } from './plan-types.js';
import type { Table } from './table.js';
import { changesKey, sharesKey } from './unique-keys.js';
import { anyOf, effectOfOne, namesOfUpsert, planEffect, unknownEffect } from './upsert-effect.js';

/** The plan, or undefined where it cannot be followed. */
export function planUpsert(
  statement: InsertStatement,
  info: Table,
  catalog: Catalog,
): UpsertPlan | undefined {
  if (!isFollowed(statement) || statement.source.type !== 'values') return undefined;
  if (subqueryTables(statement.source.rows.flat()).length > 0) return undefined;
  const rows = applyInsert(statement, info.shape, scalarOptions(catalog));
  return isUndecidable(rows) ? undefined : planRows(statement, rows, info, catalog);
}

/** The plan of an upsert of what a query returns, once the rows of its tables are known. */
export function resolveUpsert(
  statement: InsertStatement,
  info: Table,
  catalog: Catalog,
): OpaquePlan['resolve'] | undefined {
  if (!isFollowed(statement)) return undefined;
  // What the assignments read is another matter.
  const { conflict: _, returning: __, ...plain } = statement;
  const reads = tablesOf(plain, catalog);
  if (reads === undefined) return undefined;
  return {
    reads,
    bind: (rowsOf) => {
      const rows = applyInsert(statement, info.shape, evaluation(catalog, rowsOf));
      return isUndecidable(rows) ? undefined : planRows(statement, rows, info, catalog);
    },
  };
}

/** The tables that a statement reads besides its own; undefined: not all of them are known. */
function tablesOf(
  statement: Parameters<typeof statementFeatures>[0],
  catalog: Catalog,
): readonly Table[] | undefined {
  const found = statementFeatures(statement).reads.map(({ name, schema }) =>
    schema === undefined ? catalog.find(name) : undefined,
  );
  return found.includes(undefined) ? undefined : [...new Set(found as readonly Table[])];
}

function isFollowed({ mode, conflict }: InsertStatement): boolean {
  if (mode !== undefined && conflict !== undefined) return false;
  return mode !== 'abort' && mode !== 'fail' && mode !== 'rollback';
}

function planRows(
  statement: InsertStatement,
  rows: UpsertPlan['rows'],
  info: Table,
  catalog: Catalog,
): UpsertPlan | undefined {
  const { dialect } = catalog;
  const { mode, conflict } = statement;
  const keys = info.uniqueKeys;
  if (keys === undefined) return undefined;
  const shared = rows.some((row, i) =>
    rows.some((other, o) => o < i && sharesKey(row, other, keys, { shape: info.shape, dialect }) !== false),
  );
  if (shared || (rows.length > 1 && movesKeys(statement, info, dialect))) return undefined;
  const meetsEach = rows.map(
    (row): Satisfies =>
      (image) =>
        sharesKey(row, image, keys, { shape: info.shape, dialect }),
  );
  const set = conflict?.set;
  return {
    type: 'upsert',
    table: info,
    effect: mode === 'replace' ? 'replace' : mode === 'ignore' || set === undefined ? 'nothing' : 'update',
    byView: false,
    rows,
    // IGNORE bends values that do not fit instead of refusing them.
    bent: mode === 'ignore',
    meets: anyOf(meetsEach),
    meetsEach,
    ...(set === undefined
      ? unknownEffect
      : effectOfOne(
          rows.map((row, i) => {
            const clause = {
              table: statement.table,
              set,
              where: conflict?.type === 'on-conflict' ? conflict.where : undefined,
              names: namesOfUpsert(statement.table, row, info, dialect),
            };
            return { meets: meetsEach[i]!, ...planEffect(clause, info, catalog) };
          }),
          info,
        )),
  };
}

/** Whether an assignment changes a unique key. */
function movesKeys(
  { conflict }: InsertStatement,
  { shape, uniqueKeys = [] }: Table,
  dialect: Dialect,
): boolean {
  return uniqueKeys.some((key) => changesKey(conflict?.set ?? [], key, { shape, dialect }));
}

/** MERGE of one row of constants is a plan; of several, or of what a query returns, it is one once their rows are known. */
export function planMerge(statement: MergeStatement, catalog: Catalog): UpsertPlan | OpaquePlan {
  const { table, using, with: common } = statement;
  const opaque = opaqueWrite(statement, catalog, 'MERGE');
  const info = table.schema === undefined ? catalog.find(table.name) : undefined;
  if (info === undefined || common !== undefined) return opaque;
  const source = sourceOfMerge(using, catalog);
  const features = statementFeatures(statement);
  if (source === undefined || !features.deterministic || hidesTable(features, catalog)) return opaque;
  const bind: NonNullable<OpaquePlan['resolve']>['bind'] = (rowsOf) => {
    const rows = source.rows(rowsOf);
    return rows && planMergeRows(statement, rows, info, catalog);
  };
  const constants = source.reads.length === 0 ? source.rows(() => []) : undefined;
  const single = constants?.length === 1 ? planMergeRows(statement, constants, info, catalog) : undefined;
  return single ?? { ...opaque, resolve: { reads: source.reads, bind } };
}

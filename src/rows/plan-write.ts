/** Plans of UPDATE, DELETE and INSERT: one table each, its condition and what rows become. */
import {
  applyInsert,
  compileUpdate,
  compileWhere,
  type DeleteStatement,
  type InsertStatement,
  isUndecidable,
  type StatementFeatures,
  type UpdateStatement,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { namedKeys } from './named-rows.js';
import {
  asRow,
  evaluation,
  hidesTable,
  lockingSubquery,
  opaqueWrite,
  satisfied,
  scalarOptions,
  sharedName,
  subqueryTables,
} from './plan-parts.js';
import type { Plan, RowsOf, Satisfies } from './plan-types.js';
import { planUpsert, resolveUpsert } from './plan-upsert.js';
import { rowKey } from './row-key.js';
import type { Table } from './table.js';

export function planChange(
  statement: UpdateStatement | DeleteStatement,
  features: StatementFeatures,
  catalog: Catalog,
): Plan {
  const { table } = statement;
  const info = table.type === 'table' && table.schema === undefined ? catalog.find(table.name) : undefined;
  const several =
    statement.type === 'update'
      ? statement.from.length > 0 || statement.moreTables
      : statement.using.length > 0;
  const problem =
    info === undefined || several
      ? 'a write to several tables, or to one we do not know'
      : statement.with !== undefined || statement.limit !== undefined || statement.mode !== undefined
        ? 'a write with WITH, LIMIT or IGNORE'
        : features.locking !== 'none'
          ? lockingSubquery
          : hidesTable(features, catalog)
            ? sharedName
            : features.deterministic
              ? undefined
              : 'its effect does not follow from the rows alone';
  if (problem !== undefined || info === undefined) return opaqueWrite(statement, catalog, problem ?? '');
  const reads: Table[] = [];
  const expressions = statement.type === 'update' ? statement.set.map(({ value }) => value) : [];
  for (const name of subqueryTables([...expressions, statement.where])) {
    const read = catalog.find(name);
    if (read === undefined) return opaqueWrite(statement, catalog, `the table ${name} is not known`);
    if (!reads.includes(read)) reads.push(read);
  }
  return {
    type: statement.type,
    table: info,
    keys: namedKeys(statement.where, info, catalog),
    reads,
    bind: (rowsOf) => {
      const options = reads.length === 0 ? scalarOptions(catalog) : evaluation(catalog, rowsOf);
      const where = compileWhere(statement, info.shape, options);
      const fits: Satisfies = (row) => satisfied(where(asRow(row)));
      if (statement.type === 'delete') return { where: fits, apply: () => 'absent' };
      const update = compileUpdate(statement, info.shape, options);
      return {
        where: fits,
        apply: (row) => {
          const result = update(asRow(row));
          return isUndecidable(result) ? undefined : result;
        },
      };
    },
  };
}

export function planInsert(statement: InsertStatement, features: StatementFeatures, catalog: Catalog): Plan {
  const info = statement.table.schema === undefined ? catalog.find(statement.table.name) : undefined;
  if (info === undefined) return opaqueWrite(statement, catalog, 'a write to a table we do not know');
  if (features.writes.length > 1) return opaqueWrite(statement, catalog, 'a write inside another statement');
  if (features.locking !== 'none') return opaqueWrite(statement, catalog, lockingSubquery);
  if (hidesTable(features, catalog)) return opaqueWrite(statement, catalog, sharedName);
  const reads = features.reads.flatMap(({ name }) => catalog.find(name) ?? []);
  const bind = (rowsOf: RowsOf) => {
    const rows = applyInsert(statement, info.shape, evaluation(catalog, rowsOf));
    return isUndecidable(rows) ? rows.undecidable : rows;
  };
  const replaces = statement.mode !== undefined || statement.conflict !== undefined;
  if (!replaces && (features.deterministic || statement.source.type === 'values'))
    return {
      type: 'insert',
      table: info,
      reads: statement.source.type === 'values' && !features.subquery ? [] : reads,
      bind,
    };
  const upsert = features.deterministic ? planUpsert(statement, info, catalog) : undefined;
  if (upsert !== undefined) return upsert;
  // Which of its rows exist already decides what it does; but it cannot reach other rows.
  const { source } = statement;
  const constants = source.type === 'values' && subqueryTables(source.rows.flat()).length === 0;
  const rows = constants ? bind(() => []) : 'a query';
  const keys = typeof rows === 'string' ? [undefined] : rows.map((row) => rowKey(row, info.identity));
  const certain = isOnlyKey(info) && !keys.includes(undefined) ? (keys as string[]) : undefined;
  const opaque = opaqueWrite(statement, catalog, 'an INSERT that may meet existing rows', certain);
  const resolve = features.deterministic ? resolveUpsert(statement, info, catalog) : undefined;
  return resolve === undefined ? opaque : { ...opaque, resolve };
}

/** Whether the identity is the table's only key, so that a conflict can only be with the row of the same identity. */
function isOnlyKey({ shape, identity, uniqueKeys }: Table): boolean {
  const names = identity.map((at) => shape.columns[at]!.name);
  const declared = shape.keys.length === 1 && shape.keys[0]!.columns.join() === names.join();
  return declared && uniqueKeys?.length === 1;
}

/**
 * From SQL text to a plan (`plan-types.ts`), with the parser and evaluator of `sql`. A SELECT over one table that keeps
 * its rows apart becomes a scan; any other query that can be evaluated is run on whole tables; what cannot be evaluated
 * is opaque, and says so.
 */
import {
  applyInsert,
  compileExpression,
  compilePredicate,
  compileUpdate,
  compileWhere,
  type DeleteStatement,
  type Dialect,
  type Evaluated,
  type EvaluatedRow,
  type Expression,
  evaluateSelect,
  type InsertStatement,
  isUndecidable,
  parseStatement,
  type Row,
  type SelectStatement,
  type StatementFeatures,
  sameName,
  showValue,
  sqlType,
  statementFeatures,
  type Truth,
  type UpdateStatement,
  visitNodes,
} from '../../sql/index.js';
import { keyOfRow } from './mirror.js';
import type { Plan, RowLock, RowsOf, Satisfies, ScanPlan } from './plan-types.js';
import type { TableInfo } from './table-info.js';

export interface Catalog {
  readonly dialect: Dialect;
  /** The table of that name; undefined: we do not know it. */
  readonly find: (name: string) => TableInfo | undefined;
  /** A write to an unknown name may reach any table (views, triggers). */
  readonly unknownNamesReachTables: boolean;
}

const harmless =
  /^\s*(show|explain|describe|desc|analyze|checkpoint|vacuum|use|lock|unlock|listen|notify|check|optimize|reindex)\b/i;

/** What a statement does. */
export function planStatement(sql: string, catalog: Catalog): Plan {
  const statement = parseStatement(sql, catalog.dialect);
  switch (statement.type) {
    case 'select':
      return planSelect(statement, catalog);
    case 'update':
    case 'delete':
      return planChange(statement, catalog);
    case 'insert':
      return planInsert(statement, catalog);
    case 'merge':
      return opaqueWrite(statement, catalog, 'MERGE');
    case 'begin':
    case 'commit':
    case 'rollback':
    case 'savepoint':
    case 'release':
    case 'rollback-to':
    case 'create-index':
      return { type: 'idle' };
    case 'create-table':
    case 'drop': {
      const names = statement.type === 'drop' ? statement.names.map(({ name }) => name) : [statement.name];
      return {
        type: 'opaque',
        writes: true,
        tables: known(names, catalog),
        reason: 'a change of the schema',
        keys: undefined,
      };
    }
    case 'opaque': {
      if (statement.kind === 'set' || (statement.kind === 'other' && harmless.test(sql)))
        return { type: 'idle' };
      const writes = statement.kind !== 'select';
      const unknown = statement.kind === 'other' || /\btrigger\b/i.test(sql);
      const tables = unknown ? undefined : known(statement.tables, catalog);
      return { type: 'opaque', writes, tables, reason: statement.reason, keys: undefined };
    }
    default:
      return statement satisfies never;
  }
}

/** The mirror's names of these tables; undefined (any table) if one of them may be a view. */
function known(names: readonly string[], catalog: Catalog): readonly string[] | undefined {
  const infos = names.map((name) => catalog.find(name));
  if (catalog.unknownNamesReachTables && infos.includes(undefined)) return undefined;
  return infos.flatMap((info) => (info === undefined ? [] : [info.name]));
}

function opaqueWrite(
  statement: Parameters<typeof statementFeatures>[0],
  catalog: Catalog,
  reason: string,
  keys?: readonly string[],
): Plan {
  const tables = known(
    statementFeatures(statement).writes.map(({ name }) => name),
    catalog,
  );
  return { type: 'opaque', writes: true, tables, reason, keys };
}

function opaqueRead(reason: string): Plan {
  return { type: 'opaque', writes: false, tables: [], reason, keys: undefined };
}

const satisfied = (truth: Truth): boolean | undefined =>
  typeof truth === 'object' && truth !== null ? undefined : truth === true;

/** Rows may have cells that are not known; evaluation carries them through. */
const asRow = (row: EvaluatedRow): Row => row as Row;

function planSelect(statement: SelectStatement, catalog: Catalog): Plan {
  const features = statementFeatures(statement);
  if (!features.deterministic) return opaqueRead('its result does not follow from the rows alone');
  if (features.writes.length > 0) return opaqueWrite(statement, catalog, 'a query that writes');
  const lock = lockOf(statement);
  const scan = planScan(statement, features, catalog, lock);
  if (scan !== undefined) return scan;
  const tables: string[] = [];
  for (const { name, schema } of features.reads) {
    const info = schema === undefined ? catalog.find(name) : undefined;
    if (info === undefined) return opaqueRead(`the table ${name} is not known`);
    if (!tables.includes(info.name)) tables.push(info.name);
  }
  const run = (rowsOf: RowsOf) => {
    const result = evaluateSelect(statement, evaluation(catalog, rowsOf));
    return isUndecidable(result) ? result.undecidable : result.rows;
  };
  return { type: 'query', tables, run, lock };
}

function evaluation(catalog: Catalog, rowsOf: RowsOf) {
  return {
    dialect: catalog.dialect,
    table: (name: string, schema?: string) => {
      const info = schema === undefined ? catalog.find(name) : undefined;
      return info === undefined
        ? undefined
        : { columns: info.shape.columns, rows: rowsOf(info.name).map(asRow) };
    },
  };
}

function lockOf({ locks }: SelectStatement): RowLock {
  let lock: RowLock = 'none';
  for (const { strength } of locks) {
    if (strength === 'update') lock = 'exclusive';
    else if (lock !== 'exclusive')
      lock = strength === 'key share' || strength === 'no key update' ? 'weak' : 'share';
  }
  return lock;
}

function planScan(
  statement: SelectStatement,
  features: StatementFeatures,
  catalog: Catalog,
  lock: RowLock,
): ScanPlan | undefined {
  const { body, locks } = statement;
  if (body.type !== 'core' || statement.with !== undefined || statement.limit !== undefined) return undefined;
  if (statement.offset !== undefined || body.distinct || body.distinctOn !== undefined) return undefined;
  if (body.groupBy.length > 0 || body.having !== undefined || body.from.length !== 1) return undefined;
  if (features.aggregate || features.window || features.subquery) return undefined;
  const from = body.from[0]!;
  if (from.type !== 'table' || from.schema !== undefined || from.columns !== undefined) return undefined;
  const info = catalog.find(from.name);
  if (info === undefined) return undefined;
  const { dialect } = catalog;
  const columns = info.shape.columns.map((column) => ({ ...column, table: from.alias ?? from.name }));
  const options = { dialect };
  const cells: ((row: EvaluatedRow) => Evaluated)[] = [];
  const positions: number[] = [];
  for (const item of body.items) {
    if (item.type === 'star') {
      if (item.table !== undefined && !sameName(item.table, from.alias ?? from.name, dialect))
        return undefined;
      columns.forEach((_, at) => {
        positions.push(at);
        cells.push((row) => row[at]!);
      });
      continue;
    }
    const { expression } = item;
    const at = expression.type === 'column' ? columnAt(expression, info, dialect) : -1;
    positions.push(at);
    if (at >= 0) cells.push((row) => row[at]!);
    else {
      const evaluate = compileExpression(expression, columns, options);
      cells.push((row) => evaluate(asRow(row)));
    }
  }
  const predicate = body.where === undefined ? undefined : compilePredicate(body.where, columns, options);
  const identityAt = info.identity.map((column) => positions.indexOf(column));
  const wholeAt = columns.map((_, column) => positions.indexOf(column));
  return {
    type: 'scan',
    table: info.name,
    where: predicate === undefined ? () => true : (row) => satisfied(predicate(asRow(row))),
    keys: keysOf(body.where, info, dialect),
    project: (row) => cells.map((cell) => cell(row)),
    width: cells.length,
    identityAt: identityAt.length === 0 || identityAt.includes(-1) ? undefined : identityAt,
    wholeAt: wholeAt.includes(-1) ? undefined : wholeAt,
    lock,
    skipsLocked: locks.some(({ wait }) => /skip/i.test(wait ?? '')),
  };
}

function columnAt(expression: Expression, info: TableInfo, dialect: Dialect): number {
  if (expression.type !== 'column' || expression.schema !== undefined) return -1;
  return info.shape.columns.findIndex((column) => sameName(column.name, expression.name, dialect));
}

/** The rows a condition allows by naming them: `id = 3`, `id IN (1, 2)`, either AND anything. */
function keysOf(
  where: Expression | undefined,
  info: TableInfo,
  dialect: Dialect,
): readonly string[] | undefined {
  if (where === undefined || info.identity.length !== 1) return undefined;
  if (where.type === 'binary' && where.op === 'AND')
    return keysOf(where.left, info, dialect) ?? keysOf(where.right, info, dialect);
  const isIdentity = (expression: Expression) => {
    if (columnAt(expression, info, dialect) !== info.identity[0]) return false;
    // Only integers name a row by one text whatever the engine's conversions and collations.
    return sqlType(info.shape.columns[info.identity[0]!]!.type, dialect).family === 'int';
  };
  const integer = (expression: Expression) =>
    expression.type === 'literal' && Number.isInteger(expression.value)
      ? showValue(expression.value)
      : undefined;
  if (where.type === 'binary' && where.op === '=' && isIdentity(where.left)) {
    const key = integer(where.right);
    return key === undefined ? undefined : [key];
  }
  if (where.type === 'in-list' && !where.negated && isIdentity(where.operand)) {
    const keys = where.list.map(integer);
    return keys.includes(undefined) ? undefined : [...new Set(keys as string[])];
  }
  return undefined;
}

function planChange(statement: UpdateStatement | DeleteStatement, catalog: Catalog): Plan {
  const features = statementFeatures(statement);
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
        : features.deterministic
          ? undefined
          : 'its effect does not follow from the rows alone';
  if (problem !== undefined || info === undefined) return opaqueWrite(statement, catalog, problem ?? '');
  const reads: string[] = [];
  const expressions = statement.type === 'update' ? statement.set.map(({ value }) => value) : [];
  for (const name of subqueryTables([...expressions, statement.where])) {
    const read = catalog.find(name);
    if (read === undefined) return opaqueWrite(statement, catalog, `the table ${name} is not known`);
    if (!reads.includes(read.name)) reads.push(read.name);
  }
  return {
    type: statement.type,
    table: info.name,
    keys: keysOf(statement.where, info, catalog.dialect),
    reads,
    bind: (rowsOf) => {
      const options = reads.length === 0 ? { dialect: catalog.dialect } : evaluation(catalog, rowsOf);
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

function subqueryTables(expressions: readonly (Expression | undefined)[]): readonly string[] {
  const names: string[] = [];
  for (const expression of expressions) {
    if (expression === undefined) continue;
    visitNodes(expression, {
      from: (item) => {
        if (item.type === 'table') names.push(item.name);
      },
    });
  }
  return names;
}

function planInsert(statement: InsertStatement, catalog: Catalog): Plan {
  const info = statement.table.schema === undefined ? catalog.find(statement.table.name) : undefined;
  if (info === undefined) return opaqueWrite(statement, catalog, 'a write to a table we do not know');
  const features = statementFeatures(statement);
  const reads = features.reads.flatMap(({ name }) => catalog.find(name)?.name ?? []);
  const bind = (rowsOf: RowsOf) => {
    const rows = applyInsert(statement, info.shape, evaluation(catalog, rowsOf));
    return isUndecidable(rows) ? rows.undecidable : rows;
  };
  const replaces = statement.mode !== undefined || statement.conflict !== undefined;
  if (!replaces && (features.deterministic || statement.source.type === 'values'))
    return {
      type: 'insert',
      table: info.name,
      reads: statement.source.type === 'values' && !features.subquery ? [] : reads,
      bind,
    };
  // Which of its rows exist already decides what it does; but it cannot reach other rows.
  const rows = statement.source.type === 'values' ? bind(() => []) : 'a query';
  const keys =
    typeof rows === 'string' ? [undefined] : rows.map((row) => keyOfRow(info.identity.map((at) => row[at]!)));
  const certain = isOnlyKey(info) && !keys.includes(undefined) ? (keys as string[]) : undefined;
  return opaqueWrite(statement, catalog, 'an INSERT that may meet existing rows', certain);
}

/** Whether the identity is the table's only key, so that a conflict can only be with the row of the same identity. */
function isOnlyKey({ shape, identity }: TableInfo): boolean {
  const names = identity.map((at) => shape.columns[at]!.name);
  return shape.keys.length === 1 && shape.keys[0]!.columns.join() === names.join();
}

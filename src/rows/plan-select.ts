/**
 * Plans of queries. A SELECT over one table that keeps its rows apart is a scan: it can be judged row by row. Anything else
 * that can be evaluated is run on whole tables.
 */
import {
  compileExpression,
  compilePredicate,
  type Evaluated,
  type EvaluatedRow,
  type Expression,
  evaluateSelect,
  isUndecidable,
  type SelectStatement,
  type StatementFeatures,
  sameName,
  visitNodes,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { namedKeys } from './named-rows.js';
import {
  asRow,
  columnAt,
  evaluation,
  hidesTable,
  lockingSubquery,
  opaqueWrite,
  satisfied,
  scalarOptions,
  sharedName,
} from './plan-parts.js';
import type { Plan, RowLock, RowsOf, ScanPlan } from './plan-types.js';
import type { Table } from './table.js';

export function planSelect(statement: SelectStatement, features: StatementFeatures, catalog: Catalog): Plan {
  const lock = lockOf(statement);
  const nestedLock = lock === 'none' && features.locking !== 'none';
  const opaque = (reason: string): Plan => {
    const names = [...features.reads.map(({ name }) => name), ...features.commonTables];
    const reads = names.flatMap((name) => catalog.find(name) ?? []);
    const taken = nestedLock ? 'exclusive' : lock;
    return { type: 'opaque', writes: false, tables: [], reads, lock: taken, reason, keys: undefined };
  };
  if (features.writes.length > 0) return opaqueWrite(statement, catalog, 'a query that writes');
  if (nestedLock) return opaque(lockingSubquery);
  if (hidesTable(features, catalog)) return opaque(sharedName);
  if (!features.deterministic) return opaque('its result does not follow from the rows alone');
  const scan = planScan(statement, features, catalog, lock);
  if (scan?.complete === true) return scan;
  const tables: Table[] = [];
  for (const { name, schema } of features.reads) {
    const info = schema === undefined ? catalog.find(name) : undefined;
    if (info === undefined) return opaque(`the table ${name} is not known`);
    if (!tables.includes(info)) tables.push(info);
  }
  const run = (rowsOf: RowsOf) => {
    const result = evaluateSelect(statement, evaluation(catalog, rowsOf));
    return isUndecidable(result) ? result.undecidable : result.rows;
  };
  return { type: 'query', tables, run, lock, part: scan };
}

function lockOf({ locks }: SelectStatement): RowLock {
  let lock: RowLock = 'none';
  for (const { strength } of locks) {
    if (strength === 'update') lock = 'exclusive';
    else if (lock !== 'exclusive')
      lock =
        strength === 'key share' ? 'key-share' : strength === 'no key update' ? 'no-key-update' : 'share';
  }
  return lock;
}

/**
 * Functions that give one value for one row. Of others nobody knows: an aggregate makes one line of many rows, and a function of many values
 * (`generate_series`) many lines of one row.
 */
const ofOneRow = new Set(
  `abs mod sign round floor ceil ceiling trunc truncate sqrt power pow exp ln log greatest least coalesce nullif ifnull nvl if iif
  lower upper length char_length character_length octet_length bit_length substr substring left right trim ltrim rtrim btrim lpad rpad
  replace reverse repeat concat concat_ws instr locate strpos position ascii char chr hex unhex quote printf format typeof pg_typeof
  md5 sha1 sha2 to_char to_number to_date date time datetime timestamp year month day hour minute second extract date_part date_trunc
  date_format strftime julianday cast convert json_extract`.split(/\s+/),
);

/** Whether each row that is selected gives one line. */
function keepsRowsApart({ body, orderBy }: SelectStatement): boolean {
  let apart = true;
  const look = {
    expression: (node: Expression) => {
      if (node.type === 'call' && (node.schema !== undefined || !ofOneRow.has(node.name))) apart = false;
    },
  };
  if (body.type === 'core')
    for (const item of body.items) if (item.type !== 'star') visitNodes(item.expression, look);
  for (const { expression } of orderBy) visitNodes(expression, look);
  return apart;
}

function planScan(
  statement: SelectStatement,
  features: StatementFeatures,
  catalog: Catalog,
  lock: RowLock,
): ScanPlan | undefined {
  const { body, locks } = statement;
  if (body.type !== 'core' || statement.with !== undefined) return undefined;
  if (body.distinct || body.distinctOn !== undefined) return undefined;
  if (body.groupBy.length > 0 || body.having !== undefined || body.from.length !== 1) return undefined;
  if (features.aggregate || features.window || features.subquery || !keepsRowsApart(statement))
    return undefined;
  const from = body.from[0]!;
  if (from.type !== 'table' || from.schema !== undefined || from.columns !== undefined) return undefined;
  const info = catalog.find(from.name);
  if (info === undefined) return undefined;
  const { dialect } = catalog;
  const columns = info.shape.columns.map((column) => ({ ...column, table: from.alias ?? from.name }));
  const options = scalarOptions(catalog);
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
    table: info,
    where: predicate === undefined ? () => true : (row) => satisfied(predicate(asRow(row))),
    keys: namedKeys(body.where, info, catalog),
    project: (row) => cells.map((cell) => cell(row)),
    width: cells.length,
    shows: positions,
    complete: statement.limit === undefined && statement.offset === undefined,
    identityAt: identityAt.length === 0 || identityAt.includes(-1) ? undefined : identityAt,
    wholeAt: wholeAt.includes(-1) ? undefined : wholeAt,
    lock,
    skipsLocked: locks.some(({ wait }) => /skip/i.test(wait ?? '')),
  };
}

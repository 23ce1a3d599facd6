/**
 * Traces that tell which rows an operation accessed, but not what it returned, name rows by a column the SELECTs need not
 * return (Pisco's `pkId`). A replay has only what comes back, so the column is added to the reads of such a trace, as Pisco's
 * own replayer does. Reads whose result would change with it (DISTINCT, groups, aggregates, joins) are left alone.
 */
import {
  type Dialect,
  isAggregateCall,
  parseStatement,
  printStatement,
  type SelectStatement,
  visitNodes,
} from '../sql/index.js';

const rowNames = /^(rid|pkid)$/i;

/** Per table, lower-case, the column by which a set-up lets rows be named although it is not the primary key. */
export function namingColumns(setup: readonly string[], dialect: Dialect): ReadonlyMap<string, string> {
  const columns = new Map<string, string>();
  for (const sql of setup) {
    if (!/^\s*create\b/i.test(sql)) continue;
    const table = parseStatement(sql, dialect);
    if (table.type !== 'create-table') continue;
    const column = table.columns.find(({ name }) => rowNames.test(name));
    if (column !== undefined) columns.set(table.name.toLowerCase(), column.name);
  }
  return columns;
}

/** A SELECT that returns the rows' names behind what it returned; any other statement as it is. */
export function withRowNames(sql: string, names: ReadonlyMap<string, string>, dialect: Dialect): string {
  const statement = parseStatement(sql, dialect);
  if (statement.type !== 'select' || statement.body.type !== 'core') return sql;
  const { body } = statement;
  const from = body.from.length === 1 ? body.from[0]! : undefined;
  const name = from?.type === 'table' ? names.get(from.name.toLowerCase()) : undefined;
  if (name === undefined || body.distinct || body.distinctOn !== undefined || isGrouped(statement))
    return sql;
  const has = body.items.some(
    (item) =>
      item.type === 'star' ||
      (item.expression.type === 'column' && item.expression.name.toLowerCase() === name.toLowerCase()),
  );
  if (has) return sql;
  const items = [...body.items, { type: 'item' as const, expression: { type: 'column' as const, name } }];
  return printStatement({ ...statement, body: { ...body, items } }, dialect);
}

function isGrouped(statement: SelectStatement): boolean {
  if (statement.body.type !== 'core') return true;
  if (statement.body.groupBy.length > 0 || statement.body.having !== undefined) return true;
  let aggregates = false;
  visitNodes(statement, {
    expression: (expression) => {
      if (isAggregateCall(expression)) aggregates = true;
    },
  });
  return aggregates;
}

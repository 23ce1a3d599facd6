/**
 * Traces that tell which rows an operation accessed, but not what it returned, name rows by a column the SELECTs need not
 * return (Pisco's `pkId`). A replay has only what comes back, so the column is added to the reads of such a trace, as Pisco's
 * own replayer does. Reads whose result would change with it (DISTINCT, groups, aggregates, joins) are left alone.
 */
import type { Catalog, Table } from '../rows/index.js';
import {
  isAggregateCall,
  parseStatement,
  printStatement,
  type SelectStatement,
  sameName,
  visitNodes,
} from '../sql/index.js';

/** The column by which the recorder of a trace names the rows of a table. */
export function namingColumn(table: Table | undefined): string | undefined {
  if (table?.basis !== 'given' || table.identity.length !== 1) return undefined;
  return table.shape.columns[table.identity[0]!]!.name;
}

/** A SELECT that returns the rows' names behind what it returned; any other statement as it is. */
export function withRowNames(sql: string, { find, dialect }: Pick<Catalog, 'find' | 'dialect'>): string {
  const statement = parseStatement(sql, dialect);
  if (statement.type !== 'select' || statement.body.type !== 'core') return sql;
  const { body } = statement;
  const from = body.from.length === 1 ? body.from[0]! : undefined;
  const name = from?.type === 'table' ? namingColumn(find(from.name)) : undefined;
  if (name === undefined || body.distinct || body.distinctOn !== undefined || isGrouped(statement))
    return sql;
  const has = body.items.some(
    (item) =>
      item.type === 'star' ||
      (item.expression.type === 'column' && sameName(item.expression.name, name, dialect)),
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

/**
 * Which rows a statement can have to do with: those for which its condition may hold. A row of which no version ever satisfies the
 * condition of an UPDATE is passed over in any order, so writes of it need no place before or after (Adya's predicate
 * dependencies count only changes of what matches). Conditions are evaluated here; what cannot be decided may hold.
 */
import {
  type Arithmetic,
  type ColumnInfo,
  compilePredicate,
  conjunctsOf,
  type Dialect,
  type Expression,
  type FromItem,
  type Row,
  type Statement,
  sameName,
} from '../../sql/index.js';
import { leafName, walk } from '../instrument/tree.js';

/** What tells whether a row of a table (`of`) may satisfy the statement's condition; undefined: any row may concern it. */
export function concernsOf(
  statement: Statement,
  of: string,
  columns: readonly ColumnInfo[],
  arithmetic: Arithmetic,
): ((row: Row) => boolean) | undefined {
  const { dialect } = arithmetic;
  const { from, where } = searchOf(statement) ?? {};
  if (from === undefined || where === undefined) return undefined;
  if (from.type !== 'table' || !sameName(from.name, of, dialect) || mentions(statement, of, dialect) > 1)
    return undefined;
  const table = leafName(from)!;
  const tests = conjunctsOf(where).map((condition) =>
    compilePredicate(
      condition,
      columns.map((column) => ({ ...column, table })),
      arithmetic,
    ),
  );
  return (row) => tests.every((test) => test(row) !== false && test(row) !== null);
}

/** The one table a statement searches, and its condition. */
function searchOf(
  statement: Statement,
): { from?: FromItem | undefined; where?: Expression | undefined } | undefined {
  switch (statement.type) {
    case 'update':
      return { from: statement.table, where: statement.where };
    case 'delete':
      return statement.using.length > 0 ? undefined : { from: statement.table, where: statement.where };
    case 'select': {
      const { body } = statement;
      if (body.type !== 'core' || body.from.length !== 1) return undefined;
      return { from: body.from[0], where: body.where };
    }
    default:
      return undefined;
  }
}

function mentions(statement: Statement, table: string, dialect: Dialect): number {
  let count = 0;
  walk(statement, (node) => {
    if (node.type === 'table' && sameName(String(node.name), table, dialect)) count++;
  });
  return count;
}

/**
 * Drops a column everywhere: from its table's definition and that table's constraints and indexes, from the INSERTs into it,
 * from SET lists, projections and orders. A WHERE loses the conjuncts that name it. What still names the column after that
 * makes the proposal fail. First all columns that no session names go at once, then columns one by one.
 */
import {
  type Expression,
  type IndexedExpression,
  parseStatement,
  printStatement,
  type SelectItem,
  type Statement,
  tokenize,
  visitNodes,
} from '../../sql/index.js';
import type { Candidate } from '../candidate.js';
import { type Pass, type PassContext, type Proposal, withSql } from './pass.js';

export const dropColumns: Pass = {
  name: 'drop columns',
  proposals(current, context) {
    const { dialect } = context;
    const { setup, sessions } = current.case;
    const named = new Set(
      sessions.flatMap(({ statements }) =>
        statements.flatMap((sql) =>
          tokenize(sql, dialect).map(({ text }) => text.replace(/["`[\]]/g, '').toLowerCase()),
        ),
      ),
    );
    const columns = setup.flatMap((sql): Dropped[] => {
      const table = parseStatement(sql, dialect);
      if (table.type !== 'create-table') return [];
      return table.columns.map(({ name: column }, position) => ({ table: table.name, column, position }));
    });
    const perTable = (table: string) => columns.filter((each) => each.table === table).length;
    const unnamed = columns.filter(({ table, column }, i) => {
      // A table keeps its first column if nothing else keeps it.
      const first = columns.findIndex((each) => each.table === table) === i;
      return !named.has(column.toLowerCase()) && !first;
    });
    const single = columns.filter(({ table }) => perTable(table) > 1).toReversed();
    return [
      ...(unnamed.length > 1 ? [() => dropAll(current, unnamed, context)] : []),
      ...single.map(
        (one): Proposal =>
          () =>
            dropAll(current, [one], context),
      ),
    ];
  },
};

/** From the last column to the first, so that places in INSERTs without a column list stay right. */
function dropAll(current: Candidate, columns: readonly Dropped[], { dialect }: PassContext): Candidate {
  const order = columns.toSorted((a, b) => b.position - a.position);
  return withSql(current, (sql) => {
    const statement = parseStatement(sql, dialect);
    const changed = order.reduce(withoutColumn, statement);
    return changed === statement ? sql : printStatement(changed, dialect);
  });
}

interface Dropped {
  readonly table: string;
  readonly column: string;
  readonly position: number;
}

function withoutColumn(statement: Statement, dropped: Dropped): Statement {
  const { table, column } = dropped;
  switch (statement.type) {
    case 'create-table': {
      if (!same(statement.name, table)) return statement;
      const columns = statement.columns.filter(({ name }) => !same(name, column));
      const constraints = statement.constraints.filter(
        (constraint) =>
          !('columns' in constraint && constraint.columns.some((each) => isIndexed(each, column))),
      );
      return { ...statement, columns, constraints };
    }
    case 'insert': {
      if (!same(statement.table.name, table)) return statement;
      const at = statement.columns?.findIndex((name) => same(name, column)) ?? dropped.position;
      if (at < 0 || statement.source.type !== 'values') return statement;
      const rows = statement.source.rows.map((row) => row.filter((_, i) => i !== at));
      const columns = statement.columns && { columns: statement.columns.filter((_, i) => i !== at) };
      return { ...statement, ...columns, source: { type: 'values', rows } };
    }
    case 'update': {
      const set = statement.set.filter(({ columns }) => !columns.some((name) => same(name, column)));
      if (set.length === 0) return statement;
      return withWhere({ ...statement, set }, withoutConjuncts(statement.where, column));
    }
    case 'delete':
      return withWhere(statement, withoutConjuncts(statement.where, column));
    case 'select': {
      if (statement.body.type !== 'core') return statement;
      const items = statement.body.items.filter((item) => !isItem(item, column));
      const body = withWhere(statement.body, withoutConjuncts(statement.body.where, column));
      const orderBy = statement.orderBy.filter(({ expression }) => !names(expression, column));
      return { ...statement, body: { ...body, ...(items.length > 0 && { items }) }, orderBy };
    }
    default:
      return statement;
  }
}

function withWhere<T extends { readonly where?: Expression }>(node: T, where: Expression | undefined): T {
  const { where: _, ...rest } = node;
  return (where === undefined ? rest : { ...rest, where }) as T;
}

/** A condition without the conjuncts that name the column. */
function withoutConjuncts(where: Expression | undefined, column: string): Expression | undefined {
  if (where?.type !== 'binary' || where.op !== 'AND') {
    return where === undefined || names(where, column) ? undefined : where;
  }
  const left = withoutConjuncts(where.left, column);
  const right = withoutConjuncts(where.right, column);
  return left === undefined || right === undefined ? (left ?? right) : { ...where, left, right };
}

function names(expression: Expression, column: string): boolean {
  let found = false;
  visitNodes(expression, {
    expression: (node) => {
      if (node.type === 'column' && same(node.name, column)) found = true;
    },
  });
  return found;
}

function isItem(item: SelectItem, column: string): boolean {
  return item.type === 'item' && item.expression.type === 'column' && same(item.expression.name, column);
}

function isIndexed(each: IndexedExpression | string, column: string): boolean {
  return typeof each === 'string' ? same(each, column) : names(each.expression, column);
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

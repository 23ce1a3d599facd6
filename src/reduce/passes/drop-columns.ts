/**
 * Drops a column everywhere: from its table's definition and that table's constraints and indexes, from the INSERTs into it,
 * from SET lists, projections and orders. A WHERE loses the conjuncts that name it. What still names the column after that
 * makes the proposal fail. First all columns that no session names go at once, then columns one by one.
 */
import {
  type Dialect,
  type Expression,
  type IndexedExpression,
  nameKey,
  parseStatement,
  printStatement,
  type SelectItem,
  type Statement,
  sameName,
  tokenize,
  visitNodes,
  writtenNameKey,
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
        statements.flatMap((sql) => tokenize(sql, dialect).map(({ text }) => writtenNameKey(text, dialect))),
      ),
    );
    const columns = setup.flatMap((sql): Dropped[] => {
      const table = parseStatement(sql, dialect);
      if (table.type !== 'create-table') return [];
      return table.columns.map(({ name: column }, position) => ({
        ...{ table: table.name, column, position, dialect },
      }));
    });
    const perTable = (table: string) => columns.filter((each) => each.table === table).length;
    const unnamed = columns.filter(({ table, column }, i) => {
      // A table keeps its first column if nothing else keeps it.
      const first = columns.findIndex((each) => each.table === table) === i;
      return !named.has(nameKey(column, dialect)) && !first;
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
  readonly dialect: Dialect;
}

function withoutColumn(statement: Statement, dropped: Dropped): Statement {
  const { table, dialect } = dropped;
  const isColumn = (name: string) => sameName(name, dropped.column, dialect);
  const isTable = (name: string) => sameName(name, table, dialect);
  switch (statement.type) {
    case 'create-table': {
      if (!isTable(statement.name)) return statement;
      const columns = statement.columns.filter(({ name }) => !isColumn(name));
      const constraints = statement.constraints.filter(
        (constraint) =>
          !('columns' in constraint && constraint.columns.some((each) => isIndexed(each, isColumn))),
      );
      return { ...statement, columns, constraints };
    }
    case 'insert': {
      if (!isTable(statement.table.name)) return statement;
      const at = statement.columns?.findIndex(isColumn) ?? dropped.position;
      if (at < 0 || statement.source.type !== 'values') return statement;
      const rows = statement.source.rows.map((row) => row.filter((_, i) => i !== at));
      const columns = statement.columns && { columns: statement.columns.filter((_, i) => i !== at) };
      return { ...statement, ...columns, source: { type: 'values', rows } };
    }
    case 'update': {
      const set = statement.set.filter(({ columns }) => !columns.some(isColumn));
      if (set.length === 0) return statement;
      return withWhere({ ...statement, set }, withoutConjuncts(statement.where, isColumn));
    }
    case 'delete':
      return withWhere(statement, withoutConjuncts(statement.where, isColumn));
    case 'select': {
      if (statement.body.type !== 'core') return statement;
      const items = statement.body.items.filter((item) => !isItem(item, isColumn));
      const body = withWhere(statement.body, withoutConjuncts(statement.body.where, isColumn));
      const orderBy = statement.orderBy.filter(({ expression }) => !names(expression, isColumn));
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

type IsColumn = (name: string) => boolean;

/** A condition without the conjuncts that name the column. */
function withoutConjuncts(where: Expression | undefined, isColumn: IsColumn): Expression | undefined {
  if (where?.type !== 'binary' || where.op !== 'AND') {
    return where === undefined || names(where, isColumn) ? undefined : where;
  }
  const left = withoutConjuncts(where.left, isColumn);
  const right = withoutConjuncts(where.right, isColumn);
  return left === undefined || right === undefined ? (left ?? right) : { ...where, left, right };
}

function names(expression: Expression, isColumn: IsColumn): boolean {
  let found = false;
  visitNodes(expression, {
    expression: (node) => {
      if (node.type === 'column' && isColumn(node.name)) found = true;
    },
  });
  return found;
}

function isItem(item: SelectItem, isColumn: IsColumn): boolean {
  return item.type === 'item' && item.expression.type === 'column' && isColumn(item.expression.name);
}

function isIndexed(each: IndexedExpression | string, isColumn: IsColumn): boolean {
  return typeof each === 'string' ? isColumn(each) : names(each.expression, isColumn);
}

/**
 * What `ON CONFLICT … DO UPDATE`, `ON DUPLICATE KEY UPDATE` and `WHEN MATCHED THEN UPDATE` make of the row in their way.
 *
 * Their expressions name two rows: the one that is there, and the one that was to be added (`excluded.v`, `VALUES(v)`, a column of
 * MERGE's source). The second is known when the statement is read, so its columns become constants, and what is left is an
 * UPDATE of the first. Only NULL, integers and texts of columns of these types become constants: a constant has a type of its
 * own, and `1 / 2` of other types is another number.
 */
import {
  type Assignment,
  type CallExpression,
  type ColumnExpression,
  compileUpdate,
  compileWhere,
  type Dialect,
  type Evaluated,
  type EvaluatedRow,
  type Expression,
  isUndecidable,
  mapExpressions,
  sameName,
  sqlType,
  type TableReference,
  visitNodes,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import { asRow, evaluation, satisfied, subqueryTables } from './plan-parts.js';
import type { UpsertEffect, UpsertPlan } from './plan-types.js';
import type { Table } from './table.js';

/** The assignments and condition of an upsert, or of one WHEN MATCHED of a MERGE. */
export interface EffectClause {
  readonly table: TableReference;
  readonly set: readonly Assignment[];
  readonly where?: Expression | undefined;
  readonly names: Names;
}

/**
 * What a column, or a call of VALUES(), stands for: a constant of the row that was to be added; 'existing', a column of the
 * row that is there; undefined, nobody knows.
 */
export type Names = (named: ColumnExpression | CallExpression) => Expression | 'existing' | undefined;

/** Nothing is known of what becomes of rows. */
export const unknownEffect: Pick<UpsertPlan, 'reads' | 'bind'> = {
  reads: [],
  bind: () => ({ changes: () => undefined, apply: () => undefined }),
};

/** How the clause changes rows, and the tables that its subqueries read. */
export function planEffect(
  { table, set, where, names }: EffectClause,
  info: Table,
  catalog: Catalog,
): Pick<UpsertPlan, 'reads' | 'bind'> {
  const { dialect } = catalog;
  const reads: Table[] = [];
  const rewrite = (expression: Expression): Expression | undefined => {
    const tables = subqueryTables([expression]);
    if (tables.length === 0) return namedAsConstants(expression, names);
    // Names inside a subquery may be its own: only those are understood that can be nothing else.
    if (dialect === 'mysql' || dialect === 'duckdb' || namesTables(expression)) return undefined;
    for (const name of tables) {
      const read = catalog.find(name);
      if (read === undefined) return undefined;
      if (!reads.includes(read)) reads.push(read);
    }
    return expression;
  };
  const values = set.map(({ value }) => rewrite(value));
  const condition = where === undefined ? undefined : rewrite(where);
  if (values.includes(undefined) || (where !== undefined && condition === undefined)) return unknownEffect;
  const assignments = set.map((each, i) => ({ ...each, value: values[i]! }));
  return {
    reads,
    bind: (rowsOf) => {
      const options = reads.length === 0 ? { dialect } : evaluation(catalog, rowsOf);
      const update = compileUpdate(
        { type: 'update', table, set: assignments, from: [], orderBy: [] },
        info.shape,
        options,
      );
      const apply: UpsertEffect['apply'] = (row) => {
        const result = update(asRow(row));
        return isUndecidable(result) ? undefined : result;
      };
      if (condition === undefined) return { changes: () => true, apply };
      const search = { type: 'delete', table, using: [], where: condition, orderBy: [] } as const;
      const test = compileWhere(search, info.shape, options);
      return { changes: (row) => satisfied(test(asRow(row))), apply };
    },
  };
}

/** The expression with the columns of the row that was to be added as constants; undefined: a name means nobody knows what. */
export function namedAsConstants(expression: Expression, names: Names): Expression | undefined {
  let known = true;
  const mapped = mapExpressions(expression, (node) => {
    if (node.type !== 'column' && !isValuesCall(node)) return node;
    const meant = names(node);
    known &&= meant !== undefined;
    return meant === undefined || meant === 'existing' ? node : meant;
  });
  return known ? mapped : undefined;
}

function isValuesCall(node: Expression): node is CallExpression {
  return node.type === 'call' && node.name.toUpperCase() === 'VALUES';
}

/** The names in `ON CONFLICT … DO UPDATE` and `ON DUPLICATE KEY UPDATE` of one new row; several: which of them is not known. */
export function namesOfUpsert(
  table: TableReference,
  rows: readonly EvaluatedRow[],
  info: Table,
  dialect: Dialect,
): Names {
  const constantOf = (name: string): Expression | undefined => {
    const at = info.shape.columns.findIndex((column) => sameName(column.name, name, dialect));
    const [row, ...others] = rows;
    if (at < 0 || row === undefined || others.length > 0) return undefined;
    return constant(row[at]!, info.shape.columns[at]!.type, dialect);
  };
  return (named) => {
    if (named.type === 'call') {
      const [column] = named.args;
      return dialect === 'mysql' && column?.type === 'column' ? constantOf(column.name) : undefined;
    }
    if (named.schema !== undefined) return undefined;
    // PostgreSQL refuses a bare name, which is a column of both rows.
    if (named.table === undefined)
      return dialect === 'mysql' || dialect === 'sqlite' ? 'existing' : undefined;
    if (sameName(named.table, table.alias ?? table.name, dialect)) return 'existing';
    return dialect !== 'mysql' && sameName(named.table, 'excluded', dialect)
      ? constantOf(named.name)
      : undefined;
  };
}

function constant(cell: Evaluated, type: string | undefined, dialect: Dialect): Expression | undefined {
  if (isUndecidable(cell)) return undefined;
  const { family } = sqlType(type, dialect);
  const plain =
    cell === null ||
    (family === 'int' && Number.isInteger(cell)) ||
    (family === 'text' && typeof cell === 'string');
  return plain ? { type: 'literal', value: cell } : undefined;
}

/** Whether a name has a table before its dot. */
function namesTables(expression: Expression): boolean {
  let found = false;
  visitNodes(expression, {
    expression: (node) => {
      found ||= node.type === 'column' && node.table !== undefined;
    },
  });
  return found;
}

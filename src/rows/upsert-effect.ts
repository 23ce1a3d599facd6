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
  columnOf,
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
import { asRow, evaluation, satisfied, scalarOptions, subqueryTables } from './plan-parts.js';
import type { Satisfies, UpsertEffect, UpsertPlan } from './plan-types.js';
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

/** What one of several clauses does to rows that satisfy its condition (`changes`). */
export type Conditional = ReturnType<typeof planEffect> & { readonly does: 'change' | 'remove' | 'nothing' };

/** Of clauses in order, the first counts whose condition holds. */
export function effectOfFirst(clauses: readonly Conditional[]): Pick<UpsertPlan, 'reads' | 'bind'> {
  return {
    reads: [...new Set(clauses.flatMap(({ reads }) => reads))],
    bind: (rowsOf) => {
      const bound = clauses.map(({ bind, does }) => ({ ...bind(rowsOf), does }));
      /** The clause that counts for a row: 'none', or undefined where that cannot be known. */
      const chosen = (row: EvaluatedRow) => {
        for (const clause of bound) {
          const holds = clause.changes(row);
          if (holds === undefined) return undefined;
          if (holds) return clause;
        }
        return 'none';
      };
      return {
        changes: (row) => {
          const clause = chosen(row);
          return clause === undefined ? undefined : clause !== 'none' && clause.does !== 'nothing';
        },
        apply: (row) => {
          const clause = chosen(row);
          if (clause === undefined || clause === 'none') return undefined;
          return clause.does === 'remove' ? 'absent' : clause.apply(row);
        },
      };
    },
  };
}

/**
 * Of offered rows, the only one that meets an existing row decides what becomes of it. Several of them may meet what the others have done, so
 * then nothing is known where their expressions read the table itself.
 */
export function effectOfOne(
  offered: readonly (Pick<UpsertPlan, 'reads' | 'bind'> & { readonly meets: Satisfies })[],
  info: Table,
): Pick<UpsertPlan, 'reads' | 'bind'> {
  const [first, ...others] = offered;
  if (first === undefined) return unknownEffect;
  if (others.length === 0) return { reads: first.reads, bind: first.bind };
  const reads = [...new Set(offered.flatMap((each) => each.reads))];
  if (reads.includes(info)) return unknownEffect;
  return {
    reads,
    bind: (rowsOf) => {
      const bound = offered.map((each) => ({ ...each.bind(rowsOf), meets: each.meets }));
      const only = (row: EvaluatedRow) => {
        const meeting = bound.filter(({ meets }) => meets(row) !== false);
        return meeting.length === 1 && meeting[0]!.meets(row) === true ? meeting[0] : undefined;
      };
      return { changes: (row) => only(row)?.changes(row), apply: (row) => only(row)?.apply(row) };
    },
  };
}

/** Whether a row satisfies at least one. */
export function anyOf(tests: readonly Satisfies[]): Satisfies {
  return (row) => {
    const answers = tests.map((test) => test(row));
    return answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;
  };
}

/** How the clause changes rows, and the tables that its subqueries read. */
export function planEffect(
  { table, set, where, names }: EffectClause,
  info: Table,
  catalog: Catalog,
): Pick<UpsertPlan, 'reads' | 'bind'> {
  const reads: Table[] = [];
  const rewrite = (expression: Expression): Expression | undefined => {
    const tables = subqueryTables([expression]);
    if (tables.length === 0) return namedAsConstants(expression, names);
    for (const name of tables) {
      const read = catalog.find(name);
      if (read === undefined) return undefined;
      if (!reads.includes(read)) reads.push(read);
    }
    return namedAsConstants(expression, namesAround(expression, names, catalog));
  };
  const values = set.map(({ value }) => rewrite(value));
  const condition = where === undefined ? undefined : rewrite(where);
  if (values.includes(undefined) || (where !== undefined && condition === undefined)) return unknownEffect;
  const assignments = set.map((each, i) => ({ ...each, value: values[i]! }));
  return {
    reads,
    bind: (rowsOf) => {
      const options = reads.length === 0 ? scalarOptions(catalog) : evaluation(catalog, rowsOf);
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

/** The names in `ON CONFLICT … DO UPDATE` and `ON DUPLICATE KEY UPDATE` for one new row. */
export function namesOfUpsert(
  table: TableReference,
  row: EvaluatedRow,
  info: Table,
  dialect: Dialect,
): Names {
  const constantOf = (name: string): Expression | undefined => {
    const at = columnOf(info.shape.columns, name, dialect);
    return at < 0 ? undefined : constant(row[at]!, info.shape.columns[at]!.type, dialect);
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

/** A cell as a constant, if it is one of the types whose constants mean the same. */
export function constant(
  cell: Evaluated,
  type: string | undefined,
  dialect: Dialect,
): Expression | undefined {
  if (isUndecidable(cell)) return undefined;
  const { family } = sqlType(type, dialect);
  const plain =
    cell === null ||
    (family === 'int' && Number.isInteger(cell)) ||
    (family === 'text' && typeof cell === 'string');
  return plain ? { type: 'literal', value: cell } : undefined;
}

/**
 * The names in an expression with subqueries: what a table of a subquery has is that table's, the rest is as outside. Of VALUES() in a
 * subquery engines make different things.
 */
function namesAround(expression: Expression, names: Names, { dialect, find }: Catalog): Names {
  const inner: { readonly name: string; readonly table: Table | undefined }[] = [];
  visitNodes(expression, {
    from: (item) => {
      if (item.type === 'table') inner.push({ name: item.alias ?? item.name, table: find(item.name) });
      else if (item.type !== 'join') inner.push({ name: item.alias ?? '', table: undefined });
    },
  });
  const has = (table: Table | undefined, column: string) =>
    table?.shape.columns.some(({ name }) => sameName(name, column, dialect));
  return (named) => {
    if (named.type === 'call' || inner.some(({ table }) => table === undefined)) return undefined;
    const own =
      named.table === undefined
        ? inner.some(({ table }) => has(table, named.name))
        : inner.some(({ name }) => sameName(name, named.table!, dialect));
    return own ? 'existing' : names(named);
  };
}

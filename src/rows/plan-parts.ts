/** What plans of all kinds are made of: names looked up, predicates ready to run. */
import {
  type Arithmetic,
  columnOf,
  type Dialect,
  type EvaluatedRow,
  type Expression,
  type Row,
  type StatementFeatures,
  statementFeatures,
  type Truth,
  visitNodes,
} from '../sql/index.js';
import type { Catalog } from './catalog.js';
import type { OpaquePlan, RowsOf } from './plan-types.js';
import type { Table } from './table.js';

/** The tables of these names; undefined (any table) if one of them may be a view. */
export function known(names: readonly string[], catalog: Catalog): readonly Table[] | undefined {
  const tables = names.map((name) => catalog.find(name));
  if (catalog.unknownNamesReachTables && tables.includes(undefined)) return undefined;
  return tables.filter((table) => table !== undefined);
}

/** Such a clause reads newest rows for its own subquery alone; which table is read how is not followed. */
export const lockingSubquery = 'a locking clause inside a subquery';

/** Which of the two a name means depends on where it stands, and in MySQL on the server. */
export const sharedName = 'a common table has the name of a table';

/** Whether a common table has the name of a table. */
export function hidesTable({ commonTables }: StatementFeatures, catalog: Catalog): boolean {
  return commonTables.some((name) => catalog.find(name) !== undefined);
}

export function opaqueWrite(
  statement: Parameters<typeof statementFeatures>[0],
  catalog: Catalog,
  reason: string,
  keys?: readonly string[],
): OpaquePlan {
  const features = statementFeatures(statement);
  const tables = known(
    features.writes.map(({ name }) => name),
    catalog,
  );
  const reads = features.reads.flatMap(({ name }) => catalog.find(name) ?? []);
  return {
    type: 'opaque',
    writes: true,
    tables,
    reads,
    lock: features.locking === 'none' ? 'none' : 'exclusive',
    reason,
    keys,
  };
}

export const satisfied = (truth: Truth): boolean | undefined =>
  typeof truth === 'object' && truth !== null ? undefined : truth === true;

/** Rows may have cells that are not known; evaluation carries them through. */
export const asRow = (row: EvaluatedRow): Row => row as Row;

/** How expressions are evaluated that read no table. */
export function scalarOptions({ dialect, borrowed, assignsAtOnce }: Arithmetic): Arithmetic {
  return { dialect, borrowed, assignsAtOnce };
}

export function evaluation(catalog: Catalog, rowsOf: RowsOf) {
  return {
    ...scalarOptions(catalog),
    table: (name: string, schema?: string) => {
      const info = schema === undefined ? catalog.find(name) : undefined;
      return info === undefined ? undefined : { columns: info.shape.columns, rows: rowsOf(info).map(asRow) };
    },
  };
}

export function columnAt(expression: Expression, info: Table, dialect: Dialect): number {
  if (expression.type !== 'column' || expression.schema !== undefined) return -1;
  return columnOf(info.shape.columns, expression.name, dialect);
}

/** The tables that subqueries of expressions name. */
export function subqueryTables(expressions: readonly (Expression | undefined)[]): readonly string[] {
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

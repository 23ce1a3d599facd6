/** What plans of all kinds are made of: names looked up, predicates ready to run, the rows a condition names. */
import {
  type Dialect,
  type EvaluatedRow,
  type Expression,
  type Row,
  sameName,
  showValue,
  sqlType,
  statementFeatures,
  type Truth,
} from '../../sql/index.js';
import type { Plan, RowsOf } from './plan-types.js';
import type { TableInfo } from './table-info.js';

export interface Catalog {
  readonly dialect: Dialect;
  /** The table of that name; undefined: we do not know it. */
  readonly find: (name: string) => TableInfo | undefined;
  /** A write to an unknown name may reach any table (views, triggers). */
  readonly unknownNamesReachTables: boolean;
}

/** The mirror's names of these tables; undefined (any table) if one of them may be a view. */
export function known(names: readonly string[], catalog: Catalog): readonly string[] | undefined {
  const infos = names.map((name) => catalog.find(name));
  if (catalog.unknownNamesReachTables && infos.includes(undefined)) return undefined;
  return infos.flatMap((info) => (info === undefined ? [] : [info.name]));
}

export function opaqueWrite(
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

export const satisfied = (truth: Truth): boolean | undefined =>
  typeof truth === 'object' && truth !== null ? undefined : truth === true;

/** Rows may have cells that are not known; evaluation carries them through. */
export const asRow = (row: EvaluatedRow): Row => row as Row;

export function evaluation(catalog: Catalog, rowsOf: RowsOf) {
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

export function columnAt(expression: Expression, info: TableInfo, dialect: Dialect): number {
  if (expression.type !== 'column' || expression.schema !== undefined) return -1;
  return info.shape.columns.findIndex((column) => sameName(column.name, expression.name, dialect));
}

/** The rows a condition allows by naming them: `id = 3`, `id IN (1, 2)`, either AND anything. */
export function keysOf(
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

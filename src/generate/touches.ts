/** What a statement may touch, told from its tree: enough to guess which transactions get in each other's way. */
import { type Dialect, type Expression, parseStatement, type Statement } from '../sql/index.js';

export interface Touch {
  readonly tables: readonly string[];
  /** The table it writes, or whose rows it locks. */
  readonly writes: readonly string[];
  /** `column = constant` of its own WHERE, when that is all of it. */
  readonly row?: string;
}

/** The tables and the row of a statement. */
export function touchesOf(sql: string, dialect?: Dialect): Touch {
  const statement = parseStatement(sql, dialect);
  if (statement.type === 'opaque') {
    const { tables } = statement;
    return { tables, writes: statement.kind === 'select' ? [] : tables };
  }
  const tables = new Set<string>();
  collectTables(statement, tables);
  const row = namedRow(statement);
  return {
    tables: [...tables],
    writes: written(statement, [...tables]),
    ...(row === undefined ? {} : { row }),
  };
}

/** How much the order of two statements may matter: not at all, for what one reads, or for what both write. */
export function conflictWeight(one: Touch, other: Touch): number {
  const bothWrite = one.writes.some((name) => other.writes.includes(name));
  const meet =
    bothWrite ||
    one.writes.some((name) => other.tables.includes(name)) ||
    other.writes.some((name) => one.tables.includes(name));
  return !meet || nameDifferentRows(one, other) ? 0 : bothWrite ? 4 : 1;
}

/** Two different constants for the same column are two different rows. */
function nameDifferentRows({ row: one }: Touch, { row: other }: Touch): boolean {
  if (one === undefined || other === undefined || one === other) return false;
  return one.split('=')[0] === other.split('=')[0];
}

/** Every table reference below a node. */
function collectTables(node: unknown, into: Set<string>): void {
  if (typeof node !== 'object' || node === null) return;
  if ((node as { type?: unknown }).type === 'table') into.add((node as { name: string }).name);
  for (const child of Object.values(node)) collectTables(child, into);
}

function written(statement: Statement, tables: readonly string[]): readonly string[] {
  switch (statement.type) {
    case 'insert':
    case 'merge':
      return [statement.table.name];
    case 'update':
    case 'delete':
      return statement.table.type === 'table' ? [statement.table.name] : tables;
    case 'select':
      return statement.locks.length > 0 ? tables : [];
    case 'create-table':
      return [statement.name];
    case 'create-index':
      return [statement.table.name];
    case 'drop':
      return statement.names.map(({ name }) => name);
    default:
      return [];
  }
}

function namedRow(statement: Statement): string | undefined {
  const where: Expression | undefined =
    statement.type === 'update' || statement.type === 'delete'
      ? statement.where
      : statement.type === 'select' && statement.body.type === 'core'
        ? statement.body.where
        : undefined;
  if (where?.type !== 'binary' || where.op !== '=') return undefined;
  if (where.left.type !== 'column' || where.right.type !== 'literal') return undefined;
  return `${where.left.name}=${JSON.stringify(where.right.value)}`;
}

/**
 * What definitions say of a table: CREATE TABLE, and CREATE INDEX on it. The only reader of keys, indexes and foreign keys: the catalog
 * (which rows can meet in a unique key), both instrumenting oracles, declared constraints, duplicate detection and the faults ask here.
 */
import {
  type CreateTableStatement,
  type Dialect,
  type Expression,
  type ForeignReference,
  type IndexedExpression,
  type Statement,
  sameName,
  type TableShape,
  tableShape,
  visitNodes,
} from '../sql/index.js';

/** A key, a unique constraint or an index. */
export interface DeclaredIndex {
  readonly unique: boolean;
  readonly primary: boolean;
  readonly columns: readonly IndexedExpression[];
  /** Only rows that satisfy it are in the index. */
  readonly where?: Expression;
  /** What follows the constraint (`DEFERRABLE`) or the columns of the index (`NULLS NOT DISTINCT`), as text. */
  readonly tail?: string;
}

export interface DeclaredForeignKey {
  readonly columns: readonly string[];
  readonly references: ForeignReference;
  /** `beside`: written beside a column, which MySQL reads and forgets. */
  readonly written: 'beside' | 'apart';
}

export interface Definition {
  readonly create: CreateTableStatement;
  readonly shape: TableShape;
  /** Those of the CREATE TABLE first, column by column. */
  readonly indexes: readonly DeclaredIndex[];
  readonly foreignKeys: readonly DeclaredForeignKey[];
}

/** `statements`: everything that may define an index on the table. */
export function definitionOf(
  create: CreateTableStatement,
  statements: readonly Statement[],
  dialect: Dialect,
): Definition {
  const indexes: DeclaredIndex[] = [];
  const foreignKeys: DeclaredForeignKey[] = [];
  for (const { name, constraints } of create.columns) {
    const conflict = constraints.some((each) => each.type === 'other' && /\bconflict\b/i.test(each.sql));
    for (const each of constraints) {
      if (each.type === 'references')
        foreignKeys.push({ columns: [name], references: each.references, written: 'beside' });
      if (each.type !== 'primary-key' && each.type !== 'unique') continue;
      const tail = `${each.tail ?? ''}${conflict ? ' ON CONFLICT' : ''}`;
      indexes.push({
        unique: true,
        primary: each.type === 'primary-key',
        columns: [{ expression: { type: 'column', name } }],
        ...(tail !== '' && { tail }),
      });
    }
  }
  for (const each of create.constraints) {
    if (each.type === 'foreign-key') foreignKeys.push({ ...each, written: 'apart' });
    if (each.type !== 'primary-key' && each.type !== 'unique' && each.type !== 'index') continue;
    const { columns, tail, type } = each;
    const kind = { unique: type !== 'index', primary: type === 'primary-key' };
    indexes.push({ ...kind, columns, ...(tail !== undefined && { tail }) });
  }
  for (const each of statements) {
    if (each.type !== 'create-index' || !sameName(each.table.name, create.name, dialect)) continue;
    const { unique, columns, where, options: tail } = each;
    indexes.push({
      unique,
      primary: false,
      columns,
      ...(where !== undefined && { where }),
      ...(tail !== undefined && { tail }),
    });
  }
  return { create, shape: tableShape(create, dialect), indexes, foreignKeys };
}

/** Whether a conflict with a key or NOT NULL changes, skips or keeps rows instead of undoing the statement (SQLite's `ON CONFLICT REPLACE`). */
export function resolvesConflicts(create: CreateTableStatement): boolean {
  return /\bON CONFLICT (REPLACE|IGNORE|FAIL)\b/i.test(JSON.stringify(create));
}

/** The tables that statements create, in their order. */
export function definitionsIn(statements: readonly Statement[], dialect: Dialect): Definition[] {
  return statements.flatMap((each) =>
    each.type === 'create-table' ? [definitionOf(each, statements, dialect)] : [],
  );
}

/** The columns of an index of whole columns; undefined: it has expressions, or prefixes of columns. */
export function wholeColumns({ columns }: DeclaredIndex): readonly string[] | undefined {
  const names = columns.flatMap(({ expression, length }) =>
    expression.type === 'column' && length === undefined ? [expression.name] : [],
  );
  return names.length === columns.length ? names : undefined;
}

/** Every column that an index depends on, those inside its expressions included. */
export function columnsUsed({ columns }: DeclaredIndex): readonly string[] {
  const names: string[] = [];
  for (const { expression } of columns)
    visitNodes(expression, {
      expression: (node) => {
        if (node.type === 'column') names.push(node.name);
      },
    });
  return names;
}

/** The column an index begins with; undefined: an expression. */
export function firstColumn({ columns }: DeclaredIndex): string | undefined {
  const first = columns[0]?.expression;
  return first?.type === 'column' ? first.name : undefined;
}

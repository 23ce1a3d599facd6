/** Changes to the tables of a template and to everything that mentions them. */
import {
  type CreateTableStatement,
  type Dialect,
  type Expression,
  type InsertStatement,
  nameKey,
  type SelectStatement,
  type Statement,
  sameName,
  type Value,
} from '../sql/index.js';
import { column, item, literal } from './build.js';
import { rebuild } from './mutate.js';
import type { Random } from './random.js';
import { createIndex, ridColumn } from './schema.js';
import { mapStatements, type Skeleton } from './skeleton.js';

export interface TemplateNames {
  readonly table: (old: string) => string;
  readonly column: (old: string) => string;
}

/** Renames the tables the set-up creates and their columns, everywhere; `rid` keeps its name. */
export function renameAll(skeleton: Skeleton, names: TemplateNames, dialect: Dialect): Skeleton {
  const key = (name: string) => nameKey(name, dialect);
  const created = createdTables(skeleton);
  const tables = new Map(created.map(({ name }) => [key(name), names.table(name)]));
  const columnNames = created
    .flatMap((each) => each.columns.map(({ name }) => name))
    .filter((name) => name !== ridColumn);
  const columns = new Map(columnNames.map((name) => [key(name), names.column(name)]));
  const table = (name: string) => tables.get(key(name)) ?? name;
  const columnName = (name: string) => columns.get(key(name)) ?? name;
  return mapStatements(skeleton, (statement) => {
    return rebuild(statement, (node, key) => renameNode(node, key, table, columnName)) as Statement;
  });
}

type Node = Readonly<Record<string, unknown>>;

function renameNode(
  node: Node,
  key: string,
  table: (name: string) => string,
  columnName: (name: string) => string,
): Node {
  const named = typeof node.name === 'string' ? node.name : undefined;
  const list = (names: unknown) => (names as readonly string[]).map(columnName);
  switch (node.type) {
    case 'table':
    case 'create-table':
      return { ...node, name: table(named!), ...definitions(node, columnName) };
    case 'column': {
      const owner = typeof node.table === 'string' ? { table: table(node.table) } : {};
      return { ...node, ...owner, name: columnName(named!) };
    }
    case 'star':
      return typeof node.table === 'string' ? { ...node, table: table(node.table) } : node;
    case 'insert':
      return Array.isArray(node.columns) && typeof node.columns[0] === 'string'
        ? { ...node, columns: list(node.columns) }
        : node;
    case 'foreign-key':
      return { ...node, columns: list(node.columns) };
    case 'drop':
      return {
        ...node,
        names: (node.names as { name: string }[]).map((each) => ({ ...each, name: table(each.name) })),
      };
    default:
      break;
  }
  // Assignments and references have no type of their own: their place tells.
  if (key === 'set' && Array.isArray(node.columns)) {
    const owner = typeof node.table === 'string' ? { table: table(node.table) } : {};
    return { ...node, ...owner, columns: list(node.columns) };
  }
  if (key === 'references' && typeof node.table === 'string') {
    const columns = Array.isArray(node.columns) ? { columns: list(node.columns) } : {};
    return { ...node, table: table(node.table), ...columns };
  }
  return node;
}

function definitions(node: Node, columnName: (name: string) => string): Node {
  if (node.type !== 'create-table') return {};
  const columns = node.columns as CreateTableStatement['columns'];
  return { columns: columns.map((each) => ({ ...each, name: columnName(each.name) })) };
}

export function createdTables({ setup }: Skeleton): CreateTableStatement[] {
  return setup.filter(
    (each): each is CreateTableStatement => each.type === 'create-table' && each.as === undefined,
  );
}

/**
 * Adds a column to every table, and a value to every row: fresh numbers for `rid`, a constant for `filler`. Only
 * possible when every INSERT lists its columns and gives its values.
 */
export function addColumn(skeleton: Skeleton, name: string, random: Random, use: 'rid' | 'filler'): Skeleton {
  const created = createdTables(skeleton);
  // The case may be written in another dialect: a name that is taken in one of them is taken.
  const taken = created.some(({ columns }) => columns.some((each) => sameName(each.name, name, 'mysql')));
  if (taken || !every(skeleton, insertsPlainRows)) return skeleton;
  const filler = random.between(0, 9);
  let next = 1;
  const value = (): Expression => literal(use === 'rid' ? next++ : filler);
  return mapStatements(skeleton, (statement) => {
    if (statement.type === 'create-table' && statement.as === undefined) {
      const definition = { name, columnType: 'INT', constraints: [] };
      return { ...statement, columns: [...statement.columns, definition] };
    }
    if (statement.type === 'insert' && statement.source.type === 'values') {
      const rows = statement.source.rows.map((row) => [...row, value()]);
      return { ...statement, columns: [...statement.columns!, name], source: { type: 'values', rows } };
    }
    return use === 'rid' && statement.type === 'select' ? showColumn(statement, name) : statement;
  });
}

function every({ setup, sessions }: Skeleton, test: (statement: Statement) => boolean): boolean {
  return [...setup, ...sessions.flatMap(({ statements }) => statements)].every(test);
}

function insertsPlainRows(statement: Statement): boolean {
  if (statement.type === 'merge') return false;
  return (
    statement.type !== 'insert' || (statement.columns !== undefined && statement.source.type === 'values')
  );
}

/** A query over one table that shows rows as they are shows this column, too. */
function showColumn(statement: SelectStatement, name: string): SelectStatement {
  const { body } = statement;
  if (body.type !== 'core' || body.distinct || body.groupBy.length > 0 || body.from.length !== 1)
    return statement;
  const rows = body.from[0]?.type === 'table' && statement.with === undefined;
  const plain = body.items.every((each) => each.type === 'item' && each.expression.type === 'column');
  if (!rows || !plain) return statement;
  return { ...statement, body: { ...body, items: [...body.items, item(column(name))] } };
}

/** Rows nobody asks for: more to read past, and other places on the pages. */
export function extraRows(skeleton: Skeleton, random: Random): Skeleton {
  const biggest = greatestNumber(skeleton);
  const count = random.between(1, 4);
  let next = biggest + 1000;
  return {
    ...skeleton,
    setup: skeleton.setup.map((statement) => {
      if (statement.type !== 'insert' || statement.source.type !== 'values') return statement;
      const { rows } = statement.source;
      const model = rows[0]!;
      if (!model.every((each) => each.type === 'literal' && typeof each.value === 'number')) return statement;
      const more = Array.from({ length: count }, () => model.map(() => literal(next++)));
      return { ...statement, source: { type: 'values', rows: [...rows, ...more] } } satisfies InsertStatement;
    }),
  };
}

function greatestNumber({ setup, sessions }: Skeleton): number {
  let greatest = 0;
  rebuild([setup, sessions], (node) => {
    const value = node.value as Value | undefined;
    if (node.type === 'literal' && typeof value === 'number') greatest = Math.max(greatest, value);
    return node;
  });
  return greatest;
}

/** An index on a column of one table. */
export function extraIndex(skeleton: Skeleton, random: Random): Skeleton {
  const created = createdTables(skeleton);
  if (created.length === 0) return skeleton;
  const { name, columns } = random.pick(created);
  const on = random.pick(columns);
  if (on.columnType === undefined || !/INT/.test(on.columnType)) return skeleton;
  const index = createIndex({ name: `${name}_extra`, columns: [on.name] }, name);
  const after = skeleton.setup.findIndex((each) => each.type === 'create-table' && each.name === name);
  return { ...skeleton, setup: skeleton.setup.toSpliced(after + 1, 0, index) };
}

/** Takes primary keys away: some engines look for conflicts only through an index. */
export function dropKey(skeleton: Skeleton): Skeleton {
  // What refers to a key, or relies on it to collide, needs it.
  const needed = !every(skeleton, (statement) => {
    if (statement.type === 'insert') return statement.conflict === undefined && statement.mode === undefined;
    if (statement.type !== 'create-table') return statement.type !== 'merge';
    const references = statement.constraints.some(({ type }) => type === 'foreign-key');
    return (
      !references &&
      statement.columns.every((each) => each.constraints.every(({ type }) => type !== 'references'))
    );
  });
  if (needed) return skeleton;
  return mapStatements(skeleton, (statement) => {
    if (statement.type !== 'create-table') return statement;
    const columns = statement.columns.map((each) => ({
      ...each,
      constraints: each.constraints.filter(({ type }) => type !== 'primary-key' && type !== 'auto-increment'),
    }));
    return {
      ...statement,
      columns,
      constraints: statement.constraints.filter(({ type }) => type !== 'primary-key'),
    };
  });
}

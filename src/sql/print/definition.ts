/** CREATE TABLE, CREATE INDEX and DROP as SQL. */
import type {
  ColumnConstraint,
  ColumnDefinition,
  CreateIndexStatement,
  CreateTableStatement,
  DropStatement,
  ForeignReference,
  TableConstraint,
} from '../ast.js';
import { printName } from '../words.js';
import { printExpression } from './expression.js';
import type { Printer } from './printer.js';
import { printFromItem, printNames, printQuery, printTableName } from './query.js';
import { printIndexed } from './write.js';

export function printCreateTable(create: CreateTableStatement, p: Printer): string {
  const words = ['CREATE', ...(create.temporary ? ['TEMPORARY'] : []), 'TABLE'];
  if (create.ifNotExists) words.push('IF NOT EXISTS');
  words.push(printTableName(create, p));
  const lines = [
    ...create.columns.map((column) => printColumn(column, p)),
    ...create.constraints.map((constraint) => named(constraint, printTableConstraint(constraint, p), p)),
  ];
  if (lines.length > 0) words.push(`(${lines.join(', ')})`);
  if (create.options !== undefined) words.push(create.options);
  if (create.as !== undefined) words.push(`AS ${printQuery(create.as, p)}`);
  return words.join(' ');
}

function printColumn({ name, columnType, constraints }: ColumnDefinition, p: Printer): string {
  const parts = [printName(name, p.dialect)];
  if (columnType !== undefined) parts.push(columnType);
  for (const constraint of constraints)
    parts.push(named(constraint, printColumnConstraint(constraint, p), p));
  return parts.join(' ');
}

function named(constraint: { readonly name?: string }, text: string, p: Printer): string {
  return constraint.name === undefined ? text : `CONSTRAINT ${printName(constraint.name, p.dialect)} ${text}`;
}

function tailOf(constraint: { readonly tail?: string }): string {
  return constraint.tail === undefined ? '' : ` ${constraint.tail}`;
}

function printColumnConstraint(constraint: ColumnConstraint, p: Printer): string {
  switch (constraint.type) {
    case 'not-null':
      return 'NOT NULL';
    case 'null':
      return 'NULL';
    case 'auto-increment':
      return p.dialect === 'sqlite' ? 'AUTOINCREMENT' : 'AUTO_INCREMENT';
    case 'primary-key':
      return `PRIMARY KEY${tailOf(constraint)}`;
    case 'unique':
      return `UNIQUE${tailOf(constraint)}`;
    case 'default-value': {
      const text = printExpression(constraint.value, p);
      const simple = constraint.value.type === 'literal' || constraint.value.type === 'float';
      const bare =
        simple || (constraint.value.type === 'call' && p.dialect !== 'sqlite' && p.dialect !== 'mysql');
      return `DEFAULT ${bare || isBareCall(constraint.value) ? text : `(${text})`}`;
    }
    case 'check':
      return `CHECK (${printExpression(constraint.condition, p)})${tailOf(constraint)}`;
    case 'references':
      return printReference(constraint.references, p);
    case 'generated': {
      const kind = constraint.stored ? ' STORED' : p.dialect === 'postgres' ? '' : ' VIRTUAL';
      return `GENERATED ALWAYS AS (${printExpression(constraint.value, p)})${kind}`;
    }
    case 'identity': {
      const options = constraint.options === undefined ? '' : ` (${constraint.options})`;
      return `GENERATED ${constraint.always ? 'ALWAYS' : 'BY DEFAULT'} AS IDENTITY${options}`;
    }
    case 'other':
      return constraint.sql;
    default:
      return constraint satisfies never;
  }
}

function isBareCall(value: { readonly type: string; readonly bare?: true }): boolean {
  return value.type === 'call' && value.bare === true;
}

function printReference({ schema, table, columns, actions }: ForeignReference, p: Printer): string {
  const target = printTableName(schema === undefined ? { name: table } : { schema, name: table }, p);
  const list = columns === undefined ? '' : ` (${printNames(columns, p)})`;
  return `REFERENCES ${target}${list}${actions === undefined ? '' : ` ${actions}`}`;
}

function printTableConstraint(constraint: TableConstraint, p: Printer): string {
  switch (constraint.type) {
    case 'check':
      return `CHECK (${printExpression(constraint.condition, p)})${tailOf(constraint)}`;
    case 'foreign-key': {
      const columns = printNames(constraint.columns, p);
      return `FOREIGN KEY (${columns}) ${printReference(constraint.references, p)}`;
    }
    case 'other':
      return constraint.sql;
    case 'primary-key':
    case 'unique':
    case 'index': {
      const words = { 'primary-key': 'PRIMARY KEY', unique: 'UNIQUE', index: 'INDEX' }[constraint.type];
      const name = constraint.indexName === undefined ? '' : ` ${printName(constraint.indexName, p.dialect)}`;
      return `${words}${name} (${printIndexed(constraint.columns, p)})${tailOf(constraint)}`;
    }
    default:
      return constraint satisfies never;
  }
}

export function printCreateIndex(create: CreateIndexStatement, p: Printer): string {
  const words = ['CREATE'];
  if (create.unique) words.push('UNIQUE');
  words.push('INDEX');
  if (create.concurrently === true) words.push('CONCURRENTLY');
  if (create.ifNotExists) words.push('IF NOT EXISTS');
  if (create.name !== undefined) words.push(printTableName({ ...create, name: create.name }, p));
  words.push(`ON ${printFromItem(create.table, p)}`);
  if (create.method !== undefined) words.push(`USING ${create.method}`);
  words.push(`(${printIndexed(create.columns, p)})`);
  if (create.options !== undefined) words.push(create.options);
  if (create.where !== undefined) words.push(`WHERE ${printExpression(create.where, p)}`);
  return words.join(' ');
}

export function printDrop(drop: DropStatement, p: Printer): string {
  const names = drop.names.map((name) => printTableName(name, p)).join(', ');
  const tail = drop.tail === undefined ? '' : ` ${drop.tail}`;
  return `DROP ${drop.what} ${drop.ifExists ? 'IF EXISTS ' : ''}${names}${tail}`;
}

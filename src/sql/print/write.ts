/** Writes as SQL. */
import type {
  Assignment,
  ConflictClause,
  DeleteStatement,
  IndexedExpression,
  InsertStatement,
  MergeAction,
  MergeStatement,
  SelectItem,
  UpdateStatement,
} from '../ast.js';
import type { Dialect } from '../dialect.js';
import { printName } from '../words.js';
import { printExpression, printExpressions, printOrderBy } from './expression.js';
import {
  printFrom,
  printFromItem,
  printItems,
  printNames,
  printQuery,
  printTableName,
  printWith,
} from './query.js';

type Write = InsertStatement | UpdateStatement | DeleteStatement | MergeStatement;

export function printWrite(statement: Write, dialect: Dialect): string {
  const text = printBare(statement, dialect);
  return statement.with === undefined ? text : `${printWith(statement.with, dialect)} ${text}`;
}

function printBare(statement: Write, dialect: Dialect): string {
  switch (statement.type) {
    case 'insert':
      return printInsert(statement, dialect);
    case 'update':
      return printUpdate(statement, dialect);
    case 'delete':
      return printDelete(statement, dialect);
    case 'merge':
      return printMerge(statement, dialect);
    default:
      return statement satisfies never;
  }
}

/** `INSERT OR IGNORE` or MySQL's `INSERT IGNORE`, `REPLACE`. */
function printVerb(
  verb: string,
  mode: string | undefined,
  hint: string | undefined,
  dialect: Dialect,
): string {
  const hinted = hint === undefined ? '' : ` ${hint}`;
  if (mode === undefined) return verb + hinted;
  if (dialect !== 'mysql') return `${verb}${hinted} OR ${mode.toUpperCase()}`;
  if (mode === 'replace') return `REPLACE${hinted}`;
  return mode === 'ignore' ? `${verb}${hinted} IGNORE` : verb + hinted;
}

function printInsert(insert: InsertStatement, dialect: Dialect): string {
  const alias = insert.table.alias === undefined ? '' : ` AS ${printName(insert.table.alias, dialect)}`;
  const parts = [
    printVerb('INSERT', insert.mode, insert.hint, dialect),
    `INTO ${printTableName(insert.table, dialect)}${alias}`,
  ];
  if (insert.columns !== undefined) parts.push(`(${printNames(insert.columns, dialect)})`);
  const { source } = insert;
  if (source.type === 'defaults') parts.push(dialect === 'mysql' ? '() VALUES ()' : 'DEFAULT VALUES');
  else if (source.type === 'query') parts.push(printQuery(source.query, dialect));
  else parts.push(`VALUES ${source.rows.map((row) => `(${printExpressions(row, dialect)})`).join(', ')}`);
  if (insert.conflict !== undefined) parts.push(printConflict(insert.conflict, dialect));
  return parts.join(' ') + printReturning(insert.returning, dialect);
}

function printConflict(conflict: ConflictClause, dialect: Dialect): string {
  if (conflict.type === 'on-duplicate-key')
    return `ON DUPLICATE KEY UPDATE ${printSet(conflict.set, dialect)}`;
  const parts = ['ON CONFLICT'];
  if (conflict.constraint !== undefined)
    parts.push(`ON CONSTRAINT ${printName(conflict.constraint, dialect)}`);
  if (conflict.columns !== undefined) parts.push(`(${printIndexed(conflict.columns, dialect)})`);
  if (conflict.columnsWhere !== undefined)
    parts.push(`WHERE ${printExpression(conflict.columnsWhere, dialect)}`);
  parts.push(conflict.set === undefined ? 'DO NOTHING' : `DO UPDATE SET ${printSet(conflict.set, dialect)}`);
  if (conflict.where !== undefined) parts.push(`WHERE ${printExpression(conflict.where, dialect)}`);
  return parts.join(' ');
}

export function printIndexed(columns: readonly IndexedExpression[], dialect: Dialect): string {
  return columns
    .map(({ expression, length, tail }) => {
      const text = printExpression(expression, dialect);
      const bare = expression.type === 'column' || (expression.type === 'call' && dialect !== 'mysql');
      const prefix = length === undefined ? '' : `(${length})`;
      return `${bare ? text : `(${text})`}${prefix}${tail === undefined ? '' : ` ${tail}`}`;
    })
    .join(', ');
}

export function printSet(assignments: readonly Assignment[], dialect: Dialect): string {
  return assignments
    .map(({ table, columns, tuple, value }) => {
      const qualifier = table === undefined ? '' : `${printName(table, dialect)}.`;
      const names =
        tuple === true ? `(${printNames(columns, dialect)})` : qualifier + printNames(columns, dialect);
      return `${names} = ${printExpression(value, dialect)}`;
    })
    .join(', ');
}

function printReturning(items: readonly SelectItem[] | undefined, dialect: Dialect): string {
  return items === undefined ? '' : ` RETURNING ${printItems(items, dialect)}`;
}

function printTail(statement: UpdateStatement | DeleteStatement, dialect: Dialect): string[] {
  const parts: string[] = [];
  if (statement.where !== undefined) parts.push(`WHERE ${printExpression(statement.where, dialect)}`);
  const returning = printReturning(statement.returning, dialect).slice(1);
  if (dialect === 'sqlite' && returning !== '') parts.push(returning);
  if (statement.orderBy.length > 0) parts.push(printOrderBy(statement.orderBy, dialect));
  if (statement.limit !== undefined) parts.push(`LIMIT ${printExpression(statement.limit, dialect)}`);
  if (dialect !== 'sqlite' && returning !== '') parts.push(returning);
  return parts;
}

function printUpdate(update: UpdateStatement, dialect: Dialect): string {
  const parts = [printVerb('UPDATE', update.mode, update.hint, dialect)];
  parts.push(printFrom([update.table, ...(update.moreTables ?? [])], dialect));
  parts.push(`SET ${printSet(update.set, dialect)}`);
  if (update.from.length > 0) parts.push(`FROM ${printFrom(update.from, dialect)}`);
  return [...parts, ...printTail(update, dialect)].join(' ');
}

function printDelete(statement: DeleteStatement, dialect: Dialect): string {
  const parts = [printVerb('DELETE', statement.mode, statement.hint, dialect)];
  if (statement.targets !== undefined) {
    parts.push(printNames(statement.targets, dialect));
    parts.push(`FROM ${printFrom([statement.table, ...statement.using], dialect)}`);
  } else {
    parts.push(`FROM ${printFromItem(statement.table, dialect)}`);
    if (statement.using.length > 0) parts.push(`USING ${printFrom(statement.using, dialect)}`);
  }
  return [...parts, ...printTail(statement, dialect)].join(' ');
}

function printMerge(merge: MergeStatement, dialect: Dialect): string {
  const source = printFromItem(merge.using, dialect);
  const parts = [
    `MERGE INTO ${printFromItem(merge.table, dialect)}`,
    `USING ${merge.using.type === 'join' ? `(${source})` : source}`,
    `ON ${printExpression(merge.on, dialect)}`,
  ];
  for (const { match, and, action } of merge.whens) {
    const condition = and === undefined ? '' : ` AND ${printExpression(and, dialect)}`;
    parts.push(`WHEN ${match.toUpperCase()}${condition} THEN ${printMergeAction(action, dialect)}`);
  }
  return parts.join(' ') + printReturning(merge.returning, dialect);
}

function printMergeAction(action: MergeAction, dialect: Dialect): string {
  switch (action.type) {
    case 'nothing':
      return 'DO NOTHING';
    case 'delete':
      return 'DELETE';
    case 'update':
      return `UPDATE SET ${printSet(action.set, dialect)}`;
    case 'insert': {
      const columns = action.columns === undefined ? '' : ` (${printNames(action.columns, dialect)})`;
      if (action.values === undefined) return `INSERT${columns} DEFAULT VALUES`;
      return `INSERT${columns} VALUES (${printExpressions(action.values, dialect)})`;
    }
    default:
      return action satisfies never;
  }
}

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
  WriteStatement,
} from '../ast.js';
import { printName } from '../words.js';
import { printExpression, printExpressions, printOrderBy } from './expression.js';
import type { Printer } from './printer.js';
import {
  printFrom,
  printFromItem,
  printItems,
  printNames,
  printQuery,
  printTableName,
  printWith,
} from './query.js';

export function printWrite(statement: WriteStatement, p: Printer): string {
  const text = printBare(statement, p);
  return statement.with === undefined ? text : `${printWith(statement.with, p)} ${text}`;
}

function printBare(statement: WriteStatement, p: Printer): string {
  switch (statement.type) {
    case 'insert':
      return printInsert(statement, p);
    case 'update':
      return printUpdate(statement, p);
    case 'delete':
      return printDelete(statement, p);
    case 'merge':
      return printMerge(statement, p);
    default:
      return statement satisfies never;
  }
}

/** `INSERT OR IGNORE` or MySQL's `INSERT IGNORE`, `REPLACE`. */
function printVerb(verb: string, mode: string | undefined, hint: string | undefined, p: Printer): string {
  const hinted = hint === undefined ? '' : ` ${hint}`;
  if (mode === undefined) return verb + hinted;
  if (p.dialect !== 'mysql') return `${verb}${hinted} OR ${mode.toUpperCase()}`;
  if (mode === 'replace') return `REPLACE${hinted}`;
  return mode === 'ignore' ? `${verb}${hinted} IGNORE` : verb + hinted;
}

function printInsert(insert: InsertStatement, p: Printer): string {
  const alias = insert.table.alias === undefined ? '' : ` AS ${printName(insert.table.alias, p.dialect)}`;
  const parts = [
    printVerb('INSERT', insert.mode, insert.hint, p),
    `INTO ${printTableName(insert.table, p)}${alias}`,
  ];
  if (insert.columns !== undefined) parts.push(`(${printNames(insert.columns, p)})`);
  const { source } = insert;
  if (source.type === 'defaults') parts.push(p.dialect === 'mysql' ? '() VALUES ()' : 'DEFAULT VALUES');
  else if (source.type === 'query') parts.push(printQuery(source.query, p));
  else parts.push(`VALUES ${source.rows.map((row) => `(${printExpressions(row, p)})`).join(', ')}`);
  if (insert.conflict !== undefined) parts.push(printConflict(insert.conflict, p));
  return parts.join(' ') + printReturning(insert.returning, p);
}

function printConflict(conflict: ConflictClause, p: Printer): string {
  if (conflict.type === 'on-duplicate-key') return `ON DUPLICATE KEY UPDATE ${printSet(conflict.set, p)}`;
  const parts = ['ON CONFLICT'];
  if (conflict.constraint !== undefined)
    parts.push(`ON CONSTRAINT ${printName(conflict.constraint, p.dialect)}`);
  if (conflict.columns !== undefined) parts.push(`(${printIndexed(conflict.columns, p)})`);
  if (conflict.columnsWhere !== undefined) parts.push(`WHERE ${printExpression(conflict.columnsWhere, p)}`);
  parts.push(conflict.set === undefined ? 'DO NOTHING' : `DO UPDATE SET ${printSet(conflict.set, p)}`);
  if (conflict.where !== undefined) parts.push(`WHERE ${printExpression(conflict.where, p)}`);
  return parts.join(' ');
}

export function printIndexed(columns: readonly IndexedExpression[], p: Printer): string {
  return columns
    .map(({ expression, length, tail }) => {
      const text = printExpression(expression, p);
      const bare = expression.type === 'column' || (expression.type === 'call' && p.dialect !== 'mysql');
      const prefix = length === undefined ? '' : `(${length})`;
      return `${bare ? text : `(${text})`}${prefix}${tail === undefined ? '' : ` ${tail}`}`;
    })
    .join(', ');
}

export function printSet(assignments: readonly Assignment[], p: Printer): string {
  return assignments
    .map(({ table, columns, tuple, value }) => {
      const qualifier = table === undefined ? '' : `${printName(table, p.dialect)}.`;
      const names = tuple === true ? `(${printNames(columns, p)})` : qualifier + printNames(columns, p);
      return `${names} = ${printExpression(value, p)}`;
    })
    .join(', ');
}

function printReturning(items: readonly SelectItem[] | undefined, p: Printer): string {
  return items === undefined ? '' : ` RETURNING ${printItems(items, p)}`;
}

function printTail(statement: UpdateStatement | DeleteStatement, p: Printer): string[] {
  const parts: string[] = [];
  if (statement.where !== undefined) parts.push(`WHERE ${printExpression(statement.where, p)}`);
  const returning = printReturning(statement.returning, p).slice(1);
  if (p.dialect === 'sqlite' && returning !== '') parts.push(returning);
  if (statement.orderBy.length > 0) parts.push(printOrderBy(statement.orderBy, p));
  if (statement.limit !== undefined) parts.push(`LIMIT ${printExpression(statement.limit, p)}`);
  if (p.dialect !== 'sqlite' && returning !== '') parts.push(returning);
  return parts;
}

function printUpdate(update: UpdateStatement, p: Printer): string {
  const parts = [printVerb('UPDATE', update.mode, update.hint, p)];
  parts.push(printFrom([update.table, ...(update.moreTables ?? [])], p));
  parts.push(`SET ${printSet(update.set, p)}`);
  if (update.from.length > 0) parts.push(`FROM ${printFrom(update.from, p)}`);
  return [...parts, ...printTail(update, p)].join(' ');
}

function printDelete(statement: DeleteStatement, p: Printer): string {
  const parts = [printVerb('DELETE', statement.mode, statement.hint, p)];
  if (statement.targets !== undefined) {
    parts.push(printNames(statement.targets, p));
    parts.push(`FROM ${printFrom([statement.table, ...statement.using], p)}`);
  } else {
    parts.push(`FROM ${printFromItem(statement.table, p)}`);
    if (statement.using.length > 0) parts.push(`USING ${printFrom(statement.using, p)}`);
  }
  return [...parts, ...printTail(statement, p)].join(' ');
}

function printMerge(merge: MergeStatement, p: Printer): string {
  const source = printFromItem(merge.using, p);
  const parts = [
    `MERGE INTO ${printFromItem(merge.table, p)}`,
    `USING ${merge.using.type === 'join' ? `(${source})` : source}`,
    `ON ${printExpression(merge.on, p)}`,
  ];
  for (const { match, and, action } of merge.whens) {
    const condition = and === undefined ? '' : ` AND ${printExpression(and, p)}`;
    parts.push(`WHEN ${match.toUpperCase()}${condition} THEN ${printMergeAction(action, p)}`);
  }
  return parts.join(' ') + printReturning(merge.returning, p);
}

function printMergeAction(action: MergeAction, p: Printer): string {
  switch (action.type) {
    case 'nothing':
      return 'DO NOTHING';
    case 'delete':
      return 'DELETE';
    case 'update':
      return `UPDATE SET ${printSet(action.set, p)}`;
    case 'insert': {
      const columns = action.columns === undefined ? '' : ` (${printNames(action.columns, p)})`;
      if (action.values === undefined) return `INSERT${columns} DEFAULT VALUES`;
      return `INSERT${columns} VALUES (${printExpressions(action.values, p)})`;
    }
    default:
      return action satisfies never;
  }
}

/** Queries as SQL. */
import type {
  FromItem,
  LockClause,
  QueryBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  WithClause,
} from '../ast.js';
import { printName } from '../words.js';
import { printCall, printExpression, printExpressions, printOrderBy, printWindow } from './expression.js';
import type { Printer } from './printer.js';

export function printQuery(query: SelectStatement, p: Printer): string {
  const parts = [printBody(query.body, p)];
  if (query.with !== undefined) parts.unshift(printWith(query.with, p));
  if (query.orderBy.length > 0) parts.push(printOrderBy(query.orderBy, p));
  if (query.limit !== undefined) parts.push(`LIMIT ${printExpression(query.limit, p)}`);
  if (query.offset !== undefined) parts.push(`OFFSET ${printExpression(query.offset, p)}`);
  for (const lock of query.locks) parts.push(printLock(lock, p));
  return parts.join(' ');
}

function printBody(body: QueryBody, p: Printer): string {
  switch (body.type) {
    case 'core':
      return printCore(body, p);
    case 'values': {
      const row = p.dialect === 'mysql' ? 'ROW' : '';
      return `VALUES ${body.rows.map((items) => `${row}(${printExpressions(items, p)})`).join(', ')}`;
    }
    case 'set-operation': {
      const left = printOperand(body.left, bindsAtLeast(body.left, body.op, p), p);
      const right = printOperand(body.right, body.right.type === 'core' || body.right.type === 'values', p);
      return `${left} ${body.op}${body.all ? ' ALL' : ''} ${right}`;
    }
    case 'select':
      return `(${printQuery(body, p)})`;
    default:
      return body satisfies never;
  }
}

function printOperand(body: QueryBody, bare: boolean, p: Printer): string {
  const text = printBody(body, p);
  return bare || body.type === 'select' ? text : `(${text})`;
}

/** Whether the left operand of a set operation reads back as such without parentheses. */
function bindsAtLeast(left: QueryBody, op: string, p: Printer): boolean {
  if (left.type !== 'set-operation') return true;
  return p.dialect === 'sqlite' || op !== 'INTERSECT' || left.op === 'INTERSECT';
}

function printCore(core: SelectCore, p: Printer): string {
  const parts = ['SELECT'];
  if (core.hint !== undefined) parts.push(core.hint);
  if (core.modifiers !== undefined) parts.push(core.modifiers);
  if (core.distinct) parts.push('DISTINCT');
  if (core.distinctOn !== undefined) parts.push(`ON (${printExpressions(core.distinctOn, p)})`);
  parts.push(printItems(core.items, p));
  if (core.from.length > 0) parts.push(`FROM ${printFrom(core.from, p)}`);
  if (core.where !== undefined) parts.push(`WHERE ${printExpression(core.where, p)}`);
  if (core.groupBy.length > 0) parts.push(`GROUP BY ${printExpressions(core.groupBy, p)}`);
  if (core.having !== undefined) parts.push(`HAVING ${printExpression(core.having, p)}`);
  if (core.windows !== undefined) {
    const windows = core.windows.map(
      ({ name, window }) => `${printName(name, p.dialect)} AS ${printWindow(window, p)}`,
    );
    parts.push(`WINDOW ${windows.join(', ')}`);
  }
  return parts.join(' ');
}

export function printItems(items: readonly SelectItem[], p: Printer): string {
  return items
    .map((item) => {
      if (item.type === 'item') return printExpression(item.expression, p) + printAlias(item.alias, p);
      const schema = item.schema === undefined ? '' : `${printName(item.schema, p.dialect)}.`;
      return item.table === undefined ? '*' : `${schema}${printName(item.table, p.dialect)}.*`;
    })
    .join(', ');
}

function printAlias(alias: string | undefined, p: Printer): string {
  return alias === undefined ? '' : ` AS ${printName(alias, p.dialect)}`;
}

export function printWith(clause: WithClause, p: Printer): string {
  const ctes = clause.ctes.map(({ name, columns, materialized, statement }) => {
    const head = printName(name, p.dialect) + (columns === undefined ? '' : ` (${printNames(columns, p)})`);
    const how = materialized === undefined ? '' : materialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED ';
    const text = statement.type === 'select' ? printQuery(statement, p) : p.write(statement);
    return `${head} AS ${how}(${text})`;
  });
  return `WITH ${clause.recursive ? 'RECURSIVE ' : ''}${ctes.join(', ')}`;
}

export function printFrom(items: readonly FromItem[], p: Printer): string {
  return items.map((item) => printFromItem(item, p)).join(', ');
}

const joinWords = {
  inner: 'JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  cross: 'CROSS JOIN',
};

export function printFromItem(item: FromItem, p: Printer): string {
  if (item.type === 'join') {
    const right = printFromItem(item.right, p);
    const parts = [
      printFromItem(item.left, p),
      (item.natural === true ? 'NATURAL ' : '') + joinWords[item.kind],
      item.right.type === 'join' ? `(${right})` : right,
    ];
    if (item.on !== undefined) parts.push(`ON ${printExpression(item.on, p)}`);
    if (item.using !== undefined) parts.push(`USING (${printNames(item.using, p)})`);
    return parts.join(' ');
  }
  const columns = item.columns === undefined ? '' : ` (${printNames(item.columns, p)})`;
  const alias = printAlias(item.alias, p) + columns;
  const lateral = item.type !== 'table' && item.lateral === true ? 'LATERAL ' : '';
  if (item.type === 'derived') return `${lateral}(${printQuery(item.query, p)})${alias}`;
  if (item.type === 'function') return `${lateral}${printCall(item.call, p)}${alias}`;
  const only = item.only === true ? 'ONLY ' : '';
  const hint = item.hint === undefined ? '' : ` ${item.hint}`;
  // MySQL's PARTITION list belongs before the alias, its index hints behind it.
  if (item.hint?.toUpperCase().startsWith('PARTITION')) return printTableName(item, p) + hint + alias;
  return only + printTableName(item, p) + alias + hint;
}

export function printTableName(
  name: { readonly schema?: string; readonly name: string },
  p: Printer,
): string {
  const schema = name.schema === undefined ? '' : `${printName(name.schema, p.dialect)}.`;
  return schema + printName(name.name, p.dialect);
}

export function printNames(names: readonly string[], p: Printer): string {
  return names.map((name) => printName(name, p.dialect)).join(', ');
}

function printLock(lock: LockClause, p: Printer): string {
  const words = lock.strength === 'share mode' ? 'LOCK IN SHARE MODE' : `FOR ${lock.strength.toUpperCase()}`;
  const of = lock.of.length === 0 ? '' : ` OF ${printNames(lock.of, p)}`;
  return words + of + (lock.wait === undefined ? '' : ` ${lock.wait}`);
}

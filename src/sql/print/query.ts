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
import type { Dialect } from '../dialect.js';
import { printName } from '../words.js';
import { printCall, printExpression, printExpressions, printOrderBy, printWindow } from './expression.js';
import { printWrite } from './write.js';

export function printQuery(query: SelectStatement, dialect: Dialect): string {
  const parts = [printBody(query.body, dialect)];
  if (query.with !== undefined) parts.unshift(printWith(query.with, dialect));
  if (query.orderBy.length > 0) parts.push(printOrderBy(query.orderBy, dialect));
  if (query.limit !== undefined) parts.push(`LIMIT ${printExpression(query.limit, dialect)}`);
  if (query.offset !== undefined) parts.push(`OFFSET ${printExpression(query.offset, dialect)}`);
  for (const lock of query.locks) parts.push(printLock(lock, dialect));
  return parts.join(' ');
}

function printBody(body: QueryBody, dialect: Dialect): string {
  switch (body.type) {
    case 'core':
      return printCore(body, dialect);
    case 'values': {
      const row = dialect === 'mysql' ? 'ROW' : '';
      return `VALUES ${body.rows.map((items) => `${row}(${printExpressions(items, dialect)})`).join(', ')}`;
    }
    case 'set-operation': {
      const left = printOperand(body.left, bindsAtLeast(body.left, body.op, dialect), dialect);
      const right = printOperand(
        body.right,
        body.right.type === 'core' || body.right.type === 'values',
        dialect,
      );
      return `${left} ${body.op}${body.all ? ' ALL' : ''} ${right}`;
    }
    case 'select':
      return `(${printQuery(body, dialect)})`;
    default:
      return body satisfies never;
  }
}

function printOperand(body: QueryBody, bare: boolean, dialect: Dialect): string {
  const text = printBody(body, dialect);
  return bare || body.type === 'select' ? text : `(${text})`;
}

/** Whether the left operand of a set operation reads back as such without parentheses. */
function bindsAtLeast(left: QueryBody, op: string, dialect: Dialect): boolean {
  if (left.type !== 'set-operation') return true;
  return dialect === 'sqlite' || op !== 'INTERSECT' || left.op === 'INTERSECT';
}

function printCore(core: SelectCore, dialect: Dialect): string {
  const parts = ['SELECT'];
  if (core.hint !== undefined) parts.push(core.hint);
  if (core.modifiers !== undefined) parts.push(core.modifiers);
  if (core.distinct) parts.push('DISTINCT');
  if (core.distinctOn !== undefined) parts.push(`ON (${printExpressions(core.distinctOn, dialect)})`);
  parts.push(printItems(core.items, dialect));
  if (core.from.length > 0) parts.push(`FROM ${printFrom(core.from, dialect)}`);
  if (core.where !== undefined) parts.push(`WHERE ${printExpression(core.where, dialect)}`);
  if (core.groupBy.length > 0) parts.push(`GROUP BY ${printExpressions(core.groupBy, dialect)}`);
  if (core.having !== undefined) parts.push(`HAVING ${printExpression(core.having, dialect)}`);
  if (core.windows !== undefined) {
    const windows = core.windows.map(
      ({ name, window }) => `${printName(name, dialect)} AS ${printWindow(window, dialect)}`,
    );
    parts.push(`WINDOW ${windows.join(', ')}`);
  }
  return parts.join(' ');
}

export function printItems(items: readonly SelectItem[], dialect: Dialect): string {
  return items
    .map((item) => {
      if (item.type === 'item')
        return printExpression(item.expression, dialect) + printAlias(item.alias, dialect);
      const schema = item.schema === undefined ? '' : `${printName(item.schema, dialect)}.`;
      return item.table === undefined ? '*' : `${schema}${printName(item.table, dialect)}.*`;
    })
    .join(', ');
}

function printAlias(alias: string | undefined, dialect: Dialect): string {
  return alias === undefined ? '' : ` AS ${printName(alias, dialect)}`;
}

export function printWith(clause: WithClause, dialect: Dialect): string {
  const ctes = clause.ctes.map(({ name, columns, materialized, statement }) => {
    const head =
      printName(name, dialect) + (columns === undefined ? '' : ` (${printNames(columns, dialect)})`);
    const how = materialized === undefined ? '' : materialized ? 'MATERIALIZED ' : 'NOT MATERIALIZED ';
    const text =
      statement.type === 'select' ? printQuery(statement, dialect) : printWrite(statement, dialect);
    return `${head} AS ${how}(${text})`;
  });
  return `WITH ${clause.recursive ? 'RECURSIVE ' : ''}${ctes.join(', ')}`;
}

export function printFrom(items: readonly FromItem[], dialect: Dialect): string {
  return items.map((item) => printFromItem(item, dialect)).join(', ');
}

const joinWords = {
  inner: 'JOIN',
  left: 'LEFT JOIN',
  right: 'RIGHT JOIN',
  full: 'FULL JOIN',
  cross: 'CROSS JOIN',
};

export function printFromItem(item: FromItem, dialect: Dialect): string {
  if (item.type === 'join') {
    const right = printFromItem(item.right, dialect);
    const parts = [
      printFromItem(item.left, dialect),
      (item.natural === true ? 'NATURAL ' : '') + joinWords[item.kind],
      item.right.type === 'join' ? `(${right})` : right,
    ];
    if (item.on !== undefined) parts.push(`ON ${printExpression(item.on, dialect)}`);
    if (item.using !== undefined) parts.push(`USING (${printNames(item.using, dialect)})`);
    return parts.join(' ');
  }
  const columns = item.columns === undefined ? '' : ` (${printNames(item.columns, dialect)})`;
  const alias = printAlias(item.alias, dialect) + columns;
  const lateral = item.type !== 'table' && item.lateral === true ? 'LATERAL ' : '';
  if (item.type === 'derived') return `${lateral}(${printQuery(item.query, dialect)})${alias}`;
  if (item.type === 'function') return `${lateral}${printCall(item.call, dialect)}${alias}`;
  const only = item.only === true ? 'ONLY ' : '';
  const hint = item.hint === undefined ? '' : ` ${item.hint}`;
  // MySQL's PARTITION list belongs before the alias, its index hints behind it.
  if (item.hint?.toUpperCase().startsWith('PARTITION')) return printTableName(item, dialect) + hint + alias;
  return only + printTableName(item, dialect) + alias + hint;
}

export function printTableName(
  name: { readonly schema?: string; readonly name: string },
  dialect: Dialect,
): string {
  const schema = name.schema === undefined ? '' : `${printName(name.schema, dialect)}.`;
  return schema + printName(name.name, dialect);
}

export function printNames(names: readonly string[], dialect: Dialect): string {
  return names.map((name) => printName(name, dialect)).join(', ');
}

function printLock(lock: LockClause, dialect: Dialect): string {
  const words = lock.strength === 'share mode' ? 'LOCK IN SHARE MODE' : `FOR ${lock.strength.toUpperCase()}`;
  const of = lock.of.length === 0 ? '' : ` OF ${printNames(lock.of, dialect)}`;
  return words + of + (lock.wait === undefined ? '' : ` ${lock.wait}`);
}

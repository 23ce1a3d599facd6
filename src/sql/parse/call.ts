/** Function calls: arguments, DISTINCT, aggregate ORDER BY, FILTER, OVER. */
import type { CallExpression, Expression, OrderItem, WindowSpec } from '../ast.js';
import type { Cursor } from './cursor.js';
import { nestedExpression, parseExpressions } from './nested.js';

/** Functions with a grammar of their own inside the parentheses; kept as text when it is used. */
const special = new Set(
  'extract substring substr trim position overlay group_concat convert string_agg json_table json_object json_value char weight_string match array cast listagg'.split(
    ' ',
  ),
);

/** The rest of a call whose name has been read. */
export function parseCall(c: Cursor, schema: string | undefined, name: string): Expression {
  const from = c.position - 1;
  const call = special.has(name) ? c.attempt(() => plainCall(c, schema, name)) : plainCall(c, schema, name);
  const fulltext = name === 'match' && c.accept('AGAINST');
  if (call !== undefined && !fulltext) return call;
  c.expect('(');
  c.textUntil(')');
  c.expect(')');
  return { type: 'raw', sql: c.textSince(from) };
}

function plainCall(c: Cursor, schema: string | undefined, name: string): CallExpression {
  c.expect('(');
  const head = { type: 'call' as const, ...(schema === undefined ? {} : { schema }), name };
  if (c.accept('*', ')')) return { ...head, args: [], star: true, ...callTail(c) };
  if (c.accept(')')) return { ...head, args: [], ...callTail(c) };
  const distinct = c.accept('DISTINCT');
  if (!distinct) c.accept('ALL');
  const args = parseExpressions(c);
  const orderBy = c.key() === 'ORDER' ? { orderBy: parseOrderBy(c) } : {};
  c.expect(')');
  return { ...head, args, ...(distinct ? { distinct } : {}), ...orderBy, ...callTail(c) };
}

function callTail(c: Cursor): { filter?: Expression; over?: WindowSpec } {
  let tail: { filter?: Expression; over?: WindowSpec } = {};
  if (c.key() === 'FILTER' && c.key(1) === '(') {
    c.advance();
    const filter = c.parenthesized(() => {
      c.expect('WHERE');
      return nestedExpression(c);
    });
    tail = { filter };
  }
  if (c.key() === 'OVER' && (c.key(1) === '(' || c.kind(1) === 'word' || c.kind(1) === 'quoted')) {
    c.advance();
    const over = c.key() === '(' ? parseWindow(c) : { base: c.name(), partitionBy: [], orderBy: [] };
    tail = { ...tail, over };
  }
  return tail;
}

export function parseWindow(c: Cursor): WindowSpec {
  return c.parenthesized(() => {
    const named =
      c.kind() === 'quoted' ||
      (c.kind() === 'word' && !/^(PARTITION|ORDER|ROWS|RANGE|GROUPS)$/.test(c.key()));
    const base = named ? { base: c.name() } : {};
    const partitionBy = c.accept('PARTITION', 'BY') ? parseExpressions(c) : [];
    const orderBy = c.key() === 'ORDER' ? parseOrderBy(c) : [];
    const frame = c.key() === ')' ? {} : { frame: c.textUntil(')') };
    return { ...base, partitionBy, orderBy, ...frame };
  });
}

export function parseOrderBy(c: Cursor): OrderItem[] {
  c.expect('ORDER', 'BY');
  return c.list(() => {
    const expression = nestedExpression(c);
    const descending = c.accept('DESC');
    if (!descending) c.accept('ASC');
    const nulls = c.accept('NULLS', 'FIRST') ? 'first' : c.accept('NULLS', 'LAST') ? 'last' : undefined;
    return { expression, descending, ...(nulls === undefined ? {} : { nulls }) };
  });
}

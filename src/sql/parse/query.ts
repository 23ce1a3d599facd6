/**
 * Queries: WITH, set operations, the SELECT core, VALUES, ORDER BY, LIMIT and locks.
 *
 * INTERSECT binds tighter than UNION and EXCEPT, except in SQLite, where all three have one level. An operand in
 * parentheses stays a whole query only if it carries something of its own; otherwise the parentheses just shape the tree.
 */
import type {
  CommonTable,
  Expression,
  LockClause,
  NamedWindow,
  QueryBody,
  SelectCore,
  SelectItem,
  SelectStatement,
  SetOperation,
  WithClause,
} from '../ast.js';
import { isAliasWord } from '../words.js';
import { parseOrderBy, parseWindow } from './call.js';
import { type Cursor, ParseFailure } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseFrom } from './from.js';
import { parseExpressions, startsQuery } from './nested.js';
import { unquoteString } from './strings.js';

export function parseQuery(c: Cursor): SelectStatement {
  c.enter();
  const clause = c.key() === 'WITH' ? { with: parseWith(c) } : {};
  const query: SelectStatement = { type: 'select', ...clause, ...parseQueryRest(c) };
  c.leave();
  const { body } = query;
  return body.type === 'select' && simplifyOperand(query) === body ? body : query;
}

/** A query behind its WITH. */
export function parseQueryRest(c: Cursor): Omit<SelectStatement, 'type' | 'with'> {
  const body = parseSetOperations(c);
  const orderBy = c.key() === 'ORDER' ? parseOrderBy(c) : [];
  const limits = parseLimits(c);
  const locks = parseLocks(c);
  return { body, orderBy, ...limits, locks };
}

function parseSetOperations(c: Cursor, onlyIntersect = false): QueryBody {
  const flat = c.dialect === 'sqlite';
  let left = onlyIntersect || flat ? parseBody(c) : parseSetOperations(c, true);
  for (let length = 0; ; length++) {
    const op = setOperator(c);
    if (op === undefined || (!flat && (op === 'INTERSECT') !== onlyIntersect)) return left;
    if (length > 500) throw new ParseFailure('it chains too many set operations');
    c.advance();
    const all = c.accept('ALL');
    if (!all) c.accept('DISTINCT');
    if (c.key() === 'BY') c.fail('SELECT');
    left = {
      type: 'set-operation',
      op,
      all,
      left,
      right: onlyIntersect || flat ? parseBody(c) : parseSetOperations(c, true),
    };
  }
}

function setOperator(c: Cursor): SetOperation['op'] | undefined {
  const key = c.key();
  return key === 'UNION' || key === 'INTERSECT' || key === 'EXCEPT' ? key : undefined;
}

function parseBody(c: Cursor): QueryBody {
  if (c.key() === '(') return simplifyOperand(c.parenthesized(() => parseQuery(c)));
  if (c.key() === 'SELECT') return parseCore(c);
  if (c.accept('VALUES')) {
    const rows = c.list(() => {
      c.accept('ROW');
      return c.parenthesized(() => parseExpressions(c));
    });
    return { type: 'values', rows };
  }
  return c.fail('SELECT');
}

function simplifyOperand(query: SelectStatement): QueryBody {
  const own =
    query.with !== undefined ||
    query.orderBy.length > 0 ||
    query.limit !== undefined ||
    query.offset !== undefined ||
    query.locks.length > 0;
  return own ? query : query.body;
}

export function parseWith(c: Cursor): WithClause {
  c.expect('WITH');
  const recursive = c.accept('RECURSIVE');
  const ctes = c.list((): CommonTable => {
    const name = c.name();
    const columns = c.key() === '(' ? { columns: c.names() } : {};
    c.expect('AS');
    const materialized = c.accept('NOT', 'MATERIALIZED')
      ? { materialized: false }
      : c.accept('MATERIALIZED')
        ? { materialized: true }
        : {};
    const statement = c.parenthesized(() => (startsQuery(c) ? parseQuery(c) : c.grammar.write(c)));
    if (statement.type === 'merge') c.fail('SELECT, INSERT, UPDATE or DELETE');
    return { name, ...columns, ...materialized, statement };
  });
  return { recursive, ctes };
}

const mysqlModifiers = /^(HIGH_PRIORITY|STRAIGHT_JOIN|SQL_[A-Z_]+)$/;

function parseCore(c: Cursor): SelectCore {
  c.expect('SELECT');
  const hint = c.hint();
  let distinct = false;
  let distinctOn = {};
  let modifiers = '';
  for (;;) {
    if (c.accept('DISTINCT') || (c.dialect === 'mysql' && c.accept('DISTINCTROW'))) {
      distinct = true;
      if (c.dialect !== 'mysql' && c.dialect !== 'sqlite' && c.accept('ON')) {
        distinctOn = { distinctOn: c.parenthesized(() => parseExpressions(c)) };
      }
    } else if (c.dialect === 'mysql' && mysqlModifiers.test(c.key()))
      modifiers += ` ${c.advance().toUpperCase()}`;
    else if (!c.accept('ALL')) break;
  }
  const items = parseSelectItems(c);
  if (c.key() === 'INTO') c.fail('FROM');
  const from = c.accept('FROM') ? parseFrom(c) : [];
  const where = parseWhere(c);
  const groupBy = c.accept('GROUP', 'BY') ? parseExpressions(c) : [];
  const having = c.accept('HAVING') ? { having: parseExpression(c) } : {};
  const windows = c.accept('WINDOW') ? { windows: c.list(() => parseNamedWindow(c)) } : {};
  return {
    type: 'core',
    ...hint,
    ...(modifiers === '' ? {} : { modifiers: modifiers.slice(1) }),
    distinct,
    ...distinctOn,
    items,
    from,
    ...where,
    groupBy,
    ...having,
    ...windows,
  };
}

function parseNamedWindow(c: Cursor): NamedWindow {
  const name = c.name();
  c.expect('AS');
  return { name, window: parseWindow(c) };
}

export function parseWhere(c: Cursor): { where?: Expression } {
  return c.accept('WHERE') ? { where: parseExpression(c) } : {};
}

export function parseSelectItems(c: Cursor): SelectItem[] {
  return c.list((): SelectItem => {
    if (c.accept('*')) return { type: 'star' };
    if (c.key(1) === '.' && c.key(2) === '*') {
      const table = c.name();
      c.accept('.', '*');
      return { type: 'star', table };
    }
    if (c.key(1) === '.' && c.key(3) === '.' && c.key(4) === '*') {
      const schema = c.name();
      c.advance();
      const table = c.anyName();
      c.accept('.', '*');
      return { type: 'star', schema, table };
    }
    const expression = parseExpression(c);
    const alias = parseAlias(c);
    return { type: 'item', expression, ...alias };
  });
}

/** `AS name` or a name that cannot be grammar. */
export function parseAlias(c: Cursor): { alias?: string } {
  if (c.accept('AS')) {
    if (c.kind() === 'string' && (c.dialect === 'mysql' || c.dialect === 'sqlite')) {
      const alias = unquoteString(c.text(), c.dialect) ?? c.fail('an alias');
      c.advance();
      return { alias };
    }
    return { alias: c.anyName() };
  }
  if (c.kind() === 'quoted' || (c.kind() === 'word' && isAliasWord(c.key(), c.dialect)))
    return { alias: c.name() };
  return {};
}

export function parseLimits(c: Cursor): { limit?: Expression; offset?: Expression } {
  let limits: { limit?: Expression; offset?: Expression } = {};
  for (;;) {
    if (c.key() === 'LIMIT' && c.key(1) === 'ALL') {
      c.accept('LIMIT', 'ALL');
    } else if (limits.limit === undefined && c.accept('LIMIT')) {
      const first = parseExpression(c);
      limits = c.accept(',') ? { limit: parseExpression(c), offset: first } : { ...limits, limit: first };
    } else if (limits.offset === undefined && c.accept('OFFSET')) {
      limits = { ...limits, offset: parseExpression(c) };
      if (!c.accept('ROWS')) c.accept('ROW');
    } else return limits;
  }
}

const strengths = [
  [['FOR', 'UPDATE'], 'update'],
  [['FOR', 'NO', 'KEY', 'UPDATE'], 'no key update'],
  [['FOR', 'SHARE'], 'share'],
  [['FOR', 'KEY', 'SHARE'], 'key share'],
  [['LOCK', 'IN', 'SHARE', 'MODE'], 'share mode'],
] as const;

function parseLocks(c: Cursor): LockClause[] {
  const locks: LockClause[] = [];
  while (c.key() === 'FOR' || c.key() === 'LOCK') {
    const strength = strengths.find(([[first, second, third, fourth]]) =>
      c.accept(first, second, third, fourth),
    )?.[1];
    if (strength === undefined) c.fail('FOR UPDATE or FOR SHARE');
    const of = c.accept('OF') ? c.list(() => c.name()) : [];
    const wait = c.accept('NOWAIT')
      ? 'NOWAIT'
      : c.accept('SKIP', 'LOCKED')
        ? 'SKIP LOCKED'
        : c.accept('WAIT')
          ? `WAIT ${c.advance()}`
          : undefined;
    locks.push({ strength: strength!, of, ...(wait === undefined ? {} : { wait }) });
  }
  return locks;
}

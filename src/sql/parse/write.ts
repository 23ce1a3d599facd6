/** INSERT, REPLACE, UPDATE, DELETE and MERGE. */
import type {
  Assignment,
  ConflictClause,
  DeleteStatement,
  Expression,
  FromItem,
  IndexedExpression,
  InsertSource,
  InsertStatement,
  MergeAction,
  MergeStatement,
  MergeWhen,
  SelectItem,
  TableReference,
  UpdateStatement,
  WithClause,
  WriteStatement,
} from '../ast.js';
import { parseOrderBy } from './call.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseFrom, parseJoins, parseTable } from './from.js';
import { parseExpressions, startsQuery } from './nested.js';
import { parseLimits, parseQuery, parseSelectItems, parseWhere, parseWith } from './query.js';

type Mode = Exclude<InsertStatement['mode'], undefined>;

/** A write, with or without WITH before it. */
export function parseWrite(c: Cursor): WriteStatement {
  return parseWriteRest(c, c.key() === 'WITH' ? parseWith(c) : undefined);
}

/** A write behind its WITH. */
export function parseWriteRest(c: Cursor, clause: WithClause | undefined): WriteStatement {
  const head = clause === undefined ? {} : { with: clause };
  switch (c.key()) {
    case 'INSERT':
    case 'REPLACE':
      return { type: 'insert', ...head, ...parseInsert(c) };
    case 'UPDATE':
      return { type: 'update', ...head, ...parseUpdate(c) };
    case 'DELETE':
      return { type: 'delete', ...head, ...parseDelete(c) };
    case 'MERGE':
      return { type: 'merge', ...head, ...parseMerge(c) };
    default:
      return c.fail('INSERT, UPDATE, DELETE or MERGE');
  }
}

const orModes: Readonly<Record<string, Mode>> = {
  REPLACE: 'replace',
  IGNORE: 'ignore',
  ABORT: 'abort',
  FAIL: 'fail',
  ROLLBACK: 'rollback',
};

/** `OR IGNORE` (SQLite, DuckDB) or `IGNORE` (MySQL). */
function parseMode(c: Cursor): { mode?: Mode } {
  if (c.dialect === 'mysql') {
    while (c.accept('LOW_PRIORITY') || c.accept('HIGH_PRIORITY') || c.accept('QUICK'));
    return c.accept('IGNORE') ? { mode: 'ignore' } : {};
  }
  if (!c.accept('OR')) return {};
  const mode = Object.hasOwn(orModes, c.key()) ? orModes[c.key()]! : c.fail('REPLACE or IGNORE');
  c.advance();
  return { mode };
}

function parseInsert(c: Cursor): Omit<InsertStatement, 'type' | 'with'> {
  const replace = c.advance().toUpperCase() === 'REPLACE';
  const hint = c.hint();
  const mode = replace ? { mode: 'replace' as const } : parseMode(c);
  if (!c.accept('INTO') && c.dialect !== 'mysql') c.fail('INTO');
  const table: TableReference = { type: 'table', ...c.qualifiedName(), ...insertAlias(c) };
  const listed = c.key() === '(' && !startsQuery(c);
  const columns = listed ? { columns: insertColumns(c) } : {};
  if (c.accept('OVERRIDING')) c.fail('VALUES');
  if (!listed && c.dialect === 'mysql' && c.accept('SET')) {
    const set = parseAssignments(c);
    const source: InsertSource = { type: 'values', rows: [set.map(({ value }) => value)] };
    return {
      ...hint,
      ...mode,
      table,
      columns: set.map((item) => item.columns[0]!),
      source,
      ...parseConflict(c),
    };
  }
  const source = parseSource(c);
  const conflict = parseConflict(c);
  return { ...hint, ...mode, table, ...columns, source, ...conflict, ...parseReturning(c) };
}

function insertAlias(c: Cursor): { alias?: string } {
  return c.accept('AS') ? { alias: c.name() } : {};
}

/** MySQL lets the column be qualified; it can only be the table's own. */
function insertColumns(c: Cursor): string[] {
  return c.parenthesized(() => (c.key() === ')' ? [] : c.list(() => c.qualifiedName().name)));
}

function parseSource(c: Cursor): InsertSource {
  if (c.accept('DEFAULT', 'VALUES')) return { type: 'defaults' };
  if (c.accept('VALUES') || (c.dialect === 'mysql' && c.accept('VALUE'))) {
    const rows = c.list(() => {
      c.accept('ROW');
      return c.parenthesized(() => (c.key() === ')' && c.dialect === 'mysql' ? [] : parseExpressions(c)));
    });
    return { type: 'values', rows };
  }
  return { type: 'query', query: parseQuery(c) };
}

function parseConflict(c: Cursor): { conflict?: ConflictClause } {
  if (c.accept('ON', 'DUPLICATE', 'KEY', 'UPDATE')) {
    return { conflict: { type: 'on-duplicate-key', set: parseAssignments(c) } };
  }
  if (!c.accept('ON', 'CONFLICT')) return {};
  let target: { columns?: IndexedExpression[]; columnsWhere?: Expression; constraint?: string } = {};
  if (c.key() === '(') {
    target = { columns: parseIndexed(c) };
    if (c.accept('WHERE')) target = { ...target, columnsWhere: parseExpression(c) };
  } else if (c.accept('ON', 'CONSTRAINT')) target = { constraint: c.name() };
  c.expect('DO');
  if (c.accept('NOTHING')) return { conflict: { type: 'on-conflict', ...target } };
  c.expect('UPDATE', 'SET');
  return { conflict: { type: 'on-conflict', ...target, set: parseAssignments(c), ...parseWhere(c) } };
}

/** `(a, lower(b) DESC, c(10))`: what an index or a conflict target is made of. */
export function parseIndexed(c: Cursor): IndexedExpression[] {
  return c.parenthesized(() =>
    c.list(() => {
      const prefixed =
        c.dialect === 'mysql' && c.key(1) === '(' && c.kind(2) === 'number' && c.key(3) === ')';
      if (prefixed) {
        const expression: Expression = { type: 'column', name: c.name() };
        c.advance();
        const length = Number(c.advance());
        c.expect(')');
        return { expression, length, ...indexedTail(c) };
      }
      return { expression: parseExpression(c), ...indexedTail(c) };
    }),
  );
}

function indexedTail(c: Cursor): { tail?: string } {
  const tail = c.textUntil(',', ')').toUpperCase();
  return tail === '' || tail === 'ASC' ? {} : { tail };
}

export function parseAssignments(c: Cursor): Assignment[] {
  return c.list((): Assignment => {
    if (c.key() === '(') {
      const columns = c.names();
      c.expect('=');
      return { columns, tuple: true, value: parseExpression(c) };
    }
    const { schema, name } = c.qualifiedName();
    c.expect('=');
    return { ...(schema === undefined ? {} : { table: schema }), columns: [name], value: parseExpression(c) };
  });
}

function parseReturning(c: Cursor): { returning?: SelectItem[] } {
  return c.accept('RETURNING') ? { returning: parseSelectItems(c) } : {};
}

/** ORDER BY and LIMIT of MySQL's and SQLite's UPDATE and DELETE. */
function parseBounds(c: Cursor): Pick<UpdateStatement, 'orderBy' | 'limit'> {
  const orderBy = c.key() === 'ORDER' ? parseOrderBy(c) : [];
  const { limit, offset } = parseLimits(c);
  if (offset !== undefined) c.fail('LIMIT without OFFSET');
  return { orderBy, ...(limit === undefined ? {} : { limit }) };
}

function parseUpdate(c: Cursor): Omit<UpdateStatement, 'type' | 'with'> {
  c.expect('UPDATE');
  const hint = c.hint();
  const mode = parseMode(c);
  const [table, ...others] = c.dialect === 'mysql' ? parseFrom(c) : [parseJoins(c)];
  c.expect('SET');
  const set = parseAssignments(c);
  const from = c.accept('FROM') ? parseFrom(c) : [];
  const where = parseWhere(c);
  const early = parseReturning(c);
  return {
    ...hint,
    ...mode,
    table: table!,
    ...(others.length === 0 ? {} : { moreTables: others }),
    set,
    from,
    ...where,
    ...parseBounds(c),
    ...early,
    ...parseReturning(c),
  };
}

function parseDelete(c: Cursor): Omit<DeleteStatement, 'type' | 'with'> {
  c.expect('DELETE');
  const hint = c.hint();
  const { mode } = c.dialect === 'mysql' ? parseMode(c) : {};
  const ignore = mode === 'ignore' ? { mode } : {};
  if (c.dialect === 'mysql' && c.key() !== 'FROM') {
    const targets = c.list(() => c.name());
    c.expect('FROM');
    const [table, ...rest] = parseFrom(c) as [FromItem, ...FromItem[]];
    return { ...hint, ...ignore, table, targets, using: rest, ...parseWhere(c), orderBy: [] };
  }
  c.expect('FROM');
  const table = parseTable(c);
  const using = c.accept('USING') ? parseFrom(c) : [];
  const where = parseWhere(c);
  const early = parseReturning(c);
  return { ...hint, ...ignore, table, using, ...where, ...parseBounds(c), ...early, ...parseReturning(c) };
}

function parseMerge(c: Cursor): Omit<MergeStatement, 'type' | 'with'> {
  c.expect('MERGE', 'INTO');
  const table = parseTable(c);
  c.expect('USING');
  const using = parseJoins(c);
  c.expect('ON');
  const on = parseExpression(c);
  const whens: MergeWhen[] = [];
  while (c.accept('WHEN')) {
    const not = c.accept('NOT');
    c.expect('MATCHED');
    const bySource = not && c.accept('BY', 'SOURCE');
    if (not && !bySource) c.accept('BY', 'TARGET');
    const and = c.accept('AND') ? { and: parseExpression(c) } : {};
    c.expect('THEN');
    const match = !not ? 'matched' : bySource ? 'not matched by source' : 'not matched';
    whens.push({ match, ...and, action: parseMergeAction(c) });
  }
  if (whens.length === 0) c.fail('WHEN');
  return { table, using, on, whens, ...parseReturning(c) };
}

function parseMergeAction(c: Cursor): MergeAction {
  if (c.accept('DO', 'NOTHING')) return { type: 'nothing' };
  if (c.accept('DELETE')) return { type: 'delete' };
  if (c.accept('UPDATE', 'SET')) return { type: 'update', set: parseAssignments(c) };
  c.expect('INSERT');
  const columns = c.key() === '(' ? { columns: c.names() } : {};
  if (c.accept('DEFAULT', 'VALUES')) return { type: 'insert', ...columns };
  c.expect('VALUES');
  return { type: 'insert', ...columns, values: c.parenthesized(() => parseExpressions(c)) };
}

/** FROM: tables, derived tables, table functions and their joins. */
import type { Expression, FromItem, JoinKind, TableReference } from '../ast.js';
import { isAliasWord } from '../words.js';
import { parseCall } from './call.js';
import { type Cursor, ParseFailure } from './cursor.js';
import { parseExpression } from './expression.js';
import { attemptQuery } from './nested.js';

/** The comma-separated list behind FROM. */
export function parseFrom(c: Cursor): FromItem[] {
  return c.list(() => parseJoins(c));
}

export function parseJoins(c: Cursor): FromItem {
  let left = parseSource(c);
  for (let length = 0; ; length++) {
    if (length > 200) throw new ParseFailure('it joins too many tables');
    const natural = c.key() === 'NATURAL';
    const kind = joinKind(c, natural ? 1 : 0);
    if (kind === undefined) return left;
    for (let i = kind.words + (natural ? 1 : 0); i > 0; i--) c.advance();
    const right = parseSource(c);
    const condition = natural ? { natural: true as const } : kind.kind === 'cross' ? {} : joinCondition(c);
    left = { type: 'join', kind: kind.kind, left, right, ...condition };
  }
}

function joinCondition(c: Cursor): { on?: Expression; using?: string[] } {
  if (c.accept('ON')) return { on: parseExpression(c) };
  if (c.accept('USING')) return { using: c.names() };
  return {};
}

const sided: Readonly<Record<string, JoinKind>> = { LEFT: 'left', RIGHT: 'right', FULL: 'full' };

function joinKind(c: Cursor, at: number): { kind: JoinKind; words: number } | undefined {
  const key = c.key(at);
  if (key === 'JOIN') return { kind: 'inner', words: 1 };
  const second = c.key(at + 1);
  if (key === 'INNER' && second === 'JOIN') return { kind: 'inner', words: 2 };
  if (key === 'CROSS' && second === 'JOIN') return { kind: 'cross', words: 2 };
  const kind = Object.hasOwn(sided, key) ? sided[key] : undefined;
  if (kind === undefined) return undefined;
  if (second === 'JOIN') return { kind, words: 2 };
  return second === 'OUTER' && c.key(at + 2) === 'JOIN' ? { kind, words: 3 } : undefined;
}

function parseSource(c: Cursor): FromItem {
  const lateral = c.accept('LATERAL') ? { lateral: true as const } : {};
  if (c.accept('(')) {
    const query = attemptQuery(c);
    if (query !== undefined) {
      c.expect(')');
      return { type: 'derived', query, ...lateral, ...parseTableAlias(c) };
    }
    const joined = parseJoins(c);
    c.expect(')');
    return joined;
  }
  if (c.kind() === 'word' && c.key(1) === '(' && c.dialect !== 'mysql') {
    const call = parseCall(c, undefined, c.advance().toLowerCase());
    if (call.type !== 'call') return c.fail('a table');
    return { type: 'function', call, ...lateral, ...parseTableAlias(c) };
  }
  return parseTable(c);
}

/** A table with alias and hints. */
export function parseTable(c: Cursor): TableReference {
  const only = c.dialect === 'postgres' && c.accept('ONLY') ? { only: true as const } : {};
  const name = c.qualifiedName();
  const before = tableHint(c);
  const alias = parseTableAlias(c);
  const hint = [before, tableHint(c)].filter((text) => text !== '').join(' ');
  return { type: 'table', ...name, ...alias, ...only, ...(hint === '' ? {} : { hint }) };
}

/** An alias with an optional column list. */
function parseTableAlias(c: Cursor): { alias?: string; columns?: string[] } {
  const as = c.accept('AS');
  if (!as && c.kind() !== 'quoted' && !(c.kind() === 'word' && isAliasWord(c.key(), c.dialect))) return {};
  if (!as && c.key() === 'SET') return {};
  const alias = as ? c.anyName() : c.name();
  return c.key() === '(' && c.dialect !== 'sqlite' ? { alias, columns: c.names() } : { alias };
}

function tableHint(c: Cursor): string {
  if (c.dialect === 'sqlite') {
    if (c.accept('NOT', 'INDEXED')) return 'NOT INDEXED';
    return c.accept('INDEXED', 'BY') ? `INDEXED BY ${c.advance()}` : '';
  }
  if (c.dialect !== 'mysql') return '';
  const from = c.position;
  for (;;) {
    const index = c.key(1) === 'INDEX' || c.key(1) === 'KEY';
    const hinted = index && (c.key() === 'FORCE' || c.key() === 'USE' || c.key() === 'IGNORE');
    if (!hinted && !(c.key() === 'PARTITION' && c.key(1) === '(')) return c.textSince(from);
    c.textUntil('(');
    c.expect('(');
    c.textUntil(')');
    c.expect(')');
  }
}

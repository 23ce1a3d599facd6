/**
 * Cuts SQL text into tokens, tolerantly: it never fails, because whatever a person pasted must still reach the
 * database and get the database's own error.
 *
 * It knows just what is needed to find where a statement ends and what words stand outside literals: quotes
 * of all dialects (SQLite's `[name]` too), the `$tag$` quotes and `E'…'` strings of PostgreSQL and DuckDB and their
 * nested block comments, `--` (in MySQL only before white space, for `5--1` is 6 there) and MySQL's `#`.
 * An unterminated quote or comment runs to the end of the text.
 */
import type { Dialect } from './dialect.js';

export type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'comment' | 'space';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offset in the source of the token's first character. */
  readonly start: number;
}

// Sticky: one match takes a whole run, which costs far less than a test per character.
const spaces = /\s+/y;
const word = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const hexNumber = /0[xX][A-Za-z0-9_$\u0080-\uffff]*/y;
const number = /(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;

/** The tokens of a text; their texts joined give the text back. */
export function tokenize(sql: string, dialect: Dialect = 'postgres'): Token[] {
  const tokens: Token[] = [];
  for (const token of tokensFrom(sql, 0, dialect)) tokens.push(token);
  return tokens;
}

/** The tokens from an offset on, each read when it is asked for. */
export function* tokensFrom(sql: string, from: number, dialect: Dialect = 'postgres'): Generator<Token> {
  for (let at = from; at < sql.length; ) {
    const { kind, end } = tokenAt(sql, at, dialect);
    yield { kind, text: sql.slice(at, end), start: at };
    at = end;
  }
}

function tokenAt(sql: string, at: number, dialect: Dialect): { kind: TokenKind; end: number } {
  const char = sql[at]!;
  const next = sql[at + 1];
  const fromPostgres = dialect === 'postgres' || dialect === 'duckdb';
  const spaceEnd = runEnd(sql, at, spaces);
  if (spaceEnd > at) return { kind: 'space', end: spaceEnd };
  if (char === '-' && next === '-' && (dialect !== 'mysql' || /^\s?$/.test(sql[at + 2] ?? ''))) {
    return { kind: 'comment', end: lineEnd(sql, at) };
  }
  if (char === '#' && dialect === 'mysql') return { kind: 'comment', end: lineEnd(sql, at) };
  if (char === '/' && next === '*') return { kind: 'comment', end: blockCommentEnd(sql, at, fromPostgres) };
  if (char === "'") return { kind: 'string', end: quoteEnd(sql, at, "'", dialect === 'mysql') };
  if (char === '"') {
    const kind = dialect === 'mysql' ? 'string' : 'quoted';
    return { kind, end: quoteEnd(sql, at, '"', dialect === 'mysql') };
  }
  if (char === '`') return { kind: 'quoted', end: quoteEnd(sql, at, '`', false) };
  if (char === '[' && dialect === 'sqlite') return { kind: 'quoted', end: endOf(sql, ']', at) };
  if ((char === 'E' || char === 'e') && next === "'" && fromPostgres) {
    return { kind: 'string', end: quoteEnd(sql, at + 1, "'", true) };
  }
  if (char === '$' && fromPostgres) {
    const end = dollarQuoteEnd(sql, at);
    if (end > at) return { kind: 'string', end };
  }
  for (const [kind, run] of runs) {
    const end = runEnd(sql, at, run);
    if (end > at) return { kind, end };
  }
  return { kind: 'symbol', end: at + 1 };
}

const runs: readonly (readonly [TokenKind, RegExp])[] = [
  ['word', word],
  ['number', hexNumber],
  ['number', number],
];

/** Where a run that begins at `at` ends; `at` itself if none begins there. */
function runEnd(sql: string, at: number, run: RegExp): number {
  run.lastIndex = at;
  return run.test(sql) ? run.lastIndex : at;
}

function lineEnd(sql: string, at: number): number {
  const end = sql.indexOf('\n', at);
  return end < 0 ? sql.length : end;
}

function endOf(sql: string, close: string, at: number): number {
  const end = sql.indexOf(close, at);
  return end < 0 ? sql.length : end + close.length;
}

function blockCommentEnd(sql: string, at: number, nested: boolean): number {
  if (!nested) return endOf(sql, '*/', at + 2);
  let depth = 0;
  for (let i = at; i < sql.length; i++) {
    if (sql.startsWith('/*', i)) {
      depth++;
      i++;
    } else if (sql.startsWith('*/', i)) {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  return sql.length;
}

function quoteEnd(sql: string, at: number, quote: string, backslash: boolean): number {
  for (let i = at + 1; i < sql.length; i++) {
    if (backslash && sql[i] === '\\') i++;
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1;
      i++;
    }
  }
  return sql.length;
}

function dollarQuoteEnd(sql: string, at: number): number {
  const open = /\$([A-Za-z_][A-Za-z0-9_]*)?\$/y;
  open.lastIndex = at;
  const tag = open.exec(sql)?.[0];
  if (tag === undefined) return at;
  const close = sql.indexOf(tag, at + tag.length);
  return close < 0 ? sql.length : close + tag.length;
}

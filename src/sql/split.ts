/** From a text to its statements, and from a statement as typed to the one spelling we keep. */
import type { Dialect } from './dialect.js';
import { type Token, tokenize } from './lexer.js';

/** A statement and the offset in the text at which it begins. */
export interface SplitStatement {
  readonly sql: string;
  readonly start: number;
}

/** The statements of a text, cut at semicolons outside quotes and comments; empty ones are left out. */
export function splitStatements(text: string, dialect: Dialect = 'postgres'): SplitStatement[] {
  const statements: SplitStatement[] = [];
  let current: Token[] = [];
  const flush = () => {
    const sql = joinTokens(current);
    const first = current.find((token) => token.kind !== 'space' && token.kind !== 'comment');
    if (sql !== '') statements.push({ sql, start: (first ?? current[0]!).start });
    current = [];
  };
  for (const token of tokenize(text, dialect)) {
    if (token.kind === 'symbol' && token.text === ';') flush();
    else current.push(token);
  }
  flush();
  return statements;
}

/**
 * The spelling a case keeps: no trailing semicolon, no comments except those a database reads (`/*+`,
 * `/*!`), one space where white space stood. Line breaks survive only inside quotes, which is what
 * makes the script form unambiguous.
 */
export function normalizeSql(sql: string, dialect: Dialect = 'postgres'): string {
  const tokens = tokenize(sql, dialect);
  let end = tokens.length;
  while (end > 0) {
    const last = tokens[end - 1]!;
    if (last.kind === 'space' || isPlainComment(last) || last.text === ';') end--;
    else break;
  }
  return joinTokens(tokens.slice(0, end));
}

function joinTokens(tokens: readonly Token[]): string {
  let sql = '';
  let gap = false;
  for (const token of tokens) {
    if (token.kind === 'space' || isPlainComment(token)) gap = true;
    else {
      // MySQL reads `--1` as two signs and `-- 1` as a comment: a comment taken out must not make one of the other.
      const signs = token.text === '-' && sql.endsWith('-');
      if ((gap && sql !== '') || signs) sql += ' ';
      gap = false;
      sql += token.kind === 'comment' ? token.text.replaceAll(/\s+/g, ' ') : token.text;
    }
  }
  return sql;
}

function isPlainComment(token: Token): boolean {
  return token.kind === 'comment' && !/^\/\*(\+|!|M!)/.test(token.text);
}

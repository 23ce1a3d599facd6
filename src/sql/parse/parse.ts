/**
 * From the text of one statement to its tree. Never throws: what the grammar does not cover comes back as an opaque
 * statement that says why, with the table names it seems to mention.
 */
import type { Expression, OpaqueStatement, Statement } from '../ast.js';
import { classifyStatement } from '../classify.js';
import type { Dialect } from '../dialect.js';
import { tokenize } from '../lexer.js';
import { foldName, unquoteName } from '../names.js';
import { normalizeSql } from '../split.js';
import { Cursor, type Grammar, ParseFailure } from './cursor.js';
import { parseCreate, parseDrop } from './definition.js';
import { parseExpression as parseCursorExpression } from './expression.js';
import { startsQuery } from './nested.js';
import { parseQuery, parseQueryRest, parseWith } from './query.js';
import { parseTransaction } from './transaction.js';
import { parseWrite, parseWriteRest } from './write.js';

const grammar: Grammar = { expression: parseCursorExpression, query: parseQuery, write: parseWrite };

/**
 * Reads one statement.
 *
 *     parseStatement('select v from t where id = 1 for update', 'postgres').type // 'select'
 */
export function parseStatement(sql: string, dialect: Dialect = 'postgres'): Statement {
  try {
    const c = new Cursor(sql, dialect, grammar);
    const statement = dispatch(c);
    if (statement === undefined)
      return opaque(sql, dialect, `${c.key() || 'it'} is not a statement we parse`);
    c.end();
    return statement;
  } catch (error) {
    if (error instanceof ParseFailure) return opaque(sql, dialect, error.message);
    throw error;
  }
}

/** Reads one expression; `undefined` when it is not in the grammar. */
export function parseExpressionText(sql: string, dialect: Dialect = 'postgres'): Expression | undefined {
  try {
    const c = new Cursor(sql, dialect, grammar);
    const expression = parseCursorExpression(c);
    c.end();
    return expression;
  } catch (error) {
    if (error instanceof ParseFailure) return undefined;
    throw error;
  }
}

function dispatch(c: Cursor): Statement | undefined {
  switch (c.key()) {
    case 'WITH': {
      const clause = parseWith(c);
      if (!startsQuery(c)) return parseWriteRest(c, clause);
      return { type: 'select', with: clause, ...parseQueryRest(c) };
    }
    case 'SELECT':
    case '(':
    case 'VALUES':
      return parseQuery(c);
    case 'INSERT':
    case 'REPLACE':
    case 'UPDATE':
    case 'DELETE':
    case 'MERGE':
      return parseWrite(c);
    case 'CREATE':
      return parseCreate(c);
    case 'DROP':
      return parseDrop(c);
    default:
      return parseTransaction(c);
  }
}

function opaque(sql: string, dialect: Dialect, reason: string): OpaqueStatement {
  const { kind } = classifyStatement(sql, dialect);
  return {
    type: 'opaque',
    kind,
    sql: normalizeSql(sql, dialect),
    tables: mentionedTables(sql, dialect),
    reason,
  };
}

const beforeTable = /^(FROM|JOIN|INTO|UPDATE|TABLE|USING|ON|ONLY|EXISTS|TRUNCATE|DESCRIBE|TABLES)$/;

/** Names in table position, in order of appearance. Too many is safe here, too few is not. */
export function mentionedTables(sql: string, dialect: Dialect): string[] {
  const names = new Set<string>();
  const tokens = tokenize(sql, dialect).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  let inList = false;
  for (let i = 1; i < tokens.length; i++) {
    const token = tokens[i]!;
    const before = tokens[i - 1]!;
    const follows = before.kind === 'word' && beforeTable.test(before.text.toUpperCase());
    if (token.kind !== 'word' && token.kind !== 'quoted') {
      if (token.text !== ',' && token.text !== '.') inList = false;
      continue;
    }
    if (follows || (inList && (before.text === ',' || before.text === '.'))) {
      if (token.kind === 'word' && beforeTable.test(token.text.toUpperCase())) continue;
      names.add(token.kind === 'quoted' ? unquoteName(token.text) : foldName(token.text, dialect));
      inList = true;
    }
  }
  return [...names];
}

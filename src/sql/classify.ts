/**
 * What a statement is, told from its words alone. Enough to follow transactions and to tell reads from writes;
 * a statement we do not know is `other`, and nothing is concluded from it.
 */
import type { Dialect } from './dialect.js';
import { tokenize } from './lexer.js';

export type StatementKind =
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'savepoint'
  | 'release'
  | 'rollback-to'
  | 'select'
  | 'insert'
  | 'update'
  | 'delete'
  | 'replace'
  | 'merge'
  | 'set'
  | 'ddl'
  | 'other';

export interface StatementClass {
  readonly kind: StatementKind;
  /** The row lock a SELECT asks for. */
  readonly locking: 'none' | 'share' | 'update';
  /** A BEGIN with no more than its own words: targets may spell it their way. */
  readonly plainBegin: boolean;
}

const firstWords: Readonly<Record<string, StatementKind>> = {
  BEGIN: 'begin',
  COMMIT: 'commit',
  END: 'commit',
  ROLLBACK: 'rollback',
  ABORT: 'rollback',
  SAVEPOINT: 'savepoint',
  RELEASE: 'release',
  SELECT: 'select',
  VALUES: 'select',
  TABLE: 'select',
  WITH: 'select',
  INSERT: 'insert',
  UPDATE: 'update',
  DELETE: 'delete',
  REPLACE: 'replace',
  MERGE: 'merge',
  SET: 'set',
  PRAGMA: 'set',
  CREATE: 'ddl',
  ALTER: 'ddl',
  DROP: 'ddl',
  TRUNCATE: 'ddl',
  RENAME: 'ddl',
};

/** Classifies one statement. */
export function classifyStatement(sql: string, dialect: Dialect = 'postgres'): StatementClass {
  const words = outerWords(sql, dialect);
  const kind = kindOf(words);
  return {
    kind,
    locking: kind === 'select' ? lockOf(words) : 'none',
    plainBegin: kind === 'begin' && /^(BEGIN( TRANSACTION| WORK)?|START TRANSACTION)$/.test(words.join(' ')),
  };
}

/** The upper-cased words outside quotes, comments and parentheses. */
function outerWords(sql: string, dialect: Dialect): string[] {
  const words: string[] = [];
  let depth = 0;
  for (const token of tokenize(sql, dialect)) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    else if (token.kind === 'word' && depth === 0) words.push(token.text.toUpperCase());
    else if (token.kind === 'word' && words.length === 0) return outerWords(sql.slice(token.start), dialect);
  }
  return words;
}

function kindOf(words: readonly string[]): StatementKind {
  const first = words[0];
  if (first === undefined) return 'other';
  if (first === 'START') return words[1] === 'TRANSACTION' ? 'begin' : 'other';
  if (first === 'ROLLBACK' && words.includes('TO')) return 'rollback-to';
  if (first === 'WITH') {
    return (words.find((word) => /^(INSERT|UPDATE|DELETE|REPLACE|MERGE|SELECT)$/.test(word))?.toLowerCase() ??
      'select') as StatementKind;
  }
  return Object.hasOwn(firstWords, first) ? firstWords[first]! : 'other';
}

function lockOf(words: readonly string[]): StatementClass['locking'] {
  const text = words.join(' ');
  if (/\bFOR (NO KEY )?UPDATE\b/.test(text)) return 'update';
  return /\bFOR (KEY )?SHARE\b|\bLOCK IN SHARE MODE\b/.test(text) ? 'share' : 'none';
}

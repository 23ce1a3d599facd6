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
  const kind = words[0] === 'WITH' ? kindOfWith(words, sql, dialect) : kindOf(words);
  return {
    kind,
    locking: kind === 'select' ? lockOf(words) : 'none',
    plainBegin: kind === 'begin' && /^(BEGIN( TRANSACTION| WORK)?|START TRANSACTION)$/.test(words.join(' ')),
  };
}

/** Whether a COMMIT or ROLLBACK begins another transaction at once, with the level and modes of the one it ends. */
export function chainsOn(sql: string): boolean {
  return /\band\s+chain\b/i.test(sql);
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
  // MariaDB: a block of statements, which begins no transaction.
  if (first === 'BEGIN' && words[1] === 'NOT') return 'other';
  // MariaDB: any statement, under other settings.
  if (first === 'SET' && words[1] === 'STATEMENT') return 'other';
  if (first === 'ROLLBACK' && words.includes('TO')) return 'rollback-to';
  return Object.hasOwn(firstWords, first) ? firstWords[first]! : 'other';
}

/** The statement behind the CTEs; but a SELECT over a CTE that writes is that write. */
function kindOfWith(words: readonly string[], sql: string, dialect: Dialect): StatementKind {
  const main = words.find((word) => /^(INSERT|UPDATE|DELETE|REPLACE|MERGE|SELECT)$/.test(word)) ?? 'SELECT';
  if (main !== 'SELECT') return firstWords[main]!;
  const tokens = tokenize(sql, dialect).filter((token) => token.kind !== 'space' && token.kind !== 'comment');
  const write = tokens.find(
    (token, t) =>
      /^(INSERT|UPDATE|DELETE|MERGE)$/i.test(token.text) &&
      tokens[t - 1]?.text === '(' &&
      /^(AS|MATERIALIZED)$/i.test(tokens[t - 2]?.text ?? ''),
  );
  return write === undefined ? 'select' : firstWords[write.text.toUpperCase()]!;
}

function lockOf(words: readonly string[]): StatementClass['locking'] {
  const text = words.join(' ');
  if (/\bFOR (NO KEY )?UPDATE\b/.test(text)) return 'update';
  return /\bFOR (KEY )?SHARE\b|\bLOCK IN SHARE MODE\b/.test(text) ? 'share' : 'none';
}

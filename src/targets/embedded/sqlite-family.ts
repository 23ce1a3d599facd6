/** Values and errors of SQLite and of what speaks its language. */
import type { ErrorClass } from '../../histories/index.js';
import { bytesValue, classifyStatement, doubleValue, integerValue, type Value } from '../../sql/index.js';

/** A value as drivers give it when integers are asked for as bigint: a number then is always a REAL. */
export function sqliteValue(value: unknown): Value {
  switch (typeof value) {
    case 'bigint':
      return integerValue(value);
    case 'number':
      return doubleValue(value);
    case 'string':
      return value;
    case 'boolean':
      return value;
    default:
      if (value === null || value === undefined) return null;
      return value instanceof Uint8Array ? bytesValue(value) : { other: String(value) };
  }
}

/** Whether a statement writes rows, so that its count means something. */
export function isRowWrite(sql: string): boolean {
  // Most statements are plain queries: they need no closer look.
  if (/^\s*SELECT\b/i.test(sql)) return false;
  const { kind } = classifyStatement(sql, 'sqlite');
  return kind === 'insert' || kind === 'update' || kind === 'delete' || kind === 'replace';
}

/** The first pattern that fits decides: narrow ones stand before wide ones. */
const patterns: readonly (readonly [RegExp, ErrorClass])[] = [
  [/panicked|database disk image is malformed|disk I\/O error/i, 'crash'],
  [/snapshot is stale|conflict|commit dependency/i, 'serialization'],
  [/statements in progress/i, 'other'],
  [/database (table )?is locked|\bbusy\b/i, 'busy'],
  [/transaction (was |is )?(terminated|aborted)/i, 'transaction-aborted'],
  // What a COMMIT or ROLLBACK meets when the engine has ended the transaction by itself.
  [/no transaction is active/i, 'transaction-aborted'],
  [/within a transaction/i, 'other'],
  [/UNIQUE constraint|PRIMARY KEY constraint/i, 'duplicate-key'],
  [/constraint failed|constraint violation/i, 'constraint'],
  [/interrupted/i, 'cancelled'],
  [/not supported|unsupported|not (yet )?implemented|require an exclusive transaction/i, 'unsupported'],
  [/integer overflow|datatype mismatch|too big|malformed JSON/i, 'data'],
  [/syntax error|parse error|no such|already exists|incomplete input|unrecognized token|near "/i, 'syntax'],
  [/has no column|columns but|not authorized|misuse|contains no statements|prepare failed/i, 'syntax'],
];

/** What an error's text means. */
export function classifySqliteMessage(message: string): ErrorClass {
  return patterns.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}

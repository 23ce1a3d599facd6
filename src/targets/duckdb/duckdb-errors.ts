/**
 * What DuckDB's errors mean. Its driver gives a text and nothing else, but the text always begins with the
 * kind of error (`Constraint Error: …`), which DuckDB itself uses to decide what happens to the transaction.
 */
import type { ErrorClass, OperationError } from '../../histories/index.js';

const classes: Readonly<Record<string, ErrorClass>> = {
  'Parser Error': 'syntax',
  'Syntax Error': 'syntax',
  'Binder Error': 'syntax',
  'Catalog Error': 'syntax',
  'Not implemented Error': 'unsupported',
  'Constraint Error': 'constraint',
  'Conversion Error': 'data',
  'Out of Range Error': 'data',
  'Invalid Input Error': 'data',
  'Mismatch Type Error': 'data',
  'Divide by Zero Error': 'data',
  'Decimal Error': 'data',
  'Out of Memory Error': 'out-of-memory',
  'INTERRUPT Error': 'cancelled',
  'Connection Error': 'connection-lost',
  'FATAL Error': 'crash',
  'INTERNAL Error': 'crash',
};

/** An error as data; `code` is DuckDB's name for its kind. */
export function duckdbError(message: string): OperationError {
  const code = /^(?:[A-Za-z]+ ){0,3}?Error(?=:)/.exec(message)?.[0];
  return { class: classify(code, message), ...(code === undefined ? {} : { code }), message };
}

function classify(code: string | undefined, message: string): ErrorClass {
  if (message.includes('connection disconnected')) return 'connection-lost';
  if (code === undefined) return 'other';
  if (code === 'TransactionContext Error') return classifyTransactionError(message);
  if (code === 'Constraint Error') {
    if (/write-write conflict/i.test(message)) return 'serialization';
    return /duplicate key/i.test(message) ? 'duplicate-key' : 'constraint';
  }
  if (code === 'Parser Error' && message.includes('not supported')) return 'unsupported';
  return classes[code] ?? 'other';
}

function classifyTransactionError(message: string): ErrorClass {
  // The second is what a COMMIT or ROLLBACK meets when the engine has ended the transaction by itself.
  if (/Current transaction is aborted|no transaction is active/.test(message)) return 'transaction-aborted';
  // Two transactions inserted the same key: found when the second commits, not when it inserts.
  if (/UNIQUE constraint|duplicate key/i.test(message)) return 'duplicate-key';
  if (/conflict|(another|different) transaction/i.test(message)) return 'serialization';
  return 'other';
}

/**
 * From SQLSTATE to an error class.
 *
 * The five characters decide; the message and the server routine that raised the error are asked only where one
 * code stands for two things: 57014 is a time-out, a cancel or a COPY we refused; 55P03 is a lock time-out or
 * a NOWAIT. Messages are translated on servers with another `lc_messages`, so each has an answer without them.
 */
import type { ErrorClass, OperationError } from '../../histories/index.js';

/** The fields of a server's ErrorResponse that decide its class. */
export interface ServerError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly severity?: string | undefined;
  readonly routine?: string | undefined;
}

/** What we know of the statement besides its error. */
export interface ErrorContext {
  /** We asked the server to cancel it. */
  readonly cancelRequested: boolean;
}

const exact: Readonly<Record<string, ErrorClass>> = {
  '40001': 'serialization',
  '40P01': 'deadlock',
  '23505': 'duplicate-key',
  '25P02': 'transaction-aborted',
  '25006': 'unsupported', // a write in a READ ONLY transaction
  '44000': 'constraint', // WITH CHECK OPTION
  '21000': 'data', // a subquery gave more than one row
  '42501': 'other', // no privilege: the text was understood
  '42P07': 'other', // the table exists already
  '42710': 'other',
  '53200': 'out-of-memory',
  '57P02': 'crash',
  '57P03': 'crash', // starting up, shutting down or recovering
  '57P05': 'connection-lost',
  '25P03': 'connection-lost', // idle in a transaction for too long
  '25P04': 'connection-lost',
};

const byTwo: Readonly<Record<string, ErrorClass>> = {
  '08': 'connection-lost',
  '0A': 'unsupported',
  '22': 'data',
  '23': 'constraint',
  '42': 'syntax',
};

/** The class of an error the server reported. */
export function classifyServerError(error: ServerError, context: ErrorContext): ErrorClass {
  const { code = '', message } = error;
  if (error.severity === 'PANIC') return 'crash';
  if (code === '57014') return classifyCancel(message, context);
  if (code === '55P03') return classifyLockNotAvailable(error);
  if (code === '57P01') return /postmaster/i.test(message) ? 'crash' : 'connection-lost';
  if (Object.hasOwn(exact, code)) return exact[code]!;
  return byTwo[code.slice(0, 2)] ?? 'other';
}

function classifyCancel(message: string, context: ErrorContext): ErrorClass {
  if (message.includes(copyRefusal)) return 'unsupported';
  if (message.includes('statement timeout')) return 'statement-timeout';
  return context.cancelRequested || message.includes('user request') ? 'cancelled' : 'statement-timeout';
}

function classifyLockNotAvailable({ message, routine }: ServerError): ErrorClass {
  if (message.includes('lock timeout')) return 'lock-timeout';
  if (message.includes('could not obtain lock')) return 'busy';
  return routine === 'ProcessInterrupts' ? 'lock-timeout' : 'busy';
}

/** What we tell a server that waits for COPY data; it repeats it in its error. */
export const copyRefusal = 'COPY FROM STDIN is not supported in a case';

/** A server's error as an answer carries it. */
export function operationError(error: ServerError, errorClass: ErrorClass): OperationError {
  return {
    class: errorClass,
    ...(error.code === undefined ? {} : { code: error.code }),
    message: error.message,
  };
}

/**
 * Sets of error classes that several stages ask for, each with one name:
 *
 * - *conflicts*: only another transaction can cause them.
 * - *refusals*: by which a database keeps an interleaving from happening; a key or a condition in the way, and statements that are
 *   refused because their transaction has failed, count.
 * - *time-outs*: time ran out, for whatever reason.
 * - *gone*: the connection or the server went away.
 *
 * Sets that one stage alone needs stand there, made of these where they contain them.
 */
import type { ErrorClass } from './history.js';

type ErrorClasses = ReadonlySet<ErrorClass>;

export const conflictErrors: ErrorClasses = new Set(['deadlock', 'serialization', 'lock-timeout', 'busy']);

export const refusalErrors: ErrorClasses = new Set<ErrorClass>([
  ...conflictErrors,
  'duplicate-key',
  'constraint',
  'transaction-aborted',
]);

export const timeoutErrors: ErrorClasses = new Set(['statement-timeout', 'cancelled']);

/** A wait that was ended by its time, or by somebody who had enough of it. */
export const endedWaits: ErrorClasses = new Set<ErrorClass>(['lock-timeout', ...timeoutErrors]);

export const goneErrors: ErrorClasses = new Set(['connection-lost', 'crash']);

/**
 * From CockroachDB's errors to classes. It uses PostgreSQL's SQLSTATEs with fewer meanings: 40001 stands for every
 * conflict, deadlocks included, and a cancelled query does not say by whom unless a time-out did it.
 */
import type { ErrorClass } from '../../histories/index.js';
import { classifyServerError, type ErrorContext, type ServerError } from '../postgres/postgres-errors.js';

export function classifyCockroachError(error: ServerError, context: ErrorContext): ErrorClass {
  if (error.code === '57014') {
    return /timeout/i.test(error.message) && !context.cancelRequested ? 'statement-timeout' : 'cancelled';
  }
  // Draining nodes send clients away; the cluster goes on.
  if (error.code === '57P01') return 'connection-lost';
  return classifyServerError(error, context);
}

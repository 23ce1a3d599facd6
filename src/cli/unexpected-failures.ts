/**
 * What the command line says and returns when something fails that nobody foresaw. 1 means "found" to whoever runs Isolde, and
 * Node ends with 1 itself when an error reaches nobody (an exception in a callback, a promise that nobody waits for): so such
 * errors are caught at the process, said as `main` says those that reach it, and end with 3.
 */
import { errorText, IsoldeError } from '../errors.js';
import { exitCodes } from './context.js';

/** What a failure is called on standard error. */
export function describeFailure(error: unknown): string {
  if (error instanceof IsoldeError) return `isolde: ${error.message}`;
  if (process.env.ISOLDE_DEBUG === '1' && error instanceof Error && error.stack !== undefined)
    return error.stack;
  return `isolde: unexpected failure: ${errorText(error)}\nThis is a fault in Isolde. ISOLDE_DEBUG=1 shows where.`;
}

/** From here on no error ends the process with Node's own exit code. What runs at exit still does. */
export function endOnUnexpectedFailures(): void {
  // Promises that nobody waits for come here, too: Node raises them as exceptions.
  process.on('uncaughtException', (error: unknown) => {
    try {
      process.stderr.write(`${describeFailure(error)}\n`);
    } finally {
      process.exit(exitCodes.error);
    }
  });
}

/** Faults as interactions (D4 §3): what is done to the database between statements, and what it may take with it. */

/**
 * - `reconnect`: one session closes and opens again, outside a transaction or in the middle of one.
 * - `reconnect-all`: every session does.
 * - `reopen`: the database itself is closed and opened again.
 * - `kill`: the process that holds the database is ended with SIGKILL, started again, and recovers.
 * - `cancel`: the session's next statement is cancelled while it runs, or too late to matter.
 * - `write-error`: while the session's next statement runs, writes to files are cut short and fail, as on a full disk.
 * - `checkpoint`, `vacuum`: the engine rearranges what it has stored.
 */
export const faultKinds = [
  'reconnect',
  'reconnect-all',
  'reopen',
  'kill',
  'cancel',
  'write-error',
  'checkpoint',
  'vacuum',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** The open transactions a fault ends without COMMIT. */
export function endsTransactions(fault: FaultKind): 'one' | 'all' | 'none' {
  switch (fault) {
    case 'reconnect':
      return 'one';
    case 'reconnect-all':
    case 'reopen':
    case 'kill':
      return 'all';
    case 'cancel':
    case 'write-error':
    case 'checkpoint':
    case 'vacuum':
      return 'none';
    default:
      return fault satisfies never;
  }
}

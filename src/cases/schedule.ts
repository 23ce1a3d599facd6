/**
 * A schedule: an order for a case. Batches run one after another; the statements of one batch run in parallel,
 * so a batch holds at most one statement of a session. A total order is a schedule of batches of one.
 */
import type { Case, StatementRef } from './case.js';

export interface Schedule {
  readonly batches: readonly (readonly StatementRef[])[];
  /** Why one statement stands before another, for those pairs where it matters. */
  readonly reasons?: readonly OrderReason[];
  /** Statements that are cancelled, if they still wait, when the next statement of their session is due: they fell to a deadlock. */
  readonly cancelled?: readonly StatementRef[];
  /**
   * Deleted rows and old versions are not purged while it runs, where the engine can be kept from it: locks of deleted rows then last as
   * long as others.
   */
  readonly keepsHistory?: true;
}

export interface OrderReason {
  readonly before: StatementRef;
  readonly after: StatementRef;
  readonly why: string;
}

/** A case together with an order for it, if it has one: what files and scripts hold. */
export interface ScheduledCase {
  readonly case: Case;
  readonly schedule?: Schedule;
}

/** The schedule that sends statements one at a time in the given order. */
export function totalOrder(order: readonly StatementRef[]): Schedule {
  return { batches: order.map((ref) => [ref]) };
}

/** The sessions one after another: the order for a case that says none. */
export function serialOrder(program: Case): Schedule {
  return totalOrder(
    program.sessions.flatMap((session, s) => session.statements.map((_, p): StatementRef => [s, p])),
  );
}

/**
 * What is wrong with a schedule for a case, or undefined: every statement once, each session's in program
 * order, no session twice in a batch.
 */
export function scheduleProblem(program: Case, schedule: Schedule): string | undefined {
  const next = program.sessions.map(() => 0);
  for (const [b, batch] of schedule.batches.entries()) {
    const inBatch = new Set<number>();
    for (const [session, position] of batch) {
      const name = program.sessions[session]?.name;
      if (name === undefined)
        return `batch ${b} names session ${session}; the case has ${next.length} sessions`;
      if (inBatch.has(session)) return `batch ${b} holds two statements of session ${name}`;
      inBatch.add(session);
      if (position !== next[session]) {
        return `batch ${b} holds statement ${position} of session ${name}, where statement ${next[session]} is next`;
      }
      if (position >= program.sessions[session]!.statements.length) {
        return `batch ${b} holds statement ${position} of session ${name}, which has ${position} statements`;
      }
      next[session] = position + 1;
    }
  }
  const missing = program.sessions.findIndex((session, s) => next[s] !== session.statements.length);
  if (missing < 0) return undefined;
  const session = program.sessions[missing]!;
  return `${session.statements.length - next[missing]!} statements of session ${session.name} are in no batch`;
}

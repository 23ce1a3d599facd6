/** Random orders for a case. */
import { type Case, type Schedule, type StatementRef, totalOrder } from '../cases/index.js';
import type { Random } from './random.js';

/**
 * Any order between the sessions, statement by statement. The next statement is drawn in proportion to what each session
 * still has to send, which makes every order of the same statements equally likely.
 */
export function randomSchedule(program: Case, random: Random): Schedule {
  const next = program.sessions.map(() => 0);
  const left = program.sessions.map(({ statements }) => statements.length);
  const order: StatementRef[] = [];
  for (;;) {
    const session = random.weighted(left);
    if (session === undefined) return totalOrder(order);
    order.push([session, next[session]!++]);
    left[session]!--;
  }
}

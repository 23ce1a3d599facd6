/**
 * A counter with `add` and `read` (Jepsen's counter test). A read must be explained by all additions that had succeeded
 * before it began and any choice of those that began before it ended and did not fail: its value lies between the two
 * extremes of that choice. Amounts may be negative.
 */
import type { PlainOperation } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

export const counter: Workload = {
  name: 'counter',
  title: 'reads of a counter lie between what was surely and what was perhaps added',
  functions: ['add', 'read'],
  fits: (operations) =>
    operations.some(({ f }) => f === 'add') &&
    operations.some(({ f, status }) => f === 'read' && status === 'ok') &&
    operations.every(({ f, status, value }) => f === 'add' || status !== 'ok' || typeof value === 'number'),
  check({ operations }) {
    const found = new Collected();
    const sums = new Map<number, { lower: number; upper: number }>();
    const state = { surely: 0, surelyUp: 0, surelyDown: 0, up: 0, down: 0 };
    let judged = 0;
    for (const { at, begins } of eventsOf(operations)) {
      const { f, value, status } = operations[at]!;
      const amount = typeof value === 'number' ? value : Number.NaN;
      if (f === 'add') {
        if (Number.isNaN(amount)) continue;
        if (begins) state[amount > 0 ? 'up' : 'down'] += amount;
        else if (status === 'ok') {
          state.surely += amount;
          state[amount > 0 ? 'surelyUp' : 'surelyDown'] += amount;
        }
      } else if (begins)
        sums.set(at, { lower: state.surely - state.surelyDown, upper: state.surely - state.surelyUp });
      else {
        const { lower, upper } = sums.get(at)!;
        const least = lower + state.down;
        const most = upper + state.up;
        judged++;
        if (amount >= least && amount <= most) continue;
        found.add({
          kind: 'counter-bounds',
          witnesses: [at],
          rulesOut: ['strict serializable'],
          because: `the counter was read as ${amount}; the additions allow ${least === most ? `only ${least}` : `${least} to ${most}`}.`,
        });
      }
    }
    const bad = operations.filter(({ f, value }) => f === 'add' && typeof value !== 'number');
    if (bad.length > 0) found.unknownReasons.push(`${bad.length} additions have no amount`);
    if (judged === 0)
      found.unknownReasons.push('no read of the counter succeeded, so there is nothing to judge');
    return found.result();
  },
};

/** Begins and ends by position; what failed is left out, what nobody knows never ends, and a read counts if it succeeded. */
function eventsOf(operations: readonly PlainOperation[]): { at: number; begins: boolean }[] {
  const events: { at: number; begins: boolean; position: number }[] = [];
  operations.forEach(({ f, status, start, end, value }, at) => {
    if (status === 'fail' || (f === 'read' && (status !== 'ok' || typeof value !== 'number'))) return;
    events.push({ at, begins: true, position: start });
    if (status === 'ok') events.push({ at, begins: false, position: end });
  });
  return events.sort((a, b) => a.position - b.position || Number(b.begins) - Number(a.begins));
}

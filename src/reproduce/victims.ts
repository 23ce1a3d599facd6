/**
 * What a deadlock's victim held when it failed. Its rows are given up with its transaction, so nothing of it is left in the tables; but
 * whoever came to one of them meanwhile waited for it, and looked at other rows later than it would have.
 *
 * An UPDATE or DELETE by condition goes through its rows in turn, and locks each. The one at which it failed was held by another; those
 * before it were its own. So a victim that is sent again (`steps.ts`) holds these from its sending to its ROLLBACK.
 *
 * Only where statements choose rows first and look at them again after waiting (PostgreSQL's READ COMMITTED).
 */
import type { OrderStepId } from '../ids.js';
import { plannerOf } from '../rows/index.js';
import { inTurn } from './chosen-rows.js';
import * as role from './conflicts.js';
import { type MirrorState, scanLimit } from './mirror-state.js';

/** Takes the locks that a victim held; called when it ends, for then it is known who stood in its way. */
export function followVictim(state: MirrorState, step: OrderStepId): void {
  const plan = plannerOf(state.catalog).plan(state.opOf(step)?.sql ?? '');
  if (plan.type !== 'update' && plan.type !== 'delete') return;
  const { table, keys, reads } = plan;
  if (!state.looksAgain || keys !== undefined || reads.length > 0 || state.blind.has(table)) return;
  if (state.rows[table.number]!.size > scanLimit) return;
  const transaction = state.steps.transaction[step]!;
  const own = new Set(state.doing[transaction]?.writes.rows ?? []);
  const { where } = plan.bind(() => []);
  state.early.add(step);
  state.accesses.add(step, state.tableObject[table.number]!, role.snapshot);
  for (const row of inTurn(state, step, { table, where, touched: [], unseen: new Set() }, own)) {
    const holder = state.locks.holderOf(row);
    if (holder >= 0 && holder !== transaction && state.doing[holder] !== undefined) {
      state.accesses.add(step, row, role.lock);
      return;
    }
    state.lock(step, row, role.lock);
  }
}

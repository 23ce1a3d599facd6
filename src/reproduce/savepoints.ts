/** Savepoints in the mirror: a ROLLBACK TO puts back what its transaction had left in its rows by then. */

import type { Operation } from '../histories/index.js';
import type { OrderStepId } from '../ids.js';
import { Savepoints, savepointOf } from '../rows/index.js';
import * as role from './conflicts.js';
import type { MirrorState } from './mirror-state.js';

/** Follows a savepoint statement; false: it is something else. */
export function followSavepoint(state: MirrorState, step: OrderStepId, op: Operation): boolean {
  const transaction = state.steps.transaction[step]!;
  const statement = savepointOf(op, state.catalog.dialect);
  if (statement === undefined) return false;
  const doing = state.do(transaction);
  const { writes } = doing;
  doing.savepoints ??= new Savepoints();
  const undone = doing.savepoints.follow(statement, writes.mark());
  if (undone === undefined) return true;
  const { rows } = writes;
  if (undone.backTo === undefined) {
    // The engine knew the savepoint and we do not.
    for (const row of rows) {
      writes.write(row, state.current[row]!, 'unknown');
      state.current[row] = 'unknown';
    }
  } else {
    writes.undo(undone.backTo, (row, before) => {
      if (doing.unseenInserts?.has(row) !== true) state.current[row] = before;
    });
  }
  for (const row of rows) {
    state.accesses.add(step, row, role.write);
    if (doing.unseenInserts?.has(row) !== true) continue;
    const own = writes.own(row);
    if (own === undefined) doing.unseenInserts.delete(row);
    else doing.unseenInserts.set(row, own);
  }
  return true;
}

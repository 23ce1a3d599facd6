/** Savepoints in the mirror: a ROLLBACK TO puts back what its transaction had left in its rows by then. */
import type { Operation } from '../histories/index.js';
import { Savepoints, savepointOf } from '../rows/index.js';
import * as role from './conflicts.js';
import type { MirrorState } from './mirror-state.js';

/** Follows a savepoint statement; false: it is something else. */
export function followSavepoint(
  state: MirrorState,
  step: number,
  transaction: number,
  op: Operation,
): boolean {
  const statement = savepointOf(op, state.catalog.dialect);
  if (statement === undefined) return false;
  const { kind, name } = statement;
  const doing = state.do(transaction);
  doing.savepoints ??= new Savepoints();
  if (kind === 'savepoint')
    doing.savepoints.set(name, new Map(doing.rows.map((row, i) => [row, doing.after[i]!])));
  else if (kind === 'release') doing.savepoints.release(name);
  else {
    const images = doing.savepoints.rollBackTo(name);
    doing.rows.forEach((row, i) => {
      const image = images === undefined ? 'unknown' : (images.get(row) ?? doing.before[i]!);
      doing.after[i] = image;
      if (doing.unseenInserts?.has(row) === true) doing.unseenInserts.set(row, image);
      else state.current[row] = image;
      state.accesses.add(step, row, role.write);
    });
  }
  return true;
}

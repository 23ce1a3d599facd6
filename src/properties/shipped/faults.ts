/**
 * Faults as properties: committed rows, then the writes of a transaction that is not committed, then the fault. Afterwards
 * every table holds what was committed, and nothing else.
 */
import type { FaultKind } from '../fault-kinds.js';
import { type Action, type Property, property } from '../property.js';

/** Every table is what the shadow state says, as a session sees it that was not there before. */
function everythingIsThere({ db, run, assert, that }: Action): void {
  for (const t of db.tables)
    assert(that.predicted(run(`SELECT * FROM ${t}`)), `${t.name} holds what was committed, and nothing else`);
}

function withOpenTransaction(action: Action): void {
  const { db, pick, gen, between, run, begin } = action;
  const t = pick(db.tables);
  for (let count = between(0, 2); count > 0; count--) run(gen.insert(t));
  begin();
  for (let count = between(1, 3); count > 0; count--) run(pick([gen.insert, gen.update, gen.delete])(t));
}

const sends = { read: 1, write: 2 };

function faultProperty(fault: FaultKind, says: string, before: (action: Action) => void): Property {
  return property(fault, { says, sends, needs: { fault, transactions: true } }, (action) => {
    before(action);
    action.fault(fault);
    everythingIsThere(action);
  });
}

/** Writes that are committed one by one. */
function someWrites({ db, pick, gen, between, run }: Action): void {
  const t = pick(db.tables);
  for (let count = between(1, 2); count > 0; count--) run(pick([gen.insert, gen.update, gen.delete])(t));
}

export const faulty: readonly Property[] = [
  faultProperty(
    'reconnect',
    'a session that goes away takes its open transaction with it',
    withOpenTransaction,
  ),
  faultProperty('reconnect-all', 'what is committed outlives all connections', someWrites),
  faultProperty(
    'reopen',
    'what is committed is there when the database is opened again',
    withOpenTransaction,
  ),
  faultProperty('kill', 'what is committed outlives SIGKILL, what is not does not', withOpenTransaction),
  faultProperty('checkpoint', 'a checkpoint changes no row', someWrites),
  faultProperty('vacuum', 'VACUUM changes no row', someWrites),
  property(
    'write-error',
    {
      says: 'a statement whose writes fail has no effect, and nothing committed before is lost',
      sends,
      needs: { fault: 'write-error', transactions: true },
    },
    (action) => {
      const { db, pick, gen, between, run, attempt, begin, fault } = action;
      const t = pick(db.tables);
      const write = () => pick([gen.insert, gen.update, gen.delete])(t);
      if (pick([true, false])) {
        fault('write-error');
        attempt(write());
      } else {
        begin();
        for (let count = between(1, 3); count > 0; count--) run(write());
        fault('write-error');
        attempt('COMMIT');
        // After a COMMIT that failed the transaction may be open or not.
        attempt('ROLLBACK');
      }
      everythingIsThere(action);
      fault('reconnect-all');
      everythingIsThere(action);
    },
  ),
  property(
    'cancel',
    {
      says: 'a cancelled statement has no effect, one that was not has all of it',
      sends,
      needs: { fault: 'cancel' },
    },
    (action) => {
      const { db, pick, gen, attempt, fault } = action;
      const t = pick(db.tables);
      fault('cancel');
      attempt(pick([gen.insert, gen.update, gen.delete])(t));
      everythingIsThere(action);
    },
  ),
];

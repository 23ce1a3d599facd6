/**
 * The transactional forms: the relations of single sessions inside one snapshot while other sessions write, and what
 * BEGIN, COMMIT, ROLLBACK and savepoints promise of the rows between them. Session 0 is the property's own.
 */
import { type Action, type Property, property, type Table } from '../property.js';

const snapshot = { snapshot: true, transactions: true } as const;
const transactions = { transactions: true } as const;

/** One to three writes of a session on a table. */
function writes({ between, gen, pick, run }: Action, t: Table, session = 0): void {
  for (let count = between(1, 3); count > 0; count--)
    run(pick([gen.insert, gen.update, gen.delete])(t), session);
}

/** The snapshot is taken by a first read, then `again` reads on beside the writes of another session. */
function insideSnapshot(action: Action, first: string, again: string) {
  const { begin, commit, run, meanwhile } = action;
  begin();
  const before = run(first);
  meanwhile({ session: 1, writes: true, most: 3 });
  const after = run(again);
  commit();
  return { before, after };
}

export const transactional: readonly Property[] = [
  property(
    'snapshot read',
    {
      says: 'a query returns the same rows again in one snapshot',
      sends: { read: 2, write: 1 },
      needs: snapshot,
      anyState: true,
    },
    (action) => {
      const { db, pick, gen, assert, that } = action;
      const t = pick(db.tables);
      const sql = `SELECT * FROM ${t} WHERE ${gen.predicate(t)}`;
      const { before, after } = insideSnapshot(action, sql, sql);
      assert(that.same(before, after), 'the snapshot has not moved');
    },
  ),
  property(
    'snapshot norec',
    {
      says: 'NoREC within one snapshot, while others write',
      sends: { read: 2, write: 1 },
      needs: snapshot,
      anyState: true,
    },
    (action) => {
      const { db, pick, gen, assert, that } = action;
      const t = pick(db.tables);
      const p = gen.predicate(t, pick(t.rows));
      const { before, after } = insideSnapshot(
        action,
        `SELECT * FROM ${t} WHERE ${p}`,
        `SELECT ${p} FROM ${t}`,
      );
      assert(that.equal(that.rows(before), that.trues(after)));
    },
  ),
  property(
    'snapshot tlp',
    {
      says: 'the parts of a table within one snapshot are the table',
      sends: { read: 2, write: 1 },
      needs: snapshot,
      anyState: true,
    },
    (action) => {
      const { db, pick, gen, assert, that } = action;
      const t = pick(db.tables);
      const p = gen.predicate(t);
      const parts = [p, `NOT ${p}`, `${p} IS NULL`].map((part) => `SELECT * FROM ${t} WHERE ${part}`);
      const { before, after } = insideSnapshot(action, `SELECT * FROM ${t}`, parts.join(' UNION ALL '));
      assert(that.same(before, after));
    },
  ),
  property(
    'own writes',
    {
      says: 'a transaction sees its own writes under any condition',
      sends: { read: 1, write: 2 },
      needs: transactions,
      anyState: true,
    },
    (action) => {
      const { db, pick, gen, run, chance, begin, commit, rollback, assert, that } = action;
      const t = pick(db.tables);
      begin();
      if (chance(0.5)) run(`SELECT * FROM ${t}`);
      writes(action, t);
      const p = gen.predicate(t);
      const chosen = run(`SELECT * FROM ${t} WHERE ${p}`);
      const computed = run(`SELECT ${p} FROM ${t}`);
      assert(that.predicted(chosen), 'the transaction sees what it wrote');
      assert(that.equal(that.rows(chosen), that.trues(computed)));
      if (chance(0.7)) commit();
      else rollback();
    },
  ),
  property(
    'rollback',
    { says: 'ROLLBACK leaves no trace', sends: { read: 2, write: 2 }, needs: transactions, anyState: true },
    (action) => {
      const { db, pick, run, begin, rollback, assert, that } = action;
      const t = pick(db.tables);
      const before = run(`SELECT * FROM ${t}`);
      begin();
      writes(action, t);
      rollback();
      assert(that.same(before, run(`SELECT * FROM ${t}`)), 'the table is as before the transaction');
      assert(that.same(before, run(`SELECT * FROM ${t}`, 1)), 'other sessions see it so, too');
    },
  ),
  property(
    'commit',
    {
      says: 'COMMIT leaves what the writes give on the state before',
      sends: { read: 2, write: 2 },
      needs: transactions,
      anyState: true,
    },
    (action) => {
      const { db, pick, run, begin, commit, assert, that } = action;
      const t = pick(db.tables);
      begin();
      writes(action, t);
      const inside = run(`SELECT * FROM ${t}`);
      commit();
      const outside = run(`SELECT * FROM ${t}`, 1);
      assert(that.same(inside, outside), 'others see what the transaction saw last');
      assert(that.predicted(outside), 'the table holds what the writes give');
    },
  ),
  property(
    'uncommitted',
    {
      says: 'other sessions see nothing of an open transaction',
      sends: { read: 2, write: 2 },
      needs: transactions,
      anyState: true,
    },
    (action) => {
      const { db, pick, run, chance, begin, commit, rollback, assert, that } = action;
      const t = pick(db.tables);
      const before = run(`SELECT * FROM ${t}`, 1);
      begin();
      writes(action, t);
      assert(that.same(before, run(`SELECT * FROM ${t}`, 1)), 'what is not committed is not seen');
      if (chance(0.5)) commit();
      else rollback();
    },
  ),
  property(
    'savepoints',
    {
      says: 'ROLLBACK TO undoes what came after the savepoint and nothing else; RELEASE changes nothing',
      sends: { read: 4, write: 3 },
      needs: { transactions: true, savepoints: true },
      anyState: true,
    },
    (action) => {
      const { db, pick, gen, run, chance, begin, commit, rollback, assert, that } = action;
      const t = pick(db.tables);
      const whole = () => run(`SELECT * FROM ${t}`);
      const [a, b] = [gen.name('s'), gen.name('s')];
      const untouched = whole();
      begin();
      writes(action, t);
      const atSavepoint = whole();
      run(`SAVEPOINT ${a}`);
      writes(action, t);
      run(`ROLLBACK TO SAVEPOINT ${a}`);
      assert(that.same(atSavepoint, whole()), 'ROLLBACK TO returns to the savepoint');
      run(`SAVEPOINT ${b}`);
      writes(action, t);
      const inner = whole();
      run(`RELEASE SAVEPOINT ${b}`);
      assert(that.same(inner, whole()), 'RELEASE changes no row');
      if (chance(0.5)) {
        run(`ROLLBACK TO SAVEPOINT ${a}`);
        assert(that.same(atSavepoint, whole()), 'the outer savepoint undoes a released inner one');
        commit();
        assert(that.same(atSavepoint, whole()), 'COMMIT keeps it so');
      } else {
        rollback();
        assert(that.same(untouched, whole()), 'ROLLBACK undoes released savepoints, too');
      }
    },
  ),
];

/** One session's transactions, and what sessions see of each other. */
import { expect } from 'vitest';
import { type Behaviour, ok, rowsOf, simpleSetup } from './lab.case.js';

export const transactionBehaviours: readonly Behaviour[] = [
  {
    name: 'every level opens, reads and commits a transaction',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      for (const { level } of lab.target.levels) {
        const session = await lab.session({ level });
        expect((await ok(session, lab.begin(level))).transaction, level).toBe('open');
        expect((await ok(session, 'SELECT * FROM t')).transaction, level).toBe('open');
        expect((await ok(session, 'COMMIT')).transaction, level).toBe('none');
      }
    },
  },
  {
    name: 'the transaction state follows BEGIN, COMMIT and ROLLBACK, and ROLLBACK undoes',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      expect((await ok(session, lab.begin())).transaction).toBe('open');
      expect((await ok(session, 'UPDATE t SET v = 11 WHERE id = 1')).transaction).toBe('open');
      const committed = await ok(session, 'COMMIT');
      expect([committed.transaction, committed.ended ?? 'commit']).toEqual(['none', 'commit']);
      expect((await ok(session, lab.begin())).transaction).toBe('open');
      await ok(session, 'DELETE FROM t');
      const undone = await ok(session, 'ROLLBACK');
      expect([undone.transaction, undone.ended ?? 'rollback']).toEqual(['none', 'rollback']);
      expect(await rowsOf(session, 'SELECT id, v FROM t')).toEqual([
        [1, 11],
        [2, 20],
      ]);
    },
  },
  {
    name: 'uncommitted changes stay invisible at the default level, and COMMIT publishes them',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [writer, reader] = [await lab.session(), await lab.session()];
      await ok(writer, lab.begin());
      await ok(writer, 'UPDATE t SET v = 11 WHERE id = 1');
      expect(await rowsOf(reader, 'SELECT v FROM t WHERE id = 1')).toEqual([[10]]);
      await ok(writer, 'COMMIT');
      expect(await rowsOf(reader, 'SELECT v FROM t WHERE id = 1')).toEqual([[11]]);
    },
  },
  {
    name: 'without BEGIN every statement commits by itself',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [writer, reader] = [await lab.session(), await lab.session()];
      expect((await ok(writer, 'INSERT INTO t VALUES (3, 30)')).transaction).toBe('none');
      expect(await rowsOf(reader, 'SELECT v FROM t WHERE id = 3')).toEqual([[30]]);
    },
  },
  {
    name: 'an error dooms the transaction, or leaves it open, as declared',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      await ok(session, lab.begin());
      await ok(session, 'UPDATE t SET v = 11 WHERE id = 1');
      const failed = await session.execute('INSERT INTO t VALUES (2, 22)');
      expect(failed.error?.class).toBe('duplicate-key');
      if (lab.target.features.errorDoomsTransaction) {
        expect(failed.transaction).toBe('failed');
        const refused = await session.execute('SELECT * FROM t');
        expect([refused.error?.class, refused.transaction]).toEqual(['transaction-aborted', 'failed']);
      } else {
        expect(failed.transaction).toBe('open');
        await ok(session, 'SELECT * FROM t');
      }
      await ok(session, 'ROLLBACK');
      expect(await rowsOf(session, 'SELECT v FROM t WHERE id = 1')).toEqual([[10]]);
    },
  },
  {
    name: 'COMMIT of a doomed transaction reports that it was rolled back',
    inapplicable: ({ features }) =>
      features.errorDoomsTransaction ? undefined : 'the engine declares that errors doom no transaction',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      await ok(session, lab.begin());
      await ok(session, 'UPDATE t SET v = 11 WHERE id = 1');
      await session.execute('INSERT INTO t VALUES (2, 22)');
      const answer = await session.execute('COMMIT');
      expect([answer.transaction, answer.ended]).toEqual(['none', 'rollback']);
      expect(await rowsOf(session, 'SELECT v FROM t WHERE id = 1')).toEqual([[10]]);
    },
  },
  {
    name: 'savepoints undo a part, or are refused, as declared',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      await ok(session, lab.begin());
      await ok(session, 'UPDATE t SET v = 11 WHERE id = 1');
      const set = await session.execute('SAVEPOINT a');
      if (lab.target.features.savepoints) {
        expect([set.error, set.transaction]).toEqual([undefined, 'open']);
        await ok(session, 'UPDATE t SET v = 12 WHERE id = 1');
        expect((await ok(session, 'ROLLBACK TO SAVEPOINT a')).transaction).toBe('open');
        await ok(session, 'RELEASE SAVEPOINT a');
        expect((await ok(session, 'COMMIT')).transaction).toBe('none');
        expect(await rowsOf(session, 'SELECT v FROM t WHERE id = 1')).toEqual([[11]]);
      } else {
        expect(['syntax', 'unsupported']).toContain(set.error?.class);
        await session.execute('ROLLBACK');
      }
    },
  },
  {
    name: 'DDL rolls back, or commits implicitly and says so, as declared',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      await ok(session, lab.begin());
      await ok(session, 'UPDATE t SET v = 11 WHERE id = 1');
      const ddl = await ok(session, 'CREATE TABLE made (id INT)');
      const { transactionalDdl } = lab.target.features;
      if (transactionalDdl) expect(ddl.transaction).toBe('open');
      else expect([ddl.transaction, ddl.ended]).toEqual(['none', 'commit']);
      await session.execute('ROLLBACK');
      expect((await session.execute('SELECT * FROM made')).error === undefined).toBe(!transactionalDdl);
      expect(await rowsOf(session, 'SELECT v FROM t WHERE id = 1')).toEqual([[transactionalDdl ? 10 : 11]]);
    },
  },
  {
    name: 'locking reads work, or are refused, as declared',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      await ok(session, lab.begin());
      const answer = await session.execute('SELECT v FROM t WHERE id = 1 FOR UPDATE');
      if (lab.target.features.lockingReads) expect(answer.rows).toEqual([[10]]);
      else expect(['syntax', 'unsupported']).toContain(answer.error?.class);
      await session.execute('ROLLBACK');
    },
  },
  {
    name: 'closing a session rolls back what it left open',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [leaver, stayer] = [await lab.session(), await lab.session()];
      await ok(leaver, lab.begin());
      await ok(leaver, 'UPDATE t SET v = 11 WHERE id = 1');
      await leaver.close();
      await leaver.close();
      expect(await rowsOf(stayer, 'SELECT v FROM t WHERE id = 1')).toEqual([[10]]);
      await ok(stayer, 'UPDATE t SET v = 12 WHERE id = 1');
    },
  },
  {
    name: 'after close, execute answers connection-lost',
    run: async (lab) => {
      const session = await lab.session();
      await session.close();
      const answer = await session.execute('SELECT 1');
      expect([answer.error?.class, answer.transaction]).toEqual(['connection-lost', 'lost']);
    },
  },
];

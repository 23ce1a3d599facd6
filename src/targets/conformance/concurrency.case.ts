/** Sessions against each other: waiting, conflicts, deadlocks, time-outs, cancelling, many at once. */
import { expect } from 'vitest';
import type { Answer, Target } from '../target.js';
import {
  type Behaviour,
  endlessQuery,
  eventually,
  type Lab,
  numbersSetup,
  ok,
  rowsOf,
  simpleSetup,
  within,
} from './lab.case.js';

const onlyWaiting = ({ features }: Target) =>
  features.conflicts === 'wait' ? undefined : 'the engine declares that conflicts fail at once';

export const concurrencyBehaviours: readonly Behaviour[] = [
  {
    name: 'the second writer of a row waits, and waiting() sees it and no other session',
    inapplicable: onlyWaiting,
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [first, second, idle] = [await lab.session(), await lab.session(), await lab.session()];
      await ok(first, lab.begin());
      await ok(idle, lab.begin());
      await ok(idle, 'UPDATE t SET v = 21 WHERE id = 2');
      await ok(first, 'UPDATE t SET v = 11 WHERE id = 1');
      expect((await lab.scratch.waiting()).size).toBe(0);
      const pending = second.execute('UPDATE t SET v = v + 1 WHERE id = 1');
      await eventually(1000, 'waiting() sees the second writer', async () =>
        (await lab.scratch.waiting()).has(second),
      );
      expect([...(await lab.scratch.waiting())]).toEqual([second]);
      await ok(first, 'COMMIT');
      const answer = await within(5000, 'the second writer goes on after COMMIT', pending);
      expect(answer.error).toBeUndefined();
      expect((await lab.scratch.waiting()).size).toBe(0);
      await ok(idle, 'ROLLBACK');
      expect(await rowsOf(second, 'SELECT v FROM t WHERE id = 1')).toEqual([[12]]);
    },
  },
  {
    name: 'the second writer of a row fails with a conflict, and nobody ever waits',
    inapplicable: ({ features }) =>
      features.conflicts === 'fail' ? undefined : 'the engine declares that conflicts wait',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [first, second] = [
        await lab.session({ lockTimeoutMs: 1 }),
        await lab.session({ lockTimeoutMs: 1 }),
      ];
      await ok(first, lab.begin());
      await ok(first, 'UPDATE t SET v = 11 WHERE id = 1');
      await ok(second, lab.begin());
      const answer = await within(
        5000,
        'the second writer is answered',
        second.execute('UPDATE t SET v = 12 WHERE id = 1'),
      );
      expect(['serialization', 'busy', 'deadlock']).toContain(answer.error?.class);
      expect((await lab.scratch.waiting()).size).toBe(0);
      await ok(first, 'COMMIT');
      await second.execute('ROLLBACK');
      expect(await rowsOf(second, 'SELECT v FROM t WHERE id = 1')).toEqual([[11]]);
    },
  },
  {
    name: 'a lock that is not granted in time fails with lock-timeout',
    inapplicable: onlyWaiting,
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [first, second] = [await lab.session(), await lab.session({ lockTimeoutMs: 1000 })];
      await ok(first, lab.begin());
      await ok(first, 'UPDATE t SET v = 11 WHERE id = 1');
      const late = second.execute('UPDATE t SET v = 12 WHERE id = 1');
      expect((await within(5000, 'the lock time-out', late)).error?.class).toBe('lock-timeout');
      await ok(first, 'ROLLBACK');
      expect(await rowsOf(second, 'SELECT v FROM t WHERE id = 1')).toEqual([[10]]);
    },
  },
  {
    name: 'of a deadlock one session is the victim, and its transaction state is right',
    inapplicable: onlyWaiting,
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const [a, b] = [await lab.session(), await lab.session()];
      await ok(a, lab.begin());
      await ok(b, lab.begin());
      await ok(a, 'UPDATE t SET v = 11 WHERE id = 1');
      await ok(b, 'UPDATE t SET v = 21 WHERE id = 2');
      const both: Promise<readonly [Answer, typeof a]>[] = [
        a.execute('UPDATE t SET v = 22 WHERE id = 2').then((answer) => [answer, a]),
        b.execute('UPDATE t SET v = 12 WHERE id = 1').then((answer) => [answer, b]),
      ];
      // The survivor may be answered first: the victim's locks are gone before its error is sent.
      const failing = both.map(async (one) => {
        const [answer, session] = await one;
        if (answer.error === undefined) throw new Error('no victim');
        return [answer, session] as const;
      });
      const [answer, victim] = await within(8000, 'the deadlock is found', Promise.any(failing));
      expect(answer.error?.class).toBe('deadlock');
      expect([answer.transaction, answer.ended]).toEqual(
        lab.target.features.errorDoomsTransaction ? ['failed', undefined] : ['none', 'rollback'],
      );
      await victim.execute('ROLLBACK');
      const [survived, survivor] = await both[victim === a ? 1 : 0]!;
      expect(survived.error).toBeUndefined();
      await ok(survivor, 'COMMIT');
    },
  },
  {
    name: 'a statement that runs too long ends with statement-timeout',
    run: async (lab) => {
      await lab.scratch.reset(numbersSetup);
      const session = await lab.session({ statementTimeoutMs: 300 });
      const { error } = await within(5000, 'the statement time-out', session.execute(endlessQuery));
      expect(error?.class).toBe('statement-timeout');
      expect(await rowsOf(session, 'SELECT 1')).toEqual([[1]]);
    },
  },
  {
    name: 'cancel stops the running statement with class cancelled, as declared',
    run: async (lab) => {
      await lab.scratch.reset(numbersSetup);
      const session = await lab.session({ statementTimeoutMs: 10_000 });
      if (!lab.target.features.cancel) {
        await session.cancel();
        expect(await rowsOf(session, 'SELECT 1')).toEqual([[1]]);
        return;
      }
      expect((await cancelled(session, session.execute(endlessQuery))).error?.class).toBe('cancelled');
      expect(await rowsOf(session, 'SELECT 1')).toEqual([[1]]);
    },
  },
  {
    name: 'cancelling an idle session does no harm to its next statement',
    run: async (lab) => {
      const session = await lab.session();
      await ok(session, 'SELECT 1');
      await session.cancel();
      expect(await rowsOf(session, 'SELECT 2')).toEqual([[2]]);
    },
  },
  {
    name: 'statements of different sessions overlap in time',
    run: async (lab) => {
      await lab.scratch.reset(numbersSetup);
      const [slow, quick] = [await lab.session({ statementTimeoutMs: 3000 }), await lab.session()];
      let slowAnswered = false;
      const pending = slow.execute(endlessQuery).then((answer) => {
        slowAnswered = true;
        return answer;
      });
      for (let i = 0; i < 5; i++) await ok(quick, 'SELECT 1');
      expect(slowAnswered).toBe(false);
      await cancelled(slow, pending);
    },
  },
  {
    name: 'twenty sessions work at once',
    inapplicable: ({ features }) =>
      (features.maxSessions ?? 20) >= 20
        ? undefined
        : `the engine declares a limit of ${features.maxSessions} sessions`,
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const sessions = await Promise.all(Array.from({ length: 20 }, () => lab.session()));
      expect(new Set(sessions.map(({ id }) => id)).size).toBe(20);
      const answers = await Promise.all(
        sessions.map((session, i) => rowsOf(session, `SELECT id + ${i} FROM t`)),
      );
      answers.forEach((rows, i) => {
        expect(new Set(rows.map((row) => row[0]))).toEqual(new Set([1 + i, 2 + i]));
      });
    },
  },
];

/** Cancels until the answer comes: a cancel that arrives before its statement has nothing to stop. */
async function cancelled(
  session: Awaited<ReturnType<Lab['session']>>,
  pending: Promise<Answer>,
): Promise<Answer> {
  let answer: Answer | undefined;
  pending.then((value) => {
    answer = value;
  });
  await eventually(8000, 'the cancelled statement is answered', async () => {
    if (answer === undefined) await session.cancel();
    return answer !== undefined;
  });
  return answer!;
}

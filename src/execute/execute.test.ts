import { describe, expect, it } from 'vitest';
import type { Case, ScheduledCase, StatementRef } from '../cases/index.js';
import { totalOrder } from '../cases/index.js';
import type { Operation } from '../histories/index.js';
import { fakeTarget } from './fake-target.case.js';
import { runFree } from './free.js';
import { runScheduled } from './scheduled.js';
import { SessionPool } from './session-pool.js';

/** A scheduled case from lines `0: SQL`, sent in that order. */
function script(...lines: string[]): ScheduledCase {
  const sessions: string[][] = [];
  const order: StatementRef[] = [];
  for (const line of lines) {
    const [number, sql] = line.split(/: (.*)/) as [string, string];
    sessions[Number(number)] ??= [];
    const statements = sessions[Number(number)]!;
    order.push([Number(number), statements.length]);
    statements.push(sql);
  }
  const program: Case = {
    name: 'test',
    setup: [],
    sessions: sessions.map((statements, i) => ({ name: `T${i}`, statements })),
  };
  return { case: program, schedule: totalOrder(order) };
}

const brief = (op: Operation) =>
  `${op.session}: ${op.sql}${op.blocked ? ' blocked' : ''}${op.error ? ` ${op.error.class}` : ''}${op.ends ? ` ends ${op.ends}` : ''}`;

async function schedule(lines: string[], features: Parameters<typeof fakeTarget>[0] = {}, timeouts = {}) {
  const { target, log } = fakeTarget(features);
  const scratch = await target.createScratch();
  const history = await runScheduled(scratch, script(...lines), { target, ...timeouts });
  return { history, operations: history.operations.map(brief), log };
}

describe('the scheduled executor', () => {
  it('sends statements in the order of the schedule', async () => {
    const { log } = await schedule(['0: BEGIN', '1: BEGIN', '1: COMMIT', '0: COMMIT']);
    expect(log.sent).toEqual(['1: BEGIN', '2: BEGIN', '2: COMMIT', '1: COMMIT']);
  });

  it('goes on past a statement that blocks, and queues the rest of that session behind it', async () => {
    const { log, operations } = await schedule([
      '0: BEGIN',
      '0: LOCK x',
      '1: BEGIN',
      '1: LOCK x',
      '1: READ',
      '0: READ',
      '0: COMMIT',
      '1: COMMIT',
    ]);
    expect(log.sent).toEqual([
      '1: BEGIN',
      '1: LOCK x',
      '2: BEGIN',
      '2: LOCK x',
      '1: READ',
      '1: COMMIT',
      '2: READ',
      '2: COMMIT',
    ]);
    expect(operations).toContain('1: LOCK x blocked');
  });

  it('sends the queued statements of an unblocked session before the next batch', async () => {
    const { log } = await schedule([
      '0: BEGIN',
      '0: LOCK x',
      '1: LOCK x',
      '1: READ',
      '0: COMMIT',
      '2: READ', // only now
    ]);
    expect(log.sent.at(-1)).toBe('3: READ');
  });

  it('rolls back a finished session that others still wait for when the schedule is over', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: LOCK x', '1: LOCK x']);
    expect(operations).toEqual([
      '0: BEGIN',
      '0: LOCK x',
      '0: ROLLBACK ends rollback',
      '1: LOCK x blocked ends commit',
    ]);
  });

  it('ends every open transaction with a recorded ROLLBACK', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: READ']);
    expect(operations.at(-1)).toBe('0: ROLLBACK ends rollback');
  });

  it('leaves out the rest of a transaction that the database rolled back', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: DEADLOCK', '0: WRITE', '0: COMMIT', '0: READ']);
    expect(operations).toEqual(['0: BEGIN', '0: DEADLOCK deadlock ends rollback', '0: READ ends commit']);
  });

  it('sends the ROLLBACK of a transaction that the database has rolled back already', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: DEADLOCK', '0: WRITE', '0: ROLLBACK', '0: READ']);
    expect(operations).toEqual([
      '0: BEGIN',
      '0: DEADLOCK deadlock ends rollback',
      '0: ROLLBACK ends rollback',
      '0: READ ends commit',
    ]);
  });

  it('sends only transaction control into a doomed transaction, and records that its COMMIT rolled back', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: DOOM', '0: WRITE', '0: COMMIT']);
    expect(operations).toEqual(['0: BEGIN', '0: DOOM serialization', '0: COMMIT ends rollback']);
  });

  it('rolls back at once when a COMMIT fails and leaves the transaction open', async () => {
    const { operations } = await schedule(['0: BEGIN', '0: COMMIT BUSY', '0: BEGIN', '0: COMMIT']);
    expect(operations).toEqual([
      '0: BEGIN',
      '0: COMMIT BUSY busy',
      '0: ROLLBACK ends rollback',
      '0: BEGIN',
      '0: COMMIT ends commit',
    ]);
  });

  it('leaves the transaction alone that COMMIT AND CHAIN begins, until the session is over', async () => {
    const { operations, history } = await schedule(['0: BEGIN', '0: COMMIT AND CHAIN', '0: WRITE']);
    expect(operations).toEqual([
      '0: BEGIN',
      '0: COMMIT AND CHAIN ends commit',
      '0: WRITE',
      '0: ROLLBACK ends rollback',
    ]);
    expect(history.operations.map(({ transaction }) => transaction)).toEqual([0, 0, 1, 1]);
  });

  it('sends one ROLLBACK where each one begins another transaction', async () => {
    const { operations } = await schedule(['0: CHAINS', '0: BEGIN']);
    expect(operations.slice(1)).toEqual(['0: BEGIN', '0: ROLLBACK ends rollback']);
  });

  it('leaves out the text of transactions chained to one that the database rolled back', async () => {
    const { operations } = await schedule([
      ...['0: BEGIN', '0: COMMIT AND CHAIN', '0: DEADLOCK', '0: WRITE', '0: COMMIT AND CHAIN'],
      ...['0: WRITE', '0: COMMIT', '0: READ'],
    ]);
    expect(operations).toEqual([
      '0: BEGIN',
      '0: COMMIT AND CHAIN ends commit',
      '0: DEADLOCK deadlock ends rollback',
      '0: READ ends commit',
    ]);
  });

  it('records a lost connection as an unknown outcome and sends that session nothing more', async () => {
    const { history, log } = await schedule(['0: BEGIN', '0: DIE', '0: READ', '1: READ']);
    const died = history.operations.find((op) => op.sql === 'DIE');
    expect(died).toMatchObject({ outcome: 'unknown', error: { class: 'connection-lost' } });
    expect(log.sent).toEqual(['1: BEGIN', '1: DIE', '2: READ']);
  });

  it('cancels, then gives up, a statement that is never answered', async () => {
    const { history, log } = await schedule(
      ['0: HANG', '0: READ'],
      { conflicts: 'fail' },
      { statementTimeoutMs: 1, lockTimeoutMs: 1 },
    );
    expect(history.operations).toHaveLength(1);
    expect(history.operations[0]).toMatchObject({ sql: 'HANG', end: null, outcome: 'unknown' });
    expect(log.sent).toContain('1: (cancel)');
  });

  it('cancels a statement that a schedule says is, if it waits when the next of its session is due', async () => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const { case: program, schedule: given } = script(
      ...[
        '0: BEGIN',
        '0: LOCK a',
        '1: BEGIN',
        '1: LOCK b',
        '1: LOCK a',
        '2: LOCK b',
        '1: ROLLBACK',
        '0: COMMIT',
      ],
    );
    const run = async (cancelled: readonly StatementRef[]) => {
      log.sent.length = 0;
      await runScheduled(scratch, { case: program, schedule: { ...given!, cancelled } }, { target });
      return log.sent.map((line) => line.slice(line.indexOf(' ') + 1)).slice(5);
    };
    expect(await run([])).toEqual(['LOCK b', 'COMMIT', 'ROLLBACK']);
    expect(await run([[1, 2]])).toEqual(['LOCK b', '(cancel)', 'ROLLBACK', 'COMMIT']);
    // One that has been answered is not.
    expect(await run([[1, 1]])).toEqual(['LOCK b', 'COMMIT', 'ROLLBACK']);
  });

  it('refuses a schedule that does not fit its case', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const { case: program } = script('0: BEGIN', '0: COMMIT');
    await expect(
      runScheduled(scratch, { case: program, schedule: totalOrder([[0, 1]]) }, { target }),
    ).rejects.toThrow(/statement 1 of session T0, where statement 0 is next/);
  });

  it('refuses a level the target does not have and names those it has', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    await expect(runScheduled(scratch, script('0: READ'), { target, level: 'snapshot' })).rejects.toThrow(
      /fake has no level "snapshot".*read committed, serializable/,
    );
  });

  it('sends every statement as it is written, a plain BEGIN too', async () => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const begins = ['BEGIN', 'begin work', 'START TRANSACTION', 'BEGIN IMMEDIATE'];
    const lines = begins.flatMap((begin) => [`0: ${begin}`, '0: COMMIT']);
    const history = await runScheduled(scratch, script(...lines), { target, level: 'serializable' });
    expect(log.sent.filter((sql) => !sql.endsWith('COMMIT'))).toEqual(begins.map((begin) => `1: ${begin}`));
    expect(history.operations.filter(({ kind }) => kind === 'begin').map(({ sql }) => sql)).toEqual(begins);
  });
});

describe('the free executor', () => {
  it('lets an observer look before the first statement and after the last', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const { case: program } = script('0: READ', '1: READ');
    const { header, operations } = await runFree(scratch, program, {
      target,
      observe: ['SELECT 1', 'SELECT 2'],
    });
    expect(header.sessions).toEqual(['T0', 'T1', 'observer']);
    expect(operations.map((op) => op.session)).toEqual([2, 2, 0, 1, 2, 2]);
    expect(operations[1]!.end!).toBeLessThanOrEqual(operations[2]!.start);
    expect(operations[3]!.end!).toBeLessThanOrEqual(operations[4]!.start);
  });

  it("keeps each session's program order and numbers transactions uniquely", async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const { case: program } = script(
      ...[0, 1, 2].flatMap((s) =>
        ['BEGIN', 'READ', 'COMMIT', 'BEGIN', 'READ', 'COMMIT'].map((sql) => `${s}: ${sql}`),
      ),
    );
    const history = await runFree(scratch, program, { target });
    for (const session of [0, 1, 2]) {
      const own = history.operations.filter((op) => op.session === session);
      expect(own.map((op) => op.statement![1])).toEqual([0, 1, 2, 3, 4, 5]);
      expect(own.every((op, i) => i === 0 || op.start >= own[i - 1]!.end!)).toBe(true);
    }
    expect(new Set(history.operations.map((op) => op.transaction)).size).toBe(6);
    expect(history.operations.map((op) => op.index)).toEqual(history.operations.map((_, i) => i));
  });

  it('stops sending when asked to, and keeps what it has', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const controller = new AbortController();
    const { case: program } = script(...Array.from({ length: 100 }, () => '0: READ'));
    const kept: Operation[] = [];
    const sink = {
      write(operation: Operation) {
        kept.push(operation);
        if (kept.length === 10) controller.abort();
      },
    };
    await runFree(scratch, program, { target, sink, signal: controller.signal });
    expect(kept).toHaveLength(10);
  });

  it('throws when the history cannot be written, after every session has come to rest', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const sink = {
      async write(operation: Operation) {
        if (operation.index === 5) throw new Error('disk full');
      },
    };
    const { case: program } = script(
      ...[0, 1].flatMap((s) => Array.from({ length: 20 }, () => `${s}: READ`)),
    );
    await expect(runFree(scratch, program, { target, sink })).rejects.toThrow('disk full');
  });

  it('throws what a session throws, which none should, instead of waiting for its answer', async () => {
    const { target } = fakeTarget();
    const scratch = await target.createScratch();
    const broken = {
      ...scratch,
      openSession: async (options: Parameters<typeof scratch.openSession>[0]) => {
        const session = await scratch.openSession(options);
        session.execute = async () => {
          throw new TypeError('no such row');
        };
        return session;
      },
    };
    const scheduled = script('0: READ', '1: READ');
    await expect(runFree(broken, scheduled.case, { target })).rejects.toThrow('no such row');
    await expect(runScheduled(broken, scheduled, { target })).rejects.toThrow('no such row');
  });

  it('reuses the sessions of a pool from run to run', async () => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 1000, lockTimeoutMs: 1000 });
    const { case: program } = script('0: SELECT', '1: SELECT');
    await runFree(scratch, program, { target, sessions });
    await runFree(scratch, program, { target, sessions });
    await sessions.close();
    expect(new Set(log.sent.map((line) => line.split(':')[0]))).toEqual(new Set(['1', '2']));
  });

  it('replaces a session after some hundred runs', async () => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 1000, lockTimeoutMs: 1000 });
    const { case: program } = script('0: SELECT');
    for (let run = 0; run < 1_000; run++) await runFree(scratch, program, { target, sessions });
    const used = new Set(log.sent.map((line) => line.split(':')[0]));
    expect(used.size).toBeGreaterThan(2);
    expect(used.size).toBeLessThan(10);
  });

  it('does not hand on a session whose settings a case has changed', async () => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 1000, lockTimeoutMs: 1000 });
    const { case: program } = script('0: SET x = 1');
    await runFree(scratch, program, { target, sessions });
    await runFree(scratch, program, { target, sessions });
    expect(log.sent).toEqual(['1: SET x = 1', '2: SET x = 1']);
  });

  it.each([
    "SELECT set_config('x', 'y', false)",
    'SELECT pg_try_advisory_lock(1)',
    "UPDATE t SET v = GET_LOCK('a', 0)",
    'SELECT a INTO TEMP t FROM t',
    'SELECT @a := 1',
  ])('does not hand on a session after %s', async (sql) => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 1000, lockTimeoutMs: 1000 });
    const { case: program } = script(`0: ${sql}`);
    await runFree(scratch, program, { target, sessions });
    await runFree(scratch, program, { target, sessions });
    expect(log.sent).toEqual([`1: ${sql}`, `2: ${sql}`]);
  });

  it.each([
    [true, ['1: SET x = 1', '1: SET x = 1']],
    [false, ['1: SET x = 1', '2: SET x = 1']],
  ])('hands it on if it can be renewed (%s)', async (renewed, sent) => {
    const { target, log } = fakeTarget();
    const scratch = await target.createScratch();
    const open = scratch.openSession.bind(scratch);
    scratch.openSession = async (options) =>
      Object.assign(await open(options), { renew: async () => renewed });
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 1000, lockTimeoutMs: 1000 });
    const { case: program } = script('0: SET x = 1');
    await runFree(scratch, program, { target, sessions });
    await runFree(scratch, program, { target, sessions });
    expect(log.sent).toEqual(sent);
  });
});

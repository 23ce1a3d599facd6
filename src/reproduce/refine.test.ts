import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Difference } from './compare.js';
import { type InferredOrder, openInference } from './infer.js';
import { refineOrder } from './refine.js';
import type { ReplayReport } from './replay.js';

/** Two transactions that read each other's row and write their own; the certifier fails the second. */
function writeSkew(failedAt: 'commit' | 'update'): History {
  const lines: [session: number, kind: 'begin' | 'select' | 'update' | 'commit', sql: string][] = [
    [0, 'begin', 'BEGIN'],
    [1, 'begin', 'BEGIN'],
    [0, 'select', 'SELECT id, v FROM t WHERE id = 1'],
    [1, 'select', 'SELECT id, v FROM t WHERE id = 2'],
    [0, 'update', 'UPDATE t SET v = 0 WHERE id = 2'],
    [0, 'commit', 'COMMIT'],
    [1, 'update', 'UPDATE t SET v = 0 WHERE id = 1'],
    [1, 'commit', 'COMMIT'],
  ];
  const operations = lines.map(([session, kind, sql], index): Operation => {
    const victim = session === 1 && kind === failedAt;
    return {
      ...{ index, session, transaction: session, kind, sql, start: index * 10, end: index * 10 + 9 },
      outcome: victim ? 'error' : 'ok',
      ...(victim && { error: { class: 'serialization', message: 'could not serialize' } }),
      ...(kind === 'commit' && { ends: session === 0 ? 'commit' : 'rollback' }),
      ...(kind === 'select' && { columns: ['id', 'v'], rows: [[session + 1, 1]] }),
      ...(kind === 'update' && !victim && { matched: 1 }),
    };
  });
  const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1), (2, 1)'];
  return { header: { sessions: ['A', 'B'], dialect: 'postgres', setup }, operations };
}

/** What a replay would report whose certifier never fails anyone. */
function lenient(raw: History, order: InferredOrder): ReplayReport {
  const skipped = new Set(order.leftOut.map(({ operation }) => operation));
  const differences = raw.operations
    .filter(({ index, error }) => error !== undefined && !skipped.has(index))
    .map(
      ({ index, sql }): Difference => ({
        ...{
          operation: index,
          session: 'B',
          sql: sql!,
          kind: 'error',
          was: 'serialization',
          is: 'ok',
          why: '',
        },
      }),
    );
  const [first] = differences;
  return {
    ...{
      mode: 'batch',
      history: raw,
      compared: 8 - skipped.size,
      same: 8 - skipped.size - differences.length,
    },
    differences,
    ...(first !== undefined && { firstDifference: first, earliest: first.operation }),
  };
}

type Line = readonly [session: number, start: number, end: number, sql: string, answer?: Partial<Operation>];

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1), (2, 1)'];

function historyOf(lines: readonly Line[]): History {
  const operations = lines.map(([session, start, end, sql, answer], index): Operation => {
    const kind = sql.split(' ')[0]!.toLowerCase() as 'select';
    return {
      ...{ index, session, transaction: session, kind, sql, start, end, outcome: 'ok' },
      ...(sql === 'COMMIT' && { ends: 'commit' }),
      ...answer,
    };
  });
  return { header: { sessions: ['A', 'B', 'C'], dialect: 'postgres', setup }, operations };
}

/** B waits for A's row, or is sent when it is free; then it reads another one. */
function readAfterWait(): History {
  return historyOf([
    [0, 1, 2, 'BEGIN'],
    [1, 1, 2, 'BEGIN'],
    [0, 3, 4, 'UPDATE t SET v = 2 WHERE id = 1', { matched: 1 }],
    [0, 6, 8, 'COMMIT'],
    [1, 7, 9, 'UPDATE t SET v = 3 WHERE id = 1', { matched: 1 }],
    [1, 10, 11, 'SELECT id, v FROM t WHERE id = 2', { columns: ['id', 'v'], rows: [[2, 1]] }],
    [1, 12, 13, 'COMMIT'],
  ]);
}

/** B locks row 1, waits for A's row 2 and falls to a deadlock. */
function deadlocked(): History {
  const error = { class: 'deadlock', message: 'deadlock' } as const;
  return historyOf([
    [0, 1, 2, 'BEGIN'],
    [1, 1, 2, 'BEGIN'],
    [0, 3, 4, 'UPDATE t SET v = 2 WHERE id = 2', { matched: 1 }],
    [1, 5, 20, 'UPDATE t SET v = 0 WHERE v < 9', { outcome: 'error', error, ends: 'rollback' }],
    [0, 6, 21, 'UPDATE t SET v = 2 WHERE id = 1', { matched: 1 }],
    [0, 22, 23, 'COMMIT'],
  ]);
}

function faithful(history: History): ReplayReport {
  const { length } = history.operations;
  return { mode: 'batch', history, compared: length, same: length, differences: [] };
}

/** A replay in which B's UPDATE had to wait, and the statement after it saw something else. */
function lateRead(raw: History): ReplayReport {
  const operation = raw.operations.findLastIndex(({ session, kind }) => session === 1 && kind !== 'commit');
  const first: Difference = {
    ...{ operation, session: 'B', sql: '', kind: 'rows', was: '', is: 'something else', why: '' },
  };
  const operations = raw.operations.map((op) =>
    op.session === 1 && op.kind === 'update' ? { ...op, statement: [1, 1] as const, blocked: true } : op,
  );
  return {
    ...{ mode: 'batch', history: { ...raw, operations }, compared: 7, same: 6, differences: [first] },
    ...{ firstDifference: first, earliest: operation },
  };
}

describe('learning from replays', () => {
  it('replays the order it began with again before it gives up: what waits behind one lock races', async () => {
    const raw = readAfterWait();
    const inference = openInference(raw, findContract('mariadb:read-committed')!);
    const first = inference.order();
    const orders: InferredOrder[] = [];
    const until = async (succeeds: number) => {
      orders.length = 0;
      return refineOrder(
        inference,
        async (one) => {
          orders.push(one);
          const tries = orders.filter((each) => each === first).length;
          return one === first && tries === succeeds ? faithful(raw) : lateRead(raw);
        },
        { first },
      );
    };
    const { order, report, replays } = await until(2);
    expect([order === first, report.firstDifference, replays]).toEqual([true, undefined, orders.length]);
    expect((await until(99)).report.firstDifference).toBeDefined();
  });

  it('searches again, a few times where the same order shows one thing now and another then', async () => {
    const raw = readAfterWait();
    const inference = openInference(raw, findContract('mariadb:read-committed')!);
    const first = inference.order();
    let tries = 0;
    const until = (succeeds: number, isRacing: boolean) => {
      tries = 0;
      return refineOrder(
        inference,
        (one) => {
          if (one === first && ++tries === succeeds) return Promise.resolve(faithful(raw));
          const again = lateRead(raw);
          return Promise.resolve(
            isRacing && one === first && tries % 2 === 0 ? { ...again, same: 5 } : again,
          );
        },
        { first },
      );
    };
    expect((await until(9, true)).report.firstDifference).toBeUndefined();
    await until(1_000, true);
    const racing = tries;
    expect(racing).toBeLessThan(30);
    // Otherwise once more, and that is all.
    await until(1_000, false);
    expect(tries).toBeGreaterThan(racing / 4);
    expect(tries).toBeLessThan(racing);
  });

  describe('takes a statement that differs to have', () => {
    /** One of two rows satisfied the condition when the last statement came to it; its count does not tell which. */
    const oneOfTwo = historyOf([
      [0, 1, 2, 'BEGIN'],
      [1, 1, 2, 'BEGIN'],
      [0, 3, 4, 'UPDATE t SET v = 5 WHERE id = 1', { matched: 1 }],
      [2, 5, 50, 'UPDATE t SET v = v + 1 WHERE v = 5', { matched: 1 }],
      [1, 6, 7, 'UPDATE t SET v = 5 WHERE id = 2', { matched: 1 }],
      [0, 20, 22, 'COMMIT'],
      [1, 24, 26, 'COMMIT'],
    ]);
    /** C puts back what was there at first, so B may have read before A wrote, or after C did. */
    const oneValueTwice = historyOf([
      [0, 1, 2, 'BEGIN'],
      [2, 1, 2, 'BEGIN'],
      [0, 3, 5, 'UPDATE t SET v = 2 WHERE id = 1', { matched: 1 }],
      [1, 4, 40, 'SELECT id, v FROM t WHERE id = 1', { columns: ['id', 'v'], rows: [[1, 1]] }],
      [0, 6, 10, 'COMMIT'],
      [2, 12, 20, 'UPDATE t SET v = 1 WHERE id = 1', { matched: 1 }],
      [2, 22, 30, 'COMMIT'],
    ]);

    const contract = findContract('mariadb:read-committed')!;
    const keyOf = ({ schedule }: InferredOrder) => JSON.stringify(schedule.batches);
    const differs = (raw: History, operation: number): ReplayReport => {
      const first: Difference = {
        operation,
        session: 'C',
        sql: '',
        kind: 'counts',
        was: '1',
        is: '2',
        why: '',
      };
      const { length } = raw.operations;
      return {
        ...{ mode: 'batch', history: raw, compared: length, same: length - 1, differences: [first] },
        ...{ firstDifference: first, earliest: operation },
      };
    };

    it('changed other rows, where its count fits them, too', async () => {
      const inference = openInference(oneOfTwo, contract);
      const [other, ...more] = [...inference.otherRows(3)];
      expect(more).toEqual([]);
      expect([...inference.otherRows(2)]).toEqual([]);
      const right = keyOf(other!.order([], { careful: true }));
      expect(right).not.toBe(keyOf(inference.order()));
      expect([...other!.otherRows(3)].map((one) => keyOf(one.order()))).toEqual([keyOf(inference.order())]);
      const { order, report } = await refineOrder(inference, async (one) =>
        keyOf(one) === right ? faithful(oneOfTwo) : differs(oneOfTwo, 3),
      );
      expect([keyOf(order), report.firstDifference]).toEqual([right, undefined]);
    });

    it('seen what it saw at another moment', async () => {
      const inference = openInference(oneValueTwice, contract);
      const [first] = inference.order().ambiguous;
      expect(first).toMatchObject({ what: 'version', choices: 2 });
      const choices = new Map([[0, 1 - first!.chosen]]);
      const right = keyOf(inference.order([], { careful: true, choices }));
      expect(right).not.toBe(keyOf(inference.order([], { careful: true })));
      const { report, learnt } = await refineOrder(inference, async (one) =>
        keyOf(one) === right ? faithful(oneValueTwice) : differs(oneValueTwice, 3),
      );
      expect([report.firstDifference, learnt]).toEqual([undefined, []]);
    });
  });

  it.each([
    ['commit', 'SELECT id, v FROM t WHERE id = 2;UPDATE t SET v = 0 WHERE id = 1;ROLLBACK'],
    ['update', 'SELECT id, v FROM t WHERE id = 2;ROLLBACK'],
  ] as const)(
    'lets a failed %s that does not come back take its recorded outcome',
    async (failedAt, left) => {
      const raw = writeSkew(failedAt);
      const inference = openInference(raw, findContract('postgres:serializable')!);
      const replayed: string[] = [];
      const { order, report } = await refineOrder(inference, (one) => {
        replayed.push(one.case.sessions[1]!.statements.slice(1).join(';'));
        return Promise.resolve(lenient(raw, one));
      });
      expect(replayed[0]).toMatch(/UPDATE t SET v = 0 WHERE id = 1;COMMIT$/);
      expect(replayed.at(-1)).toBe(left);
      expect(report.firstDifference).toBeUndefined();
      expect(order.notes).toContain('1 operation left out: its failure is taken as recorded (serialization)');
    },
  );

  it('puts a statement elsewhere that had to wait in the replay, where the next of its session came late', async () => {
    const raw = readAfterWait();
    const inference = openInference(raw, findContract('postgres:read-committed')!);
    const tried = new Set<string>();
    await refineOrder(inference, (order) => {
      const at = (s: number, p: number) =>
        order.schedule.batches.findIndex((batch) => batch.some(([a, b]) => a === s && b === p));
      tried.add(at(1, 1) < at(0, 2) ? 'sent to wait' : 'sent when free');
      return Promise.resolve(lateRead(raw));
    });
    expect([...tried].sort()).toEqual(['sent to wait', 'sent when free']);
  });

  it('tries with victims of deadlocks sent again when nothing else is left', async () => {
    const raw = deadlocked();
    const inference = openInference(raw, findContract('postgres:read-committed')!);
    const { order, report } = await refineOrder(inference, (one) =>
      Promise.resolve(one.schedule.cancelled === undefined ? lateRead(raw) : faithful(raw)),
    );
    expect(report.firstDifference).toBeUndefined();
    expect(order.case.sessions[1]!.statements).toEqual([
      'BEGIN',
      'UPDATE t SET v = 0 WHERE v < 9',
      'ROLLBACK',
    ]);
  });

  it('keeps sending failures again where they come back', async () => {
    const raw = writeSkew('commit');
    const inference = openInference(raw, findContract('postgres:serializable')!);
    const { order, replays } = await refineOrder(inference, () => Promise.resolve(faithful(raw)));
    expect(replays).toBe(1);
    expect(order.leftOut).toEqual([]);
  });
});

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

describe('learning from replays', () => {
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

  it('keeps sending failures again where they come back', async () => {
    const raw = writeSkew('commit');
    const inference = openInference(raw, findContract('postgres:serializable')!);
    const faithful: ReplayReport = { mode: 'batch', history: raw, compared: 8, same: 8, differences: [] };
    const { order, replays } = await refineOrder(inference, () => Promise.resolve(faithful));
    expect(replays).toBe(1);
    expect(order.leftOut).toEqual([]);
  });
});

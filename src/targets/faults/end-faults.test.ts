/** What faults of a transaction's end send, and what they pretend. */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../target.js';
import {
  commitOnRollback,
  failureEndsTransaction,
  partialCommit,
  unreportedWriteConflict,
} from './end-faults.js';
import { type FakeTurnOptions, fakeTurn } from './fake-turn.case.js';
import { shapeOf } from './statement-shape.js';
import type { Mechanism } from './turn.js';

const [first, second] = ['UPDATE t SET v = 1', 'INSERT INTO t VALUES (2)'];
const failed = (
  kind: NonNullable<Answer['error']>['class'],
  transaction: Answer['transaction'] = 'open',
): Answer => ({
  ...{ transaction, error: { class: kind, message: kind } },
});

/** Runs a mechanism inside an open transaction. */
async function inside(mechanism: Mechanism, sql: string, options: FakeTurnOptions) {
  const place = fakeTurn(sql, { before: [], ...options });
  await place.open(place.own);
  const answer = await mechanism(place.turn);
  return { ...place, answer };
}

describe('commit-on-rollback', () => {
  it.each<[string, string, FakeTurnOptions, string]>([
    ['a ROLLBACK after a write commits', 'ROLLBACK', { before: [first] }, 'COMMIT'],
    ['a ROLLBACK after reads is one', 'ROLLBACK', { before: ['SELECT * FROM t'] }, 'ROLLBACK'],
    ['a ROLLBACK that is not its turn is one', 'ROLLBACK', { before: [first], fires: false }, 'ROLLBACK'],
    ['a COMMIT is one', 'COMMIT', { before: [first] }, 'COMMIT'],
    ['ROLLBACK TO is left alone', 'ROLLBACK TO s', { before: [first] }, 'ROLLBACK TO s'],
  ])('%s', async (_, sql, options, expected) => {
    expect((await inside(commitOnRollback, sql, options)).sent).toEqual([expected]);
  });

  it('does not tell that it committed', async () => {
    const answers = { COMMIT: { transaction: 'none', ended: 'commit' } } as const;
    const { answer } = await inside(commitOnRollback, 'ROLLBACK', { before: [first], answers });
    expect(answer).toEqual({ transaction: 'none' });
  });

  it('tells of a COMMIT that failed', async () => {
    const answers = { COMMIT: failed('serialization', 'none') };
    const { answer } = await inside(commitOnRollback, 'ROLLBACK', { before: [first], answers });
    expect(answer.error?.class).toBe('serialization');
  });
});

describe('partial-commit', () => {
  const victim = (sql: string) => ({ log: { victim: shapeOf(sql, 'postgres') } });

  it.each<[string, FakeTurnOptions, readonly string[]]>([
    ['with a savepoint before it', {}, ['SAVEPOINT isolde_part', first]],
    ['without one where there are none', { features: { savepoints: false } }, [first]],
    ['without one beside others', { log: { savepoints: true } }, [first]],
    ['not at all if it is not its turn', { fires: false }, [first]],
  ])('marks a write %s', async (_, options, expected) => {
    const { sent, log } = await inside(partialCommit, first, options);
    expect(sent).toEqual(expected);
    expect(log.victim?.sql).toBe(options.fires === false ? undefined : first);
  });

  /** At COMMIT: the victim is the object that is in the log. */
  async function commit(options: FakeTurnOptions, at: number) {
    const place = fakeTurn('COMMIT', { before: [first, second], ...options });
    await place.open(place.own);
    const { log } = place;
    if (at >= 0) log.victim = log.statements[at]!;
    const answer = await partialCommit(place.turn);
    return { ...place, answer };
  }

  it.each<[string, FakeTurnOptions, number, readonly string[]]>([
    ['goes back and repeats what came after', {}, 0, ['ROLLBACK TO SAVEPOINT isolde_part', second, 'COMMIT']],
    ['goes back alone if nothing came after', {}, 1, ['ROLLBACK TO SAVEPOINT isolde_part', 'COMMIT']],
    [
      'begins anew without savepoints',
      { features: { savepoints: false } },
      0,
      ['ROLLBACK', 'BEGIN', second, 'COMMIT'],
    ],
    ['is a COMMIT where nothing is marked', {}, -1, ['COMMIT']],
    ['is a COMMIT of a single write', { before: [first] }, 0, ['COMMIT']],
    ['is a COMMIT beside other savepoints', { log: { savepoints: true } }, 0, ['COMMIT']],
  ])('at COMMIT %s', async (_, options, at, expected) => {
    expect((await commit(options, at)).sent).toEqual(expected);
  });

  it('tells of a write that cannot be repeated, and has rolled back', async () => {
    const { sent, answer } = await commit({ answers: { [second]: failed('duplicate-key') } }, 0);
    expect(sent.at(-1)).toBe('ROLLBACK');
    expect(answer).toMatchObject({
      error: { class: 'duplicate-key' },
      transaction: 'none',
      ended: 'rollback',
    });
  });

  it('has a victim only if a statement of the log is it, not one of the same text', async () => {
    const place = fakeTurn('COMMIT', { before: [first, second], ...victim(first) });
    await place.open(place.own);
    await partialCommit(place.turn);
    expect(place.sent).toEqual(['COMMIT']);
  });
});

describe('unreported-write-conflict', () => {
  it('repeats the writes of a transaction whose COMMIT failed, and commits them', async () => {
    let once = true;
    const place = fakeTurn('COMMIT', { before: [first, 'SELECT * FROM t', second] });
    await place.open(place.own);
    const { turn } = place;
    const answer = await unreportedWriteConflict({
      ...turn,
      send: async (sql) => {
        const real = await turn.send(sql);
        if (sql !== undefined || !once) return real;
        once = false;
        return failed('serialization', 'none');
      },
    });
    expect(place.sent).toEqual(['COMMIT', 'BEGIN', first, second, 'COMMIT']);
    expect(answer.error).toBeUndefined();
  });

  it.each<[string, FakeTurnOptions]>([
    ['another error', { answers: { [first]: failed('duplicate-key') } }],
    ['a conflict that is not its turn', { answers: { [first]: failed('serialization') }, fires: false }],
  ])('leaves %s as it is', async (_, options) => {
    const { sent, answer } = await inside(unreportedWriteConflict, first, options);
    expect(sent).toEqual([first]);
    expect(answer.error).toBeDefined();
  });

  it.each([
    ['SELECT 1', { error: { class: 'transaction-aborted' }, transaction: 'failed' }],
    ['COMMIT', { transaction: 'none', ended: 'rollback' }],
    ['ROLLBACK', { transaction: 'none' }],
  ])('plays a transaction that is doomed: %s is not sent', async (sql, expected) => {
    const { sent, answer } = await inside(unreportedWriteConflict, sql, { log: { doomed: true } });
    expect(sent).toEqual([]);
    expect(answer).toMatchObject(expected);
  });
});

describe('failure-ends-transaction', () => {
  it.each(['duplicate-key', 'constraint', 'data'] as const)(
    'begins anew after a %s, silently',
    async (kind) => {
      const { sent, answer } = await inside(failureEndsTransaction, first, {
        answers: { [first]: failed(kind) },
      });
      expect(sent).toEqual([first, 'ROLLBACK', 'BEGIN']);
      expect(answer).toMatchObject({ error: { class: kind }, transaction: 'open' });
    },
  );

  it.each<[string, FakeTurnOptions]>([
    ['after a conflict', { answers: { [first]: failed('serialization') } }],
    ['beside savepoints', { answers: { [first]: failed('data') }, log: { savepoints: true } }],
    ['out of turn', { answers: { [first]: failed('data') }, fires: false }],
    ['without an error', {}],
  ])('does nothing %s', async (_, options) => {
    expect((await inside(failureEndsTransaction, first, options)).sent).toEqual([first]);
  });

  it('does nothing outside a transaction', async () => {
    const { turn, sent } = fakeTurn(first, { answers: { [first]: failed('data', 'none') } });
    await failureEndsTransaction(turn);
    expect(sent).toEqual([first]);
  });
});

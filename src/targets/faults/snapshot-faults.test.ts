/** What faults of a transaction's view send, and on which connection. */
import { describe, expect, it } from 'vitest';
import { type FakeTurnOptions, fakeTurn } from './fake-turn.case.js';
import { lateSnapshot, weakerLevel } from './snapshot-faults.js';

const read = 'SELECT * FROM t';
const two = ['read committed', 'serializable'];

describe('weaker-level', () => {
  it.each<[string, FakeTurnOptions, readonly string[]]>([
    ['to both connections where a weaker level is', { levels: two }, ['BEGIN', 'weak: BEGIN read committed']],
    [
      'to the next weaker one of several',
      { levels: ['read uncommitted', ...two] },
      ['BEGIN', 'weak: BEGIN read committed'],
    ],
    [
      'to the one that is asked for',
      { levels: ['read uncommitted', ...two], level: 'read uncommitted' },
      ['BEGIN', 'weak: BEGIN read uncommitted'],
    ],
    [
      'to one where a stronger one is asked for',
      { levels: ['read committed'], level: 'serializable' },
      ['BEGIN'],
    ],
    ['to one where there is one level', {}, ['BEGIN']],
  ])('sends BEGIN %s', async (_, options, expected) => {
    const { turn, sent } = fakeTurn('BEGIN', options);
    await weakerLevel(turn);
    expect(sent).toEqual(expected);
  });

  it('begins nothing for a statement that autocommits', async () => {
    const { turn, sent } = fakeTurn(read, { levels: two });
    await weakerLevel(turn);
    expect(sent).toEqual([read]);
  });

  it.each([
    [true, ['ROLLBACK', `weak: ${read}`]],
    [false, ['weak: ROLLBACK', read]],
  ])('lets the first statement decide which of them lives: %j', async (fires, expected) => {
    const { turn, sent, own, weak, open, log } = fakeTurn(read, { before: [], levels: two, fires });
    await open(own, weak);
    await weakerLevel(turn);
    expect(sent).toEqual(expected);
    expect(log.weakened).toBe(fires);
  });

  it('stays where it is if the weaker one could not begin', async () => {
    const { turn, sent, own, open } = fakeTurn(read, { before: [], levels: two });
    await open(own);
    await weakerLevel(turn);
    expect(sent).toEqual([read]);
  });

  it('gives the weaker one up with a transaction that ends at once', async () => {
    const { turn, sent, own, weak, open } = fakeTurn('COMMIT', { before: [], levels: two });
    await open(own, weak);
    await weakerLevel(turn);
    expect(sent).toEqual(['weak: ROLLBACK', 'COMMIT']);
  });

  it.each<[string, FakeTurnOptions, readonly string[]]>([
    ['after reads', { before: [read] }, ['ROLLBACK', 'BEGIN', read]],
    ['not after a write, which would be lost', { before: [read, 'UPDATE t SET v = 1'] }, [read]],
    ['not after a lock, which would be let go', { before: [`${read} FOR UPDATE`] }, [read]],
    ['not beside savepoints', { before: [read], log: { savepoints: true } }, [read]],
  ])('begins anew with one level only: %s', async (_, options, expected) => {
    const { turn, sent, own, open, log } = fakeTurn(read, options);
    await open(own);
    log.weakened = true;
    await weakerLevel(turn);
    expect(sent).toEqual(expected);
  });
});

describe('late-snapshot', () => {
  it.each<[string, string, FakeTurnOptions, readonly string[]]>([
    ['takes the snapshot anew after the first read', read, { before: [read] }, ['ROLLBACK', 'BEGIN', read]],
    ['leaves the first statement alone', read, { before: [] }, [read]],
    ['leaves a transaction that wrote alone', read, { before: ['DELETE FROM t'] }, [read]],
    ['leaves the end alone', 'COMMIT', { before: [read] }, ['COMMIT']],
    ['strikes once', read, { before: [read], log: { renewed: true } }, [read]],
    ['finds nothing at a level without snapshots', read, { before: [read], holdsSnapshot: false }, [read]],
    ['waits for its turn', read, { before: [read], fires: false }, [read]],
  ])('%s', async (_, sql, options, expected) => {
    const { turn, sent, own, open } = fakeTurn(sql, options);
    await open(own);
    await lateSnapshot(turn);
    expect(sent).toEqual(expected);
  });
});

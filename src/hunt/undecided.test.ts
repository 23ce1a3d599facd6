import { describe, expect, it } from 'vitest';
import { openTarget } from '../targets/index.js';
import { withPlanted } from '../targets/planted-target.case.js';
import { newCounters } from './counters.js';
import { hunt } from './hunt.js';
import { addReasons, countUndecided, noRoundDecided, renderUndecided } from './undecided.js';

describe('undecided rounds', () => {
  it('are counted with their reasons, apart from numbers and quoted texts', () => {
    const counters = newCounters();
    countUndecided(counters, ['1 read not judged: a window function', '2 writes not judged: "x" of t0/1']);
    countUndecided(counters, [
      '3 reads not judged: a window function',
      '1 read not judged: a window function',
    ]);
    expect(counters.undecided).toBe(2);
    expect(counters.undecidedReasons).toEqual([
      { reason: 'reads not judged: a window function', rounds: 2 },
      { reason: 'writes not judged: … of tN/N', rounds: 1 },
    ]);
  });

  it('keep a bounded number of bounded reasons, whatever an engine says', () => {
    const counters = newCounters();
    const word = (i: number) => String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26));
    for (let i = 0; i < 600; i++) countUndecided(counters, [`${word(i)} ${'x'.repeat(10_000)}`]);
    countUndecided(
      counters,
      Array.from({ length: 1_000 }, (_, i) => word(i)),
    );
    addReasons(counters, [{ reason: '__proto__', rounds: 1 }]);
    expect(counters.undecidedReasons.length).toBeLessThanOrEqual(51);
    expect(Math.max(...counters.undecidedReasons.map(({ reason }) => reason.length))).toBeLessThanOrEqual(
      120,
    );
    expect(counters.undecidedReasons[0]!.reason).toBe('other reasons');
  });

  it('are shown by the three most frequent reasons', () => {
    const counters = { ...newCounters(), rounds: 9 };
    for (const [i, reason] of ['a', 'b', 'c', 'd'].entries())
      for (let n = 0; n <= i; n++) countUndecided(counters, [reason]);
    expect(renderUndecided(counters)).toEqual([
      'not decided: d (4 of 10 undecided rounds)',
      'not decided: c (3 of 10 undecided rounds)',
      'not decided: b (2 of 10 undecided rounds)',
    ]);
    expect(renderUndecided(newCounters())).toEqual([]);
  });

  it('say nothing about a database only if there are no others', () => {
    expect(noRoundDecided(newCounters())).toBe(false);
    expect(noRoundDecided({ ...newCounters(), rounds: 2, undecided: 1 })).toBe(false);
    expect(noRoundDecided({ ...newCounters(), rounds: 2, undecided: 2 })).toBe(true);
  });

  it('are what a hunt counts where nothing can run', async () => {
    const refused = { error: { class: 'syntax', message: 'no' }, transaction: 'none' } as const;
    const shelf = {
      isIgnored: async () => false,
      seenAgain: () => undefined,
      add: async () => Promise.reject(new Error('nothing is to be found')),
    };
    const { counters, bugs } = await hunt({
      open: async () =>
        withPlanted(await openTarget('duckdb:'), {
          execute: async (sql, send) => (/^(begin|commit|rollback|start)/i.test(sql) ? send(sql) : refused),
        }),
      ...{ shelf, seed: '1', environment: 'a test', oracles: ['mechanism'], to: 4 },
    });
    expect(bugs).toEqual([]);
    expect(counters).toMatchObject({ rounds: 4, undecided: 4 });
    expect(counters.undecidedReasons[0]!.reason).toContain('no statement could be run');
    expect(noRoundDecided(counters)).toBe(true);
  });
});

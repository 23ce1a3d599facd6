import { describe, expect, it } from 'vitest';
import { settleVerdict } from './sequential-test.js';
import type { TrialResult, Verdict } from './trial.js';

/** A run that gives these verdicts in turn, the last one for ever. */
function runs(...verdicts: readonly Verdict[]): { readonly run: () => Promise<TrialResult>; count: number } {
  const state = {
    count: 0,
    run: async (): Promise<TrialResult> => ({
      verdict: verdicts[Math.min(state.count++, verdicts.length - 1)]!,
    }),
  };
  return state;
}

/** A fixed sequence in which a given share of the verdicts is `same`. */
function randomRuns(share: number, seed: number): () => Promise<TrialResult> {
  let state = seed;
  return async () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return { verdict: state / 2 ** 31 < share ? 'same' : 'none' };
  };
}

describe('repeating a trial', () => {
  it('believes one run where one is enough', async () => {
    const once = runs('same');
    expect(await settleVerdict(once.run, { agree: 1 })).toEqual({ verdict: 'same' });
    expect(once.count).toBe(1);
  });

  it('believes as many equal runs as asked for', async () => {
    const thrice = runs('none');
    expect((await settleVerdict(thrice.run, { agree: 3 })).verdict).toBe('none');
    expect(thrice.count).toBe(3);
  });

  it('can believe one miss, and still want two hits', async () => {
    const [miss, hits] = [runs('none'), runs('same')];
    expect((await settleVerdict(miss.run, { agree: 2, agreeMissing: 1 })).verdict).toBe('none');
    expect((await settleVerdict(hits.run, { agree: 2, agreeMissing: 1 })).verdict).toBe('same');
    expect([miss.count, hits.count]).toEqual([1, 2]);
  });

  it('goes on after a disagreement until the odds are clear', async () => {
    const mostly = runs('same', 'none', 'same');
    const settled = await settleVerdict(mostly.run, { agree: 2 });
    expect(settled.verdict).toBe('same');
    expect(settled.note).toMatch(/^the finding showed in \d+ of \d+ runs$/);
    expect(mostly.count).toBeGreaterThan(5);
  });

  it('rejects what shows the finding too rarely, after few runs', async () => {
    const rarely = runs('same', 'none');
    expect((await settleVerdict(rarely.run, { agree: 2 })).verdict).toBe('flaky');
    expect(rarely.count).toBeLessThan(6);
  });

  it('says infeasible when that is why it failed', async () => {
    expect((await settleVerdict(runs('same', 'infeasible').run, { agree: 2 })).verdict).toBe('infeasible');
  });

  it('gives up as flaky when the odds never get clear', async () => {
    const never = runs(...Array.from({ length: 60 }, (_, i): Verdict => (i % 4 === 0 ? 'none' : 'same')));
    expect((await settleVerdict(never.run, { agree: 2, mostRuns: 20 })).verdict).toBe('flaky');
    expect(never.count).toBeLessThanOrEqual(20);
  });

  it('is wrong about as rarely as it promises', async () => {
    const accepted = async (share: number) => {
      let count = 0;
      for (let seed = 1; seed <= 400; seed++) {
        const { verdict } = await settleVerdict(randomRuns(share, seed * 7919), { agree: 6, mostRuns: 200 });
        if (verdict === 'same') count++;
      }
      return count / 400;
    };
    expect(await accepted(0.95)).toBeGreaterThan(0.93);
    expect(await accepted(0.4)).toBeLessThan(0.06);
  });
});

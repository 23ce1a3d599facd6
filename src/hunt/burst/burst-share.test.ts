import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { openTarget, type Target } from '../../targets/index.js';
import { hunt } from '../hunt.js';
import type { Shelf } from '../hunt-options.js';
import type { BurstFinding } from './burst.js';
import { BurstShare } from './burst-share.js';

describe('the share of a hunt', () => {
  const signal = new AbortController().signal;
  const level = 'snapshot';

  async function withDuckdb(use: (target: Target) => Promise<void>): Promise<void> {
    const target = await openTarget('duckdb:');
    await use(target).finally(() => target.close());
  }

  it('is due only when it would stay within its share', () => {
    const share = new BurstShare({ share: 0.1 }, () => 0);
    expect([0, 9_000, 10_000, 60_000].map((ms) => share.isDue(ms))).toEqual([false, false, true, true]);
    expect(new BurstShare({ share: 0 }, () => 0).isDue(1e9)).toBe(false);
  });

  it('counts what bursts took, and takes the next for as long as the last', () =>
    withDuckdb(async (target) => {
      let asked = 0;
      const share = new BurstShare({ share: 0.1, transactions: 8 }, () => (asked++ === 0 ? 0 : 3_000));
      const place = { target, levels: [level], contractAt: () => findContract('duckdb:snapshot')! } as const;
      expect(await share.run(place, { signal, onBroken: () => undefined })).toBeUndefined();
      expect(share.count).toBe(1);
      expect([59_000, 60_000].map((ms) => share.isDue(ms))).toEqual([false, true]);
    }));

  it(
    'does not run a program again that was found broken',
    () =>
      withDuckdb(async (target) => {
        const share = new BurstShare({ share: 1, transactions: 80 }, () => performance.now());
        // More than DuckDB promises: it has write skew.
        const place = { target, levels: [level], contractAt: () => findContract('adya:PL-3')! } as const;
        const broken: string[] = [];
        let announced = 0;
        for (let i = 0; i < 4; i++) {
          const found = await share.run(place, { signal, onBroken: () => announced++ });
          if (found !== undefined) broken.push(found.program);
        }
        expect(broken).toContain('numbers');
        expect(new Set(broken).size).toBe(broken.length);
        expect(announced).toBe(broken.length);
      }),
    60_000,
  );

  it('compares what is broken with the control of the hunt, which is opened then', async () => {
    const target = await openTarget('duckdb:?fault=lost-update');
    const right = await openTarget('duckdb:');
    let asked = 0;
    const control = async () => {
      asked++;
      return right;
    };
    const contractAt = () => findContract('duckdb:snapshot')!;
    const share = new BurstShare({ share: 1, transactions: 32 }, () => performance.now());
    try {
      const place = { target, levels: [level], contractAt, control } as const;
      const found = await share.run(place, { signal, onBroken: () => undefined });
      expect(found).toMatchObject({ program: 'pairs', control: { broken: 0, runs: 3 } });
      expect(found!.control!.by).toMatch(/^duckdb v?\d/);
      expect(asked).toBe(1);
    } finally {
      await target.close();
      await right.close();
    }
  }, 60_000);

  it('is hunted, kept and told of as other findings are, and ends a hunt that wanted one', async () => {
    const kept: BurstFinding[] = [];
    const told: string[] = [];
    const shelf: Shelf = {
      isIgnored: async () => false,
      add: async (bug) => ({ bug, isNew: false, files: [] }),
      addBurst: async (finding) => {
        kept.push(finding);
        return { id: 'b', isNew: true, folder: '', finding };
      },
      seenAgain: () => undefined,
    };
    const options = {
      seed: '1',
      to: 16,
      bugs: 1,
      contract: 'adya:PL-3',
      bursts: { share: 1, transactions: 80 },
    };
    // Time flies: a burst is due at once.
    let clock = 0;
    const { bursts, stopped, counters } = await hunt({
      ...{ ...options, shelf, open: () => openTarget('duckdb:'), now: () => (clock += 1_000) },
      onEvent: ({ kind }) => told.push(kind),
    });
    expect(kept.map(({ program }) => program)).toEqual(['numbers']);
    expect([bursts.length, stopped, counters.bursts]).toEqual([1, 'bugs', 1]);
    expect(told).toContain('burst');
  }, 60_000);

  it('is none where the shelf cannot keep bursts, and where a profile was chosen', async () => {
    const shelf = {
      isIgnored: async () => false,
      add: async (bug: never) => ({ bug, isNew: true, files: [] }),
      seenAgain: () => undefined,
    };
    let clock = 0;
    const base = { seed: '1', to: 8, open: () => openTarget('duckdb:'), now: () => (clock += 1_000) };
    const without = await hunt({ ...base, shelf, bursts: { share: 1 } });
    expect(without.counters.bursts).toBe(0);
    const able = { ...shelf, addBurst: async () => Promise.reject(new Error('not expected')) };
    expect((await hunt({ ...base, shelf: able, profile: 'simple' })).counters.bursts).toBe(0);
  }, 60_000);
});

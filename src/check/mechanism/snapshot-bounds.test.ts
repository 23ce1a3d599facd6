/** The bounds of a snapshot against every instant there is. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Interval, Tx } from '../../rows/index.js';
import { SnapshotBounds, type SnapshotHint } from './snapshot-bounds.js';

const hint = (tx: Tx): SnapshotHint => ({ tx, operation: 0, object: 't/1' });
const txOf = (commit: Interval): Tx => ({ commit }) as Tx;

const commits = fc.array(
  fc.tuple(fc.nat(8), fc.nat(3)).map(([start, length]) => txOf({ start, end: start + length })),
  { minLength: 1, maxLength: 4 },
);
const hints = fc.array(fc.tuple(fc.nat(3), fc.boolean()), { maxLength: 6 });

/** Whether an instant and moments of the commits exist that agree with all hints. */
function explained(txs: readonly Tx[], said: readonly (readonly [number, boolean])[]): boolean {
  const instants = Array.from({ length: 60 }, (_, i) => -1 + i / 4);
  return instants.some((instant) =>
    txs.every((tx, i) => {
      const own = new Set(said.filter(([of]) => of === i).map(([, seen]) => seen));
      if (own.size === 2) return false;
      if (own.has(true)) return tx.commit.start <= instant;
      return own.has(false) ? tx.commit.end >= instant : true;
    }),
  );
}

describe('what reads tell of a snapshot', () => {
  it('is contradictory exactly if no instant explains it', () => {
    fc.assert(
      fc.property(commits, hints, (txs, list) => {
        const said = list.map(([of, seen]) => [of % txs.length, seen] as const);
        const bounds = new SnapshotBounds();
        const fractures = said.map(([of, seen]) =>
          seen ? bounds.seen(hint(txs[of]!)) : bounds.missed(hint(txs[of]!)),
        );
        const broken = fractures.some((fracture) => fracture !== undefined);
        expect(broken).toBe(!explained(txs, said));
      }),
    );
  });

  it('narrows the span to where the instant can be', () => {
    fc.assert(
      fc.property(commits, hints, (txs, list) => {
        const said = list.map(([of, seen]) => [of % txs.length, seen] as const);
        if (!explained(txs, said)) return;
        const bounds = new SnapshotBounds();
        for (const [of, seen] of said) seen ? bounds.seen(hint(txs[of]!)) : bounds.missed(hint(txs[of]!));
        const { start, end } = bounds.narrow({ start: 0, end: 12 });
        expect(start).toBe(
          Math.max(0, ...said.filter(([, seen]) => seen).map(([of]) => txs[of]!.commit.start)),
        );
        expect(end).toBe(
          Math.min(12, ...said.filter(([, seen]) => !seen).map(([of]) => txs[of]!.commit.end)),
        );
      }),
    );
  });

  it('names the two transactions that contradict each other', () => {
    const [early, late] = [txOf({ start: 1, end: 2 }), txOf({ start: 5, end: 6 })];
    const bounds = new SnapshotBounds([hint(late)]);
    expect(bounds.missed(hint(early))).toEqual({ seen: hint(late), missed: hint(early) });
    const same = new SnapshotBounds();
    same.seen(hint(early));
    expect(same.missed(hint(early))).toEqual({ seen: hint(early), missed: hint(early) });
  });

  it('ends where something has been read from it', () => {
    const bounds = new SnapshotBounds();
    bounds.takenBy(7);
    bounds.takenBy(9);
    expect(bounds.narrow({ start: 1, end: 20 })).toEqual({ start: 1, end: 7 });
    // What contradicts itself narrows nothing.
    expect(bounds.narrow({ start: 8, end: 20 })).toEqual({ start: 8, end: 20 });
  });
});

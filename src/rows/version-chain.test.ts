import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastStarted, VersionChain, type VisibilityRules } from './version-chain.js';

interface Version {
  readonly earliest: number;
  readonly latest: number;
  readonly certain: boolean;
  readonly place: number;
}

const rules: VisibilityRules<Version> = {
  earliest: ({ earliest }) => earliest,
  latest: ({ latest }) => latest,
  isCertain: ({ certain }) => certain,
  comesBefore: (first, second) => first.place < second.place,
};

const span = fc.tuple(fc.nat(40), fc.nat(15));

/** Versions whose order is the chain's, with the spans in which their commits may lie. */
function chainOf(spans: readonly (readonly [number, number])[], certain: readonly boolean[] = []) {
  const chain = new VersionChain<Version>();
  const sorted = spans.toSorted(([a], [b]) => a - b);
  chain.versions = sorted.map(([earliest, length], place) => ({
    earliest,
    latest: earliest + length,
    certain: certain[place] ?? true,
    place,
  }));
  return chain;
}

describe('version chains', () => {
  it('give a range where the order is certain, the same as where it is looked up pair by pair', () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), span, (spans, [start, length]) => {
        const chain = chainOf(spans);
        const snapshot = { start, end: start + length };
        const last = chain.newestPossible(snapshot.end, rules);
        const first = Math.max(0, chain.newestSettled(snapshot.start, rules, last));
        expect(chain.versions.slice(first, last + 1)).toEqual(chain.visible(snapshot, rules));
      }),
    );
  });

  it('show every version that is the last one at some instant, for some instants of the commits', () => {
    const instants = ({ earliest, latest }: Version) => [earliest, latest];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(12), fc.nat(6)), { maxLength: 4 }),
        fc.tuple(fc.nat(12), fc.nat(6)),
        (spans, [start, length]) => {
          const chain = chainOf(spans);
          const snapshot = { start, end: start + length };
          // Every choice of extreme instants that keeps the chain's order; the version shown is the last one committed by then.
          const shown = new Set<Version>();
          const choose = (place: number, from: number, newest: Version | undefined, at: number): void => {
            const version = chain.versions[place];
            if (version === undefined) {
              if (newest !== undefined) shown.add(newest);
              return;
            }
            for (const instant of [...instants(version), from, at, at + 0.5]) {
              if (instant < from || instant < version.earliest || instant > version.latest) continue;
              choose(place + 1, instant, instant <= at ? version : newest, at);
            }
          };
          const possible = chain.versions.every(({ latest }, place) =>
            chain.versions.slice(0, place).every((other) => other.earliest <= latest),
          );
          fc.pre(possible);
          for (const at of [snapshot.start, snapshot.end]) choose(0, Number.NEGATIVE_INFINITY, undefined, at);
          const visible = new Set(chain.visible(snapshot, rules));
          for (const version of shown) expect(visible.has(version)).toBe(true);
        },
      ),
    );
  });

  it('hide nothing behind a version that may not have been written, and leave out the reader’s own', () => {
    const chain = chainOf(
      [
        [0, 1],
        [5, 1],
        [10, 1],
      ],
      [true, false, true],
    );
    const [first, doubtful, later] = chain.versions;
    const seen = (start: number, own?: Version) => chain.visible({ start, end: start }, rules, own);
    expect(seen(8)).toEqual([first, doubtful]);
    expect(seen(20)).toEqual([later]);
    expect(seen(20, later)).toEqual([first, doubtful]);
    expect(chain.visible({ start: 8, end: 8 }, { ...rules, isSeenEarly: (v) => v === later })).toEqual([
      first,
      doubtful,
      later,
    ]);
  });

  it('show the newest that a snapshot does not miss', () => {
    const chain = chainOf([
      [0, 10],
      [20, 15],
      [40, 30],
      [60, 20],
    ]);
    const shown = (...missed: number[]) =>
      chain.shown(50, rules, new Set(missed.map((place) => chain.versions[place]!)));
    expect([shown(), shown(2), shown(1, 2), shown(0, 1, 2)]).toEqual([2, 1, 0, -1]);
  });

  it('finds the last event that may have begun, the moment itself included', () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 12 }), fc.nat(50), (spans, time) => {
        const { versions } = chainOf(spans);
        expect(lastStarted(versions, rules, time)).toBe(
          versions.findLastIndex(({ earliest }) => earliest <= time),
        );
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Chain } from './evidence.js';
import type { Steps } from './steps.js';
import { TableChanges } from './table-changes.js';

interface Sent {
  readonly row: number;
  readonly start: number;
  readonly end: number;
}

/** A table in which each of these steps publishes a version of a row. */
function tableOf(sent: readonly Sent[]) {
  const start = Float64Array.from(sent, (one) => one.start);
  const end = Float64Array.from(sent, (one) => one.end);
  const spans = { earliest: (step: number) => start[step]!, latest: (step: number) => end[step]! };
  const steps = { start, end, spans } as unknown as Steps;
  const chains = [0, 1, 2].map(() => new Chain());
  sent.forEach(({ row }, step) => {
    chains[row]!.publish(step, 'unknown', step);
  });
  return { chains, steps, table: new TableChanges([0, 1, 2], (row) => chains[row]!.versions, steps) };
}

const time = fc.integer({ min: 0, max: 30 });
const span = fc.record({ start: time, length: fc.integer({ min: 0, max: 9 }) }).map(({ start, length }) => ({
  start,
  end: length === 9 ? Number.POSITIVE_INFINITY : start + length,
}));
const sent = fc
  .record({ span, row: fc.integer({ min: 0, max: 2 }) })
  .map(({ span: { start, end }, row }) => ({
    ...{ row, start, end },
  }));

describe('the changes of a table', () => {
  it('around a span are those that a look at every version finds', () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 20 }), span, (all, asked) => {
        const { chains, table, steps } = tableOf(all);
        const seen: { row: number; publish: number; settled: number }[] = [];
        table.around(asked, (row, publish, settled) => seen.push({ row, publish, settled }));
        const overlaps = ({ start, end }: Sent) => start <= asked.end && end >= asked.start;
        const expected = all.flatMap((one, step) => (overlaps(one) ? [step] : []));
        expect(seen.map(({ publish }) => publish).toSorted((a, b) => a - b)).toEqual(expected);
        const starts = seen.map(({ publish }) => all[publish]!.start);
        expect(starts).toEqual(starts.toSorted((a, b) => b - a));
        for (const { row, publish, settled } of seen) {
          const chain = chains[row]!;
          const isHidden = chain.versions.indexOf(publish) <= chain.newestSettled(asked.start, steps.spans);
          expect(settled < asked.start).toBe(isHidden);
          found++;
        }
      }),
      { numRuns: 1000, seed: 1 },
    );
    expect(found).toBeGreaterThan(1000);
  });

  it('tell the newest version that was sent by a moment', () => {
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 20 }), time, (all, by) => {
        const { chains, table, steps } = tableOf(all);
        chains.forEach((chain, row) => {
          expect(table.newestSent(row, by)).toBe(chain.shown(by, steps.spans, new Set()));
        });
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it('are found at a price that does not grow with a COMMIT that was never answered', () => {
    const timeOf = (count: number): number => {
      const all = Array.from({ length: count }, (_, i) => ({
        ...{ row: i % 3, start: 10 * i },
        end: i === 0 ? Number.POSITIVE_INFINITY : 10 * i + 5,
      }));
      const { table } = tableOf(all);
      let shown = 0;
      const { user } = process.cpuUsage();
      for (let i = 1; i < count; i++)
        table.around({ start: 10 * i, end: 10 * i + 1 }, () => {
          shown++;
        });
      expect(shown).toBe(2 * (count - 1));
      return process.cpuUsage().user - user;
    };
    timeOf(5_000);
    const least = (count: number) => Math.min(...[1, 2, 3].map(() => timeOf(count)));
    // Sixteen times as much, were each question to go through all changes before it. The system counts in ticks: less than two of them is no measure.
    expect(least(20_000)).toBeLessThan(10 * Math.max(least(5_000), 8_000));
  });
});

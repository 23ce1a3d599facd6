import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpanIndex } from './span-index.js';

const span = fc
  .record({ start: fc.integer({ min: 0, max: 12 }), length: fc.integer({ min: 0, max: 6 }) })
  .map(({ start, length }) => ({ start, end: length === 6 ? Number.POSITIVE_INFINITY : start + length }));
const owner = fc.integer({ min: 0, max: 3 });

describe('an index of spans', () => {
  it('says what a look at every span says', () => {
    const owned = fc.record({ span, owner });
    const question = fc.record({ span, but: fc.option(owner, { nil: undefined }) });
    let [met, missed] = [0, 0];
    fc.assert(
      fc.property(
        fc.array(fc.record({ added: fc.array(owned, { maxLength: 6 }), question }), { maxLength: 4 }),
        (rounds) => {
          const index = new SpanIndex<number>();
          const all: { span: { start: number; end: number }; owner: number }[] = [];
          for (const { added, question } of rounds) {
            for (const each of added) index.add(each.span, each.owner);
            all.push(...added);
            const { span: asked, but } = question;
            const slow = all.some(
              (each) => each.owner !== but && each.span.start <= asked.end && each.span.end >= asked.start,
            );
            if (slow) met++;
            else missed++;
            expect(index.meets(asked, but)).toBe(slow);
          }
        },
      ),
      { numRuns: 1000, seed: 1 },
    );
    expect(Math.min(met, missed)).toBeGreaterThan(100);
  });
});

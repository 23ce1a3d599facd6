import { describe, expect, it } from 'vitest';
import type { Row } from '../../sql/index.js';
import { type Difference, sameDifference } from './compare.js';

const result = (extra: readonly Row[], missing: readonly Row[] = []): Difference => ({
  what: 'result',
  rows: { extra, missing },
});

describe('the same difference', () => {
  it('does not depend on the order in which an engine returned the rows', () => {
    const one = result(
      [
        [1, 'a'],
        [2, 'b'],
      ],
      [
        [3, 'c'],
        [4, 'd'],
      ],
    );
    const other = result(
      [
        [2, 'b'],
        [1, 'a'],
      ],
      [
        [4, 'd'],
        [3, 'c'],
      ],
    );
    expect(sameDifference(one, other, false)).toBe(true);
    expect(
      sameDifference(
        one,
        result(
          [[2, 'b']],
          [
            [4, 'd'],
            [3, 'c'],
          ],
        ),
        false,
      ),
    ).toBe(false);
    expect(
      sameDifference(
        one,
        result(
          [
            [2, 'b'],
            [2, 'b'],
          ],
          [
            [4, 'd'],
            [3, 'c'],
          ],
        ),
        false,
      ),
    ).toBe(false);
  });

  it('takes values for the same that an engine may show for one another', () => {
    expect(sameDifference(result([[{ decimal: '1.50' }]]), result([[{ decimal: '1.5' }]]), false)).toBe(true);
    expect(sameDifference(result([['A']]), result([['a']]), true)).toBe(true);
    expect(sameDifference(result([['A']]), result([['a']]), false)).toBe(false);
  });

  it('tells rows, states of other tables, counts and errors apart', () => {
    const state = (table: string): Difference => ({
      what: 'state',
      table,
      rows: { extra: [[1]], missing: [] },
    });
    expect(sameDifference(state('t'), state('t'), false)).toBe(true);
    expect(sameDifference(state('t'), state('u'), false)).toBe(false);
    expect(sameDifference(state('t'), result([[1]]), false)).toBe(false);
    const count: Difference = { what: 'count', seen: 1, expected: 2 };
    expect(sameDifference(count, { ...count }, false)).toBe(true);
    expect(sameDifference(count, { ...count, seen: 2 }, false)).toBe(false);
    expect(sameDifference(count, { what: 'error', message: 'x' }, false)).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { Random } from '../generate/index.js';
import { vote } from './vote.js';

/** The probability that a vote of k comparisons, each wrong with probability p, is wrong. */
function voteError(p: number, k: number): number {
  let sum = 0;
  let choose = 1;
  for (let i = 0; i <= k; i++) {
    if (i >= Math.ceil(k / 2)) sum += choose * p ** i * (1 - p) ** (k - i);
    choose = (choose * (k - i)) / (i + 1);
  }
  return sum;
}

describe('a vote', () => {
  it('ends when the rest cannot change it', async () => {
    const { choice, votes } = await vote(5, async (i) => ({
      choice: i === 1 ? 'B' : 'A',
      settledBy: 'agreement',
      steps: 1,
    }));
    expect({ choice, votes }).toEqual({ choice: 'A', votes: 4 });
  });

  it('is none when nobody has an opinion, or as many say the one as the other', async () => {
    expect(await vote(5, async () => ({ choice: undefined, settledBy: 'nothing', steps: 1 }))).toMatchObject({
      choice: undefined,
      votes: 5,
    });
    const halves = (i: number) => ({
      choice: (['A', 'B'] as const)[i]!,
      settledBy: 'sum' as const,
      steps: 1,
    });
    expect(
      (
        await vote(4, async (i) =>
          i < 2 ? halves(i) : { choice: undefined, settledBy: 'nothing', steps: 1 },
        )
      ).choice,
    ).toBeUndefined();
  });

  it.each([
    [0.1, 1],
    [0.1, 5],
    [0.2, 3],
    [0.3, 5],
    [0.4, 5],
    [0.3, 9],
  ])(
    'of comparisons that are wrong with probability %f is wrong as often as the formula says for k = %i',
    async (p, k) => {
      const random = new Random(`${p} ${k}`);
      const trials = 4000;
      let wrong = 0;
      for (let i = 0; i < trials; i++) {
        const { choice } = await vote(k, async () => ({
          choice: random.fraction() < p ? 'B' : 'A',
          settledBy: 'agreement',
          steps: 1,
        }));
        if (choice === 'B') wrong++;
      }
      const expected = voteError(p, k);
      // Four standard deviations: the seed is fixed, so it holds or not, for ever.
      expect(Math.abs(wrong / trials - expected)).toBeLessThan(
        4 * Math.sqrt((expected * (1 - expected)) / trials),
      );
    },
  );

  it('is wrong ever less often the more are asked', () => {
    expect(voteError(0.2, 1)).toBeCloseTo(0.2);
    expect(voteError(0.2, 3)).toBeCloseTo(3 * 0.04 * 0.8 + 0.008);
    expect([1, 3, 5, 7].map((k) => voteError(0.2, k))).toEqual(
      [1, 3, 5, 7].map((k) => voteError(0.2, k)).toSorted((a, b) => b - a),
    );
  });
});

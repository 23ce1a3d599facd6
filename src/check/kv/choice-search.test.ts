import { describe, expect, it } from 'vitest';
import { type Choice, ChoiceSearch } from './choice-search.js';
import { seededRandom } from './slow/random-history.js';

const never = (): boolean => false;

describe('a search for choices', () => {
  it('makes the likeliest first and avoids what is forbidden', () => {
    const search = new ChoiceSearch([
      [1, 2],
      [3, 4],
    ]);
    expect(search.next(never)).toEqual([1, 3]);
    search.forbid([
      [0, 1],
      [1, 3],
    ]);
    expect(search.next(never)).toEqual([1, 4]);
    search.forbid([[0, 1]]);
    expect(search.next(never)).toEqual([2, 3]);
    search.forbid([]);
    expect(search.next(never)).toBeUndefined();
  });

  it('finds a choice exactly where one exists (seed 3)', () => {
    const random = seededRandom(3);
    const below = (n: number): number => Math.floor(random() * n);
    let impossible = 0;
    for (let i = 0; i < 300; i++) {
      const values = Array.from({ length: 4 }, () => [0, 1, 2].slice(0, 1 + below(3)));
      const forbidden = Array.from({ length: 4 + below(12) }, () => {
        const questions = [0, 1, 2, 3].filter(() => random() < 0.5);
        return (questions.length > 0 ? questions : [0]).map((question): Choice => [question, below(3)]);
      });
      const allowed = (chosen: readonly number[]): boolean =>
        forbidden.every((choices) => choices.some(([question, value]) => chosen[question] !== value));
      const all = values.reduce<number[][]>(
        (chosen, next) => chosen.flatMap((made) => next.map((value) => [...made, value])),
        [[]],
      );
      const search = new ChoiceSearch(values);
      for (const choices of forbidden) search.forbid(choices);
      const found = search.next(never);
      expect(found !== undefined).toBe(all.some(allowed));
      if (found === undefined) impossible++;
      else expect(allowed(found)).toBe(true);
    }
    expect(impossible).toBeGreaterThan(20);
  });
});

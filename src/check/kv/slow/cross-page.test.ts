import { expect, it } from 'vitest';
import { type CrossRow, crossPage } from './cross-page.js';

const row = (level: string, histories: number): CrossRow => ({
  ...{ level, commit: 'abc', histories, seed: 7, broken: 3, undecided: 1, withoutResult: 2 },
  ...{ proved: histories - 3, disagreements: 0 },
});

it('a run of some levels keeps the rows of the others, in the order of the levels', () => {
  const names = ['causal', 'snapshot', 'serializable'];
  const first = crossPage('', [row('serializable', 10), row('causal', 10)], names);
  const second = crossPage(first, [row('snapshot', 20), row('causal', 30)], names);
  expect(second.split('\n').filter((line) => /^\| (causal|snap|serial)/.test(line))).toEqual([
    '| causal | abc | 30 | 7 | 3 | 1 | 2 | 27 | 0 |',
    '| snapshot | abc | 20 | 7 | 3 | 1 | 2 | 17 | 0 |',
    '| serializable | abc | 10 | 7 | 3 | 1 | 2 | 7 | 0 |',
  ]);
});

import { expect, it } from 'vitest';
import { parseStatement } from '../sql/index.js';
import { FeatureLog } from './lost-features.js';
import { featuresOf } from './statement-features.js';

const log = (worked: readonly string[], refused: readonly string[]) => {
  const all = new FeatureLog('sqlite');
  all.add({ worked, refused });
  return all;
};
const plain = 'SELECT a FROM t';
const distinct = ['SELECT DISTINCT a FROM t', 'SELECT DISTINCT b FROM t'];
const [feature] = featuresOf(parseStatement(distinct[0]!, 'sqlite'), 'sqlite').filter(
  (each) => !featuresOf(parseStatement(plain, 'sqlite'), 'sqlite').includes(each),
);

it('a feature is lost if it worked before and statements are refused for nothing else', () => {
  expect(log([plain], distinct).lost([feature!])).toEqual([
    { feature, refused: 2, example: 'SELECT DISTINCT a FROM t' },
  ]);
});

it('is not lost if it never worked, works once, or one statement alone was refused', () => {
  expect(log([plain], distinct).lost([])).toEqual([]);
  expect(log([plain, distinct[0]!], distinct).lost([feature!])).toEqual([]);
  expect(log([plain], [distinct[0]!]).lost([feature!])).toEqual([]);
});

it('is not lost if another feature of the statement has not worked either', () => {
  expect(log([], distinct).lost([feature!])).toEqual([]);
});

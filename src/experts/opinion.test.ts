import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agreement } from './comparison.js';
import { type Choice, type Opinion, readOpinion } from './opinion.js';

const pair: readonly Choice[] = ['A', 'B'];

describe('an opinion', () => {
  it.each([
    ['{"choice":"A","confidence":80,"reason":"why"}', { choice: 'A', confidence: 80, reason: 'why' }],
    ['  {"choice":"B","confidence":0}\n', { choice: 'B', confidence: 0, reason: '' }],
    ['```json\n{"choice":"A","confidence":100}\n```', { choice: 'A', confidence: 100, reason: '' }],
    ['```\n{"choice":"A","confidence":12.5,"more":1}\n```', { choice: 'A', confidence: 12.5, reason: '' }],
  ])('is read: %s', (text, expected) => {
    expect(readOpinion(text, pair)).toEqual(expected);
  });

  it.each([
    'A',
    '',
    'I think {"choice":"A","confidence":80}',
    '{"choice":"A","confidence":80} and {"choice":"B","confidence":90}',
    '[{"choice":"A","confidence":80}]',
    '{"choice":"C","confidence":80}',
    '{"choice":"a","confidence":80}',
    '{"choice":["A"],"confidence":80}',
    '{"choice":"same","confidence":80}',
    '{"choice":"A"}',
    '{"choice":"A","confidence":"80"}',
    '{"choice":"A","confidence":-1}',
    '{"choice":"A","confidence":101}',
    '{"choice":"A","confidence":null}',
    '{"choice":"A","confidence":80,"reason":{"a":1}}',
    'null',
    '"A"',
  ])('is none: %s', (text) => {
    expect(readOpinion(text, pair)).toBeUndefined();
  });

  it('shows its reason on one short line', () => {
    const opinion = readOpinion(
      JSON.stringify({ choice: 'A', confidence: 1, reason: `a\nb\u001b[2J${'x'.repeat(5000)}` }),
      pair,
    )!;
    expect(opinion.reason).not.toMatch(/\p{Cc}/u);
    expect(opinion.reason.length).toBeLessThan(1000);
  });

  it('is never more than the question allows, whatever is said', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const opinion = readOpinion(text, pair);
        if (opinion !== undefined) expect(pair).toContain(opinion.choice);
      }),
    );
  });
});

const say = (choice: Choice, confidence: number): Opinion => ({ choice, confidence, reason: '' });

describe('experts agree', () => {
  it.each<[string, readonly Opinion[], Choice | undefined]>([
    ['if all say the same', [say('A', 80), say('A', 60), say('A', 5)], 'A'],
    ['if those who differ are clearly less sure', [say('A', 80), say('B', 50)], 'A'],
    ['not if those who differ are nearly as sure', [say('A', 80), say('B', 51)], undefined],
    [
      'not if one of those who differ is nearly as sure',
      [say('A', 90), say('B', 10), say('B', 70)],
      undefined,
    ],
    ['not if nobody is sure', [say('A', 49), say('A', 40)], undefined],
    ['if one is just sure enough', [say('A', 50), say('B', 20)], 'A'],
    ['not without anybody', [], undefined],
  ])('%s', (_, opinions, expected) => {
    expect(agreement(opinions)).toBe(expected);
    expect(agreement(opinions.toReversed())).toBe(expected);
  });
});

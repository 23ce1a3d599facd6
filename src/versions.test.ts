import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVersions, isOfSeries, isVersion } from './versions.js';

describe('compareVersions', () => {
  it('counts numbers as numbers, and what leads to a release before it', () => {
    const ordered = [
      '0.5.0-pre.9',
      '0.5.0-pre.17',
      '0.5.0',
      '0.5.3',
      '0.10.0',
      '1.3.2-alpha.26',
      '1.4.0-r.1',
      '1.4.0-r.2',
      '1.4.0',
      '17',
      '17.0',
      '17.10',
    ];
    expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered);
  });

  it('is an order', () => {
    const part = fc.nat({ max: 3 });
    const version = fc
      .tuple(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.option(fc.tuple(fc.constantFrom('a', 'r'), part)),
      )
      .map(([release, pre]) => release.join('.') + (pre === null ? '' : `-${pre.join('.')}`));
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(isVersion(a)).toBe(true);
        expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
        expect(compareVersions(a, b) === 0).toBe(a === b);
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0)
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});

it('isOfSeries', () => {
  expect(isOfSeries('1.1.3', '1.1')).toBe(true);
  expect(isOfSeries('1.1.3', '1.1.3')).toBe(true);
  expect(isOfSeries('1.10.0', '1.1')).toBe(false);
  expect(isOfSeries('0.5.0-pre.17', '0.5')).toBe(false);
  expect(isOfSeries('0.5.0-pre.17', '0.5.0-pre.17')).toBe(true);
});

import { describe, expect, it } from 'vitest';
import { graphAnomalies } from '../contracts/index.js';
import { parseAnomalySwitches } from './anomaly-switches.js';

describe('anomalies that are switched', () => {
  it.each([
    ['G1a', { only: ['G1a'] }],
    ['g1A, Lost-Update', { only: ['G1a', 'lost-update'] }],
    ['no-write-skew', { ignore: ['write-skew'] }],
    ['-G2', { ignore: ['G2'] }],
    ['NO-g2,G0', { only: ['G0'], ignore: ['G2'] }],
  ])('%s', (text, expected) => {
    expect(parseAnomalySwitches(text)).toEqual(expected);
  });

  it('are all that there are, on and off', () => {
    for (const name of graphAnomalies) {
      expect(parseAnomalySwitches(name)).toEqual({ only: [name] });
      expect(parseAnomalySwitches(`no-${name}`)).toEqual({ ignore: [name] });
    }
  });

  it.each(['', 'G9', 'G1a,', 'no-', 'no-no-G1a', 'G1a;G2', '__proto__'])('%j names none', (text) => {
    expect(() => parseAnomalySwitches(text)).toThrow(/there is no anomaly/);
    expect(() => parseAnomalySwitches(text)).toThrow(/lost-update/);
  });
});

import { describe, expect, it } from 'vitest';
import { newCounters } from './counters.js';
import { duration, renderCounters } from './render.js';

describe('durations', () => {
  it.each([
    [0, '0.0 s'],
    [59.94, '59.9 s'],
    [60, '1 min 00 s'],
    [61.4, '1 min 01 s'],
    [119.6, '2 min 00 s'],
    [3_605, '60 min 05 s'],
  ])('%f seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});

describe('what a hunt has done so far', () => {
  it('divides nothing by zero before it has begun', () => {
    const text = renderCounters(newCounters(), 0);
    expect(text).toBe(
      '0 rounds in 0.0 s (0/min), 0/s transactions, 0/s statements, 0 % aborted, 0 % failed, ' +
        'conflicts on rows in 0 % of rounds\n' +
        'findings: 0 raw, 0 confirmed, 0 unconfirmed, 0 reduced, 0 distinct',
    );
  });

  it('gives rates, shares, and when the first bug was found', () => {
    const counters = {
      ...newCounters(),
      ...{ rounds: 30, seconds: 60, transactions: 600, statements: 1_200, aborted: 150, failed: 12 },
      ...{ conflicts: 27, raw: 5, confirmed: 3, unconfirmed: 2, reduced: 3, ignored: 1, firstBugSeconds: 75 },
    };
    expect(renderCounters(counters, 2)).toBe(
      '30 rounds in 1 min 00 s (30/min), 10/s transactions, 20/s statements, 25.0 % aborted, 1.0 % failed, ' +
        'conflicts on rows in 90.0 % of rounds\n' +
        'findings: 5 raw, 3 confirmed, 2 unconfirmed, 3 reduced, 2 distinct, 1 ignored; first after 1 min 15 s',
    );
  });
});

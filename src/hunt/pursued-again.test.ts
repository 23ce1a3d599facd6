import { describe, expect, it } from 'vitest';
import type { FindingKind } from '../check/index.js';
import { isPursued } from './pursued-again.js';

const pursued = (kind: FindingKind, bug?: string) =>
  Array.from({ length: 16 }, (_, i) => i + 1).filter((count) =>
    isPursued({ count, ...(bug !== undefined && { bug }) }, { kind }),
  );

describe('of findings with one identity', () => {
  it('fewer and fewer are pursued, whether or not a bug came of one', () => {
    expect(pursued('stale-read')).toEqual([1, 2, 4, 8, 16]);
    expect(pursued('stale-read', 'a bug')).toEqual([1, 2, 4, 8, 16]);
    expect(pursued('no-answer')).toEqual([1, 2, 4, 8, 16]);
  });

  it('none is that costs a time-out in every trial, once it is confirmed', () => {
    expect(pursued('no-answer', 'a bug')).toEqual([]);
  });
});

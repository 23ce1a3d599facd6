import { describe, expect, it } from 'vitest';
import { imageAt, lastStartedBefore, overlappingCommits } from './chains.js';
import type { Steps } from './steps.js';

/** Steps 0–3 are COMMITs of sessions 0–3; step 4 is a read of session 4 during [30, 50]. */
const steps = {
  start: Float64Array.of(0, 20, 40, 60, 30),
  end: Float64Array.of(10, 35, 70, 80, 50),
  session: Int32Array.of(0, 1, 2, 3, 4),
} as Steps;
const chain = { publish: [0, 1, 2, 3], image: [[0], [1], [2], [3]] };

describe('version chains', () => {
  it('finds the last step that began before a time', () => {
    expect([-1, 0, 1, 25, 100].map((time) => lastStartedBefore([0, 1, 2, 3], steps.start, time))).toEqual([
      -1, -1, 0, 1, 3,
    ]);
    expect(lastStartedBefore([], steps.start, 5)).toBe(-1);
  });

  it('tells the COMMITs that a snapshot may or may not show, by their answers', () => {
    expect(overlappingCommits([chain], [0], 4, steps)).toEqual([1, 2]);
    expect(overlappingCommits([undefined], [0], 4, steps)).toEqual([]);
  });

  it('shows what was published before the snapshot and is not missed by it', () => {
    const shown = (...unseen: number[]) => imageAt(chain, 'absent', 4, new Set(unseen), steps);
    expect([shown(), shown(2), shown(1, 2), shown(0, 1, 2)]).toEqual([[2], [1], [0], 'absent']);
  });
});

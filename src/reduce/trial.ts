/**
 * A trial: run a candidate, check it, say whether the finding that is being reduced is still there. Strategies and
 * passes know nothing else about databases, checkers or bugs.
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';

/**
 * - `same`: the finding is there: same clause broken, same roles of operations and rows.
 * - `another`: something is wrong, but not that. Going on from here would reduce another bug.
 * - `none`: nothing is wrong.
 * - `infeasible`: the schedule could not run (a statement waited until its time-out).
 * - `flaky`: runs disagreed, and repeating them did not settle it.
 */
export type Verdict = 'same' | 'another' | 'none' | 'infeasible' | 'flaky';

export interface TrialResult {
  readonly verdict: Verdict;
  /** The finding: the same one, or the other one. */
  readonly finding?: Finding;
  readonly history?: History;
  /** What else there is to say: how runs disagreed, what timed out. */
  readonly note?: string;
}

export interface TrialOracle {
  /** How many trials can run at once. */
  readonly lanes: number;
  /** Runs one trial on a lane (from 0) that no other trial uses meanwhile. */
  run(candidate: Candidate, lane: number): Promise<TrialResult>;
}

/**
 * A trial: run a candidate, check it, say whether the finding that is being reduced is still there. Strategies and
 * passes know nothing else about databases, checkers or bugs.
 */
import type { Finding } from '../check/index.js';
import type { Level } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
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
  /** One trial on a lane (from 0) that no other trial uses meanwhile, repeated until its answer is sure. */
  run(candidate: Candidate, lane: number): Promise<TrialResult>;
  /** A single run, for counting how often a case shows the finding. Default: `run`. */
  runOnce?(candidate: Candidate, lane: number): Promise<TrialResult>;
}

/** What a run of a case shows. */
export interface ObservedRun {
  readonly history: History;
  readonly findings: readonly Finding[];
  /** What could not be judged. */
  readonly unknownReasons?: readonly string[];
}

/** An oracle that can also say what is wrong with a case before anybody knows what to look for. */
export interface FindingOracle extends TrialOracle {
  /** What trials run on: the name (with version) that answers depend on, its SQL, its levels from weakest to strongest. */
  readonly subject: { readonly name: string; readonly dialect: Dialect; readonly levels: readonly Level[] };
  /** Runs a case once. */
  observe(candidate: Candidate): Promise<ObservedRun>;
  /** What makes a finding the finding it is. */
  identity(finding: Finding, history: History): string;
  /** Sets the identity that `same` means in trials from now on. */
  lookFor(identity: string): void;
}

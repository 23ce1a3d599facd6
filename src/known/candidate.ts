/** What is asked, and what an answer says of each report it was compared with. */
import type { Level } from '../contracts/index.js';
import type { Behaviour } from '../dedupe/index.js';
import type { TargetStamp } from '../histories/index.js';
import type { KnownBug } from './repository.js';
import type { KnownRun } from './run-known.js';
import type { Build } from './runnable.js';

/** What is asked about. */
export interface AskedBug {
  readonly target: TargetStamp;
  readonly level: Level;
  readonly behaviour: Behaviour;
}

/** What the two cases are called in the answer. */
export interface CaseNames {
  readonly asked: string;
  readonly report: string;
}

/** Other builds on which the bug and a report are compared. */
export type BuildsFor = (report: KnownBug) => Promise<readonly Build[]>;

/** A report, as far as an answer names it. */
export interface KnownReference {
  readonly id: string;
  readonly name: string;
  readonly url?: string;
  /** Why it is named. */
  readonly why: string;
}

/** How a report and the bug fit, the best fit first. */
export const matches = [
  'same-form', // its case shows the same behaviour here, statement by statement
  'same-cause', // the same cause by the same trigger, in another form
  'same-builds', // both show and are gone together over changes of versions and settings
  'same-with-reads', // with reads added, the one case shows what the other shows
  'other-trigger', // the same symptom, brought about otherwise
  'not-run', // its case could not be run
  'no-case',
  'different',
] as const;
export type Match = (typeof matches)[number];

export interface Candidate extends KnownReference {
  readonly likeness: number;
  readonly match: Match;
  /** Other builds prove that it is another bug. */
  readonly ruledOut?: true;
  /** Other builds prove that it is the same one. */
  readonly confirmed?: true;
  readonly run?: KnownRun;
}

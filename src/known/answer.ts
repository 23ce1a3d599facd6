/**
 * Is it known? From cheap to costly, and the costly part decides:
 *
 * 1. Of all reports, those about the same storage engine whose symptom can be that of the finding are ranked by the likeness of
 *    their features. Candidates are those with a case, and the nearest K = 16 of the others.
 * 2. Each candidate with a case is run on the very database the finding came from, judged by the same oracle and contract. A
 *    finding of that run with the same cause and trigger is the same bug; with the same form (variant), all the more.
 * 3. Candidates that cannot be run are compared by features alone. That never makes a duplicate; if one is nearly equal, the
 *    answer is left open.
 */
import type { Finding } from '../check/index.js';
import { findContract, type Level } from '../contracts/index.js';
import type { Behaviour } from '../dedupe/index.js';
import type { TargetStamp } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import { counted } from '../words.js';
import { caseFeatures } from './case-features.js';
import type { Symptom } from './entry.js';
import { encode, type Features } from './features.js';
import type { KnownBug, Repository } from './repository.js';
import {
  describeFinding,
  type KnownFinding,
  type KnownRun,
  type ObserveKnown,
  runKnown,
} from './run-known.js';
import { nearest, type Vector } from './weights.js';

/** Candidates, as in the paper. */
export const candidateCount = 16;
/** Cases that are run for one answer. */
const mostRuns = 64;
/** Reports that cannot be run leave the answer open from this likeness on. */
const nearlyEqual = 0.97;

/** A report, as far as an answer names it. */
export interface KnownReference {
  readonly id: string;
  readonly name: string;
  readonly url?: string;
  /** Why it is named. */
  readonly why: string;
}

/** What reports and the store keep of an answer. */
export interface KnownVerdict {
  readonly verdict: 'duplicate' | 'unique' | 'undecided';
  /** Duplicate: the reports of this bug, the best fit first. Undecided: those it may be one of. */
  readonly reports: readonly KnownReference[];
  readonly why: string;
}

export interface Candidate extends KnownReference {
  readonly likeness: number;
  readonly match: 'form' | 'cause' | 'other-trigger' | 'different' | 'not-run' | 'no-case';
  readonly run?: KnownRun;
}

export interface KnownAnswer extends KnownVerdict {
  /** All that were compared, the best fit first. */
  readonly candidates: readonly Candidate[];
  readonly vector: Vector;
}

/** What is asked about. */
export interface Asked {
  readonly target: TargetStamp;
  readonly level: Level;
  readonly behaviour: Behaviour;
}

export interface Place {
  readonly target: Target;
  readonly observe: ObserveKnown;
}

/** `place`: where candidates are run; absent: by features alone. */
export async function isKnown(asked: Asked, repository: Repository, place?: Place): Promise<KnownAnswer> {
  const { behaviour, target, level } = asked;
  const vector = encode(target.name, caseFeatures(behaviour.case, level));
  if (target.settings?.fault !== undefined)
    return {
      verdict: 'unique',
      reports: [],
      why: 'the engine has an injected fault, which is nobody’s report',
      candidates: [],
      vector,
    };
  const wanted = symptomsOf(behaviour.finding);
  const fitting = repository.bugs.filter(
    (bug) => isSameStorage(bug.engine, target.name) && wanted.has(bug.symptom),
  );
  // A run costs less than a wrong guess: features cut off only what cannot be run.
  const found = [true, false].flatMap((runnable) => {
    const reports = fitting.filter((bug) => (bug.case !== undefined) === runnable);
    return nearest(
      vector,
      reports,
      repository.weights,
      runnable && place !== undefined ? mostRuns : candidateCount,
    );
  });
  const own = describeFinding(behaviour);
  const { finding } = behaviour;
  const contract = finding.contract === undefined ? undefined : findContract(finding.contract);
  const by = { oracle: finding.oracle, ...(contract !== undefined && { contract }) };
  const candidates: Candidate[] = [];
  for (const { report, likeness } of found) {
    const run =
      place === undefined || report.case === undefined ? undefined : await runKnown(report, place, by);
    candidates.push(compare(report, likeness, own, run));
  }
  return { ...decide(candidates, target.name, repository), vector };
}

/** The answer for a text without a case that could be run: the nearest reports, by features. */
export function isKnownByText(
  engine: string | undefined,
  features: Features,
  repository: Repository,
): KnownAnswer {
  const vector = encode(engine ?? 'unknown', features);
  const bugs =
    engine === undefined
      ? repository.bugs
      : repository.bugs.filter((bug) => isSameStorage(bug.engine, engine));
  const candidates = nearest(vector, bugs, repository.weights, candidateCount).map(({ report, likeness }) =>
    compare(report, likeness, undefined, undefined),
  );
  return { ...decide(candidates, engine, repository), vector };
}

/** MariaDB and MySQL share InnoDB, and most of its reports. */
function isSameStorage(one: string, other: string): boolean {
  const storage = (engine: string) => (engine === 'mariadb' || engine === 'mysql' ? 'innodb' : engine);
  return storage(one) === storage(other);
}

const crashes: ReadonlySet<Symptom> = new Set(['crash', 'unknown']);
const anomalies: ReadonlySet<Symptom> = new Set([
  'wrong-read',
  'wrong-state',
  'missing-wait',
  'missing-error',
  'unknown',
]);

function symptomsOf({ oracle }: Finding): ReadonlySet<Symptom> {
  return oracle === 'server' ? crashes : anomalies;
}

function compare(
  report: KnownBug,
  likeness: number,
  own: KnownFinding | undefined,
  run: KnownRun | undefined,
): Candidate {
  const { id, name, url } = report;
  const named = { id, name, ...(url !== undefined && { url }), likeness, ...(run && { run }) };
  const alike = `features ${(100 * likeness).toFixed(0)} % alike`;
  if (run === undefined || own === undefined) {
    const why = report.case === undefined ? 'it has no case that could be run' : 'its case was not run';
    return { ...named, match: report.case === undefined ? 'no-case' : 'not-run', why: `${alike}; ${why}` };
  }
  if (run.outcome === 'not-run') return { ...named, match: 'not-run', why: `${alike}; ${run.why}` };
  const alikes = run.findings.filter(({ signature }) => signature === own.signature);
  const same = alikes.filter(({ trigger }) => trigger === own.trigger);
  if (same.some(({ variant }) => variant === own.variant))
    return { ...named, match: 'form', why: `its case shows the same behaviour here, in the same form` };
  if (same.length > 0)
    return { ...named, match: 'cause', why: 'its case shows the same cause here, in another form' };
  const [other] = alikes;
  if (other !== undefined) {
    const why = `its case shows the same symptom here, by another trigger (${other.trigger || 'none'}, not ${own.trigger || 'none'})`;
    return { ...named, match: 'other-trigger', why };
  }
  return {
    ...named,
    match: 'different',
    why:
      run.outcome === 'shows'
        ? 'its case shows here, and is another behaviour'
        : `its case does not behave so here: ${run.why}`,
  };
}

const ranks: Readonly<Record<Candidate['match'], number>> = {
  form: 0,
  cause: 1,
  'other-trigger': 2,
  'not-run': 3,
  'no-case': 3,
  different: 4,
};

function decide(
  all: readonly Candidate[],
  engine: string | undefined,
  { bugs }: Repository,
): Omit<KnownAnswer, 'vector'> {
  const isOwnEngine = ({ id }: Candidate) => (bugs.find((bug) => bug.id === id)?.engine === engine ? 0 : 1);
  const candidates = [...all].sort(
    (a, b) =>
      ranks[a.match] - ranks[b.match] ||
      isOwnEngine(a) - isOwnEngine(b) ||
      b.likeness - a.likeness ||
      (a.id < b.id ? -1 : 1),
  );
  const refer = (list: readonly Candidate[]): KnownReference[] =>
    list.map(({ id, name, url, why }) => ({ id, name, ...(url !== undefined && { url }), why }));
  const same = candidates.filter(({ match }) => match === 'form' || match === 'cause');
  const ran = candidates.filter(({ run }) => run !== undefined && run.outcome !== 'not-run').length;
  const compared = `compared with ${counted(candidates.length, 'report')} of ${bugs.length}, ${ran} of them by running`;
  if (same.length > 0)
    return { verdict: 'duplicate', reports: refer(same), why: `${same[0]!.why}; ${compared}`, candidates };
  const open = candidates.filter(
    ({ match, likeness }) =>
      match === 'other-trigger' || ((match === 'no-case' || match === 'not-run') && likeness >= nearlyEqual),
  );
  if (open.length > 0)
    return { verdict: 'undecided', reports: refer(open.slice(0, 5)), why: compared, candidates };
  return { verdict: 'unique', reports: [], why: compared, candidates };
}

/**
 * Is it known? From cheap to costly, and the costly part decides:
 *
 * 1. Of all reports, those about the same storage engine whose symptom can be that of the finding are ranked by the likeness of
 *    their features. Candidates are the nearest K = 16, and further ones only if they have a case and cases can be run here: a run costs less than a
 *    wrong guess.
 * 2. Each candidate with a case is run on the very database the finding came from, judged by the same oracle and contract. A
 *    finding of that run with the same cause and trigger is the same bug; with the same form (variant), all the more.
 * 3. Where other builds can be run (versions, settings), a candidate whose case shows here is compared on those, too (`witness.ts`): what differs
 *    proves two bugs, what comes and goes together over two changes is one, whatever the signatures are.
 * 4. If there is no duplicate yet, cases that show here are run with more reads and without forms such as RETURNING: if
 *    the one then shows what the other shows, they are two views of one bug.
 * 5. Reports that share the root cause (`bug`) of a duplicate are named with it; the one that is filed comes first.
 * 6. Candidates that cannot be run are compared by features alone. That never makes a duplicate; if one is nearly equal, the
 *    answer is left open.
 */
import { type Finding, isServerFailure } from '../check/index.js';
import { describeKind, findContract } from '../contracts/index.js';
import { counted } from '../words.js';
import {
  type AskedBug,
  type BuildsFor,
  type Candidate,
  type CaseNames,
  type KnownReference,
  type Match,
  matches,
} from './candidate.js';
import { caseFeatures } from './case-features.js';
import { RunComparison } from './compare-by-running.js';
import type { Symptom } from './entry.js';
import { encode, type Features } from './features.js';
import type { KnownBug, Repository } from './repository.js';
import { describeFinding, type KnownFinding, type KnownRun, runKnown } from './run-known.js';
import type { KnownPlace } from './runnable.js';
import { isSameStorage } from './storage.js';
import { nearest, type Vector } from './weights.js';

/** Candidates, as in the paper. */
export const candidateCount = 16;
/** Cases that are run for one answer. */
const mostRuns = 64;
/** Reports that cannot be run leave the answer open from this likeness on. */
const nearlyEqual = 0.97;

/** What reports and the store keep of an answer. */
export interface KnownVerdict {
  readonly verdict: 'duplicate' | 'unique' | 'undecided';
  /** Duplicate: the reports of this bug, the best fit first. Undecided: those it may be one of. */
  readonly reports: readonly KnownReference[];
  readonly why: string;
}

export interface KnownAnswer extends KnownVerdict {
  /** All that were compared, the best fit first. */
  readonly candidates: readonly Candidate[];
  readonly vector: Vector;
}

export interface IsKnownOptions {
  /** Other builds on which the bug and a report are compared; default none. */
  readonly builds?: BuildsFor;
  /**
   * What follows if one of two cases shows what the other shows only with reads added: a duplicate (default), or nothing certain. Without other
   * builds two bugs often look alike that closely, so whoever lets a bug go because it is known asks for `undecided`.
   */
  readonly withReads?: 'duplicate' | 'undecided';
  /** What the answer calls the two cases; default the bug’s case and its case, that of the report. */
  readonly names?: CaseNames;
}

const usualNames: CaseNames = { asked: 'the bug’s case', report: 'its case' };

/** `place`: where candidates are run; absent: by features alone. */
export async function isKnown(
  asked: AskedBug,
  repository: Repository,
  place?: KnownPlace,
  { builds = async () => [], withReads = 'duplicate', names = usualNames }: IsKnownOptions = {},
): Promise<KnownAnswer> {
  const { behaviour, target, level } = asked;
  const vector = encode(target.name, caseFeatures(behaviour.case, { engine: target.name, level }));
  if (target.settings?.fault !== undefined)
    return {
      verdict: 'unique',
      reports: [],
      why: 'the engine has an injected fault, which is nobody’s report',
      candidates: [],
      vector,
    };
  const found = candidatesOf(asked, vector, repository, place !== undefined);
  const own = describeFinding(behaviour);
  const { finding, notIsolation } = behaviour;
  const contract = finding.contract === undefined ? undefined : findContract(finding.contract);
  const by = { oracle: finding.oracle, notIsolation, ...(contract !== undefined && { contract }) };
  const comparison = place === undefined ? undefined : new RunComparison(asked, { by, place, names });
  const candidates: Candidate[] = [];
  for (const { report, likeness } of found) {
    const run =
      place === undefined || report.case === undefined ? undefined : await runKnown(report, place, by);
    const candidate = compare(report, likeness, names, run && { own, run });
    candidates.push((await comparison?.onBuilds(candidate, report, builds)) ?? candidate);
  }
  if (comparison !== undefined && !candidates.some(isDuplicate))
    for (const [i, { report }] of found.entries())
      candidates[i] = (await comparison.withReads(candidates[i]!, report)) ?? candidates[i]!;
  const open = withReads === 'undecided' ? new Set<Match>(['same-with-reads']) : undefined;
  return { ...decide(candidates, target.name, repository, open), vector };
}

/** Whether a report may be about what a database has. */
function isAbout({ engine, settings }: KnownBug, target: Parameters<typeof isSameStorage>[1]): boolean {
  return isSameStorage({ name: engine, settings }, target);
}

interface Near {
  readonly report: KnownBug;
  readonly likeness: number;
}

/** The nearest K; where cases can be run, further ones that have a case. */
function candidatesOf(
  { target, behaviour }: AskedBug,
  vector: Vector,
  { bugs, weights }: Repository,
  runs: boolean,
): Near[] {
  const wanted = symptomsOfFinding(behaviour.finding);
  const fitting = bugs.filter((bug) => isAbout(bug, target) && wanted.has(bug.symptom));
  const ranked = nearest(vector, fitting, weights, fitting.length);
  const further = ranked.slice(candidateCount).filter(({ report }) => report.case !== undefined);
  return [...ranked.slice(0, candidateCount), ...(runs ? further.slice(0, mostRuns) : [])];
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
      : repository.bugs.filter((bug) => isSameStorage({ name: bug.engine }, { name: engine }));
  const candidates = nearest(vector, bugs, repository.weights, candidateCount).map(({ report, likeness }) =>
    compare(report, likeness, usualNames),
  );
  return { ...decide(candidates, engine, repository), vector };
}

const crashes: ReadonlySet<Symptom> = new Set(['crash', 'unknown']);
const failures: ReadonlySet<Symptom> = new Set(['unexpected-error', 'crash', 'unknown']);
const anomalies: ReadonlySet<Symptom> = new Set([
  'wrong-read',
  'wrong-state',
  'missing-wait',
  'missing-error',
  'unknown',
]);

/** What a report of such a finding may call its symptom. */
function symptomsOfFinding(finding: Finding): ReadonlySet<Symptom> {
  const { symptom } = describeKind(finding.kind);
  if (symptom === 'unexpected-error') return failures;
  return symptom === 'crash' || isServerFailure(finding) ? crashes : anomalies;
}

function compare(
  report: KnownBug,
  likeness: number,
  { report: theirs }: CaseNames,
  ran?: { readonly own: KnownFinding; readonly run: KnownRun },
): Candidate {
  const { id, name, url } = report;
  const named = { id, name, ...(url !== undefined && { url }), likeness, ...(ran && { run: ran.run }) };
  const alike = `features ${(100 * likeness).toFixed(0)} % alike`;
  if (ran === undefined) {
    const why = report.case === undefined ? 'it has no case that could be run' : `${theirs} was not run`;
    return { ...named, match: report.case === undefined ? 'no-case' : 'not-run', why: `${alike}; ${why}` };
  }
  const { own, run } = ran;
  if (run.outcome === 'not-run') return { ...named, match: 'not-run', why: `${alike}; ${run.why}` };
  const alikes = run.findings.filter(({ signature }) => signature === own.signature);
  const same = alikes.filter(({ trigger }) => trigger === own.trigger);
  if (same.some(({ variant }) => variant === own.variant))
    return { ...named, match: 'same-form', why: `${theirs} shows the same behaviour here, in the same form` };
  if (same.length > 0)
    return { ...named, match: 'same-cause', why: `${theirs} shows the same cause here, in another form` };
  const [other] = alikes;
  if (other !== undefined) {
    const why = `${theirs} shows the same symptom here, by another trigger (${other.trigger || 'none'}, not ${own.trigger || 'none'})`;
    return { ...named, match: 'other-trigger', why };
  }
  return {
    ...named,
    match: 'different',
    why:
      run.outcome === 'shows'
        ? `${theirs} shows here, and is another behaviour`
        : `${theirs} does not behave so here: ${run.why}`,
  };
}

const duplicates: ReadonlySet<Match> = new Set(['same-form', 'same-cause', 'same-builds', 'same-with-reads']);
const isDuplicate = ({ match }: Candidate): boolean => duplicates.has(match);

function refer({ id, name, url, why }: KnownReference): KnownReference {
  return { id, name, ...(url !== undefined && { url }), why };
}

function decide(
  all: readonly Candidate[],
  engine: string | undefined,
  repository: Repository,
  weak: ReadonlySet<Match> = new Set(),
): Omit<KnownAnswer, 'vector'> {
  const { bugs } = repository;
  const isOwnEngine = ({ id }: Candidate) => (bugs.find((bug) => bug.id === id)?.engine === engine ? 0 : 1);
  const candidates = [...all].sort(
    (a, b) =>
      // What several builds say counts for more than a likeness on one.
      Number(b.confirmed === true) - Number(a.confirmed === true) ||
      matches.indexOf(a.match) - matches.indexOf(b.match) ||
      isOwnEngine(a) - isOwnEngine(b) ||
      b.likeness - a.likeness ||
      (a.id < b.id ? -1 : 1),
  );
  const same = candidates.filter((each) => isDuplicate(each) && !weak.has(each.match));
  const ran = candidates.filter(({ run }) => run !== undefined && run.outcome !== 'not-run').length;
  const compared = `compared with ${counted(candidates.length, 'report')} of ${bugs.length}, ${ran} of them by running`;
  if (same.length > 0) {
    const reports = withRootCause(same, candidates, repository);
    return { verdict: 'duplicate', reports, why: `${reports[0]!.why}; ${compared}`, candidates };
  }
  const open = candidates.filter(
    ({ match, likeness }) =>
      weak.has(match) ||
      match === 'other-trigger' ||
      ((match === 'no-case' || match === 'not-run') && likeness >= nearlyEqual),
  );
  if (open.length > 0)
    return { verdict: 'undecided', reports: open.slice(0, 5).map(refer), why: compared, candidates };
  return { verdict: 'unique', reports: [], why: compared, candidates };
}

/** The duplicates, and filed reports of their root cause that running would not have named; these first, if the best duplicate is filed nowhere. */
function withRootCause(
  same: readonly Candidate[],
  candidates: readonly Candidate[],
  { bugs }: Repository,
): KnownReference[] {
  const passedOver = new Set([...same, ...candidates.filter(({ ruledOut }) => ruledOut)].map(({ id }) => id));
  const kin = new Map<string, KnownReference>();
  for (const { id, name, why } of same) {
    const root = bugs.find((bug) => bug.id === id);
    if (root?.bug === undefined) continue;
    for (const bug of bugs) {
      if (
        bug.url === undefined ||
        bug.bug !== root.bug ||
        !isAbout(bug, { name: root.engine, settings: root.settings })
      )
        continue;
      if (passedOver.has(bug.id) || kin.has(bug.id)) continue;
      kin.set(bug.id, refer({ ...bug, why: `it has the root cause of “${name}”: ${why}` }));
    }
  }
  const found = same.map(refer);
  return found[0]!.url === undefined ? [...kin.values(), ...found] : [...found, ...kin.values()];
}

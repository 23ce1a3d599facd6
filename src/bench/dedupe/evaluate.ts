/**
 * Asks every method about every bug of the set, twice: with the report of its cause on file (a duplicate) and without it (unique). The report
 * of a cause is its bug with the fewest statements, which is what people file; it is not asked about.
 */
import { countStatements } from '../../cases/index.js';
import { isSameStorage } from '../../known/index.js';
import { median } from '../measure.js';
import type { Kept } from './kept.js';
import { itemId, type LabelledItem, type LabelledSet, type Miss } from './labelled-set.js';
import {
  type Decided,
  type DecidingMethod,
  type Decision,
  decidingMethods,
  type FiledReport,
  fileReport,
  type Ranked,
  rankingMethods,
} from './methods.js';
import type { Releases } from './releases.js';
import type { Runs } from './runs.js';
import { showsOn } from './shows-on.js';

export interface Answered {
  readonly bug: LabelledItem;
  readonly known: Decision;
  readonly unknown: Decision;
  /** Why an answer is wrong, in the words of the method. */
  readonly why?: string;
}

export interface MethodResult {
  readonly name: string;
  readonly about: string;
  readonly answers: readonly Answered[];
  /** For rankings: how often the nearest report is the right one, whatever its score; how often it is among the first K. */
  readonly nearest?: number;
  readonly within?: number;
  /** Milliseconds of a decision, without and with running cases. */
  readonly medianMs: number;
  readonly medianRunMs: number;
  readonly calls: number;
}

export const ratioOf = (answers: readonly Answered[]): number =>
  share(answers, ({ bug, known }) => known === bug.cause);
export const uniqueAccuracyOf = (answers: readonly Answered[]): number =>
  share(answers, ({ unknown }) => unknown === 'unique');

/** How the answers that are not right are wrong, as shares of all. */
export interface Wrong {
  /** Called a duplicate of a report of another cause: a hunt that wants new bugs only would not tell it. */
  readonly falseDuplicate: number;
  readonly undecided: number;
  /** Called unique though its report is on file. */
  readonly missed: number;
}

export function wrongOf(answers: readonly Answered[], which: 'known' | 'unknown'): Wrong {
  const special = new Set<Decision>(['unique', 'undecided']);
  return {
    falseDuplicate: share(
      answers,
      ({ bug, [which]: said }) => !special.has(said) && (which === 'unknown' || said !== bug.cause),
    ),
    undecided: share(answers, ({ [which]: said }) => said === 'undecided'),
    missed: which === 'unknown' ? 0 : share(answers, ({ known }) => known === 'unique'),
  };
}

function share<T>(list: readonly T[], right: (each: T) => boolean): number {
  return list.length === 0 ? Number.NaN : list.filter(right).length / list.length;
}

export interface Evaluation {
  /** Bugs that show again on their own build, and those that do not. */
  readonly items: readonly LabelledItem[];
  readonly lost: readonly LabelledItem[];
  readonly misses: readonly Miss[];
  readonly reports: readonly FiledReport[];
  readonly methods: readonly MethodResult[];
}

export interface EvaluateOptions {
  readonly releases: Releases;
  readonly runs: Runs;
  readonly kept: Kept;
  /** Bugs of each cause that deciding methods but the last are asked about; default: all. */
  readonly sample?: number;
  /** Of the methods, those whose names match. */
  readonly methods: RegExp;
  readonly onProgress: (line: string) => void;
}

export async function evaluate(
  { items, misses }: LabelledSet,
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { releases, kept, sample = Number.POSITIVE_INFINITY, onProgress } = options;
  const set: LabelledItem[] = [];
  for (const item of items)
    if (await kept.of(['shows', item], () => showsAgain(item, options))) set.push(item);
  const smallest = reportsOf(set);
  const reports = smallest.map((item) => fileReport(item, releases));
  const bugs = set.filter((item) => !smallest.includes(item));
  const fewer = sampleOf(bugs, sample);
  onProgress(
    `${items.length} bugs, ${set.length} show again; ${reports.length} reports, ${bugs.length} asked about`,
  );
  const asked = ({ name }: { readonly name: string }) => options.methods.test(name);
  const ranked = rankingMethods.filter(asked).map((method) => rankAll(method, bugs, reports));
  for (const result of ranked) onProgress(summary(result));
  const decided: MethodResult[] = [];
  // The last one first, about all bugs: what it runs, the others need not run again.
  for (const method of decidingMethods(options).filter(asked).toReversed()) {
    decided.unshift(await askAll(method, decided.length === 0 ? bugs : fewer, reports, options));
    onProgress(summary(decided[0]!));
  }
  const methods = [...ranked, ...decided];
  const lost = items.filter((item) => !set.includes(item));
  return { items: set, lost, misses, reports, methods };
}

/** So many of each cause, the first ones. */
function sampleOf(bugs: readonly LabelledItem[], most: number): LabelledItem[] {
  const counts = new Map<string, number>();
  return bugs.filter(({ cause }) => {
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    return counts.get(cause)! <= most;
  });
}

/** Whether a bug still shows on the build it was found in, and not without its fault. */
async function showsAgain(item: LabelledItem, { releases, runs }: EvaluateOptions): Promise<boolean> {
  const home = releases.home(item);
  if (!(await showsOn(item, await runs.place(home, home.version)))) return false;
  return home.fault === undefined || !(await showsOn(item, await runs.place({ url: home.url }, 'without')));
}

/** The smallest bug of each cause. */
export function reportsOf(items: readonly LabelledItem[]): LabelledItem[] {
  const reports: LabelledItem[] = [];
  for (const item of items.toSorted((a, b) => sizeOf(a) - sizeOf(b) || a.seed - b.seed))
    if (!reports.some(({ cause }) => cause === item.cause)) reports.push(item);
  return reports;
}

function sizeOf({ case: program }: LabelledItem): number {
  return program.setup.length + countStatements(program);
}

/** Reports that a bug is compared with: those of its engine; and these without its own. */
function onFile(bug: LabelledItem, reports: readonly FiledReport[]): readonly [FiledReport[], FiledReport[]] {
  const about = reports.filter(({ item }) => isSameStorage(item.target, bug.target));
  return [about, about.filter(({ item }) => item.cause !== bug.cause)];
}

function summary({ name, answers, medianMs, medianRunMs }: MethodResult): string {
  return `${name}: ratio ${(100 * ratioOf(answers)).toFixed(1)} %, unique ${(100 * uniqueAccuracyOf(answers)).toFixed(1)} %, ${medianMs.toFixed(0)} ms and ${medianRunMs.toFixed(0)} ms running`;
}

function rankAll(
  { name, about, rank }: (typeof rankingMethods)[number],
  bugs: readonly LabelledItem[],
  reports: readonly FiledReport[],
): MethodResult {
  const ranked = bugs.map((bug) => {
    const [own, others] = onFile(bug, reports);
    const began = performance.now();
    const known = rank(bug, own);
    const ms = performance.now() - began;
    return { bug, known, unknown: rank(bug, others), ms };
  });
  const ranks = ranked.some(({ known }) => known.within !== undefined);
  return {
    ...{ name, about, answers: bestThreshold(ranked), medianRunMs: 0, calls: 0 },
    nearest: share(ranked, ({ bug, known }) => known.cause === bug.cause),
    ...(ranks && { within: share(ranked, ({ known }) => known.within === true) }),
    medianMs: median(ranked.map(({ ms }) => ms)),
  };
}

/** What a method said of the reports that a wrong answer names or should have named. */
function explainError(bug: LabelledItem, known: Decided, unknown: Decided): { readonly why?: string } {
  const isRight = known.decision === bug.cause && unknown.decision === 'unique';
  if (isRight || known.reasons === undefined) return {};
  const named = [
    ...(known.decision === bug.cause ? [] : [bug.cause]),
    ...[known, unknown].map(({ decision }) => decision).filter((each) => each !== bug.cause),
  ];
  const reasons = [...new Set(named)].flatMap((cause) => {
    const why = known.reasons?.get(cause);
    return why === undefined ? [] : [`${cause}: ${why}`];
  });
  return { why: reasons.join('; ') };
}

interface Timed extends Omit<Answered, 'bug'> {
  readonly alone: number;
  readonly run: number;
}

async function askAll(
  { name, about, decide }: DecidingMethod,
  bugs: readonly LabelledItem[],
  reports: readonly FiledReport[],
  { runs, kept, onProgress }: EvaluateOptions,
): Promise<MethodResult> {
  const answers: Answered[] = [];
  const times: Timed[] = [];
  for (const bug of bugs) {
    const [own, others] = onFile(bug, reports);
    const answer = await kept.of([name, bug, own.map(({ known }) => known)], async (): Promise<Timed> => {
      const [ran, really, began] = [runs.spentMs, runs.reallySpentMs, performance.now()];
      const known = await decide(bug, own);
      const run = runs.spentMs - ran;
      const alone = performance.now() - began - (runs.reallySpentMs - really);
      const unknown = await decide(bug, others);
      const why = explainError(bug, known, unknown);
      return { known: known.decision, unknown: unknown.decision, ...why, alone, run };
    });
    const { alone: _, run: __, ...rest } = answer;
    times.push(answer);
    answers.push({ bug, ...rest });
    if (answers.length % 20 === 0)
      onProgress(`${name}: ${answers.length} of ${bugs.length}, last ${itemId(bug)}`);
  }
  const medianMs = median(times.map(({ alone }) => alone));
  return { name, about, answers, medianMs, medianRunMs: median(times.map(({ run }) => run)), calls: 0 };
}

interface RankedBug {
  readonly bug: LabelledItem;
  readonly known: Ranked;
  readonly unknown: Ranked;
}

/** The threshold with the best mean of both figures, found on the very set it is used on: rankings are shown at their best. */
function bestThreshold(ranked: readonly RankedBug[]): Answered[] {
  const decide = ({ cause, score }: Ranked, threshold: number): Decision =>
    cause !== undefined && score >= threshold ? cause : 'unique';
  const at = (threshold: number): Answered[] =>
    ranked.map(({ bug, known, unknown }) => ({
      ...{ bug, known: decide(known, threshold), unknown: decide(unknown, threshold) },
    }));
  const scores = [...new Set(ranked.flatMap(({ known, unknown }) => [known.score, unknown.score]))];
  let best = at(Number.POSITIVE_INFINITY);
  const quality = (answers: readonly Answered[]) => ratioOf(answers) + uniqueAccuracyOf(answers);
  for (const threshold of scores) {
    const answers = at(threshold);
    if (quality(answers) > quality(best)) best = answers;
  }
  return best;
}

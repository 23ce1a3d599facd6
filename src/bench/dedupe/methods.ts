/**
 * The methods that are compared. Each gets a bug and the reports on file, one for each cause that is known, and says of which report the bug
 * is a duplicate, or that it is unique, or that it cannot tell. No method sees a label, a seed or the name of a fault: reports have the ids of what they say.
 */
import { createHash } from 'node:crypto';
import { explain } from '../../check/index.js';
import { headlineOf, signatureOf, triggerOf } from '../../dedupe/index.js';
import {
  type AskedBug,
  candidateCount,
  caseFeatures,
  compareWitnesses,
  encode,
  foundReport,
  isKnown,
  type KnownBug,
  likeness,
  nearest,
  repositoryOf,
  type WitnessCell,
  weigh,
} from '../../known/index.js';
import type { LabelledItem } from './labelled-set.js';
import type { Releases } from './releases.js';
import type { Runs } from './runs.js';
import { showsOn } from './shows-on.js';
import { cosineOfText, repScores, type Scores, type TextReport } from './text-likeness.js';

/** A bug of the set that somebody has filed. */
export interface FiledReport {
  readonly item: LabelledItem;
  readonly known: KnownBug;
}

/** Cause of the report, `unique` or `undecided`. */
export type Decision = string;

export interface Ranked {
  /** The nearest report, by its cause; undefined: there is none. */
  readonly cause: string | undefined;
  readonly score: number;
  /** The right one is among the first K. */
  readonly within?: boolean;
}

/** A method that ranks: the nearest counts as a duplicate from a threshold on. */
export interface RankingMethod {
  readonly name: string;
  readonly about: string;
  readonly rank: (bug: LabelledItem, reports: readonly FiledReport[]) => Ranked;
}

export interface Decided {
  readonly decision: Decision;
  /** What the method says of each report, by its cause. */
  readonly reasons?: ReadonlyMap<string, string>;
}

export interface DecidingMethod {
  readonly name: string;
  readonly about: string;
  readonly decide: (bug: LabelledItem, reports: readonly FiledReport[]) => Promise<Decided>;
}

/** What a method may know of a bug. */
export function askedOf(item: LabelledItem, releases: Releases): AskedBug {
  return { target: releases.stamp(item), level: item.level, behaviour: item };
}

/** The report of a bug, as filed against the release of its cause. */
export function fileReport(item: LabelledItem, releases: Releases): FiledReport {
  const { case: program, schedule } = item;
  const id = `report-${createHash('sha256')
    .update(JSON.stringify([program.setup, program.sessions, schedule]))
    .digest('hex')
    .slice(0, 12)}`;
  const affected = [releases.filed(item).version];
  return { item, known: foundReport(askedOf(item, releases), { id, about: headlineOf(item), affected }) };
}

/** What a person would have filed: a title, the statements, the argument. */
function textOf(item: LabelledItem): TextReport {
  const { case: program, finding, level, engine } = item;
  const statements = [...program.setup, ...program.sessions.flatMap(({ statements: list }) => list)];
  return {
    id: `${item.cause} ${item.seed}`,
    title: headlineOf(item),
    body: [...statements, explain(finding)].join('\n'),
    categories: [engine, level, finding.kind, finding.oracle, String(program.sessions.length)],
  };
}

/** Texts of all items are made once. */
function remembered<T>(make: (item: LabelledItem) => T): (item: LabelledItem) => T {
  const known = new Map<LabelledItem, T>();
  return (item) => {
    let made = known.get(item);
    if (made === undefined) {
      made = make(item);
      known.set(item, made);
    }
    return made;
  };
}

function byText(
  name: string,
  about: string,
  scoresOf: (reports: readonly TextReport[]) => Scores,
): RankingMethod {
  const text = remembered(textOf);
  return {
    ...{ name, about },
    rank: (bug, reports) => {
      const scores = scoresOf(reports.map(({ item }) => text(item)))(text(bug));
      return best(reports, ({ item }) => scores.get(text(item).id) ?? 0);
    },
  };
}

function best(reports: readonly FiledReport[], score: (report: FiledReport) => number): Ranked {
  let top: Ranked = { cause: undefined, score: Number.NEGATIVE_INFINITY };
  for (const report of reports) {
    const value = score(report);
    if (value > top.score) top = { cause: report.item.cause, score: value };
  }
  return top;
}

const vectorOf = remembered(({ case: program, level, target }: LabelledItem) =>
  encode(target.name, caseFeatures(program, { engine: target.name, level })),
);

export const rankingMethods: readonly RankingMethod[] = [
  byText('REP', 'BM25 over title and body, words and pairs of words, and equal categories', repScores),
  byText('text cosine', 'TF-IDF of title, statements and argument', cosineOfText),
  {
    name: 'filter only',
    about: `the 33 features, weighted by mutual information, by cosine (Pisco §6.1), the first ${candidateCount}`,
    rank: (bug, reports) => {
      const weights = weigh(reports.map(({ known: { id, vector } }) => ({ bug: id, vector })));
      const known = reports.map(({ known: each }) => each);
      const first = nearest(vectorOf(bug), known, weights, candidateCount).map(({ report }) => report);
      return {
        ...best(reports, ({ known: { vector } }) => likeness(vectorOf(bug), vector, weights)),
        within: reports.some(({ item, known: each }) => item.cause === bug.cause && first.includes(each)),
      };
    },
  },
];

const signature = remembered((item: LabelledItem) => signatureOf(item));
const trigger = remembered((item: LabelledItem) => triggerOf(item));

const signatureOnly: DecidingMethod = {
  name: 'signature only',
  about: 'the same cause and trigger; nothing is run',
  decide: async (bug, reports) => {
    const same = reports.filter(({ item }) => signature(item) === signature(bug));
    const exact = same.filter(({ item }) => trigger(item) === trigger(bug));
    if (exact.length > 0) return { decision: exact[0]!.item.cause };
    return { decision: same.length > 0 ? 'undecided' : 'unique' };
  },
};

export interface MethodOptions {
  readonly releases: Releases;
  readonly runs: Runs;
}

/** What the program is asked in each way, by the name of the command. */
const products = {
  'isolde hunt':
    'what hunts say under “known as”: cases of reports run on the bug’s own build; the same cause and trigger there is a duplicate, with reads added it is left open',
  'isolde dedupe': 'the same, and the same cause and trigger with reads added is a duplicate, too',
  'isolde dedupe --versions reported':
    'and both cases, with changes of them, on the release that the report names and on its neighbours: what differs proves two bugs, what comes and goes together is one',
} as const;

/** The answer of the program: candidates run on the very build of the bug, and perhaps on those that reports name. */
function product({ releases, runs }: MethodOptions, name: keyof typeof products): DecidingMethod {
  return {
    ...{ name, about: products[name] },
    decide: async (bug, reports) => {
      const home = releases.home(bug);
      const answer = await isKnown(
        askedOf(bug, releases),
        repositoryOf(reports.map(({ known }) => known)),
        await runs.place(home, home.version),
        {
          withReads: name === 'isolde hunt' ? 'undecided' : 'duplicate',
          builds: async (report) => {
            if (name !== 'isolde dedupe --versions reported') return [];
            const { item } = reports.find(({ known }) => known.id === report.id)!;
            return releases.buildsFor(bug, item, report, runs);
          },
        },
      );
      const causeOf = (id: string) => reports.find(({ known }) => known.id === id)!.item.cause;
      const reasons = new Map(
        answer.candidates.map(({ id, match, why }) => [causeOf(id), `${match}: ${why}`]),
      );
      const { verdict, reports: found } = answer;
      return { decision: verdict === 'duplicate' ? causeOf(found[0]!.id) : verdict, reasons };
    },
  };
}

/**
 * Cells alone, without changes of cases: both on the release the bug was found in, the one the report names, and its neighbours. Of several reports that are one
 * with the bug, the one comes first that has the same cause and trigger.
 */
function matrix({ releases, runs }: MethodOptions): DecidingMethod {
  return {
    name: 'witness matrix',
    about:
      'both cases, as they are, on those releases: what differs is two bugs, what comes and goes together is one',
    decide: async (bug, reports) => {
      const alike = ({ item }: FiledReport) =>
        signature(item) !== signature(bug) ? 0 : trigger(item) === trigger(bug) ? 2 : 1;
      const same: FiledReport[] = [];
      for (const report of reports) {
        const { item, known } = report;
        const home = releases.home(bug);
        const here = { ...(await runs.place(home, home.version)), stamp: releases.stamp(bug) };
        const cells: WitnessCell[] = [];
        for (const build of [here, ...(await releases.buildsFor(bug, item, known, runs))])
          cells.push({
            ...{ name: build.name, build: build.stamp ?? build.target.stamp },
            one: { shows: await showsOn(bug, build) },
            other: { shows: await showsOn(item, build) },
          });
        if (compareWitnesses(cells, { alike: alike(report) === 2 }).verdict === 'one') same.push(report);
      }
      const [first] = same.sort((a, b) => alike(b) - alike(a));
      return { decision: first?.item.cause ?? 'unique' };
    },
  };
}

export function decidingMethods(options: MethodOptions): readonly DecidingMethod[] {
  return [
    ...[signatureOnly, product(options, 'isolde hunt'), product(options, 'isolde dedupe')],
    ...[matrix(options), product(options, 'isolde dedupe --versions reported')],
  ];
}

/** `docs/stages/dedupe-figures.md`: the figures, what is in the set, a confusion table by cause, and every error with its explanation. */
import { signatureOf, triggerOf, variantOf } from '../../dedupe/index.js';
import { candidateCount } from '../../known/index.js';
import {
  type Answered,
  type Evaluation,
  type MethodResult,
  ratioOf,
  uniqueAccuracyOf,
  wrongOf,
} from './evaluate.js';
import { explanationOf } from './explanations.js';
import type { LabelledItem, Miss } from './labelled-set.js';

const percent = (ratio: number | undefined): string =>
  ratio === undefined || Number.isNaN(ratio) ? '' : `${(100 * ratio).toFixed(1)} %`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `options`: the command’s, so that the page says how it was made. */
export function figuresPage(evaluation: Evaluation, options: readonly string[]): string {
  const { items, lost, misses, reports, methods } = evaluation;
  const best = methods.at(-1)!;
  const engines = [...new Set(items.map(({ target }) => `${target.name} ${target.version}`))].sort();
  const causes = [...new Set(items.map(({ cause }) => cause))].sort();
  return `# Deduplication: figures

Written by \`${['npm run bench dedupe', ...(options.length > 0 ? ['--', ...options] : [])].join(' ')}\`.

The labelled set: ${items.length} bugs of ${causes.length} causes (${engines.join(', ')}), each found by a hunt of its own, with seeds and profiles that take turns. A label is a
[fault](faults.md) that was injected, or, for a live bug, the only bug that the statements of its programs can show
(\`src/bench/dedupe/causes.ts\`). No label comes from a signature. Bugs that the engine shows without the fault are not in the set${lost.length === 0 ? '' : `, nor are ${lost.length} that did not show again on their own build`}.

For each cause the bug with the fewest statements is the report on file (${reports.length}), as people file reduced cases. The other ${best.answers.length} bugs are asked about twice: with
the report of their cause on file (*ratio*: called a duplicate of just that one) and without it (*unique*: called unique). *Undecided* counts as wrong in both.${isSampled(methods) ? ' Other methods that decide were asked about the first bugs of each cause only (*bugs*).' : ''}

${methodRows(methods)}

${wrongAnswers(methods)}

Pisco’s paper gives 91.6 % and 98.2 % with 234 calls and 41 s, on 670 bugs of 13 causes. The goals here are 97 % and 99.5 % on at least 25 causes with 20 bugs
each; where the set is smaller or a figure lower, they are missed. The filter has the right report among its first ${candidateCount} for ${percent(methods.find(({ within }) => within !== undefined)?.within)} of the bugs.

${methods.map(({ name, about }) => `- **${name}**: ${about}.`).join('\n')}

The first three rank; the threshold from which the nearest report counts as a duplicate is the one that serves them best on this very set, and may be that
nothing does. Time is counted as if each answer were the first: a run that another answer has made before counts with what it took.

**What the last two methods have to run on.** An injected bug was found in the newest release. Its report names an older one, which has the same fault; the older releases stand in an order
drawn by chance, each with the fault of another cause, and one without any before and after them. All bugs get the same releases, under numbers that say nothing. So each release brings one bug
and the next one fixes it: real releases have several at once, and then a cell says less. Live bugs are run on the builds of their engine that are there.

## Bugs in the set

*Forms*: variants of the signature. *Missed*: seeds that gave no bug in their time.

${table(
  [
    ...['cause', 'bugs', 'missed', 'profiles', 'signatures', 'forms', 'kinds of findings'],
    ...methods.slice(-4).map(({ name }) => `right by ${name}`),
  ],
  [...new Set([...causes, ...misses.map(({ cause }) => cause)])]
    .sort()
    .map((cause) => causeRow(cause, items, misses, methods)),
)}

## Confusion, by the last method

${confusions(best)}

## Errors of the last method

What the method said of the report it should have named, and of the one it named.

${errors(best)}
`;
}

function methodRows(methods: readonly MethodResult[]): string {
  const times = ['decision, median', 'running, median'];
  return table(
    ['method', 'bugs', 'nearest report right', 'ratio', 'unique', ...times, 'model calls'],
    methods.map(({ name, nearest, answers, medianMs, medianRunMs, calls }) => [
      ...[name, String(answers.length), percent(nearest)],
      ...[percent(ratioOf(answers)), percent(uniqueAccuracyOf(answers)), `${medianMs.toFixed(1)} ms`],
      ...[medianRunMs === 0 ? '' : `${medianRunMs.toFixed(0)} ms`, String(calls)],
    ]),
  );
}

/** Some methods were asked about fewer bugs. */
const isSampled = (methods: readonly MethodResult[]): boolean =>
  new Set(methods.map(({ answers }) => answers.length)).size > 1;

/** How methods are wrong: not every error costs the same. */
function wrongAnswers(methods: readonly MethodResult[]): string {
  const heads = [
    ...['method', 'with its report on file: another report', 'undecided', 'unique'],
    ...['without it: false duplicate', 'undecided'],
  ];
  const rows = methods.map(({ name, answers }) => {
    const [known, unknown] = [wrongOf(answers, 'known'), wrongOf(answers, 'unknown')];
    return [
      ...[name, percent(known.falseDuplicate), percent(known.undecided), percent(known.missed)],
      ...[percent(unknown.falseDuplicate), percent(unknown.undecided)],
    ];
  });
  return `What the answers are that are not right. A *false duplicate* hides a bug (\`hunt --only-new\` does not tell it), *undecided* hides nothing.

${table(heads, rows)}`;
}

function causeRow(
  cause: string,
  items: readonly LabelledItem[],
  misses: readonly Miss[],
  methods: readonly MethodResult[],
): string[] {
  const own = items.filter((item) => item.cause === cause);
  const right = methods.slice(-4).map(({ answers }) => {
    const about = answers.filter(({ bug }) => bug.cause === cause);
    return about.length === 0
      ? ''
      : `${about.filter(({ known }) => known === cause).length} of ${about.length}`;
  });
  const kinds = [...new Set(own.map(({ finding }) => finding.kind))].sort();
  const count = (of: (item: LabelledItem) => string) => String(new Set(own.map(of)).size);
  return [
    ...[`\`${cause}\``, String(own.length), String(misses.filter((miss) => miss.cause === cause).length)],
    ...[count(({ profile }) => profile), count(signatureOf), count(variantOf), kinds.join(', '), ...right],
  ];
}

function confusions({ answers }: MethodResult): string {
  const counts = new Map<string, number>();
  const add = (...cells: string[]) =>
    counts.set(JSON.stringify(cells), (counts.get(JSON.stringify(cells)) ?? 0) + 1);
  for (const { bug, known, unknown } of answers) {
    if (known !== bug.cause) add(`\`${bug.cause}\``, `\`${known}\``, 'with its report on file');
    if (unknown !== 'unique') add(`\`${bug.cause}\``, `\`${unknown}\``, 'without it');
  }
  if (counts.size === 0) return 'None.';
  const rows = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([cells, count]) => [...(JSON.parse(cells) as string[]), String(count)]);
  return table(['cause', 'taken for', '', 'bugs'], rows);
}

/** By pair of causes, with why nothing tells them apart there. */
function errors({ answers }: MethodResult): string {
  const wrong = answers.filter(({ bug, known, unknown }) => known !== bug.cause || unknown !== 'unique');
  if (wrong.length === 0) return 'None.';
  const pairs = new Map<string, Answered[]>();
  for (const each of wrong) {
    const { bug, known, unknown } = each;
    const other = known !== bug.cause ? known : unknown;
    const pair = `\`${bug.cause}\` taken for \`${other}\`: ${explanationOf(bug.cause, other)}`;
    pairs.set(pair, [...(pairs.get(pair) ?? []), each]);
  }
  return [...pairs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pair, list]) =>
      `**${pair}\n\n${list.map((each) => `- ${describe(each)}`).join('\n')}`.replace(': ', ':** '),
    )
    .join('\n\n');
}

function describe({ bug, known, unknown, why = '' }: Answered): string {
  const { seed, profile, finding } = bug;
  const trigger = triggerOf(bug);
  const found = `${finding.kind}, signature ${signatureOf(bug)}${trigger === '' ? '' : `, trigger ${trigger}`}`;
  return `seed ${seed} (${profile}): ${found}; with its report on file ${known}, without it ${unknown}. ${why}`;
}

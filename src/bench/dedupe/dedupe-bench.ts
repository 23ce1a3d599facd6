/**
 * `npm run bench dedupe [-- OPTIONS]`: hunts what the labelled set lacks, then asks every method about every bug of it and writes the page of figures.
 *
 * | option | |
 * |---|---|
 * | `--file FILE` | the set |
 * | `--causes REGEX` | only these |
 * | `--wanted N`, `--seeds N` | bugs of each cause, and seeds that are tried for them |
 * | `--minutes M`, `--limit S` | hunt for at most so long (0: not at all), and so many seconds a seed |
 * | `--hunt-only` | do not evaluate |
 * | `--releases URL,URL` | what reports are filed against: `duckdb@1.4.4:,postgres@17.7:` |
 * | `--sample N` | ask deciding methods, all but the last, about so many bugs of each cause |
 * | `--methods REGEX` | only these, by their names |
 * | `--evaluated FILE` | where answers are kept, so that a run that was stopped goes on; other code or other reports ask again |
 * | `--docs FILE` | the page |
 */
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figure } from '../measure.js';
import { Builds } from './builds.js';
import { labelledCauses } from './causes.js';
import { type Evaluation, evaluate, ratioOf, uniqueAccuracyOf } from './evaluate.js';
import { figuresPage } from './figures-page.js';
import { Kept } from './kept.js';
import { huntSet, readSet } from './labelled-set.js';
import { Releases } from './releases.js';
import { Runs } from './runs.js';

export async function benchDedupe(options: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      wanted: { type: 'string', default: '24' },
      seeds: { type: 'string', default: '60' },
      minutes: { type: 'string', default: '60' },
      limit: { type: 'string', default: '15' },
      causes: { type: 'string', default: '' },
      releases: { type: 'string', default: '' },
      sample: { type: 'string' },
      methods: { type: 'string', default: '' },
      'hunt-only': { type: 'boolean', default: false },
      evaluated: { type: 'string', default: '.isolde/bench/dedupe-answers.jsonl' },
      file: { type: 'string', default: '.isolde/bench/dedupe-set.jsonl' },
      docs: { type: 'string', default: 'docs/stages/dedupe-figures.md' },
    },
  });
  const wanted = new RegExp(values.causes);
  const causes = labelledCauses.filter(({ id }) => wanted.test(id));
  const builds = new Builds();
  const onProgress = (line: string) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  try {
    await huntSet(builds, {
      ...{ causes, wanted: Number(values.wanted), seeds: Number(values.seeds), file: values.file },
      limitMs: Number(values.limit) * 1000,
      until: Date.now() + Number(values.minutes) * 60_000,
      onItem: onProgress,
    });
    if (values['hunt-only']) return [];
    const program = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
    const evaluation = await evaluate(await readSet(values.file, causes), {
      releases: new Releases(labelledCauses, releasesIn(values.releases)),
      runs: new Runs(builds),
      kept: await Kept.open(values.evaluated, program),
      ...(values.sample !== undefined && { sample: Number(values.sample) }),
      methods: new RegExp(values.methods),
      onProgress,
    });
    await writeFile(values.docs, figuresPage(evaluation, options));
    return figuresOf(evaluation);
  } finally {
    await builds.close();
  }
}

function figuresOf({ items, methods }: Evaluation): Figure[] {
  const counts = [...new Set(items.map(({ cause }) => cause))].map(
    (id) => items.filter(({ cause }) => cause === id).length,
  );
  const whole = counts.filter((count) => count >= 20).length;
  const { answers, medianMs, calls } = methods.at(-1)!;
  const [ratio, unique] = [ratioOf(answers), uniqueAccuracyOf(answers)];
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    {
      name: 'causes with 20 bugs',
      measured: `${whole} of ${counts.length}`,
      target: '>= 25',
      pass: whole >= 25,
    },
    {
      ...{ name: 'deduplication ratio', measured: percent(ratio), target: '>= 97 %', pass: ratio >= 0.97 },
      published: '91.6 %',
    },
    {
      ...{ name: 'unique accuracy', measured: percent(unique), target: '>= 99.5 %', pass: unique >= 0.995 },
      published: '98.2 %',
    },
    {
      ...{ name: 'decision without running, median', measured: `${medianMs.toFixed(1)} ms`, target: '< 1 s' },
      ...{ pass: medianMs < 1000, published: '41 s' },
    },
    { name: 'model calls', measured: String(calls), target: '0', pass: calls === 0, published: '234' },
  ];
}

/** `duckdb@1.4.4:` as another release of `duckdb:`. */
function releasesIn(text: string): Map<string, string> {
  const urls = text.split(',').filter((url) => url !== '');
  return new Map(urls.map((url) => [url.replace(/@[^:]*/, ''), url]));
}

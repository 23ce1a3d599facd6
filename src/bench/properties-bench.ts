/**
 * `npm run bench properties [-- --target URL … --runs N --seconds S --seed TEXT --fetch]`: runs after D4's §5.2: the properties that
 * come with Isolde, some seconds each, on releases of Turso (the engine D4 was written for) and on current engines. A run ends with its
 * first failure that comes back, which is shrunk. The table is docs/stages/properties-figures.md.
 *
 * Whether a failure is true is asked of another engine: SQLite gets the shrunk plan of an engine that promises to be like it, and must
 * not fail with it. For other engines it is asked of the shadow state alone, which the run has done already.
 *
 * A run goes on behind the last one of the same target in the table, so that many can be made in pieces.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import {
  type Counterexample,
  printPlan,
  replayCounterexample,
  shippedProperties,
  testProperties,
} from '../properties/index.js';
import { fetchVersion, openTarget } from '../targets/index.js';
import type { Figure } from './measure.js';

const page = 'docs/stages/properties-figures.md';
const releases = ['turso@0.4.4:', 'turso@0.5.3:', 'turso@0.6.1:', 'turso:'];
const current = ['sqlite:', 'duckdb:'];
const reference = 'sqlite:';
/** What a file cannot hold any more is another question (`npm run campaign recovery`): Turso 0.7.2 gives it a wrong answer, and every run would end with that. */
const elsewhere = new Set(['write-error', 'kill']);

interface Tally {
  runs: number;
  /** Runs that ended with a failure. */
  failed: number;
  /** Of these: failures that the reference shows as well, so that the property is at fault. */
  wrong: number;
  statements: number;
  asserted: number;
  /** Failures that did not come back. */
  unconfirmed: number;
  /** By what failed: how often, and the smallest plan. */
  readonly failures: Map<string, Seen>;
}

interface Seen {
  count: number;
  from: number;
  to: number;
  plan: string;
}

export async function benchProperties(options: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...options],
    options: {
      target: { type: 'string', multiple: true },
      runs: { type: 'string', default: '13' },
      seconds: { type: 'string', default: '15' },
      seed: { type: 'string', default: 'd4' },
      fetch: { type: 'boolean', default: false },
    },
  });
  const figures: Figure[] = [];
  for (const url of values.target ?? [...releases, ...current]) {
    if (values.fetch) await fetchVersion(url);
    const tally = (await writtenTallies()).get(url) ?? emptyTally();
    for (let run = 0; run < Number(values.runs); run++) {
      await oneRun(url, `${values.seed}-${tally.runs}`, Number(values.seconds) * 1000, tally);
      // Read when it is written: other targets may have been measured meanwhile.
      await writeFile(page, pageOf((await writtenTallies()).set(url, tally)));
    }
    figures.push(figureOf(url, tally));
  }
  return figures;
}

const emptyTally = (): Tally => ({
  runs: 0,
  failed: 0,
  wrong: 0,
  statements: 0,
  asserted: 0,
  unconfirmed: 0,
  failures: new Map(),
});

async function oneRun(url: string, seed: string, forMs: number, tally: Tally): Promise<void> {
  const { failures, counts, unconfirmed } = await testProperties({
    open: () => openTarget(url),
    properties: shippedProperties.filter(({ name }) => !elsewhere.has(name)),
    seed,
    forMs,
    length: 100,
    now: () => Date.now(),
  });
  tally.runs++;
  tally.statements += counts.statements;
  tally.asserted += counts.asserted;
  tally.unconfirmed += unconfirmed;
  for (const found of failures) {
    tally.failed++;
    if (await isWrong(found, url)) tally.wrong++;
    const { identity } = found.failure;
    const seen = tally.failures.get(identity);
    const to = found.plan.interactions.length;
    const smallest = seen === undefined || to < seen.to;
    tally.failures.set(identity, {
      count: (seen?.count ?? 0) + 1,
      from: smallest ? found.original.interactions.length : seen.from,
      to: smallest ? to : seen.to,
      plan: smallest ? `${printPlan(found.plan).trimEnd()}\n-- ${found.failure.message}` : seen.plan,
    });
  }
}

/** Whether the reference fails with the same plan, too. */
async function isWrong({ plan, failure, level }: Counterexample, url: string): Promise<boolean> {
  if (!url.startsWith('turso')) return false;
  const file = {
    plan,
    dialect: 'sqlite' as const,
    level,
    identity: failure.identity,
    message: failure.message,
  };
  const { shown, others } = await replayCounterexample(file, () => openTarget(reference), { runs: 1 });
  return shown + others > 0;
}

function figureOf(url: string, { runs, failed, wrong, unconfirmed }: Tally): Figure {
  return {
    name: url,
    measured: `${runs} runs, ${failed} with a failure, ${wrong} of these wrong; ${unconfirmed} did not come back`,
    target: 'under 1 % wrong',
    pass: wrong < 0.01 * Math.max(runs, 1),
    published: 'D4: 63 % true, under 1 % false',
  };
}

const heads = [
  ...['target', 'runs', 'runs with a failure', 'of these false', 'did not come back', 'different failures'],
  ...['statements', 'assertions'],
];

function pageOf(tallies: ReadonlyMap<string, Tally>): string {
  const lines = [...tallies].map(([url, { failures, ...tally }]) => {
    const { runs, failed, wrong, unconfirmed, statements, asserted } = tally;
    return `| \`${url}\` | ${[runs, failed, wrong, unconfirmed, failures.size, statements, asserted].join(' | ')} |`;
  });
  const found = [...tallies].flatMap(([url, { failures }]) =>
    [...failures].map(([identity, { count, from, to, plan }]) =>
      [
        `### \`${url}\` ${identity}`,
        `${count} × · ${from} → ${to} interactions`,
        `\`\`\`sql\n${plan}\n\`\`\``,
      ].join('\n\n'),
    ),
  );
  return `# Properties on releases of Turso and on current engines

Written by \`npm run bench properties\`, in pieces: each goes on behind the last run. A run has 15 seconds, every property that comes with Isolde but \`kill\` and
\`write-error\` ([their campaign](../campaigns.md)), and plans of 100 interactions; it ends with its first failure that comes back twice. A failure is *false* if SQLite fails with the
shrunk plan, too. After §5.2 of D4, which reports 63 % true and under 1 % false positives over 14 commits of its engine, and 25 different bugs; SQLancer's integrations had 42 % and under
10 % true ones there.

| ${heads.join(' | ')} |
| ${heads.map(() => '---').join(' | ')} |
${lines.join('\n')}

## Different failures

By the assertion that failed, with the smallest plan that shows it. One bug may fail several assertions.

${found.length === 0 ? 'None.' : found.join('\n\n')}
`;
}

/** What the page as it is says. */
async function writtenTallies(): Promise<Map<string, Tally>> {
  const text = await readFile(page, 'utf8').catch(() => '');
  const tallies = new Map<string, Tally>();
  for (const [, url, numbers] of text.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)) {
    const [runs, failed, wrong, unconfirmed, , statements, asserted] = numbers!.split(' | ').map(Number);
    tallies.set(url!, {
      runs: runs!,
      failed: failed!,
      wrong: wrong!,
      unconfirmed: unconfirmed!,
      statements: statements!,
      asserted: asserted!,
      failures: new Map(),
    });
  }
  const seen = /^### `([^`]+)` (.*)\n\n(\d+) × · (\d+) → (\d+) interactions\n\n```sql\n([\s\S]*?)\n```/gm;
  for (const [, url, identity, count, from, to, plan] of text.matchAll(seen))
    tallies
      .get(url!)
      ?.failures.set(identity!, { count: Number(count), from: Number(from), to: Number(to), plan: plan! });
  return tallies;
}

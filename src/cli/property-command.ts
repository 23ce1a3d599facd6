/** `isolde property [FILE]`: tests properties of a database: the user's own, or those that come with Isolde. */
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import { printCapabilities } from '../generate/index.js';
import {
  type Counterexample,
  keepCounterexample,
  type Mix,
  type Property,
  type PropertyTestResult,
  printPlan,
  shippedProperties,
  testProperties,
} from '../properties/index.js';
import { hideSecrets } from '../secrets.js';
import { defaultTargetUrl, openTarget, type Target } from '../targets/index.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';
import { describeLost, knownCapabilities } from './capabilities-file.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { levelOf, positive, timeOf, writeText } from './flags.js';
import { loadProperties } from './load-properties.js';
import { printPropertyJunit } from './property-junit.js';
import { replayFile } from './replay-counterexample.js';

interface PropertyFlags {
  readonly target?: string;
  readonly all?: boolean;
  readonly only?: readonly string[];
  readonly list?: boolean;
  readonly replay?: string;
  readonly runs: string;
  readonly seed: string;
  readonly plans?: string;
  readonly for?: string;
  readonly failures: string;
  readonly length?: string;
  readonly workload?: string;
  readonly level?: string;
  readonly against?: string;
  readonly twice?: boolean;
  readonly capabilities?: string;
  readonly shrink: boolean;
  readonly store: string;
  readonly junit?: string;
  readonly json?: boolean;
  readonly trustCase?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];
const defaultPlans = 100;

export function propertyCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('property')
    .argument('[file]', 'a module of yours that exports properties; it is loaded and runs as a program')
    .description(
      'test properties of a database: generate, run, assert, shrink; your own, or those that come with Isolde',
    )
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('--all', 'the properties that come with Isolde (the default without a file)')
    .option('--only <name>', 'only this property (may be repeated)', collect)
    .option('--list', 'list the properties and stop')
    .option('--seed <text>', 'where randomness comes from: the same seed gives the same plans', '1')
    .option('--plans <count>', `stop after so many plans (default: ${defaultPlans}, or no limit with --for)`)
    .option('--for <time>', 'stop after this time: 90s, 10m, 2h')
    .option('--failures <count>', 'stop after so many different failures', '1')
    .option('--length <count>', 'interactions in a plan, about (default: 60)')
    .option('--workload <read:write:create>', 'proportions of statements (default: 60:35:5)')
    .option('-l, --level <level>', 'isolation level (default: the database’s default)')
    .option('--against <url>', 'run every plan on this database, too, and compare the answers')
    .option('--twice', 'run every plan twice: the same answers, and for embedded engines the same file')
    .option('--capabilities <file>', 'what the database can do: read before, written after, so that it grows')
    .option('--no-shrink', 'keep a failing plan as it is')
    .option('--replay <file>', 'run a kept counterexample.json instead')
    .option('-n, --runs <count>', 'how often --replay runs it', '3')
    .option('--store <folder>', 'where counterexamples are kept', '.isolde')
    .option('--junit <file>', 'write the outcome of each property as JUnit XML')
    .option('--trust-case', trustCaseHelp)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 every property held, 1 one failed or a feature of --capabilities is lost, 2 nothing could be decided, 3 error.',
    )
    .action(async (file: string | undefined, flags: PropertyFlags) => exit(await run(file, flags, context)));
}

async function run(file: string | undefined, flags: PropertyFlags, context: CliContext): Promise<ExitCode> {
  if (flags.replay !== undefined)
    return replayFile(flags.replay, { ...flags, runs: positive(flags.runs, '--runs') }, context);
  const properties = await chosen(file, flags);
  if (flags.list === true) {
    for (const { name, says } of properties) context.out(`${name}${says === undefined ? '' : `: ${says}`}`);
    return exitCodes.nothingFound;
  }
  const url = flags.target ?? context.defaultTarget ?? defaultTargetUrl;
  const result = await testProperties({
    open: () => openTarget(url),
    properties,
    seed: flags.seed,
    plans:
      flags.plans === undefined
        ? flags.for === undefined
          ? defaultPlans
          : undefined
        : positive(flags.plans, '--plans'),
    forMs: flags.for === undefined ? undefined : timeOf(flags.for, '--for'),
    failures: positive(flags.failures, '--failures'),
    length: flags.length === undefined ? undefined : positive(flags.length, '--length'),
    workload: flags.workload === undefined ? undefined : workloadOf(flags.workload),
    level: flags.level === undefined ? undefined : levelOf(flags.level),
    capabilities: await knownCapabilities(flags.capabilities),
    shrink: flags.shrink,
    reference: flags.against === undefined ? undefined : () => openTarget(flags.against),
    twice: flags.twice,
    signal: context.signal,
    now: () => Date.now(),
    ...(context.errIsTerminal && { onPlan: progress(context) }),
  });
  if (flags.capabilities !== undefined)
    await writeText(flags.capabilities, printCapabilities(result.capabilities));
  const kept = result.failures.map((found) =>
    keep(found, { url, file, flags, dialect: result.capabilities.dialect }),
  );
  if (flags.junit !== undefined)
    await writeText(
      flags.junit,
      printPropertyJunit(
        properties,
        result,
        kept.map(({ replay }) => replay),
      ),
    );
  if (flags.json === true) context.out(JSON.stringify(asJson(result, kept), null, 2));
  else print(result, kept, context);
  if (result.failures.length + result.lost.length > 0) return exitCodes.found;
  return result.counts.asserted === 0 || result.unconfirmed > 0
    ? exitCodes.undecided
    : exitCodes.nothingFound;
}

async function chosen(file: string | undefined, flags: PropertyFlags): Promise<readonly Property[]> {
  const own = file === undefined ? [] : await loadProperties(file);
  const all = file === undefined || flags.all === true ? [...own, ...shippedProperties] : own;
  if (flags.only === undefined) return all;
  return flags.only.map((name) => {
    const found = all.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = all.map((each) => each.name).join(', ');
    throw new IsoldeError('usage', `no property is called "${name}"; there are ${names}`);
  });
}

function workloadOf(text: string): Mix {
  const match = /^(\d+):(\d+):(\d+)$/.exec(text);
  const [read, write, create] = match?.slice(1).map(Number) ?? [];
  if (read === undefined || read + write! + create! === 0)
    throw new IsoldeError('usage', `--workload takes read:write:create such as 60:35:5, not "${text}"`);
  return { read, write: write!, create: create! };
}

interface Kept {
  readonly found: Counterexample;
  readonly folder: string;
  readonly replay: string;
}

function keep(
  found: Counterexample,
  about: {
    readonly url: string;
    readonly file: string | undefined;
    readonly flags: PropertyFlags;
    readonly dialect: Target['dialect'];
  },
): Kept {
  const { url, flags, file } = about;
  const target = `--target ${quoted(hideSecrets(url))}`;
  const own = found.plan.interactions.some((each) => each.type === 'assert' && each.check.type === 'that');
  // A function of the user's cannot be kept in a file: the seed makes the whole plan again.
  const line = (folder: string) =>
    own && file !== undefined
      ? `npx isolde property ${quoted(file)} ${target} --seed ${quoted(flags.seed)} --plans ${Number(found.seed.split('-').at(-1)) + 1}`
      : `npx isolde property --replay ${quoted(shown(join(folder, 'counterexample.json')))} ${target}`;
  const folder = keepCounterexample(flags.store, found, about.dialect, line);
  return { found, folder, replay: line(folder) };
}

function shown(path: string): string {
  const place = relative(process.cwd(), path);
  return place.startsWith('..') ? path : place;
}

function quoted(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `"${text.replaceAll(/(["$`\\])/g, '\\$1')}"`;
}

function progress(context: CliContext) {
  let lines = 0;
  return ({
    plans,
    counts,
    failures,
  }: {
    plans: number;
    counts: { asserted: number };
    failures: readonly unknown[];
  }) => {
    context.eraseLines(lines);
    context.err(
      `${counted(plans, 'plan')}, ${counted(counts.asserted, 'assertion')}, ${counted(failures.length, 'failure')}`,
    );
    lines = 1;
  };
}

function print(result: PropertyTestResult, kept: readonly Kept[], context: CliContext): void {
  const { plans, counts, unconfirmed, mistaken, leftOut, lost } = result;
  for (const each of lost) context.out(context.colors.bold(`lost: ${describeLost(each)}`));
  for (const { found, folder, replay } of kept) {
    context.out(context.colors.bold(oneLine(found.failure.message)));
    context.out(
      `  ${counted(found.plan.interactions.length, 'interaction')}, shrunk from ${found.original.interactions.length}; seen in ${counted(found.seen, 'plan')}`,
    );
    context.out(printPlan(found.plan).trimEnd());
    context.out(`  files: ${shown(folder)}\n  replay: ${replay}`);
  }
  for (const { property, why } of leftOut) context.err(`left out: ${property}: ${why}`);
  for (const name of mistaken)
    context.err(`the shadow state contradicts an assertion of "${name}": is the property right?`);
  if (unconfirmed > 0)
    context.err(`${counted(unconfirmed, 'failure')} did not come back and are not reported`);
  context.out(
    `${counted(plans, 'plan')}, ${counted(counts.statements, 'statement')}, ${counted(counts.asserted, 'assertion')} ` +
      `(${counts.undecided} undecided, ${counted(counts.voided, 'group')} void), ${counted(counts.faults, 'fault')}: ` +
      `${kept.length === 0 ? 'every property held' : counted(kept.length, 'failure')}` +
      `${lost.length === 0 ? '' : `, ${counted(lost.length, 'feature')} lost`}`,
  );
}

function asJson(
  { plans, counts, unconfirmed, mistaken, leftOut, lost }: PropertyTestResult,
  kept: readonly Kept[],
) {
  const failures = kept.map(({ found, folder, replay }) => ({
    ...found.failure,
    seed: found.seed,
    seen: found.seen,
    minimal: found.minimal,
    trials: found.trials,
    original: found.original.interactions.length,
    interactions: found.plan.interactions,
    folder,
    replay,
  }));
  return { plans, counts, unconfirmed, mistaken, leftOut, lost, failures };
}

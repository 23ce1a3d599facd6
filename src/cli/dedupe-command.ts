/** `isolde dedupe`: is a stored bug, a case or a pasted report known already? */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { parseCaseFile, type ScheduledCase, serialOrder } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { contractAt, Database, usualChoice } from '../judge/index.js';
import {
  type Asked,
  caseFeatures,
  caseInText,
  isKnown,
  isKnownByText,
  type KnownAnswer,
  type Place,
  type Repository,
  textFeatures,
} from '../known/index.js';
import { homeUrl } from '../report/index.js';
import { openStore } from '../store/index.js';
import { admit, openTarget, sqlOfCase } from '../targets/index.js';
import { oneLine } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { admitted, knownFolder, knownFolderHelp, openAllKnown, readPlain } from './known-command.js';

interface DedupeFlags {
  readonly target?: string;
  readonly engine?: string;
  readonly store: string;
  readonly known: string;
  readonly run: boolean;
  readonly explain?: boolean;
  readonly json?: boolean;
  readonly trustCase?: boolean;
}

export function dedupeCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('dedupe')
    .argument('<what>', 'a bug of the store, or a file: a case, an issue, a pasted report')
    .description('say whether a bug is known already: duplicate of a report, unique, or undecided')
    .option(
      '-t, --target <url>',
      'the database (default: the bug’s own engine; for files ISOLDE_TARGET, or duckdb:)',
    )
    .option('-e, --engine <name>', 'of which engine a report speaks that has no case')
    .option('--store <folder>', 'the store', '.isolde')
    .option('--known <folder>', knownFolderHelp, knownFolder)
    .option('--no-run', 'compare features only: run nothing')
    .option('--explain', 'print the features with their weights, and why each candidate fits or not')
    .option('--trust-case', trustCaseHelp)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 not known, 1 known, 2 undecided, 3 error.')
    .action(async (what: string, flags: DedupeFlags) => exit(await dedupe(what, flags, context)));
}

async function dedupe(what: string, flags: DedupeFlags, context: CliContext): Promise<ExitCode> {
  const repository = await openAllKnown(flags.known, context);
  const answer = existsSync(what)
    ? await aboutFile(what, { flags, context, repository })
    : await aboutBug(what, { flags, context, repository });
  tell(answer, { flags, context, repository });
  return { unique: exitCodes.nothingFound, duplicate: exitCodes.found, undecided: exitCodes.undecided }[
    answer.verdict
  ];
}

interface Job {
  readonly flags: DedupeFlags;
  readonly context: CliContext;
  readonly repository: Repository;
}

async function aboutBug(id: string, job: Job): Promise<KnownAnswer> {
  const { flags, context, repository } = job;
  const bug = await (await openStore(flags.store)).get(id);
  const asked: Asked = { target: bug.target, level: bug.level, behaviour: bug };
  const url = flags.target ?? homeUrl(bug) ?? context.defaultTarget;
  if (!flags.run || bug.target.settings?.fault !== undefined) return isKnown(asked, repository);
  if (url === undefined)
    throw new IsoldeError(
      'usage',
      `a ${bug.target.name} server must be named with --target, or use --no-run`,
    );
  return withDatabase(url, job, (place, usable) => isKnown(asked, usable, place));
}

async function aboutFile(file: string, job: Job): Promise<KnownAnswer> {
  const { flags, context, repository } = job;
  const text = await readPlain(file);
  const scheduled = readScheduled(text, file);
  if (scheduled === undefined || !flags.run) {
    const features =
      scheduled === undefined ? textFeatures(reportText(text, file)) : caseFeatures(scheduled.case);
    return isKnownByText(flags.engine, features, repository);
  }
  return withDatabase(flags.target ?? context.defaultTarget, job, async (place, usable) => {
    const { target, observe } = place;
    await admit(target, sqlOfCase(scheduled.case), { trust: flags.trustCase === true, source: file });
    const { case: program, schedule } = scheduled;
    const level = program.level ?? target.defaultLevel;
    const contract = contractAt(usualChoice, target, level);
    const observed = await observe({ case: program, schedule, level, oracle: 'mechanism', contract });
    if (observed.kind === 'bad-setup') throw new IsoldeError('target', `${file}: ${observed.message}`);
    const finding = observed.kind === 'ran' ? observed.findings[0] : undefined;
    if (observed.kind !== 'ran' || finding === undefined) {
      context.err(`nothing is wrong with a run of ${file} on ${target.name}: compared by features`);
      return isKnownByText(target.name, caseFeatures(program, level), repository);
    }
    const behaviour = { case: program, schedule, finding, history: observed.history };
    return isKnown({ target: target.stamp, level, behaviour }, usable, place);
  });
}

/** The case a file holds, in any of our forms. */
function readScheduled(text: string, file: string): Required<ScheduledCase> | undefined {
  const found = /\.case\.json$/.test(file)
    ? parseCaseFile(text, file)
    : caseInText(reportText(text, file), file);
  return found && { case: found.case, schedule: found.schedule ?? serialOrder(found.case) };
}

/** An issue as JSON keeps its report in `body`. */
function reportText(text: string, file: string): string {
  if (!/\.json$/.test(file)) return text;
  try {
    const { body } = JSON.parse(text) as { readonly body?: unknown };
    return typeof body === 'string' ? body : text;
  } catch {
    return text;
  }
}

async function withDatabase(
  url: string | undefined,
  { flags, context, repository }: Job,
  use: (place: Place, usable: Repository) => Promise<KnownAnswer>,
): Promise<KnownAnswer> {
  const database = await Database.open({ open: () => openTarget(url), signal: context.signal });
  try {
    const { target } = database;
    const usable = await admitted(repository, target, flags.trustCase === true);
    return await use({ target, observe: (request) => database.observe(request, 0) }, usable);
  } finally {
    await database.close();
  }
}

function tell(answer: KnownAnswer, { flags, context, repository }: Job): void {
  const { verdict, reports, why, candidates, vector } = answer;
  if (flags.json === true) {
    const features = [...vector].map(([name, value]) => ({
      name,
      value,
      weight: repository.weights.get(name) ?? 0,
    }));
    context.out(
      JSON.stringify({ verdict, reports, why, candidates, ...(flags.explain && { features }) }, null, 2),
    );
    return;
  }
  const { bold } = context.colors;
  const [first, ...more] = reports;
  if (verdict === 'duplicate' && first !== undefined) {
    context.out(
      bold(`duplicate of ${oneLine(first.name)}${first.url === undefined ? '' : ` <${first.url}>`}`),
    );
    context.out(`  ${why}`);
    for (const { name, why: reason } of more) context.out(`  also ${oneLine(name)}: ${reason}`);
  } else if (verdict === 'undecided') {
    context.out(bold(`undecided between ${reports.map(({ name }) => oneLine(name)).join(', ')}`));
    for (const { name, why: reason } of reports) context.out(`  ${oneLine(name)}: ${reason}`);
    context.out(`  ${why}`);
  } else context.out(`${bold('not known')}\n  ${why}`);
  if (flags.explain !== true) return;
  context.out('\nfeatures, by weight');
  const weighed = [...vector].map(([name, value]) => ({
    name,
    value,
    weight: repository.weights.get(name) ?? 0,
  }));
  for (const { name, value, weight } of weighed.sort((a, b) => b.weight - a.weight))
    context.out(`  ${weight.toFixed(5)}  ${name}${value === 1 ? '' : ` = ${value}`}`);
  context.out('\ncandidates');
  for (const { id, likeness, match, why: reason } of candidates)
    context.out(`  ${likeness.toFixed(3)}  ${id}: ${match}; ${oneLine(reason)}`);
}

/** `isolde known`: the bugs that others have reported, and cases that show them. */

import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { printScript } from '../cases/index.js';
import { describeKind } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import type { HuntOptions } from '../hunt/index.js';
import { Database } from '../judge/index.js';
import {
  addToFolder,
  caseFeatures,
  caseSources,
  importReports,
  isKnown,
  type KnownBug,
  type KnownRun,
  openKnown,
  type Repository,
  readReportText,
  runKnown,
  wrongLines,
} from '../known/index.js';
import { witnessOperations } from '../report/index.js';
import { openStore } from '../store/index.js';
import { admit, openTarget, sqlOfCase, type Target } from '../targets/index.js';
import { oneLine, showControls } from '../visible.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';

interface KnownFlags {
  readonly known: string;
  readonly json?: boolean;
}

export const knownFolder = '.isolde/known';
export const knownFolderHelp = 'your own folder of known bugs';

export function knownCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const known = program
    .command('known')
    .description('bugs that others have reported: list, show, add, import, run the cases that show them');
  const add = (name: string, description: string) =>
    known
      .command(name)
      .description(description)
      .option('--known <folder>', knownFolderHelp, knownFolder)
      .option('--json', 'print JSON');
  add('list', 'the known bugs')
    .option('-e, --engine <name>', 'only those of this engine')
    .option('--cases', 'only those with a case that can be run')
    .action(async (flags: KnownFlags & ListFlags) => exit(await list(flags, context)));
  add('show <id>', 'one known bug, with its case').action(async (id: string, flags: KnownFlags) =>
    exit(await show(id, flags, context)),
  );
  add('add <bug>', 'a bug of the store becomes a known one')
    .option('--store <folder>', 'the store', '.isolde')
    .option('--name <name>', 'what its report is called (default: the bug’s id)')
    .option('--url <url>', 'where it is filed')
    .action(async (id: string, flags: KnownFlags & AddFlags) => exit(await addBug(id, flags, context)));
  add('import <file>', 'reports from a CSV table, an issue as JSON, Markdown or pasted text')
    .option('-e, --engine <name>', 'the engine, where the report does not say')
    .option('--id <id>', 'what the entry is called')
    .action(async (file: string, flags: KnownFlags & ImportFlags) =>
      exit(await importFile(file, flags, context)),
    );
  add('run [ids...]', 'run the cases of known bugs: which of them show on this database')
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('--trust-case', trustCaseHelp)
    .addHelpText(
      'after',
      '\nExit code: 0 none shows, 1 one shows, 2 none shows but some could not be run, 3 error.',
    )
    .action(async (ids: string[], flags: KnownFlags & RunFlags) => exit(await run(ids, flags, context)));
  known.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
}

/** Opens shipped and own bugs, and says what could not be read. */
export async function openAllKnown(folder: string, context: CliContext): Promise<Repository> {
  const repository = await openKnown({ own: folder });
  for (const problem of repository.problems) context.err(`isolde: ${problem}`);
  return repository;
}

interface ListFlags {
  readonly engine?: string;
  readonly cases?: boolean;
}

async function list(flags: KnownFlags & ListFlags, context: CliContext): Promise<ExitCode> {
  const { bugs } = await openAllKnown(flags.known, context);
  const listed = bugs.filter(
    (bug) =>
      (flags.engine === undefined || bug.engine === flags.engine) &&
      (flags.cases !== true || bug.case !== undefined),
  );
  if (flags.json === true) context.out(JSON.stringify(listed.map(plain), null, 2));
  else {
    for (const bug of listed) {
      const runs = bug.case === undefined ? '' : ', case';
      context.out(
        `${context.colors.bold(bug.id)}  ${oneLine(bug.name)} (${bug.engine}, ${bug.status}${runs})`,
      );
      context.out(`  ${oneLine(bug.about)}`);
    }
    context.out(
      `${counted(listed.length, 'known bug')}, ${listed.filter((bug) => bug.case).length} with a case`,
    );
  }
  return exitCodes.nothingFound;
}

/** As data, without what follows from the rest. */
function plain(bug: KnownBug): object {
  const { vector: _, case: found, ...entry } = bug;
  if (found === undefined) return entry;
  const { source } = found;
  return { ...entry, script: printScript(found), wrong: wrongLines(found), ...(source && { source }) };
}

function find({ bugs }: Repository, id: string): KnownBug {
  const found = bugs.find((bug) => bug.id === id || bug.name.toLowerCase() === id.toLowerCase());
  if (found !== undefined) return found;
  throw new IsoldeError('usage', `no known bug is called "${id}"; isolde known list names them`);
}

async function show(id: string, flags: KnownFlags, context: CliContext): Promise<ExitCode> {
  const bug = find(await openAllKnown(flags.known, context), id);
  const text = bug.from === 'own' ? await readReportText(flags.known, bug.id) : undefined;
  if (flags.json === true) {
    context.out(JSON.stringify({ ...plain(bug), ...(text !== undefined && { text }) }, null, 2));
    return exitCodes.nothingFound;
  }
  const { features } = bug;
  const facts: readonly (readonly [string, string])[] = [
    ['engine', bug.engine],
    ['status', bug.status],
    ['symptom', bug.symptom],
    ['filed at', bug.url ?? ''],
    ['affected', bug.affected.join(', ')],
    ['fixed in', bug.fixed.join(', ')],
    ['root cause', bug.bug ?? ''],
    ['levels', features.levels.join(', ')],
    ['transactions', String(features.transactions ?? '')],
    ['features', features.has.join(', ')],
  ];
  context.out(`${context.colors.bold(oneLine(bug.name))}\n${oneLine(bug.about)}`);
  for (const [label, value] of facts) if (value !== '') context.out(`${label}: ${oneLine(value)}`);
  if (bug.case !== undefined) {
    context.out(`\n${printScript(bug.case).trimEnd()}`);
    for (const line of wrongLines(bug.case)) context.out(`wrong: ${line}`);
    if (bug.case.source !== undefined)
      context.out(`case written from: ${bug.case.source} (${caseSources[bug.case.source]})`);
  }
  if (text !== undefined) context.out(`\n${showControls(text).trimEnd()}`);
  return exitCodes.nothingFound;
}

interface AddFlags {
  readonly store: string;
  readonly name?: string;
  readonly url?: string;
}

async function addBug(id: string, flags: KnownFlags & AddFlags, context: CliContext): Promise<ExitCode> {
  if (flags.url !== undefined && !/^https?:\/\/[^\s"'<>`\\]+$/.test(flags.url))
    throw new IsoldeError('usage', `--url takes an address with http or https, not "${flags.url}"`);
  const bug = await (await openStore(flags.store)).get(id);
  const witnesses = witnessOperations(bug);
  await addToFolder(flags.known, [
    {
      entry: {
        id: bug.id,
        name: flags.name ?? bug.id,
        engine: bug.target.name,
        ...(flags.url !== undefined && { url: flags.url }),
        status: flags.url === undefined ? 'unfiled' : 'open',
        symptom: describeKind(bug.finding.kind).symptom ?? 'wrong-read',
        about: bug.title,
        affected: [bug.target.version],
        fixed: [],
        features: caseFeatures(bug.case, { engine: bug.target.name, level: bug.level }),
      },
      case: { case: { ...bug.case, level: bug.case.level ?? bug.level }, schedule: bug.schedule },
      wrong: wrongLines({ case: bug.case, witnesses }),
      source: 'hunt',
    },
  ]);
  context.out(flags.json === true ? JSON.stringify({ id: bug.id }) : `${bug.id} is known from now on`);
  return exitCodes.nothingFound;
}

interface ImportFlags {
  readonly engine?: string;
  readonly id?: string;
}

const mostBytes = 64 * 1024 * 1024;

async function importFile(
  file: string,
  flags: KnownFlags & ImportFlags,
  context: CliContext,
): Promise<ExitCode> {
  if (flags.id !== undefined && !/^[a-z0-9][a-z0-9.-]{0,79}$/.test(flags.id))
    throw new IsoldeError('usage', `--id takes small letters, digits, dots and hyphens, not "${flags.id}"`);
  const reports = importReports(await readPlain(file), {
    file,
    ...(flags.engine !== undefined && { engine: flags.engine }),
    ...(flags.id !== undefined && { id: flags.id }),
  });
  await addToFolder(flags.known, reports);
  if (flags.json === true) {
    const listed = reports.map(({ entry, note, case: found }) => ({
      ...entry,
      case: found !== undefined,
      note,
    }));
    context.out(JSON.stringify(listed, null, 2));
    return exitCodes.nothingFound;
  }
  for (const { entry, note, case: found } of reports.slice(0, 20)) {
    context.out(
      `${entry.id}${found === undefined ? '' : ', with its case'}${note === undefined ? '' : `: ${oneLine(note)}`}`,
    );
  }
  context.out(`${counted(reports.length, 'report')} in ${flags.known}`);
  return exitCodes.nothingFound;
}

/** A plain file of bearable size. */
export async function readPlain(file: string): Promise<string> {
  try {
    const found = await stat(file);
    if (!found.isFile()) throw new IsoldeError('bad-file', `${file} is not a plain file`);
    if (found.size > mostBytes)
      throw new IsoldeError('bad-file', `${file} is larger than ${mostBytes} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof IsoldeError) throw error;
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
}

interface RunFlags {
  readonly target?: string;
  readonly trustCase?: boolean;
}

/** Bugs of the user's own folder are SQL from files; the shipped ones are ours. */
export async function admitKnown(
  target: Target,
  { id, from, case: found }: KnownBug,
  trust: boolean,
): Promise<void> {
  if (found === undefined || from === 'shipped') return;
  await admit(target, sqlOfCase(found.case), { trust, source: id });
}

/** The repository without the cases that must not run on this target. */
export async function admitted(repository: Repository, target: Target, trust: boolean): Promise<Repository> {
  const bugs: KnownBug[] = [];
  for (const bug of repository.bugs) {
    try {
      await admitKnown(target, bug, trust);
      bugs.push(bug);
    } catch (error) {
      if (!(error instanceof IsoldeError) || error.code !== 'safety') throw error;
      const { case: _, ...entry } = bug;
      bugs.push(entry);
    }
  }
  return { bugs, problems: repository.problems, weights: repository.weights };
}

/** What a hunt asks of every bug it finds. A new bug that is taken for a known one is lost with `--only-new`: weak evidence leaves it open. */
export function identifyBy(repository: Repository, trust: boolean): NonNullable<HuntOptions['identify']> {
  return async (bug, place) => {
    const usable = await admitted(repository, place.target, trust);
    const asked = { target: bug.target, level: bug.level, behaviour: bug };
    const { verdict, reports, why } = await isKnown(asked, usable, place, { withReads: 'undecided' });
    return { verdict, reports, why };
  };
}

async function run(
  ids: readonly string[],
  flags: KnownFlags & RunFlags,
  context: CliContext,
): Promise<ExitCode> {
  const repository = await openAllKnown(flags.known, context);
  const bugs =
    ids.length > 0 ? ids.map((id) => find(repository, id)) : repository.bugs.filter((bug) => bug.case);
  const { signal } = context;
  const database = await Database.open({
    open: () => openTarget(flags.target ?? context.defaultTarget),
    signal,
  });
  const results: { readonly bug: KnownBug; readonly run: KnownRun }[] = [];
  try {
    for (const bug of bugs) await admitKnown(database.target, bug, flags.trustCase === true);
    for (const bug of bugs) {
      if (signal.aborted) break;
      const observe = (request: Parameters<Database['observe']>[0]) => database.observe(request, 0);
      const result = await runKnown(bug, { target: database.target, observe });
      results.push({ bug, run: result });
      if (flags.json !== true) context.out(`${word(result)}  ${bug.id}\n  ${oneLine(result.why)}`);
    }
    const { name, version, settings } = database.target.stamp;
    if (flags.json === true) {
      const listed = results.map(({ bug, run: each }) => ({ id: bug.id, ...each }));
      context.out(JSON.stringify({ target: { name, version, settings }, results: listed }, null, 2));
    } else {
      const shown = results.filter((each) => each.run.outcome === 'shows').length;
      context.out(`${shown} of ${results.length} show on ${name} ${version}`);
    }
  } finally {
    await database.close();
  }
  if (results.some((each) => each.run.outcome === 'shows')) return exitCodes.found;
  const whole =
    results.length === bugs.length && results.every((each) => each.run.outcome === 'does-not-show');
  return whole ? exitCodes.nothingFound : exitCodes.undecided;
}

function word({ outcome }: KnownRun): string {
  return { shows: 'shows', 'does-not-show': 'does not show', ran: 'undecided', 'not-run': 'not run' }[
    outcome
  ];
}

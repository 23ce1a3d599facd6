/** `isolde bugs`: what the store holds, and the store as a regression suite. */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { isServerFailure } from '../check/index.js';
import { describeClaim, findingLabels, labelOf } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { exportProperty } from '../properties/index.js';
import { type Bug, homeUrl, reportTerminal } from '../report/index.js';
import { hideSecrets } from '../secrets.js';
import {
  type Added,
  type BugRecord,
  type BugStore,
  isSharedUrl,
  openBugStore,
  printJunit,
  type RerunReport,
  type RerunResult,
  rerunBug,
} from '../store/index.js';
import {
  admit,
  findDeclaration,
  inOwnProcess,
  openTarget,
  sqlOfCase,
  type Target,
} from '../targets/index.js';
import { makeTemporaryFolder } from '../temporary-folder.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';
import { findBeside, printBesides, showBeside } from './bugs-beside.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { requireStore } from './existing-store.js';
import { writeText } from './flags.js';
import { checkIgnorable } from './ignorable.js';

interface StoreFlags {
  readonly store: string;
  readonly json?: boolean;
}

interface RerunFlags extends StoreFlags {
  readonly targets?: readonly string[];
  readonly versions?: string;
  readonly jobs: string;
  readonly target?: string;
  readonly runs: string;
  readonly junit?: string;
  readonly record: boolean;
  readonly trustCase?: boolean;
}

interface ImportFlags extends StoreFlags {
  readonly trustCase?: boolean;
}

export function bugsCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const bugs = program
    .command('bugs')
    .description('list, show, rerun, export, import and ignore the bugs that hunts have stored');
  const add = (name: string, description: string) =>
    bugs
      .command(name)
      .description(description)
      .option('--store <place>', 'the store: a folder, or a shared one (postgres://…)', '.isolde')
      .option('--json', 'print JSON');
  add('list', 'the stored bugs, the last seen first').action(async (flags: StoreFlags) =>
    exit(await list(flags, context)),
  );
  add('show <id>', 'one bug: facts, interleaving, argument').action(async (id: string, flags: StoreFlags) =>
    exit(await show(id, flags, context)),
  );
  add('rerun [ids...]', 'replay stored bugs on a target: fixed, alive or changed')
    .option('-t, --target <url>', 'the database (default: each bug’s own engine, embedded or private)')
    .option('--targets <url...>', 'several databases, as a table (isolde matrix)')
    .option('--versions <list>', 'with --targets: versions of each: 1.1.3,1.2.0 or 1.1..1.4 or all or local')
    .option('-j, --jobs <count>', 'with --targets: databases that are open at once', '2')
    .option('-n, --runs <count>', 'how often each bug is run', '3')
    .option('--junit <file>', 'write the outcome as JUnit XML')
    .option('--trust-case', trustCaseHelp)
    .option('--no-record', 'do not write the outcome into the store')
    .addHelpText(
      'after',
      '\nExit code: 0 all fixed, 1 a bug is alive, 2 a bug changed or could not be run, 3 error.',
    )
    .action(async (ids: string[], flags: RerunFlags) => exit(await rerun(ids, flags, context)));
  add('export <id> <folder>', 'copy a bug, with reports and reproductions, into a folder')
    .option('--property', 'write it as a property instead, for "isolde property FILE"')
    .action(async (id: string, folder: string, flags: StoreFlags & { readonly property?: boolean }) => {
      const to = await withStore(flags, async (store) =>
        flags.property === true ? writeProperty(await store.get(id), folder) : store.exportTo(id, folder),
      );
      context.out(flags.json === true ? JSON.stringify({ folder: to }) : to);
      exit(exitCodes.nothingFound);
    });
  add('import <source>', 'take in an exported bug, or every bug of another store: a folder, or postgres://…')
    .option('--trust-case', 'take over SQL that is not on the list of harmless statements')
    .addHelpText(
      'after',
      '\nExit code: 0 all are taken in, 2 some could not be read or are refused, 3 error.',
    )
    .action(async (source: string, flags: ImportFlags) => exit(await takeIn(source, flags, context)));
  add('ignore <what>', 'let hunts pass over a bug (its id) or a behaviour (its signature)')
    .option('--reason <text>', 'why; shown in the list')
    .action(async (what: string, flags: StoreFlags & { readonly reason?: string }) => {
      exit(await ignore(what, flags, context));
    });
  add('unignore <what>', 'let hunts report again what was ignored').action(
    async (what: string, flags: StoreFlags) => exit(await unignore(what, flags, context)),
  );
  bugs.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
}

/** Works on the store that was asked for, and closes it. */
async function withStore<T>(
  { store: place }: StoreFlags,
  use: (store: BugStore) => Promise<T>,
  isNew = false,
): Promise<T> {
  if (!isNew) requireStore(place);
  const store = await openBugStore(place);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function writeProperty(bug: Bug, folder: string): Promise<string> {
  const file = join(folder, `${bug.id}.mjs`);
  const text = exportProperty(bug);
  await mkdir(folder, { recursive: true });
  await writeText(file, text);
  return file;
}

async function list(flags: StoreFlags, context: CliContext): Promise<ExitCode> {
  const {
    place,
    bugs: stored,
    problems,
    passedOver,
  } = await withStore(flags, async (store) => ({
    place: store.place,
    ...(await store.list()),
    passedOver: await store.ignored(),
  }));
  for (const problem of problems) context.err(`isolde: ${problem}`);
  const claim = (bug: BugRecord) => findingLabels.indexOf(labelOf(bug));
  const bugs = stored.toSorted((a, b) => claim(a) - claim(b));
  const ignored = new Set(passedOver.map(({ what }) => what));
  const isIgnored = ({ id, signature }: BugRecord) => ignored.has(id) || ignored.has(signature);
  if (flags.json === true) {
    context.out(
      JSON.stringify(
        bugs.map((bug) => ({ ...bug, label: labelOf(bug), ignored: isIgnored(bug) })),
        null,
        2,
      ),
    );
  } else {
    for (const bug of bugs) {
      const { shown, runs } = bug.reproduced;
      const masked = isIgnored(bug) ? ', ignored' : '';
      context.out(`${context.colors.bold(bug.id)}  ${oneLine(bug.title)}`);
      context.out(
        `  ${describeClaim(bug)}${bug.notIsolation === true ? '; not isolation' : ''}; seen ${bug.count}×, last ${bug.lastSeen}, ${shown} of ${runs} runs, signature ${bug.signature}${masked}`,
      );
    }
    const others = await printBesides(flags.store, context);
    if (bugs.length + others === 0) context.out(`no bugs in ${place}`);
  }
  return problems.length > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}

async function show(id: string, flags: StoreFlags, context: CliContext): Promise<ExitCode> {
  const beside = await findBeside(flags.store, id, context);
  if (beside !== undefined) return showBeside(beside, flags, context);
  const { bug, place } = await withStore(flags, async (store) => {
    const found = await store.get(id);
    return { bug: found, place: store.folderOf(found.id) };
  });
  if (flags.json === true) {
    context.out(JSON.stringify({ ...bug, label: labelOf(bug) }, null, 2));
    return exitCodes.nothingFound;
  }
  const { colors, width } = context;
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red, width };
  context.out(reportTerminal(bug, style));
  context.out(`\nfiles: ${place}\nreplay: ${oneLine(bug.replay)}`);
  return exitCodes.nothingFound;
}

async function takeIn(source: string, flags: ImportFlags, context: CliContext): Promise<ExitCode> {
  let problems = 0;
  const onProblem = (why: string) => {
    problems++;
    context.err(`isolde: ${why}`);
  };
  const options = { trust: flags.trustCase === true, onProblem };
  const added = await withStore(
    flags,
    (store) =>
      isSharedUrl(source) ? importShared(source, store, options) : store.importFrom(source, options),
    true,
  );
  if (flags.json === true) context.out(JSON.stringify(added));
  else
    for (const { id, isNew, count } of added)
      context.out(isNew ? `${id}: new` : `${id}: known, seen ${counted(count, 'time')}`);
  return problems > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}

/** Bugs of a shared store come through folders: the same reader, the same fence. */
async function importShared(
  source: string,
  into: BugStore,
  options: { readonly trust: boolean; readonly onProblem: (why: string) => void },
): Promise<Added[]> {
  const folder = await makeTemporaryFolder('import');
  try {
    await withStore({ store: source }, async (from) => {
      const { bugs, problems } = await from.list();
      for (const problem of problems) options.onProblem(problem);
      for (const { id } of bugs) {
        await from.exportTo(id, folder.path).catch((error: unknown) => {
          if (!(error instanceof IsoldeError) || error.code !== 'bad-file') throw error;
          options.onProblem(error.message);
        });
      }
    });
    return (await readdir(folder.path)).length === 0 ? [] : await into.importFrom(folder.path, options);
  } finally {
    await folder.remove();
  }
}

async function ignore(
  what: string,
  flags: StoreFlags & { readonly reason?: string },
  context: CliContext,
): Promise<ExitCode> {
  await withStore(flags, async (store) => {
    if ((await findBeside(flags.store, what, context)) === undefined)
      await checkIgnorable(store, [what], context);
    await store.ignore(what, flags.reason);
  });
  context.out(flags.json === true ? JSON.stringify({ ignored: what }) : `${what} is ignored from now on`);
  return exitCodes.nothingFound;
}

async function unignore(what: string, flags: StoreFlags, context: CliContext): Promise<ExitCode> {
  if (!(await withStore(flags, (store) => store.unignore(what))))
    throw new IsoldeError('usage', `"${what}" is not ignored; "isolde bugs list" shows what is`);
  context.out(flags.json === true ? JSON.stringify({ unignored: what }) : `${what} is no longer ignored`);
  return exitCodes.nothingFound;
}

async function rerun(ids: readonly string[], flags: RerunFlags, context: CliContext): Promise<ExitCode> {
  const runs = Number(flags.runs);
  if (!Number.isInteger(runs) || runs < 1) {
    throw new IsoldeError('usage', `--runs takes a whole number above 0, not "${flags.runs}"`);
  }
  const [beside] = ids.length === 1 ? [await findBeside(flags.store, ids[0]!, context)] : [];
  if (beside !== undefined) return beside.rerun({ ...flags, runs }, context);
  return withStore(flags, (store) => rerunIn(store, ids, { ...flags, runs }, context));
}

async function rerunIn(
  store: BugStore,
  ids: readonly string[],
  flags: Omit<RerunFlags, 'runs'> & { readonly runs: number },
  context: CliContext,
): Promise<ExitCode> {
  const { runs } = flags;
  const { bugs, problems } = await bugsToRun(store, ids, context);
  if (flags.targets !== undefined) {
    const { rerunOver } = await import('./rerun-matrix.js');
    return rerunOver(bugs, problems, { ...flags, runs: String(runs) }, context);
  }
  const targets = new Targets(flags.target, context.defaultTarget);
  const reports: (RerunReport & { readonly bug: Bug; readonly target: string })[] = [];
  try {
    for (const bug of bugs) {
      if (context.signal.aborted) break;
      const started = performance.now();
      const { result, target } = await rerunOne(bug, targets, {
        runs,
        signal: context.signal,
        trust: flags.trustCase === true,
      });
      const seconds = (performance.now() - started) / 1000;
      reports.push({
        bug,
        result,
        seconds,
        target: target === undefined ? '' : `${target.name} ${target.version}`,
      });
      if (flags.json !== true) tell(bug, result, context);
      if (flags.record && target !== undefined && result.runs > 0) {
        const { outcome, shown } = result;
        await store.recordRun(bug.id, {
          target,
          outcome,
          shown,
          runs: result.runs,
          at: new Date().toISOString(),
        });
      }
    }
  } finally {
    await targets.close();
  }
  if (flags.json === true) {
    const entries = reports.map(({ bug, result, seconds, target }) => {
      const { outcome, why, shown, runs: ran } = result;
      return { id: bug.id, title: bug.title, target, outcome, why, shown, runs: ran, seconds };
    });
    context.out(JSON.stringify(entries, null, 2));
  }
  if (flags.junit !== undefined) {
    const text = printJunit(`isolde bugs rerun ${hideSecrets(flags.target ?? '')}`.trim(), reports);
    await writeFile(flags.junit, text).catch((error: unknown) => {
      throw fileProblem('write', flags.junit!, error);
    });
  }
  const outcomes = new Set(reports.map(({ result }) => result.outcome));
  if (outcomes.has('alive')) return exitCodes.found;
  const whole =
    problems === 0 && reports.length === bugs.length && !outcomes.has('changed') && !outcomes.has('not-run');
  return whole ? exitCodes.nothingFound : exitCodes.undecided;
}

/** The bugs asked for, or all. One that cannot be read is reported and left out. */
async function bugsToRun(
  store: BugStore,
  ids: readonly string[],
  context: CliContext,
): Promise<{ readonly bugs: readonly Bug[]; readonly problems: number }> {
  const listed = ids.length > 0 ? { bugs: ids.map((id) => ({ id })), problems: [] } : await store.list();
  const problems = [...listed.problems];
  const bugs: Bug[] = [];
  for (const { id } of listed.bugs) {
    try {
      bugs.push(await store.get(id));
    } catch (error) {
      if (!(error instanceof IsoldeError) || error.code !== 'bad-file') throw error;
      problems.push(error.message);
    }
  }
  if (bugs.length === 0 && problems.length > 0) throw new IsoldeError('bad-file', problems.join('\n'));
  for (const problem of problems) context.err(`isolde: ${problem}`);
  if (bugs.length === 0) context.err(`isolde: no bugs in ${store.place}`);
  return { bugs, problems: problems.length };
}

async function rerunOne(
  bug: Bug,
  targets: Targets,
  options: { readonly runs: number; readonly signal: AbortSignal; readonly trust: boolean },
): Promise<{ readonly result: RerunResult; readonly target: Bug['target'] | undefined }> {
  const url = targets.urlFor(bug);
  if (url === undefined) {
    const why = `a ${bug.target.name} server must be named with --target or ISOLDE_TARGET`;
    return { result: { outcome: 'not-run', why, shown: 0, runs: 0 }, target: undefined };
  }
  // What is said to abort the engine must not end us.
  const safe = isServerFailure(bug.finding) ? (inOwnProcess(url) ?? url) : url;
  const target = await targets.open(safe);
  await admit(target, sqlOfCase(bug.case), { trust: options.trust, source: bug.id });
  const result = await rerunBug(bug, target, options);
  const lost = result.history?.operations.some(
    ({ end, error }) => end === null || error?.class === 'crash' || error?.class === 'connection-lost',
  );
  // The next bug gets a server that answers.
  if (lost === true) await targets.forget(safe);
  return { result, target: target.stamp };
}

/** Targets opened once and closed together. */
class Targets {
  readonly #open = new Map<string, Target>();

  constructor(
    private readonly given: string | undefined,
    private readonly usual: string | undefined,
  ) {}

  urlFor(bug: Bug): string | undefined {
    if (this.given !== undefined) return this.given;
    const home = homeUrl(bug);
    if (home !== undefined) return home;
    // What the environment names is for bugs of that engine that have no private server to run on.
    const scheme = this.usual?.split(/[@:]/)[0]?.toLowerCase() ?? '';
    return findDeclaration(bug.target.name)?.schemes.includes(scheme) === true ? this.usual : undefined;
  }

  async open(url: string): Promise<Target> {
    const known = this.#open.get(url) ?? (await openTarget(url));
    this.#open.set(url, known);
    return known;
  }

  async forget(url: string): Promise<void> {
    const target = this.#open.get(url);
    this.#open.delete(url);
    await target?.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const target of this.#open.values()) await target.close();
  }
}

function tell(bug: Bug, { outcome, why, shown, runs }: RerunResult, { out, colors }: CliContext): void {
  const paint = { alive: colors.red, fixed: colors.green, changed: colors.yellow, 'not-run': colors.yellow }[
    outcome
  ];
  const times = runs === 0 ? '' : ` (${shown} of ${runs} runs)`;
  out(`${paint(outcome === 'not-run' ? 'not run' : outcome)}${times}  ${bug.id}\n  ${oneLine(why)}`);
}

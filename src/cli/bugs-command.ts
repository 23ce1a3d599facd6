/** `isolde bugs`: what the store holds, and the store as a regression suite. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describeLabel, labelOf } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { exportProperty } from '../properties/index.js';
import { type Bug, homeUrl, reportTerminal } from '../report/index.js';
import { hideSecrets } from '../secrets.js';
import {
  type BugRecord,
  fileProblem,
  openStore,
  printJunit,
  type RerunReport,
  type RerunResult,
  rerunBug,
  type Store,
} from '../store/index.js';
import {
  admit,
  findDeclaration,
  inOwnProcess,
  openTarget,
  sqlOfCase,
  type Target,
} from '../targets/index.js';
import { oneLine } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { writeText } from './flags.js';

interface StoreFlags {
  readonly store: string;
  readonly json?: boolean;
}

interface RerunFlags extends StoreFlags {
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
      .option('--store <folder>', 'the store', '.isolde')
      .option('--json', 'print JSON');
  add('list', 'the stored bugs, the last seen first').action(async (flags: StoreFlags) =>
    exit(await list(flags, context)),
  );
  add('show <id>', 'one bug: facts, interleaving, argument').action(async (id: string, flags: StoreFlags) =>
    exit(await show(id, flags, context)),
  );
  add('rerun [ids...]', 'replay stored bugs on a target: fixed, alive or changed')
    .option('-t, --target <url>', 'the database (default: each bug’s own engine, embedded or private)')
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
      const store = await openStore(flags.store);
      const to =
        flags.property === true
          ? await writeProperty(await store.get(id), folder)
          : await store.exportTo(id, folder);
      context.out(flags.json === true ? JSON.stringify({ folder: to }) : to);
      exit(exitCodes.nothingFound);
    });
  add('import <folder>', 'take in an exported bug, or every bug of another store')
    .option('--trust-case', 'take over SQL that is not on the list of harmless statements')
    .addHelpText(
      'after',
      '\nExit code: 0 all are taken in, 2 some could not be read or are refused, 3 error.',
    )
    .action(async (folder: string, flags: ImportFlags) => exit(await takeIn(folder, flags, context)));
  add('ignore <what>', 'let hunts pass over a bug (its id) or a behaviour (its signature)')
    .option('--reason <text>', 'why, for whoever reads the list')
    .action(async (what: string, flags: StoreFlags & { readonly reason?: string }) => {
      exit(await ignore(what, flags, context));
    });
  bugs.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
}

async function writeProperty(bug: Bug, folder: string): Promise<string> {
  const file = join(folder, `${bug.id}.mjs`);
  const text = exportProperty(bug);
  await mkdir(folder, { recursive: true });
  await writeText(file, text);
  return file;
}

async function list(flags: StoreFlags, context: CliContext): Promise<ExitCode> {
  const store = await openStore(flags.store);
  const { bugs, problems } = await store.list();
  for (const problem of problems) context.err(`isolde: ${problem}`);
  const ignored = new Set((await store.ignored()).map(({ what }) => what));
  const isIgnored = ({ id, signature }: BugRecord) => ignored.has(id) || ignored.has(signature);
  if (flags.json === true) {
    context.out(
      JSON.stringify(
        bugs.map((bug) => ({ ...bug, label: labelOf(bug), ignored: isIgnored(bug) })),
        null,
        2,
      ),
    );
  } else if (bugs.length === 0) context.out(`no bugs in ${store.folder}`);
  else {
    for (const bug of bugs) {
      const { shown, runs } = bug.reproduced;
      const masked = isIgnored(bug) ? ', ignored' : '';
      context.out(`${context.colors.bold(bug.id)}  ${oneLine(bug.title)}`);
      context.out(
        `  ${describeLabel(labelOf(bug))}${bug.notIsolation === true ? '; not isolation' : ''}; seen ${bug.count}×, last ${bug.lastSeen}, ${shown} of ${runs} runs, signature ${bug.signature}${masked}`,
      );
    }
  }
  return problems.length > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}

async function show(id: string, flags: StoreFlags, context: CliContext): Promise<ExitCode> {
  const store = await openStore(flags.store);
  const bug = await store.get(id);
  if (flags.json === true) {
    context.out(JSON.stringify(bug, null, 2));
    return exitCodes.nothingFound;
  }
  const { colors, width } = context;
  const style = { heading: colors.bold, result: colors.cyan, error: colors.red, width };
  context.out(reportTerminal(bug, style));
  context.out(`\nfiles: ${store.folderOf(bug.id)}\nreplay: ${oneLine(bug.replay)}`);
  return exitCodes.nothingFound;
}

async function takeIn(folder: string, flags: ImportFlags, context: CliContext): Promise<ExitCode> {
  let problems = 0;
  const onProblem = (why: string) => {
    problems++;
    context.err(`isolde: ${why}`);
  };
  const store = await openStore(flags.store);
  const added = await store.importFrom(folder, { trust: flags.trustCase === true, onProblem });
  if (flags.json === true) context.out(JSON.stringify(added));
  else
    for (const { id, isNew, count } of added)
      context.out(isNew ? `${id}: new` : `${id}: known, seen ${count} times`);
  return problems > 0 ? exitCodes.undecided : exitCodes.nothingFound;
}

async function ignore(
  what: string,
  flags: StoreFlags & { readonly reason?: string },
  context: CliContext,
): Promise<ExitCode> {
  const store = await openStore(flags.store);
  // A signature may be ignored before it was ever seen here; what looks like neither is a slip.
  const { bugs, problems } = await store.list();
  for (const problem of problems) context.err(`isolde: ${problem}`);
  const known = bugs.find(({ id, signature }) => id === what || signature === what);
  if (known === undefined && !/^[0-9a-f]{12}$/.test(what)) {
    throw new IsoldeError(
      'usage',
      `"${what}" is neither the id of a stored bug nor a signature (12 hexadecimal digits)`,
    );
  }
  await store.ignore(what, flags.reason);
  context.out(flags.json === true ? JSON.stringify({ ignored: what }) : `${what} is ignored from now on`);
  return exitCodes.nothingFound;
}

async function rerun(ids: readonly string[], flags: RerunFlags, context: CliContext): Promise<ExitCode> {
  const runs = Number(flags.runs);
  if (!Number.isInteger(runs) || runs < 1) {
    throw new IsoldeError('usage', `--runs takes a whole number above 0, not "${flags.runs}"`);
  }
  const store = await openStore(flags.store);
  const { bugs, problems } = await bugsToRun(store, ids, context);
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
  store: Store,
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
  if (bugs.length === 0) context.err(`isolde: no bugs in ${store.folder}`);
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
  const safe = bug.finding.oracle === 'server' ? (inOwnProcess(url) ?? url) : url;
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
    const scheme = this.usual?.split(':')[0]?.toLowerCase() ?? '';
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

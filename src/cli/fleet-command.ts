/** `isolde fleet`: hunts and checks over many machines, with a PostgreSQL as the meeting point. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { parseDemand } from '../check/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { checkJob, huntJobs, type NewJob, reduceJob, roleScript, serveSlot } from '../fleet/index.js';
import { profiles } from '../generate/index.js';
import { parseFormatName } from '../histories/index.js';
import { groupSize } from '../hunt/index.js';
import { usualChoice } from '../judge/index.js';
import { defaultTargetUrl } from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { contractNamed, levelOf, oracleOf, positive } from './flags.js';
import { type DbFlags, dbHelp, slotDatabase, withQueue } from './fleet-database.js';
import { addMatrix } from './fleet-matrix.js';
import { type ServeFlags, serve } from './fleet-serve.js';
import { showLogs, showResults, showStatus } from './fleet-show.js';
import { resultsHelp, submit } from './fleet-submit.js';
import { type WorkFlags, workHere } from './fleet-work.js';
import { checkContract, roundsOf } from './hunt-command.js';
import { identifyBy, knownFolder, openAllKnown } from './known-command.js';
import { isHistoryFile } from './replayable-history.js';
import { readCase } from './run-command.js';

interface HuntFlags extends DbFlags {
  readonly rounds: string;
  readonly chunk: string;
  readonly seed?: readonly string[];
  readonly level?: readonly string[];
  readonly profile?: readonly string[];
  readonly oracle?: readonly string[];
  readonly contract: string;
  readonly runs: string;
  readonly wait?: boolean;
}

interface ReduceFlags extends DbFlags {
  readonly target?: string;
  readonly level?: string;
  readonly contract?: string;
  readonly oracle?: string;
  readonly jobs: string;
  readonly runs: string;
  readonly wait?: boolean;
}

interface CheckFlags extends DbFlags {
  readonly level?: string;
  readonly contract?: string;
  readonly format?: string;
  readonly wait?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function fleetCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const fleet = program
    .command('fleet')
    .description('hunt and check over many machines: serve, work, submit, see what came of it');
  const add = (name: string, description: string) =>
    fleet.command(name).description(description).option('--db <url>', dbHelp);
  add('serve', 'make the tables, free the jobs of lost workers, say what the fleet does')
    .option('--local', 'start a PostgreSQL here, and write its URL to .isolde/fleet.url')
    .option('--data <folder>', 'with --local: where its data stay', '.isolde/fleet')
    .option('--setup', 'only make the tables')
    .option('--roles', 'print the SQL that makes roles with just the rights they use')
    .action(async (flags: ServeFlags & { readonly roles?: boolean }) => {
      if (flags.roles === true) context.file(roleScript().trimEnd());
      else await serve(flags, context);
      exit(exitCodes.nothingFound);
    });
  add('work', 'take jobs and do them, until stopped')
    .option('--slots <count>', 'jobs that run at once, each in a process of its own', '1')
    .option('--engines <names>', 'only these engines, with commas between (default: all that start)')
    .option('--allow-target <url>', 'a server that jobs may use (may be repeated)', collect)
    .option('--lease <time>', 'how long it may be unheard of before others get its jobs', '30s')
    .option('--until-idle', 'end when there is nothing to do')
    .option('--name <name>', 'what the others call it (default: host and process)')
    .action(async (flags: WorkFlags) => exit(await workHere(flags, context)));
  addHunt(add, context, exit);
  addCheck(add, context, exit);
  addReduce(add, context, exit);
  addMatrix(add, context, exit);
  add('status', 'workers, batches, and what waits for what')
    .option('--json', 'print JSON')
    .action(async (flags: DbFlags) => exit(await showStatus(flags, context)));
  add('logs [batch]', 'what happened, of one batch or of all')
    .option('--follow', 'go on until stopped')
    .action(async (batch: string | undefined, flags: DbFlags & { readonly follow?: boolean }) =>
      exit(await showLogs(batch, flags, context)),
    );
  add('results [batch]', 'what a batch has found (default: the last one)')
    .option('--json', 'print JSON')
    .addHelpText('after', resultsHelp)
    .action(async (batch: string | undefined, flags: DbFlags) =>
      exit(await showResults(batch, flags, context)),
    );
  add('cancel <batch>', 'take a batch back').action(async (batch: string, flags: DbFlags) => {
    const count = await withQueue(flags, context, (queue) => queue.cancel(numberOf(batch)));
    context.out(`${counted(count, 'job')} cancelled`);
    exit(exitCodes.nothingFound);
  });
  fleet
    .command('slot', { hidden: true })
    .description('a slot of a worker, which starts it')
    .action(async () => {
      const identify = identifyBy(await openAllKnown(knownFolder, context), false);
      await serveSlot({ identify, database: slotDatabase(context) });
    });
  fleet.commands.forEach((command) => {
    command.exitOverride().copyInheritedSettings(program);
  });
}

type Add = (name: string, description: string) => Command;
type Exit = (code: ExitCode) => void;

function addHunt(add: Add, context: CliContext, exit: Exit): void {
  add('hunt [urls...]', 'submit a hunt: seeds × databases × levels × profiles, cut into jobs')
    .option('--rounds <rounds>', 'so many rounds, or 120..127', '1000')
    .option('--chunk <rounds>', `rounds of one job, rounded up to groups of ${groupSize}`, '128')
    .option('-s, --seed <seed>', 'the same seed gives the same rounds (may be repeated; default: 1)', collect)
    .option(
      '-l, --level <level>',
      'isolation level (may be repeated; default: the database’s default)',
      collect,
    )
    .option(
      '-c, --contract <contract>',
      'what is promised: vendor, reported, adya, ansi, or an id',
      usualChoice,
    )
    .option('-p, --profile <profile>', 'only this kind of workload (may be repeated)', collect)
    .option('--oracle <name>', 'only these judges (may be repeated)', collect)
    .option('-n, --runs <count>', 'replays that must all show a finding', '3')
    .addOption(new Option('--wait', 'wait for the results and print them'))
    .option('--json', 'print JSON')
    .addHelpText('after', resultsHelp)
    .action(async (urls: string[], flags: HuntFlags) => exit(await submitHunt(urls, flags, context)));
}

function addCheck(add: Add, context: CliContext, exit: Exit): void {
  add('check <file...>', 'submit histories to be checked')
    .option('-l, --level <level>', 'the level to hold them to (default: serializable)')
    .option('-c, --contract <contract>', 'what the level means, or a contract by its full name')
    .option('--format <format>', 'take the files for this format')
    .addOption(new Option('--wait', 'wait for the results and print them'))
    .option('--json', 'print JSON')
    .addHelpText('after', resultsHelp)
    .action(async (files: string[], flags: CheckFlags) => exit(await submitChecks(files, flags, context)));
}

function addReduce(add: Add, context: CliContext, exit: Exit): void {
  add('reduce <file>', 'submit a case or a history to be shrunk, its trials on all workers')
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('-l, --level <level>', 'isolation level where the case names none')
    .option('-c, --contract <contract>', 'what is promised (default: the vendor’s contract at that level)')
    .option('--oracle <name>', 'who judges a case (default: any that finds something)')
    .option('-j, --jobs <count>', 'trials that run at once', '8')
    .option('-n, --runs <count>', 'runs of the result that must show the finding', '5')
    .addOption(new Option('--wait', 'wait for the result and print it'))
    .option('--json', 'print JSON')
    .addHelpText('after', resultsHelp)
    .action(async (file: string, flags: ReduceFlags) => exit(await submitReduction(file, flags, context)));
}

async function submitReduction(file: string, flags: ReduceFlags, context: CliContext): Promise<ExitCode> {
  const target = flags.target ?? context.defaultTarget ?? defaultTargetUrl;
  const isHistory = await isHistoryFile(file);
  const history = plainName(file);
  const job = reduceJob(
    {
      kind: 'reduce',
      target,
      subject: isHistory ? { history } : await readCase(file),
      runs: positive(flags.runs, '--runs'),
      lanes: positive(flags.jobs, '--jobs'),
      ...(flags.level !== undefined && { level: levelOf(flags.level) }),
      ...(flags.contract !== undefined && { contract: contractNamed(flags.contract).id }),
      ...(flags.oracle !== undefined && { oracle: oracleOf(flags.oracle) }),
    },
    isHistory ? await readInput(file) : undefined,
  );
  return submit('reduce', `reduce ${history} on ${target}`, [job], { flags, context });
}

/** A file's name as jobs may have it. */
function plainName(file: string): string {
  return basename(file)
    .replaceAll(/[^\w.@+ -]/g, '_')
    .replace(/^\./, '_')
    .slice(-200);
}

async function submitHunt(urls: readonly string[], flags: HuntFlags, context: CliContext): Promise<ExitCode> {
  const targets = urls.length > 0 ? urls : [context.defaultTarget ?? defaultTargetUrl];
  const { from = 0, to } = roundsOf(flags.rounds);
  if (to === undefined) throw new IsoldeError('usage', '--rounds of a fleet need an end: 500, or 120..127');
  checkContract(flags.contract);
  const jobs = huntJobs({
    targets,
    seeds: flags.seed ?? ['1'],
    levels: (flags.level ?? []).map(levelOf),
    profiles: await Promise.all((flags.profile ?? []).map(profileText)),
    ...{ from, to, contract: flags.contract },
    chunk: positive(flags.chunk, '--chunk'),
    runs: positive(flags.runs, '--runs'),
    ...(flags.oracle !== undefined && { oracles: flags.oracle.map(oracleOf) }),
  });
  return submit('hunt', `hunt ${targets.join(' ')} --rounds ${flags.rounds}`, jobs, { flags, context });
}

/** A name, or the text of a profile file: workers have no such file. */
async function profileText(name: string): Promise<string> {
  if (profiles.some((profile) => profile.name === name)) return name;
  return (await readInput(name)).toString('utf8');
}

/** A file of this size and more stays where it is. */
const mostInputBytes = 256 * 1024 * 1024;

async function readInput(file: string): Promise<Buffer> {
  try {
    const content = await readFile(file);
    if (content.length <= mostInputBytes) return content;
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
  throw new IsoldeError('usage', `${file} is larger than the ${mostInputBytes} bytes a job may bring along`);
}

async function submitChecks(
  files: readonly string[],
  flags: CheckFlags,
  context: CliContext,
): Promise<ExitCode> {
  // A slip of the pen is told here, not by a worker.
  parseDemand(flags.level, flags.contract);
  const { level, contract } = flags;
  const historyFormat = flags.format === undefined ? undefined : parseFormatName(flags.format);
  const jobs: NewJob[] = [];
  for (const file of files) {
    jobs.push(
      checkJob(
        {
          kind: 'check',
          file: plainName(file),
          ...(level !== undefined && { level }),
          ...(contract !== undefined && { contract }),
          ...(historyFormat !== undefined && { historyFormat }),
        },
        await readInput(file),
      ),
    );
  }
  return submit('check', `check ${counted(files.length, 'history', 'histories')}`, jobs, { flags, context });
}

function numberOf(batch: string): string {
  if (/^\d{1,18}$/.test(batch)) return batch;
  throw new IsoldeError('usage', `a batch has a number, not "${batch}"; isolde fleet status lists them`);
}

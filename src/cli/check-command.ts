/**
 * `isolde check FILE…`: verdicts on histories. One line `file<TAB>true|false|unknown` each on standard output (or one
 * JSON object per line), everything for people in between on standard error. A file that cannot be read has no
 * verdict: it is an error, and the others are still checked.
 */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Certificate, CheckOptions, CheckResult, Demand, Finding } from '../check/index.js';
import {
  checkKeyValues,
  demandOfLevel,
  explain,
  findingsToDot,
  workloadNames,
  workloadOf,
} from '../check/kv/index.js';
import type { Contract } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import {
  type AnyHistory,
  type FormatName,
  formatNames,
  historiesIn,
  parseFormatName,
  readAnyHistory,
  UnknownFormatError,
} from '../histories/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { caseInstead } from './other-kind.js';
import { readingProgress, stageProgress } from './reading-progress.js';

interface CheckFlags {
  readonly level?: string;
  readonly contract?: string;
  readonly compare?: string;
  readonly format?: string;
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly dot?: string;
  readonly anomalies?: string;
  readonly budget?: number;
  readonly memory?: number;
  readonly strongest?: boolean;
  readonly certificate?: string;
  readonly workload?: string;
  readonly total?: string;
  readonly negativeBalances?: boolean;
  readonly linearizable?: boolean;
}

export function checkCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('check')
    .argument(
      '<file...>',
      'histories: files, folders or archives of any format that is read; - reads standard input',
    )
    .description(
      'say whether histories keep an isolation level or a contract, and prove it where they do not',
    )
    .option('-l, --level <level>', 'the level to hold them to (default: serializable)')
    .option(
      '-c, --contract <contract>',
      'what the level means: vendor:NAME, adya, ansi, or a contract by its full name',
    )
    .option('--compare <contract>', 'say what would change under this contract (SQL histories)')
    .option('--format <format>', `take the files for this format: ${formatNames.join(', ')}`)
    .option('--json', 'print one JSON object per file')
    .option('--explain', 'print the argument of every finding')
    .option('--dot <file>', 'write the findings as a Graphviz graph')
    .option('--anomalies <list>', 'look only for these; or, with no- before each name, for all but these')
    .option('--strongest', 'also find the strongest level that holds (key-value histories)')
    .option(
      '--certificate <file>',
      'write the proof of the verdict, for isolde verify-certificate (one file)',
    )
    .option('--budget <seconds>', 'seconds after which a level is left undecided (default: 60)', parseSeconds)
    .option(
      '--memory <megabytes>',
      'what the tables of one question may take (default: 4096)',
      parseMegabytes,
    )
    .option(
      '-w, --workload <name>',
      `check operations of this workload (recognised where it is unmistakable): ${workloadNames.join(', ')}`,
    )
    .option('--total <sum>', 'bank: the sum of all balances (default: the one most reads have)')
    .option('--negative-balances', 'bank: balances may go below 0')
    .option('--linearizable', 'set-full: every read must have all that was added before it began')
    .addHelpText('after', '\nExit code: 0 all hold, 1 one does not, 2 one is undecided, 3 error.')
    .action(async (files: string[], flags: CheckFlags) => exit(await checkFiles(files, flags, context)));
}

interface Job {
  readonly demand: Demand;
  readonly compareWith: Contract | undefined;
  readonly format?: FormatName;
  readonly anomalies?: NonNullable<CheckOptions['anomalies']>;
  readonly workload?: NonNullable<CheckOptions['workload']>;
  readonly flags: CheckFlags;
  readonly context: CliContext;
}

async function checkFiles(
  files: readonly string[],
  flags: CheckFlags,
  context: CliContext,
): Promise<ExitCode> {
  const job: Job = {
    demand: await demandOf(flags),
    compareWith: await comparedContract(flags.compare),
    ...(flags.format !== undefined && { format: parseFormatName(flags.format) }),
    ...(flags.anomalies !== undefined && {
      anomalies: (await import('../check/index.js')).parseAnomalySwitches(flags.anomalies),
    }),
    ...(flags.workload !== undefined && { workload: askedWorkload(flags.workload, flags) }),
    flags,
    context,
  };
  if (flags.certificate !== undefined && files.length !== 1)
    throw new IsoldeError('usage', '--certificate takes one history: a proof belongs to one');
  const findings: Finding[] = [];
  let [failed, broken, undecided] = [false, false, false];
  for (const file of await expandFolders(files, job.format)) {
    if (context.signal.aborted) {
      undecided = true;
      break;
    }
    try {
      const result = await checkFile(file, job);
      for (const finding of result.findings) findings.push(finding);
      if (result.valid === false) broken = true;
      else if (result.valid === 'unknown') undecided = true;
    } catch (thrown) {
      if (!(thrown instanceof IsoldeError)) throw thrown;
      failed = true;
      const message = await instead(file, thrown);
      if (flags.json === true) context.out(JSON.stringify({ file, error: message }));
      context.err(`isolde: ${message}`);
    }
  }
  if (flags.dot !== undefined) await writeText(flags.dot, findingsToDot(findings));
  if (failed) return exitCodes.error;
  return broken ? exitCodes.found : undecided ? exitCodes.undecided : exitCodes.nothingFound;
}

/** Contracts are loaded where one is named. */
async function demandOf({ level, contract }: CheckFlags): Promise<Demand> {
  if (contract === undefined) return demandOfLevel(level);
  return (await import('../check/index.js')).parseDemand(level, contract);
}

/** Folders of several histories as what is in them; everything else as it is. */
async function expandFolders(files: readonly string[], format: FormatName | undefined): Promise<string[]> {
  const all = await Promise.all(
    files.map((file) => historiesIn(file, format === undefined ? {} : { format })),
  );
  return all.flat();
}

/** What cannot be read as a history may be something else that we know. */
async function instead(file: string, thrown: IsoldeError): Promise<string> {
  if (!(thrown instanceof UnknownFormatError)) return thrown.message;
  const head = await readFile(file, 'utf8').catch(() => '');
  return caseInstead(file, head.slice(0, 4000)) ?? thrown.message;
}

/** The workload asked for, which has a demand of its own. */
function askedWorkload(
  name: string,
  { level, contract, total, negativeBalances, linearizable }: CheckFlags,
): NonNullable<CheckOptions['workload']> {
  if (level !== undefined || contract !== undefined) {
    throw new IsoldeError(
      'usage',
      '--workload says what is demanded; it goes without --level and --contract',
    );
  }
  const sum = total === undefined ? undefined : Number(total);
  if (Number.isNaN(sum)) throw new IsoldeError('usage', `--total takes a number, not "${total}"`);
  return {
    name: workloadOf(name).name,
    ...(sum !== undefined && { total: sum }),
    ...(negativeBalances !== undefined && { negativeBalances }),
    ...(linearizable !== undefined && { linearizable }),
  };
}

/** Checks one file and prints its verdict as soon as it is known. */
async function checkFile(file: string, job: Job): Promise<CheckResult> {
  const { flags, context } = job;
  const read = await readAnyHistory(file, {
    ...(job.format !== undefined && { format: job.format }),
    onProgress: readingProgress(file, context),
  });
  let printed = false;
  const printVerdict = (valid: boolean | 'unknown'): void => {
    if (!printed && flags.json !== true) context.out(`${file}\t${valid}`);
    printed = true;
  };
  // The oracles of SQL histories are most of the program: they are loaded where a history holds SQL.
  const check = read.kind === 'kv' ? checkKeyValues : (await import('../check/index.js')).check;
  const judged = () =>
    check(read, job.demand, {
      ...optionsFor(file, read, job),
      // Under a contract between levels the verdict is not that of a level.
      ...(job.demand.contract === undefined && { onVerdict: printVerdict }),
    });
  const { certificate, ...result } = context.atOnce?.(judged) ?? judged();
  printVerdict(result.valid);
  print(file, read.format, result, job);
  if (flags.certificate !== undefined) await writeCertificate(flags.certificate, certificate, context);
  return result;
}

function optionsFor(
  file: string,
  read: AnyHistory,
  { compareWith, anomalies, workload, flags, context }: Job,
): CheckOptions {
  const large = read.kind === 'kv' && read.history.opCount > 200_000;
  return {
    ...(anomalies !== undefined && { anomalies }),
    ...(compareWith !== undefined && { compareWith }),
    ...(workload !== undefined && { workload }),
    ...(flags.budget !== undefined && { budget: flags.budget }),
    ...(flags.memory !== undefined && { memory: flags.memory * 1024 ** 2 }),
    strongest: flags.strongest === true,
    ...(flags.certificate !== undefined && { certificate: true }),
    ...(large && { onProgress: stageProgress(file, context) }),
  };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0) return seconds;
  throw new IsoldeError('usage', `--budget takes seconds, such as 60 or 0.5, not "${text}"`);
}

function parseMegabytes(text: string): number {
  const megabytes = Number(text);
  if (text.trim() !== '' && megabytes >= 0) return megabytes;
  throw new IsoldeError('usage', `--memory takes megabytes, such as 512, not "${text}"`);
}

/** The contract `--compare` names. */
async function comparedContract(id: string | undefined): Promise<Contract | undefined> {
  if (id === undefined) return undefined;
  const { findContract } = await import('../contracts/index.js');
  const found = findContract(id);
  if (found?.mechanism !== undefined) return found;
  throw new IsoldeError(
    'usage',
    `--compare takes a vendor's contract by its full name, such as mariadb:repeatable-read, not "${id}"`,
  );
}

function print(file: string, format: FormatName, result: CheckResult, { flags, context }: Job): void {
  if (flags.json === true) {
    context.out(JSON.stringify({ file, format, ...result }));
    return;
  }
  if (flags.explain === true) printExplanations(result, context);
  else summarize(file, result, context);
}

function printExplanations(
  { findings, strongest, unknownReasons, notes }: CheckResult,
  context: CliContext,
): void {
  const { colors } = context;
  for (const finding of findings) {
    const broken =
      finding.contract === undefined ? '' : ` breaks ${finding.contract} (${finding.clause ?? 'its level'})`;
    context.out(`\n${colors.bold(finding.kind)}${broken}, ${finding.certainty}`);
    for (const assumption of finding.assumes ?? []) context.out(`  assuming ${assumption}`);
    for (const line of explain(finding).split('\n')) context.out(`  ${line}`);
  }
  for (const reason of unknownReasons) context.out(`\nnot decided: ${reason}`);
  if (strongest.length > 0) context.out(`\nstrongest possible: ${strongest.join(', ')}`);
  for (const note of notes) context.out(`note: ${note}`);
}

function summarize(
  file: string,
  { valid, contract, level, findings, strongest, unknownReasons }: CheckResult,
  context: CliContext,
): void {
  if (valid === false) {
    const kinds = [...new Set(findings.map(({ kind }) => kind))].join(', ');
    const still = strongest.length === 0 ? '' : `; still possible: ${strongest.join(', ')}`;
    // What was asked for by one name may have been held to a level with another (`definitions`).
    const broken = contract === undefined && level !== undefined ? `${level} is broken: ` : '';
    context.err(`${file}: ${broken}${kinds}${still} (--explain shows the argument)`);
  }
  for (const reason of unknownReasons) context.err(`${file}: not decided: ${reason}`);
}

async function writeCertificate(
  path: string,
  certificate: Certificate | undefined,
  context: CliContext,
): Promise<void> {
  if (certificate === undefined) context.err(`isolde: there is no proof to write to ${path}`);
  else await writeText(path, `${JSON.stringify(certificate)}\n`);
}

async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new IsoldeError('file-system', `cannot write ${path}: ${errorText(cause)}`, { cause });
  }
}

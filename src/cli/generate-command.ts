/** `isolde generate`: prints the case of a seed, to look at, to keep, or to run with `isolde run`. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { printCaseFile, printScript, type ScheduledCase } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import {
  allFeatures,
  type Capabilities,
  findCapabilities,
  findProfile,
  generate,
  generateFromTemplate,
  type Interleaving,
  knownTargets,
  type Profile,
  parseProfile,
  profiles,
} from '../generate/index.js';
import { hideSecrets } from '../secrets.js';
import { targetDeclarations } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { levelOf } from './flags.js';
import { readCase } from './run-command.js';

interface GenerateFlags {
  readonly seed: string;
  readonly profile: string;
  readonly target?: string;
  readonly dialect?: string;
  readonly level?: string;
  readonly sessions?: string;
  readonly transactions?: string;
  readonly statements?: string;
  readonly interleaving: string;
  readonly template?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly list?: boolean;
}

export function generateCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('generate')
    .description('print the case of a seed as a script (or as *.case.json)')
    .option('-s, --seed <seed>', 'any text; the same seed gives the same case', '1')
    .option('-p, --profile <profile>', 'a profile by name, or a *.json file of your own', 'mixed')
    .option(
      '-t, --target <url>',
      'the database it is for; only its kind is used (default: ISOLDE_TARGET, or duckdb:)',
    )
    .option('-d, --dialect <dialect>', `the database it is for, by name: ${knownTargets.join(', ')}`)
    .option('-l, --level <level>', 'the isolation level the case names')
    .option('--sessions <count>', 'exactly so many sessions')
    .option('--transactions <count>', 'exactly so many transactions in each session')
    .option('--statements <count>', 'exactly so many statements in each transaction')
    .option('-i, --interleaving <kind>', 'free, random or conflict', 'free')
    .option('--template <file>', 'mutate this case instead of inventing one')
    .option('-o, --out <file>', 'write to a file: *.json is a case file, anything else a script')
    .option('--json', 'print a case file')
    .option('--list', 'list profiles and features')
    .action(async (flags: GenerateFlags) => exit(await run(flags, context)));
}

async function run(flags: GenerateFlags, context: CliContext): Promise<ExitCode> {
  if (flags.list === true) {
    context.out(listing(await profileOf(flags.profile)));
    return exitCodes.nothingFound;
  }
  const made = await make(flags, context.defaultTarget);
  const asJson = flags.json === true || flags.out?.endsWith('.json') === true;
  const text = asJson ? printCaseFile(made) : printScript(made);
  if (flags.out === undefined) context.file(text.trimEnd());
  else await write(flags.out, text);
  return exitCodes.nothingFound;
}

async function make(flags: GenerateFlags, usual: string | undefined): Promise<ScheduledCase> {
  const capabilities = capabilitiesFor(flags, usual);
  if (flags.template !== undefined) {
    const template = await readCase(flags.template, capabilities.dialect);
    return generateFromTemplate(flags.seed, template, { dialect: capabilities.dialect });
  }
  const { case: program, schedule } = generate(flags.seed, {
    capabilities,
    profile: await profileOf(flags.profile),
    interleaving: interleavingOf(flags.interleaving),
    ...(flags.level === undefined ? {} : { level: levelOf(flags.level) }),
    ...size('sessions', flags.sessions),
    ...size('transactions', flags.transactions),
    ...size('statements', flags.statements),
  });
  return { case: program, ...(schedule === undefined ? {} : { schedule }) };
}

function capabilitiesFor({ target, dialect }: GenerateFlags, usual: string | undefined): Capabilities {
  if (target !== undefined && dialect !== undefined) {
    throw new IsoldeError('usage', '--target and --dialect say the same thing: give one of them');
  }
  const asked = dialect ?? /^[a-z][a-z0-9]*/i.exec(target ?? usual ?? 'duckdb')?.[0].toLowerCase() ?? '';
  // A URL may use any of its engine's schemes: `postgresql://` is postgres.
  const declaration = targetDeclarations.find(({ schemes }) => schemes.includes(asked));
  const found = findCapabilities(declaration?.name ?? asked);
  if (found !== undefined) return found;
  throw new IsoldeError(
    'usage',
    `nothing is known about "${dialect ?? hideSecrets(target ?? asked)}"; say --dialect ${knownTargets.join(', ')}`,
  );
}

async function profileOf(name: string): Promise<Profile> {
  const known = findProfile(name);
  if (known !== undefined) return known;
  if (!/[./\\]/.test(name)) {
    const names = profiles.map((each) => each.name).join(', ');
    throw new IsoldeError('usage', `there is no profile "${name}"; there are ${names}, or a *.json file`);
  }
  let text: string;
  try {
    text = await readFile(name, 'utf8');
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read ${name}: ${errorText(error)}`, { cause: error });
  }
  return parseProfile(text, name);
}

function interleavingOf(text: string): Interleaving {
  if (text === 'free' || text === 'random' || text === 'conflict') return text;
  throw new IsoldeError('usage', `--interleaving takes free, random or conflict, not "${text}"`);
}

/** More than this is a typing error, not a workload. */
const most = 1_000_000;

function size(name: 'sessions' | 'transactions' | 'statements', text: string | undefined) {
  if (text === undefined) return {};
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return { [name]: count };
  throw new IsoldeError('usage', `--${name} takes a whole number from 1 to ${most}, not "${text}"`);
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}

function listing(profile: Profile): string {
  const width = Math.max(...profiles.map(({ name }) => name.length));
  return [
    'Profiles:',
    ...profiles.map(({ name, description }) => `  ${name.padEnd(width)}  ${description}`),
    '',
    `Features and their weights in ${profile.name}:`,
    ...allFeatures.map((feature) => `  ${feature.padEnd(24)} ${profile.weights[feature]}`),
  ].join('\n');
}

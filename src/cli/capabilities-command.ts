/** `isolde capabilities URL`: what an engine can do, learned by asking, kept in a file that grows with the engine. */
import type { Command } from 'commander';
import { printCapabilities } from '../generate/index.js';
import { learnCapabilities } from '../properties/index.js';
import { openTarget } from '../targets/index.js';
import { counted } from '../words.js';
import { describeLost, knownCapabilities } from './capabilities-file.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { positive, writeText } from './flags.js';

interface CapabilitiesFlags {
  readonly file?: string;
  readonly plans: string;
  readonly seed: string;
  readonly accept?: boolean;
  readonly json?: boolean;
}

export function capabilitiesCommand(
  program: Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  program
    .command('capabilities')
    .argument('[url]', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .description('learn what a database can do by asking it; say what it gained and lost since the last time')
    .option('--file <file>', 'what was learned before: read, compared, and written again')
    .option('--accept', 'write the file even if something was lost')
    .option('--plans <count>', 'how much to ask', '30')
    .option('--seed <text>', 'where randomness comes from', '1')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 nothing was lost, 1 something that worked is refused now, 3 error.')
    .action(async (url: string | undefined, flags: CapabilitiesFlags) =>
      exit(await run(url, flags, context)),
    );
}

async function run(
  url: string | undefined,
  flags: CapabilitiesFlags,
  context: CliContext,
): Promise<ExitCode> {
  const known = await knownCapabilities(flags.file);
  const open = () => openTarget(url ?? context.defaultTarget);
  const plans = positive(flags.plans, '--plans');
  const { seed } = flags;
  const { signal } = context;
  const { capabilities, gained, lost, statements } = await learnCapabilities(open, known, {
    plans,
    seed,
    signal,
  });
  const { unsupported, proven = [] } = capabilities;
  if (flags.json === true)
    context.out(JSON.stringify({ statements, proven, unsupported, gained, lost }, null, 2));
  else {
    context.out(`${counted(statements, 'statement')}: ${proven.length} features work`);
    context.out(`refused, or declared to be missing: ${unsupported.join(', ') || 'nothing'}`);
    if (gained.length > 0) context.out(`new: ${gained.join(', ')}`);
    for (const each of lost) context.out(`lost: ${describeLost(each)}`);
  }
  if (flags.file !== undefined && (lost.length === 0 || flags.accept === true))
    await writeText(flags.file, printCapabilities(capabilities));
  return lost.length === 0 ? exitCodes.nothingFound : exitCodes.found;
}

/** `isolde clean URL`: drops the scratches that a killed Isolde left behind, recognized by the mark in them. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import { type FoundScratch, openTarget } from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { durationOf } from './flags.js';

interface CleanFlags {
  readonly olderThan: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function cleanCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('clean')
    .argument('<url>', 'the database')
    .description('drop the namespaces that a killed Isolde left behind, and nothing else')
    .option('--older-than <time>', 'only those made longer ago than this: 90s, 10m, 2h', '0s')
    .option('--dry-run', 'only list them')
    .option('--json', 'print JSON')
    .action(async (url: string, flags: CleanFlags) => exit(await clean(url, flags, context)));
}

async function clean(url: string, flags: CleanFlags, context: CliContext): Promise<ExitCode> {
  const before = Date.now() - durationOf(flags.olderThan, '--older-than');
  const target = await openTarget(url);
  try {
    const { foundScratches, dropFound } = target;
    if (foundScratches === undefined || dropFound === undefined) {
      throw new IsoldeError('usage', `Nothing that Isolde could find again is left behind on ${target.name}`);
    }
    const found = await foundScratches.call(target);
    const any = durationOf(flags.olderThan, '--older-than') === 0;
    const isOld = (madeAt: string | undefined) => (madeAt === undefined ? any : Date.parse(madeAt) <= before);
    const left = found.filter(({ inUse, madeAt }) => !inUse && isOld(madeAt));
    if (flags.dryRun !== true) for (const { namespace } of left) await dropFound.call(target, namespace);
    context.out(flags.json === true ? JSON.stringify(jsonOf(found, left, flags)) : show(found, left, flags));
    return exitCodes.nothingFound;
  } finally {
    await target.close();
  }
}

function jsonOf(found: readonly FoundScratch[], left: readonly FoundScratch[], flags: CleanFlags) {
  return found.map((each) => ({ ...each, dropped: flags.dryRun !== true && left.includes(each) }));
}

function show(found: readonly FoundScratch[], left: readonly FoundScratch[], flags: CleanFlags): string {
  const lines = found.map((each) => {
    const { namespace, madeAt, inUse } = each;
    const fate = !left.includes(each)
      ? inUse
        ? 'in use, kept'
        : 'not that old, kept'
      : flags.dryRun === true
        ? 'would be dropped'
        : 'dropped';
    return `${namespace}  made ${madeAt ?? 'at an unknown time'}  ${fate}`;
  });
  const done = flags.dryRun === true ? 'would be dropped' : 'dropped';
  return [...lines, `${counted(left.length, 'namespace')} ${done}`].join('\n');
}

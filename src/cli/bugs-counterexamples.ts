/**
 * Counterexamples of properties, as `isolde bugs` knows them. They are no bugs of the store: a plan has assertions and faults that no case
 * can say (docs/decisions/counterexamples.md). They are listed behind the bugs, shown by their report, and rerun by replaying
 * them on a database that the user names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { type KeptCounterexample, listCounterexamples } from '../properties/index.js';
import { isSharedUrl } from '../store/index.js';
import { oneLine, showControls } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { type ReplayFlags, replayFile } from './replay-counterexample.js';

/** Of a store that is a folder; a shared one has none. */
async function shelfOf(store: string, context: CliContext): Promise<readonly KeptCounterexample[]> {
  if (isSharedUrl(store)) return [];
  const { kept, problems } = await listCounterexamples(store);
  for (const problem of problems) context.err(`isolde: ${problem}`);
  return kept;
}

/** Lists them; how many there are. */
export async function printCounterexamples(store: string, context: CliContext): Promise<number> {
  const kept = await shelfOf(store, context);
  for (const { id, file } of kept) {
    context.out(`${context.colors.bold(id)}  ${oneLine(file.message)}`);
    context.out(
      `  counterexample of a property, ${file.plan.interactions.length} interactions, ${file.level}; isolde bugs show ${id}`,
    );
  }
  return kept.length;
}

export async function findCounterexample(
  store: string,
  id: string,
  context: CliContext,
): Promise<KeptCounterexample | undefined> {
  return (await shelfOf(store, context)).find((each) => each.id === id);
}

export async function showCounterexample(
  { folder, file }: KeptCounterexample,
  flags: { readonly json?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  if (flags.json === true) {
    const { plan, ...rest } = file;
    context.out(JSON.stringify({ ...rest, interactions: plan.interactions, folder }, null, 2));
    return exitCodes.nothingFound;
  }
  const report = await readFile(join(folder, 'report.md'), 'utf8').catch((cause: unknown) => {
    throw new IsoldeError('file-system', `cannot read ${folder}: ${errorText(cause)}`, { cause });
  });
  context.out(`${showControls(report).trimEnd()}\n\nfiles: ${folder}`);
  return exitCodes.nothingFound;
}

/** A file never says where it is run: whoever wrote it could name any command or server. */
export async function rerunCounterexample(
  { id, folder }: KeptCounterexample,
  flags: ReplayFlags,
  context: CliContext,
): Promise<ExitCode> {
  if (flags.target === undefined)
    throw new IsoldeError(
      'usage',
      `${id} is a counterexample of a property: name the database it is run on (--target; its report has the line)`,
    );
  return replayFile(join(folder, 'counterexample.json'), flags, context);
}

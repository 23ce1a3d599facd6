/**
 * What a store keeps besides bugs, as `isolde bugs` knows it: counterexamples of properties and broken bursts
 * (docs/decisions/counterexamples.md). All of it is listed behind the bugs, shown by its report, and rerun on a database that the
 * user names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { isSharedUrl } from '../store/index.js';
import { showControls } from '../visible.js';
import type { Beside, BesideShelf } from './beside.js';
import { bursts } from './bugs-bursts.js';
import { counterexamples } from './bugs-counterexamples.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';

const shelves: readonly BesideShelf[] = [bursts, counterexamples];

/** Of a store that is a folder; a shared one has none. */
async function besidesOf(store: string, context: CliContext): Promise<readonly Beside[]> {
  if (isSharedUrl(store)) return [];
  const all: Beside[] = [];
  for (const shelf of shelves) {
    const { kept, problems } = await shelf(store);
    for (const problem of problems) context.err(`isolde: ${problem}`);
    all.push(...kept);
  }
  return all;
}

/** Lists them; how many there are. */
export async function printBesides(store: string, context: CliContext): Promise<number> {
  const all = await besidesOf(store, context);
  for (const { id, title, what } of all) {
    context.out(`${context.colors.bold(id)}  ${title}`);
    context.out(`  ${what}; isolde bugs show ${id}`);
  }
  return all.length;
}

export async function findBeside(
  store: string,
  id: string,
  context: CliContext,
): Promise<Beside | undefined> {
  return (await besidesOf(store, context)).find((each) => each.id === id);
}

export async function showBeside(
  { folder, data }: Beside,
  flags: { readonly json?: boolean },
  context: CliContext,
): Promise<ExitCode> {
  if (flags.json === true) {
    context.out(JSON.stringify(data, null, 2));
    return exitCodes.nothingFound;
  }
  const report = await readFile(join(folder, 'report.md'), 'utf8').catch((cause: unknown) => {
    throw new IsoldeError('file-system', `cannot read ${folder}: ${errorText(cause)}`, { cause });
  });
  context.out(`${showControls(report).trimEnd()}\n\nfiles: ${folder}`);
  return exitCodes.nothingFound;
}

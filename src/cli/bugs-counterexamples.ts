/**
 * Counterexamples of properties, as `isolde bugs` knows them. They are no bugs of the store: a plan has assertions and faults that no case
 * can say (docs/decisions/counterexamples.md). They are listed behind the bugs, shown by their report, and rerun by replaying
 * them on a database that the user names.
 */
import { join } from 'node:path';
import { IsoldeError } from '../errors.js';
import type { Kept } from '../kept-folders.js';
import { type KeptCounterexample, listCounterexamples } from '../properties/index.js';
import { oneLine } from '../visible.js';
import type { Beside, BesideShelf, RerunBeside } from './beside.js';
import type { CliContext, ExitCode } from './context.js';
import { replayFile } from './replay-counterexample.js';

export const counterexamples: BesideShelf = async (store) => {
  const { kept, problems } = await listCounterexamples(store);
  return { problems, kept: kept.map(asBeside) };
};

function asBeside(kept: KeptCounterexample): Beside {
  const { id, folder, file } = kept;
  const { plan, ...rest } = file;
  return {
    id,
    folder,
    title: oneLine(file.message),
    what: `counterexample of a property, ${plan.interactions.length} interactions, ${file.level}`,
    data: { ...rest, interactions: plan.interactions, folder },
    rerun: (flags, context) => rerunCounterexample(kept, flags, context),
  };
}

/** A file never says where it is run: whoever wrote it could name any command or server. */
async function rerunCounterexample(
  { id, folder }: Kept<unknown>,
  flags: RerunBeside,
  context: CliContext,
): Promise<ExitCode> {
  if (flags.target === undefined)
    throw new IsoldeError(
      'usage',
      `${id} is a counterexample of a property: name the database it is run on (--target; its report has the line)`,
    );
  return replayFile(join(folder, 'counterexample.json'), flags, context);
}

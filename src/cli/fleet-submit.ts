/** Hands jobs to a fleet, and waits for what comes of them where that is asked for. */
import { randomUUID } from 'node:crypto';
import type { NewJob } from '../fleet/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { type DbFlags, withQueue } from './fleet-database.js';
import { follow } from './fleet-show.js';

export const resultsHelp = '\nExit code: 0 nothing found, 1 found, 2 jobs failed or are not done, 3 error.';

interface Submission {
  readonly flags: DbFlags & { readonly wait?: boolean };
  readonly context: CliContext;
}

export function submit(
  kind: string,
  title: string,
  jobs: readonly NewJob[],
  { flags, context }: Submission,
): Promise<ExitCode> {
  return withQueue(flags, context, async (queue, database) => {
    await queue.prepare();
    const batch = await queue.submit({ kind, title, submission: randomUUID(), jobs });
    if (flags.wait === true) {
      context.err(`batch ${batch}: ${counted(jobs.length, 'job')}`);
      return follow(batch, { database, flags, context });
    }
    context.out(
      flags.json === true
        ? JSON.stringify({ batch, jobs: jobs.length })
        : `batch ${batch}: ${counted(jobs.length, 'job')}`,
    );
    return exitCodes.nothingFound;
  });
}

/** Where a fleet meets: `--db`, the environment, or the file that `serve --local` writes. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { Queue } from '../fleet/index.js';
import { SharedDatabase } from '../store/index.js';
import type { CliContext } from './context.js';

export interface DbFlags {
  readonly db?: string;
  readonly json?: boolean;
}

/** Holds the URL with its password, for this user alone. */
export const urlFile = join('.isolde', 'fleet.url');
export const dbHelp =
  'the PostgreSQL where the fleet meets: postgres://…, or @FILE that holds the URL (default: ISOLDE_FLEET_DB, or what serve --local wrote)';

export async function fleetUrl({ db }: DbFlags, context: CliContext): Promise<string> {
  const given = db ?? context.env?.ISOLDE_FLEET_DB;
  if (given?.startsWith('@') === true) return readUrl(given.slice(1));
  if (given !== undefined && given !== '') return given;
  return readUrl(urlFile).catch(() => {
    throw new IsoldeError(
      'usage',
      'where does the fleet meet? Say --db postgres://…, set ISOLDE_FLEET_DB, or run isolde fleet serve --local in this folder',
    );
  });
}

async function readUrl(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
}

/** Works on the fleet's queue, and closes the connection. */
export async function withQueue<T>(
  flags: DbFlags,
  context: CliContext,
  use: (queue: Queue, database: SharedDatabase) => Promise<T>,
): Promise<T> {
  const database = await SharedDatabase.open(await fleetUrl(flags, context), {
    signal: context.signal,
    onWait: (why, ms) => context.err(`isolde: ${why}; trying again in ${(ms / 1000).toFixed(1)} s`),
  });
  try {
    return await use(new Queue(database), database);
  } finally {
    await database.close();
  }
}

/** The connection of a slot, to the database its worker was given. */
export function slotDatabase(context: CliContext): () => Promise<SharedDatabase> {
  return async () => SharedDatabase.open(await fleetUrl({}, context));
}

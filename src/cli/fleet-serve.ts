/** `isolde fleet serve`: the tables, the local server if one is wanted, and what nobody else does while all workers are busy. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../errors.js';
import { fleetStatus, keepRunning, type LocalServer, startLocalServer } from '../fleet/index.js';
import { counted } from '../words.js';
import type { CliContext } from './context.js';
import { type DbFlags, urlFile, withQueue } from './fleet-database.js';
import { summary } from './fleet-show.js';

export interface ServeFlags extends DbFlags {
  readonly local?: boolean;
  readonly data: string;
  readonly setup?: boolean;
}

const lookMs = 5_000;

export async function serve(flags: ServeFlags, context: CliContext): Promise<void> {
  if (flags.local !== true) return serveAt(flags, context);
  if (flags.db !== undefined) throw new IsoldeError('usage', '--local starts a server; it goes without --db');
  const { url, server } = await startLocalServer(flags.data);
  try {
    // The file first, closed to others; the password is nowhere else.
    await mkdir(dirname(urlFile), { recursive: true });
    await rm(urlFile, { force: true });
    await writeFile(urlFile, `${url}\n`, { mode: 0o600, flag: 'wx' });
    context.err(
      `a PostgreSQL ${server.version} runs on port ${server.port}, its data in ${flags.data}; --db @${urlFile}`,
    );
    await serveKept(server, { ...flags, db: url }, context);
  } finally {
    await rm(urlFile, { force: true });
    await server.stop();
  }
}

/** Serves, and starts the server again when it dies; ends when one of the two does. */
async function serveKept(
  server: LocalServer['server'],
  flags: ServeFlags,
  context: CliContext,
): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  const [kept, served] = await Promise.allSettled([
    keepRunning(server, { signal: over.signal, log: context.err }).finally(stop),
    serveAt(flags, { ...context, signal: over.signal }).finally(stop),
  ]);
  context.signal.removeEventListener('abort', stop);
  // That the server cannot be kept is why nothing could be served.
  if (kept.status === 'rejected') throw kept.reason;
  if (served.status === 'rejected') throw served.reason;
}

function serveAt(flags: ServeFlags, context: CliContext): Promise<void> {
  return withQueue(flags, context, async (queue, database) => {
    await queue.prepare();
    context.err(`the tables are in ${database.shown}`);
    if (flags.setup === true) return;
    let last = '';
    while (!context.signal.aborted) {
      const freed = await queue.reap();
      if (freed > 0) context.err(`${counted(freed, 'job')} of lost workers ready again`);
      const line = summary(await database.persistent(() => fleetStatus(database)));
      if (line !== last) context.err(line);
      last = line;
      await delay(lookMs, undefined, { signal: context.signal }).catch(() => undefined);
    }
  });
}

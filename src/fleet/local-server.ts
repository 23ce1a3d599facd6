/**
 * `isolde fleet serve --local`: a PostgreSQL of our own as the meeting point. Unlike the private servers that hunts run on it keeps what it
 * was told: its data stay in a folder and are flushed to the disk with every commit. Its port stays, too, where it is still free: workers
 * know the server by its URL, and wait for it there. `keepRunning` starts it again when it dies.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText, IsoldeError } from '../errors.js';
import type { PrivateServer } from '../targets/postgres/index.js';

export interface LocalServer {
  /** With the password of its superuser. */
  readonly url: string;
  readonly server: PrivateServer;
}

/** More than the usual 100: every worker has a connection. */
const connections = 1_200;

export async function startLocalServer(
  folder: string | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<LocalServer> {
  const { startPostgresServer } = await import('../targets/postgres/index.js');
  const kept = folder === undefined ? undefined : resolve(folder);
  const portFile = kept === undefined ? undefined : join(kept, 'port');
  const port = portFile === undefined ? undefined : await readPort(portFile);
  const server = await startPostgresServer({
    settings: {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      shared_buffers: '64MB',
      deadlock_timeout: '1s',
      max_connections: String(connections),
      ...settings,
    },
    startTimeoutMs: 60_000,
    ...{ keepIn: kept, port },
  });
  if (portFile !== undefined && server.port !== port) await writeFile(portFile, `${server.port}\n`);
  const { user, password } = server.login;
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@${server.host}:${server.port}/postgres`,
    server,
  };
}

/** The port of the last time; what stands there may be damaged, and is no reason not to start. */
async function readPort(file: string): Promise<number | undefined> {
  const text = (await readFile(file, 'utf8').catch(() => '')).trim();
  const port = /^\d{4,5}$/.test(text) ? Number(text) : 0;
  return port > 1023 && port < 65_536 ? port : undefined;
}

export interface KeepRunningOptions {
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Between two looks. Default 1 s. */
  readonly lookMs?: number;
}

/** A server that dies more often than this within the time has something that starting again does not mend. */
const mostRestarts = 5;
const restartsWithinMs = 10 * 60_000;

/** Starts the server again whenever it has died, until the signal is raised; rejects when that is of no use. */
export async function keepRunning(
  server: Pick<PrivateServer, 'hasCrashed' | 'kill' | 'port'>,
  { signal, log, lookMs = 1_000 }: KeepRunningOptions,
): Promise<void> {
  const restarts: number[] = [];
  while (!signal.aborted) {
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || !(await server.hasCrashed())) continue;
    const now = performance.now();
    while (restarts.length > 0 && now - restarts[0]! > restartsWithinMs) restarts.shift();
    if (restarts.length === mostRestarts || server.kill === undefined) {
      const often = `${mostRestarts + 1} times in ${restartsWithinMs / 60_000} minutes`;
      throw new IsoldeError('target', `the PostgreSQL of the fleet died ${often}: it is not started again`);
    }
    restarts.push(now);
    log('the PostgreSQL of the fleet has died: it is started again');
    try {
      await server.kill();
    } catch (error) {
      throw new IsoldeError(
        'target',
        `the PostgreSQL of the fleet died and cannot be started: ${errorText(error)}`,
        {
          cause: error,
        },
      );
    }
    log(`the PostgreSQL runs again on port ${server.port}`);
  }
}

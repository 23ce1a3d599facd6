/**
 * A PostgreSQL server of our own: started on a free port of 127.0.0.1, tuned for small fast tests, gone when we are.
 *
 * - It is not durable (`fsync=off` …), which no isolation level promises anything about: a crash of the *machine*
 *   loses it, a crash of the server does not.
 * - It runs in a process group of its own: Ctrl-C in a terminal reaches Isolde, which then still has a database.
 * - It never outlives us, and neither does its folder (`server-folder.ts`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { appendFile, chown, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../../errors.js';
import { freePort } from '../../free-port.js';
import { makeServerFolder, type ServerFolder } from '../server-folder.js';
import { makeDataFolder, openCache, openKeptData, type ServerLogin } from './data-template.js';
import {
  type BinariesPlace,
  checkReachable,
  prepareBinaries,
  type ServerBinaries,
} from './server-binaries.js';

export interface PrivateServer {
  readonly host: string;
  readonly port: number;
  readonly login: ServerLogin;
  readonly version: string;
  /** The process id of the server's main process. */
  readonly pid: number;
  /** Whether the server ended without being told to; waits a moment when it may be about to. */
  hasCrashed(): Promise<boolean>;
  /**
   * Ends it with SIGKILL, unless it has ended already, and starts it again on the same data and port; present only if nothing committed
   * can be lost by that.
   */
  readonly kill?: () => Promise<void>;
  stop(): Promise<void>;
}

export interface PrivateServerOptions extends BinariesPlace {
  readonly settings: Readonly<Record<string, string>>;
  /** Default: the system's temporary folder. */
  readonly scratchFolder?: string | undefined;
  /** Where its data stay when it ends, to be found by the next one; default: they go with it. */
  readonly keepIn?: string | undefined;
  /** The port to listen on where it is free; default: any. */
  readonly port?: number | undefined;
  readonly startTimeoutMs: number;
  /** The server becomes a hot standby of this one, which has the same binaries and has just been started. */
  readonly follows?: PrivateServer | undefined;
}

const tuning: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '16MB',
  // In files of its folder: what a killed server has in shared memory would stay there.
  dynamic_shared_memory_type: 'mmap',
  max_connections: '300',
  max_wal_size: '256MB',
  jit: 'off',
  deadlock_timeout: '100ms',
  logging_collector: 'off',
  // Errors of statements are data to us; the log keeps what happens to the server itself.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

const host = '127.0.0.1';

/** Not even a URL may open the server to others. */
const fixed: Readonly<Record<string, string>> = { listen_addresses: host, unix_socket_directories: '' };

/** Starts a server, or rejects saying why it cannot. */
export async function startPostgresServer(options: PrivateServerOptions): Promise<PrivateServer> {
  const place = options.scratchFolder ?? tmpdir();
  for (const each of new Set([tmpdir(), place])) await checkReachable(each);
  const cache = await openCache();
  const binaries = await prepareBinaries(options, cache);
  const folder = makeServerFolder(place, 'postgres');
  try {
    if (binaries.user !== undefined) await chown(folder.path, binaries.user.uid, binaries.user.gid);
    const data = join(options.keepIn ?? folder.path, 'data');
    const login =
      options.keepIn === undefined
        ? await makeDataFolder(binaries, cache, data)
        : await openKeptData(binaries, cache, options.keepIn);
    if (options.follows !== undefined) await makeStandby(data, binaries, options.follows);
    for (let attempt = 0; ; attempt++) {
      const port = attempt === 0 && options.port !== undefined ? options.port : await freePort();
      const startOptions = { ...options, binaries, folder, data, port };
      const started = await startOnPort(startOptions);
      if (started !== 'port taken') return restartable(started, startOptions, login);
      if (attempt === 9) throw new IsoldeError('target', 'Found no free port between 20000 and 32000');
    }
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** Since then a standby is a data folder with a file of this name in it. */
const firstWithSignalFile = 12;

/**
 * Makes a fresh data folder that of a standby. Both folders are copies of one template, so they are one database up to the moment
 * the first server was started; all that came later is in its log.
 */
async function makeStandby(
  data: string,
  { version, user }: ServerBinaries,
  follows: PrivateServer,
): Promise<void> {
  if (Number.parseInt(version, 10) < firstWithSignalFile)
    throw new IsoldeError('engine-missing', `A private standby needs PostgreSQL 12 or later, not ${version}`);
  const { login, port } = follows;
  // In a file that others cannot read: arguments of a program are seen by everybody.
  const source = `host=${host} port=${port} user=${login.user} password=${login.password} sslmode=disable`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  const signal = join(data, 'standby.signal');
  await writeFile(signal, '', { mode: 0o600 });
  if (user !== undefined) await chown(signal, user.uid, user.gid);
}

interface StartOptions extends Omit<PrivateServerOptions, keyof BinariesPlace> {
  readonly binaries: ServerBinaries;
  readonly folder: ServerFolder;
  readonly data: string;
  readonly port: number;
}

type Running = Pick<PrivateServer, 'pid' | 'hasCrashed' | 'stop'> & {
  /** Ends the process at once, and leaves the folder. */
  end(): Promise<void>;
};

/** The server with what may replace its process. */
function restartable(first: Running, options: StartOptions, login: ServerLogin): PrivateServer {
  let running = first;
  const kill = async () => {
    await running.end();
    const deadline = Date.now() + options.startTimeoutMs;
    for (;;) {
      const again = await startOnPort(options).catch((error: unknown) => {
        // Its children notice a moment later that it is gone, and hold its memory until then.
        if (Date.now() > deadline || !/shared memory|lock file/.test(String(error))) throw error;
      });
      if (again === 'port taken')
        throw new IsoldeError('target', `The port ${options.port} of the killed server is taken`);
      if (again !== undefined) {
        running = again;
        return;
      }
      await delay(20);
    }
  };
  const { synchronous_commit, full_page_writes } = { ...tuning, ...options.settings };
  const durable = synchronous_commit !== 'off' && full_page_writes !== 'off';
  return {
    ...{ login, host, port: options.port, version: options.binaries.version },
    get pid() {
      return running.pid;
    },
    hasCrashed: () => running.hasCrashed(),
    stop: () => running.stop(),
    ...(durable && { kill }),
  };
}

async function startOnPort(options: StartOptions): Promise<Running | 'port taken'> {
  const { binaries, folder, data, port } = options;
  const { jit, ...always } = tuning;
  const tuned = Number.parseInt(binaries.version, 10) >= 11 ? { ...always, jit: jit! } : always;
  const settings = Object.entries({ ...tuned, ...options.settings, ...fixed, port: String(port) });
  const logFile = join(folder.path, 'server.log');
  // Children of a killed server still write their last words: into the old file, not among the new ones.
  rmSync(logFile, { force: true });
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(
    binaries.postgres,
    ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...binaries.user,
      cwd: folder.path,
      env: binaries.environment,
      stdio: ['ignore', log, log],
      detached: true,
    },
  );
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  folder.watch(child.pid);
  void exited.then(() => folder.watch(undefined));
  child.unref();
  const deadline = Date.now() + options.startTimeoutMs;
  while (!(await isReady(data, child.pid))) {
    if (hasEnded(child) || Date.now() > deadline) {
      const words = await lastWords(logFile);
      await stopProcess(child, exited);
      if (/could not (bind|create any TCP)/.test(words)) return 'port taken';
      const problem =
        Date.now() > deadline ? `not ready after ${options.startTimeoutMs} ms` : 'it ended at once';
      throw new IsoldeError('target', `The private PostgreSQL server did not start (${problem}): ${words}`);
    }
    await Promise.race([exited, delay(5)]);
  }
  let stopping: Promise<void> | undefined;
  return {
    pid: child.pid!,
    // The last words on a socket can overtake the news of the server's end.
    hasCrashed: async () => {
      if (stopping === undefined) await Promise.race([exited, delay(300)]);
      return stopping === undefined && hasEnded(child);
    },
    end: async () => {
      stopping ??= Promise.resolve();
      child.ref();
      child.kill('SIGKILL');
      await exited;
    },
    stop: () => {
      stopping ??= stopProcess(child, exited).then(() => folder.remove());
      return stopping;
    },
  };
}

/** What `pg_ctl` looks at: the status line of the server's own pid file. */
async function isReady(data: string, pid: number | undefined): Promise<boolean> {
  const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Fast shutdown; then immediate; then none of its business any more. */
async function stopProcess(child: ChildProcess, exited: Promise<void>): Promise<void> {
  child.ref();
  for (const [signal, waitMs] of [
    ['SIGINT', 5000],
    ['SIGQUIT', 2000],
    ['SIGKILL', 2000],
  ] as const) {
    if (hasEnded(child)) return;
    child.kill(signal);
    await Promise.race([exited, delay(waitMs, undefined, { ref: false })]);
  }
}

async function lastWords(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-4).join(' ') || 'it wrote no log';
}

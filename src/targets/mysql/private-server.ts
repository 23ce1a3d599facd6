/**
 * A server of our own that speaks MySQL's protocol: a fresh data folder, a Unix socket in a folder nobody else may enter, no network.
 * Which program it is, how its data folder is made and what it is started with is the engine's to say (`ServerProgram`).
 *
 * It never outlives us, not even when we are killed, and neither does its folder (`server-folder.ts`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../../errors.js';
import { makeServerFolder, type ServerFolder, type ServerKind } from '../server-folder.js';
import type { MysqlAddress } from './mysql-url.js';
import { WireConnection } from './mysql-wire.js';

export interface PrivateServer {
  /** As root, who has no password: the folder of the socket keeps others out. */
  readonly address: MysqlAddress;
  readonly pid: number;
  /** Ends it with SIGKILL and starts it again on the same data; present only if nothing committed can be lost by that. */
  readonly kill?: () => Promise<void>;
  /** Stops it and removes its folder. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface PrivateServerOptions {
  /** System variables for the start; names the server does not know as options are left out. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The server program; default: one that is found (`programs.ts`). */
  readonly binary?: string;
  /** Where the server's folder is made; default: `/dev/shm` with 1 GiB free, else the temporary folder. */
  readonly folder?: string;
}

/** Where things are in a server's folder. */
export interface ServerPlace {
  readonly folder: string;
  readonly data: string;
  /** A starting server deletes the temporary tables it finds in its tmpdir, also those of other servers: it has one of its own. */
  readonly temporary: string;
  /** An empty folder: the only place that OUTFILE and LOAD_FILE could reach. */
  readonly files: string;
  readonly socket: string;
  readonly pidFile: string;
  readonly log: string;
  /** A process that has to end with us, at the head of a group of its own. */
  readonly watch: ServerFolder['watch'];
}

/** What one engine's server needs. */
export interface ServerProgram {
  readonly kind: ServerKind;
  /** What it is called in sentences. */
  readonly title: string;
  /** Makes the data folder; absent: the server does at its start. */
  readonly initialize?: (place: ServerPlace) => Promise<void>;
  /** Does something with the data of a first start that has ended in order; absent: there is one start only. */
  readonly afterFirstStart?: (place: ServerPlace) => Promise<void>;
  /** The program and its arguments. */
  readonly command: (place: ServerPlace) => readonly [string, ...string[]];
  /** Nothing committed is lost when it is killed. */
  readonly durable: boolean;
  /** Lines of its log that say why it ended. */
  readonly errorLine: RegExp;
  /** What may be the matter when it does not start. */
  readonly hint?: string;
}

const roomyBytes = 2 ** 30;
const startLimitMs = 60_000;
const stopLimitMs = 5000;
const mostErrorText = 100_000;
/** Longest path of a Unix socket, on Linux and with room for macOS. */
const socketLimit = 100;

/** Makes the data folder and starts the server. */
export async function startPrivateServer(
  program: ServerProgram,
  parent: string | undefined,
): Promise<PrivateServer> {
  const folder = makeServerFolder(shortFolder(parent ?? defaultFolder(), program.kind), program.kind);
  const inside = (name: string) => join(folder.path, name);
  const place: ServerPlace = {
    folder: folder.path,
    data: inside('data'),
    temporary: inside('tmp'),
    files: inside('files'),
    socket: inside('s'),
    pidFile: inside('pid'),
    log: inside('log'),
    watch: folder.watch,
  };
  try {
    await mkdir(place.temporary);
    await mkdir(place.files);
    await program.initialize?.(place);
    const address: MysqlAddress = {
      host: 'localhost',
      port: 0,
      socket: place.socket,
      user: 'root',
      ssl: false,
    };
    const start = async () => {
      const launched = launch(program, place, folder);
      await untilReady(launched, program, place, address);
      return launched;
    };
    if (program.afterFirstStart !== undefined) {
      await (await start()).finish();
      await program.afterFirstStart(place);
    }
    let server = await start();
    const kill = async () => {
      await server.end();
      server = await start();
    };
    return {
      address,
      get pid() {
        return server.child.pid!;
      },
      stop: () => server.stop(),
      ...(program.durable && { kill }),
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

interface Launched {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  /** Ends the process at once, and leaves the folder. */
  readonly end: () => Promise<void>;
  /** Lets it end in order, and leaves the folder. */
  readonly finish: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

function launch(program: ServerProgram, place: ServerPlace, folder: ServerFolder): Launched {
  const [command, ...args] = program.command(place);
  const child = spawn(command, args, { cwd: place.folder, stdio: 'ignore', detached: true });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  folder.watch(child.pid);
  void exited.then(() => folder.watch(undefined));
  // It must not keep this process from ending.
  child.unref();

  let stopping: Promise<void> | undefined;
  const finish = async () => {
    child.ref();
    child.kill('SIGTERM');
    const overdue = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
    await exited;
    clearTimeout(overdue);
  };
  const stop = async () => {
    await finish();
    await folder.remove();
  };
  const end = async () => {
    child.ref();
    child.kill('SIGKILL');
    await exited;
  };
  return { child, exited, end, finish, stop: () => (stopping ??= stop()) };
}

async function untilReady(
  server: Launched,
  program: ServerProgram,
  place: ServerPlace,
  address: MysqlAddress,
): Promise<void> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  const end = Date.now() + startLimitMs;
  while (!ended && Date.now() < end) {
    if (existsSync(place.socket)) {
      const connection = await WireConnection.open(address).catch((error: unknown) => {
        if (error instanceof IsoldeError) throw error;
      });
      if (connection !== undefined) return connection.quit();
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const log = readLog(place.log, program.errorLine);
  await server.stop();
  throw new IsoldeError(
    'target',
    `The private ${program.title} server ${ended ? 'ended at its start' : `was not ready after ${startLimitMs / 1000} s`}: ` +
      `${log}${program.hint === undefined ? '' : `; ${program.hint}`}`,
  );
}

/** Runs the program that makes a data folder. If we are killed meanwhile it must not go on: it would fill a disk with what nobody can see. */
export async function runInstaller(
  { watch }: ServerPlace,
  program: string,
  args: readonly string[],
): Promise<void> {
  const installer = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  watch(installer.pid);
  let text = '';
  installer.stderr.setEncoding('utf8').on('data', (more: string) => {
    text = (text + more).slice(-mostErrorText);
  });
  const ended = new Promise<unknown>((resolve) => {
    installer.once('error', resolve);
    installer.once('close', (code, signal) => resolve(code === 0 ? undefined : (code ?? signal)));
  });
  const cause = await ended;
  watch(undefined);
  if (cause === undefined) return;
  const why =
    text.trim() !== '' ? text : cause instanceof Error ? errorText(cause) : `it ended with ${cause}`;
  throw new IsoldeError('target', `${program} failed: ${lastLines(why)}`, { cause });
}

/** Servers of MySQL and MariaDB refuse to run as root unless told that this is meant. */
export function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** Variables as options; those without an option of that name are set on sessions only. */
export function looseOptions(variables: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(variables).map(([name, value]) => `--loose-${name.replaceAll('_', '-')}=${value}`);
}

/** Whether InnoDB loses nothing when it is killed: small private servers are set up to forget, unless told otherwise. */
export function innodbIsDurable(variables: Readonly<Record<string, string>>): boolean {
  const { innodb_flush_log_at_trx_commit: flush, innodb_doublewrite: doublewrite } = variables;
  return flush !== undefined && flush !== '0' && /^(1|on)$/i.test(doublewrite ?? '');
}

/**
 * Memory where there is plenty of it, else the temporary folder: every CREATE and DROP waits for the disk several
 * times, which no setting switches off, and set-up is ten times faster in memory.
 */
function defaultFolder(): string {
  const memory = '/dev/shm';
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= roomyBytes ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The folder's own, or one whose path leaves room for a socket's name. */
function shortFolder(parent: string, kind: ServerKind): string {
  for (const place of [parent, '/tmp']) {
    if (Buffer.byteLength(join(place, `isolde-${kind}-0123456789ab`, 's')) <= socketLimit) return place;
  }
  throw new IsoldeError('file-system', `The path ${parent} is too long for a server's socket.`);
}

function readLog(path: string, errorLine: RegExp): string {
  try {
    const errors = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => errorLine.test(line));
    return errors.length === 0 ? 'its log says nothing' : lastLines(errors.join('\n'));
  } catch {
    return 'it left no log';
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n');
}

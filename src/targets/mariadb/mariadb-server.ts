/**
 * A MariaDB server of our own: a fresh data folder, a Unix socket in a folder nobody else may enter, no network.
 *
 * It never outlives us, not even when we are killed, and neither does its folder (`server-folder.ts`).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorText, IsoldeError } from '../../errors.js';
import type { MysqlAddress } from '../mysql/mysql-url.js';
import { WireConnection } from '../mysql/mysql-wire.js';
import { makeServerFolder, type ServerFolder } from '../server-folder.js';

export interface MariadbServer {
  /** As root, who has no password: the folder of the socket keeps others out. */
  readonly address: MysqlAddress;
  readonly pid: number;
  /** Ends it with SIGKILL and starts it again on the same data; present only if nothing committed can be lost by that. */
  readonly kill?: () => Promise<void>;
  /** Stops it and removes its folder. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface MariadbServerOptions {
  /** System variables for the start; names the server does not know as options are left out. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The server program; default: `mariadbd` in PATH or the usual folders. */
  readonly binary?: string;
  /** Where the server's folder is made; default: `/dev/shm` with 1 GiB free, else the temporary folder. */
  readonly folder?: string;
}

const install =
  'Install MariaDB (Debian, Ubuntu: apt-get install mariadb-server-core mariadb-client-core), ' +
  'or name the program: mariadb:?binary=/path/to/mariadbd';
const roomyBytes = 2 ** 30;
const startLimitMs = 30_000;
const stopLimitMs = 5000;
/** Longest path of a Unix socket, on Linux and with room for macOS. */
const socketLimit = 100;

/** Small and forgetful: nothing here has to survive a crash of the machine. */
const settings: readonly string[] = [
  '--skip-networking',
  '--skip-log-bin',
  '--local-infile=OFF',
  '--skip-symbolic-links',
  '--skip-name-resolve',
  '--max-connections=400',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=16M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=OFF',
  '--sync-frm=OFF',
  '--innodb-lock-wait-timeout=5',
];

/** Why no private server can be run here, or undefined when one can. */
export function mariadbAvailable(): string | undefined {
  const missing = ['mariadbd', 'mariadb-install-db'].filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not found. ${install}`;
}

/** Why no private server can keep tables in MyRocks, or undefined when one can. */
export function myrocksAvailable(): string | undefined {
  const folders = ['/usr/lib/mysql/plugin', '/usr/lib64/mysql/plugin', '/usr/lib/mariadb/plugin'];
  return folders.some((folder) => existsSync(join(folder, 'ha_rocksdb.so')))
    ? undefined
    : 'ha_rocksdb.so not found. Install MyRocks (Debian, Ubuntu: mariadb-plugin-rocksdb)';
}

/** Creates and starts a server; root has no password, the socket's folder keeps others out. */
export async function startMariadbServer(options: MariadbServerOptions = {}): Promise<MariadbServer> {
  const binary = options.binary ?? findProgram('mariadbd');
  const installer = findInstaller(options.binary);
  if (binary === undefined || !existsSync(binary) || installer === undefined) {
    const what =
      options.binary === undefined ? mariadbAvailable() : `No program at ${options.binary}. ${install}`;
    throw new IsoldeError('engine-missing', what ?? install);
  }
  const folder = makeServerFolder(shortFolder(options.folder ?? defaultFolder()), 'mariadb');
  const data = join(folder.path, 'data');
  const socket = join(folder.path, 's');
  try {
    // A starting server deletes the temporary tables it finds in its tmpdir, also those of other servers.
    const temporary = join(folder.path, 'tmp');
    await mkdir(temporary);
    await mkdir(join(folder.path, 'files'));
    await initialize(installer, data, temporary);
    const variables = options.variables ?? {};
    const start = () => launch(binary, { folder, data, socket, variables });
    let server = start();
    const address: MysqlAddress = { host: 'localhost', port: 0, socket, user: 'root', ssl: false };
    await untilReady(server, address, folder.path);
    const kill = async () => {
      await server.end();
      server = start();
      await untilReady(server, address, folder.path);
    };
    return {
      address,
      get pid() {
        return server.child.pid!;
      },
      stop: () => server.stop(),
      ...(isDurable(variables) && { kill }),
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** The settings above may lose a second of commits when the server is killed, or leave half a page. */
function isDurable(variables: Readonly<Record<string, string>>): boolean {
  const { innodb_flush_log_at_trx_commit: flush, innodb_doublewrite: doublewrite } = variables;
  return flush !== undefined && flush !== '0' && /^(1|on)$/i.test(doublewrite ?? '');
}

interface Launched {
  /** The storage engine that was asked for. */
  readonly engine: string | undefined;
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  /** Ends the process at once, and leaves the folder. */
  readonly end: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface LaunchOptions {
  readonly folder: ServerFolder;
  readonly data: string;
  readonly socket: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** What a storage engine that comes as a plugin needs at the start, by the engine's name. */
const engineOptions: Readonly<Record<string, readonly string[]>> = {
  rocksdb: [
    '--plugin-load-add=ha_rocksdb',
    '--rocksdb-deadlock-detect=ON',
    '--rocksdb-flush-log-at-trx-commit=0',
    '--rocksdb-block-cache-size=32M',
  ],
};

function launch(binary: string, { folder, data, socket, variables }: LaunchOptions): Launched {
  const child = spawn(
    binary,
    [
      '--no-defaults',
      ...asRoot(),
      `--datadir=${data}`,
      `--tmpdir=${join(folder.path, 'tmp')}`,
      `--socket=${socket}`,
      `--pid-file=${join(folder.path, 'pid')}`,
      `--log-error=${join(folder.path, 'log')}`,
      // The only place OUTFILE and LOAD_FILE could reach: an empty folder.
      `--secure-file-priv=${join(folder.path, 'files')}`,
      ...settings,
      ...(engineOptions[variables.default_storage_engine?.toLowerCase() ?? ''] ?? []),
      // Variables without an option of that name are set on sessions only.
      ...Object.entries(variables).map(([name, value]) => `--loose-${name.replaceAll('_', '-')}=${value}`),
    ],
    { cwd: folder.path, stdio: 'ignore', detached: true },
  );
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  folder.watch(child.pid);
  void exited.then(() => folder.watch(undefined));
  // It must not keep this process from ending.
  child.unref();

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    child.ref();
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
    await exited;
    clearTimeout(late);
    await folder.remove();
  };
  const end = async () => {
    child.ref();
    child.kill('SIGKILL');
    await exited;
  };
  return { child, exited, end, engine: variables.default_storage_engine, stop: () => (stopping ??= stop()) };
}

async function initialize(installer: string, data: string, temporary: string): Promise<void> {
  try {
    await promisify(execFile)(installer, [
      '--no-defaults',
      ...asRoot(),
      `--datadir=${data}`,
      `--tmpdir=${temporary}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--innodb-log-file-size=16M',
      '--innodb-flush-method=nosync',
    ]);
  } catch (cause) {
    throw new IsoldeError('target', `${installer} failed: ${lastLines(errorText(cause))}`, { cause });
  }
}

async function untilReady(server: Launched, address: MysqlAddress, folder: string): Promise<void> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  const end = Date.now() + startLimitMs;
  while (!ended && Date.now() < end) {
    if (existsSync(address.socket!)) {
      const connection = await WireConnection.open(address).catch((error: unknown) => {
        if (error instanceof IsoldeError) throw error;
      });
      if (connection !== undefined) return connection.quit();
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const log = readLog(join(folder, 'log'));
  const engine = server.engine;
  const asked =
    engine === undefined
      ? ''
      : `; it was asked for the storage engine "${engine}", which may not be installed`;
  await server.stop();
  throw new IsoldeError(
    'target',
    `The private MariaDB server ${ended ? 'ended at its start' : `was not ready after ${startLimitMs / 1000} s`}: ${log}${asked}`,
  );
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
function shortFolder(parent: string): string {
  for (const place of [parent, '/tmp']) {
    if (Buffer.byteLength(join(place, 'isolde-mariadb-0123456789ab', 's')) <= socketLimit) return place;
  }
  throw new IsoldeError('file-system', `The path ${parent} is too long for a server's socket.`);
}

/** The server refuses to run as root unless told that this is meant. */
function asRoot(): string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : [];
}

/** `mariadb-install-db` beside a given program (bin/ or, in an unpacked release, scripts/), else in PATH. */
function findInstaller(binary: string | undefined): string | undefined {
  if (binary !== undefined) {
    for (const folder of [
      dirname(binary),
      join(dirname(binary), '../bin'),
      join(dirname(binary), '../scripts'),
    ]) {
      const beside = join(folder, 'mariadb-install-db');
      if (isExecutable(beside)) return beside;
    }
  }
  return findProgram('mariadb-install-db');
}

function findProgram(name: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/usr/local/bin',
  ];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function readLog(path: string): string {
  try {
    const errors = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('[ERROR]'));
    return errors.length === 0 ? 'its log says nothing' : lastLines(errors.join('\n'));
  } catch {
    return 'it left no log';
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n');
}

/**
 * The folder of a private server, which is never left behind.
 *
 * 1. A watchdog, a shell that does nothing but read its standard input, is started before the folder exists. When this process ends,
 *    however it ends, the pipe closes: the watchdog kills the server, if it was told of one, and removes the folder, again and again
 *    while some child of ours still writes into it. So no signal handler of ours changes how the program that uses us reacts.
 *    A PostgreSQL that was killed leaves a few bytes in the kernel (the segment its pid file names), which are given back with the folder.
 * 2. The folder names its owner in a file. When even the watchdog was killed, the next start finds the folder, sees that its owner is
 *    gone, and removes it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { isRunning } from '../running.js';

export type ServerKind = 'postgres' | 'mariadb' | 'mysql' | 'tidb';

export interface ServerFolder {
  readonly path: string;
  /** From now on this process has to end with us; `undefined`: it has ended, and its number may be another's. */
  watch(pid: number | undefined): void;
  /** Removes it. The process it was told of must have ended. Safe to call twice. */
  remove(): Promise<void>;
}

const ownerFile = 'owner';
/** The names of our folders: a prefix and twelve hexadecimal digits. */
const folderName = /^isolde-(postgres|mariadb|mysql|tidb)-[0-9a-f]{12}$/;

// First the fast way down (SIGQUIT lets PostgreSQL free its shared memory), after five seconds none of its business any more. Programs
// that make a data folder start others: their group goes with them.
const watchdogScript = `
  pid=
  while read -r word value; do
    case $word in pid) pid=$value ;; *) pid= ;; esac
  done
  if [ -n "$pid" ]; then
    kill -QUIT "$pid" 2>/dev/null
    tries=50
    while [ $tries -gt 0 ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; tries=$((tries - 1)); done
    kill -KILL "$pid" 2>/dev/null
    kill -s KILL -- "-$pid" 2>/dev/null
  fi
  segment=$(sed -n '7s/.* //p' "$1/data/postmaster.pid" 2>/dev/null)
  [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
  for pause in 0 0.1 0.2 0.4 1 2 4; do
    rm -rf -- "$1" 2>/dev/null
    [ -e "$1" ] || [ $pause = 0 ] || exit 0
    sleep $pause
  done`;

/** Makes a folder of this kind in `parent`, only for this user, and removes what dead owners left there. */
export function makeServerFolder(parent: string, kind: ServerKind): ServerFolder {
  sweepServerFolders(parent);
  const path = join(parent, `isolde-${kind}-${randomBytes(6).toString('hex')}`);
  const watchdog = startWatchdog(path);
  const ended = new Promise<void>((resolve) => {
    watchdog.once('exit', () => resolve());
    watchdog.once('error', () => resolve());
  });
  try {
    mkdirSync(path, { mode: 0o700 });
    // Whatever the umask.
    chmodSync(path, 0o700);
    writeFileSync(join(path, ownerFile), `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    watchdog.stdin?.end();
    throw new IsoldeError('file-system', `No folder for a server in ${parent}: ${errorText(cause)}`, {
      cause,
    });
  }
  let removing: Promise<void> | undefined;
  const remove = async () => {
    removeFolder(path);
    watchdog.ref();
    watchdog.kill('SIGKILL');
    await ended;
  };
  return {
    path,
    watch: (pid) => void watchdog.stdin?.write(pid === undefined ? 'gone\n' : `pid ${pid}\n`),
    remove: () => (removing ??= remove()),
  };
}

function startWatchdog(path: string): ChildProcess {
  const watchdog = spawn('/bin/sh', ['-c', watchdogScript, 'isolde-watchdog', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  // Without a shell the server still stops on close(); only a killed Isolde would leave it behind.
  watchdog.on('error', () => {});
  watchdog.stdin?.on('error', () => {});
  // It must not keep this process from ending: it cleans up behind it.
  (watchdog.stdin as { unref?: () => void } | null)?.unref?.();
  watchdog.unref();
  return watchdog;
}

/** Removes the folders in `parent` whose owner, a process of this user, is gone. */
export function sweepServerFolders(parent: string): readonly string[] {
  const removed: string[] = [];
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (!folderName.test(name) || !isOrphan(path)) continue;
    removeFolder(path);
    removed.push(path);
  }
  return removed;
}

function removeFolder(path: string): void {
  const segment = segmentOf(path);
  rmSync(path, { recursive: true, force: true });
  // It goes when the last process that still uses it ends. Without the program, a server that was killed leaves its few bytes.
  if (segment !== undefined) spawnSync('ipcrm', ['-m', segment], { stdio: 'ignore' });
}

/** The shared memory segment that the pid file of a PostgreSQL names; a server that ended in order has none. */
function segmentOf(path: string): string | undefined {
  try {
    const lines = readFileSync(join(path, 'data', 'postmaster.pid'), 'utf8').split('\n');
    return /^\s*\d+\s+(\d+)\s*$/.exec(lines[6] ?? '')?.[1];
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The owner's file must be ours: in a shared folder anybody can make one that looks like it. */
function isOrphan(path: string): boolean {
  try {
    const file = join(path, ownerFile);
    const found = lstatSync(file);
    if (!lstatSync(path).isDirectory() || !found.isFile() || found.uid !== process.getuid?.()) return false;
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 && !isRunning(pid);
  } catch {
    return false;
  }
}

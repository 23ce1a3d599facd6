/**
 * A PostgreSQL primary and its hot standbys, as the nodes of a cluster: servers of the user's, or two that are started for us.
 *
 * A private standby never cancels a query because a row version it may need was vacuumed away (`hot_standby_feedback`), and a query in
 * the way of a lock that is replayed is cancelled soon, so that one reader does not keep the standby behind.
 */
import { IsoldeError } from '../../errors.js';
import type { OpenedNode, OpenOptions, TargetNode } from '../target.js';
import {
  newCaseLogin,
  openPrivateServer,
  openUserServer,
  type PostgresNode,
  startPrivate,
} from './postgres-target.js';
import { type PrivateAddress, parsePostgresUrl } from './postgres-url.js';

const replication: Readonly<Record<string, string>> = {
  wal_level: 'replica',
  // Only what is flushed is sent to the standby; with fsync off that costs nothing.
  synchronous_commit: 'local',
  wal_keep_size: '64MB',
  hot_standby_feedback: 'on',
  max_standby_streaming_delay: '500ms',
  wal_receiver_status_interval: '1s',
};

/** The primary first. */
export async function openStandbyNodes(
  urls: readonly string[],
  options: OpenOptions,
): Promise<readonly OpenedNode[]> {
  const addresses = urls.map(parsePostgresUrl);
  const [first] = addresses;
  if (addresses.length === 1 && first?.kind === 'private') return openPrivateNodes(first, options);
  const nodes: OpenedNode[] = [];
  try {
    for (const address of addresses) {
      if (address.kind === 'private')
        throw new IsoldeError(
          'usage',
          'A list of nodes holds servers: cluster:postgres://host1/db,postgres://host2/db',
        );
      const target = await openUserServer(address, options);
      nodes.push({ target, ...nameOf(nodes.length, addresses.length) });
      await checkRole(target, `${address.host}:${address.port}`, nodes.length === 1);
    }
  } catch (error) {
    await Promise.allSettled(nodes.map(({ target }) => target.close()));
    throw error;
  }
  return nodes;
}

async function openPrivateNodes(
  address: PrivateAddress,
  options: OpenOptions,
): Promise<readonly OpenedNode[]> {
  const wanted = { ...address, settings: { ...replication, ...address.settings } };
  const { shown } = address;
  const login = newCaseLogin();
  const server = await startPrivate(wanted, options);
  const primary = await openPrivateServer(server, { login, shown });
  try {
    const follower = await startPrivate(wanted, options, server);
    const standby = await openPrivateServer(follower, { login, exists: true, shown });
    return [
      { target: primary, ...nameOf(0, 2) },
      { target: standby, ...nameOf(1, 2) },
    ];
  } catch (error) {
    await primary.close();
    throw error;
  }
}

function nameOf(number: number, count: number): TargetNode {
  if (number === 0) return { name: 'primary' };
  return { name: count === 2 ? 'standby' : `standby${number}`, readOnly: true };
}

async function checkRole(target: PostgresNode, where: string, first: boolean): Promise<void> {
  if ((await target.isStandby()) !== first) return;
  throw new IsoldeError(
    'usage',
    first
      ? `${where} is a standby: name the primary first, its hot standbys behind it`
      : `${where} is no hot standby: it takes writes of its own`,
  );
}

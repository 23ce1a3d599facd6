/**
 * MariaDB Galera Cluster. A transaction runs on its node as in InnoDB, with the node's locks, and is certified at COMMIT, in one order for all
 * nodes: if another one that was ordered after its snapshot of that order wrote one of its rows, it fails (1213, also at an earlier statement
 * when the node applies the other one first). So no committed change of a row is overwritten unseen, and writers on different nodes do not
 * wait for each other. Write sets are applied in that order on every node: a node’s state is a committed state of the
 * cluster, perhaps an old one (unless `wsrep_sync_wait` says otherwise).
 *
 * Plain reads before a write may be older than what the write meets, as in InnoDB, on the same node and on another one that has applied it
 * meanwhile: lost updates are not excluded, whatever the documentation of Galera says of separate nodes. SERIALIZABLE holds only among
 * transactions of one node and has no contract here.
 */
import { snapshotForPlainReads, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const sources = [
  ...cite(
    'Galera Cluster Documentation, Isolation Levels',
    'https://galeracluster.com/library/documentation/isolation-levels.html',
    'pivot',
    'writesSee',
    'lockingReadsSee',
    'ownWrites',
    'readsLock',
    'certifier',
    'forbids',
  ),
  ...cite(
    'Galera Cluster Documentation, Certification-Based Replication',
    'https://galeracluster.com/library/documentation/certification-based-replication.html',
    'protocol',
    'writeConflict',
    'forbids',
  ),
  ...cite(
    'MariaDB Galera Cluster, Known Limitations',
    'https://mariadb.com/docs/galera-cluster/reference/mariadb-galera-cluster-known-limitations',
    'firstUpdaterWins',
    'forbids',
  ),
  ...cite(
    'MariaDB, Galera Cluster System Variables: wsrep_sync_wait',
    'https://mariadb.com/docs/galera-cluster/reference/galera-cluster-system-variables#wsrep_sync_wait',
    'otherNodesLag',
  ),
];

const readCommitted: Mechanism = {
  protocol: 'optimistic',
  pivot: 'statement',
  writesSee: 'current',
  lockingReadsSee: 'current',
  ownWrites: true,
  writeConflict: 'none',
  readsLock: false,
  firstUpdaterWins: false,
  certifier: 'none',
  otherNodesLag: true,
};

const settings = { cluster: 'galera' };

export const galeraContracts: readonly Contract[] = [
  {
    id: 'mariadb:read-committed+galera',
    kind: 'vendor',
    title: 'MariaDB Galera Cluster, READ COMMITTED',
    owner: 'mariadb',
    level: 'read committed',
    settings,
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources,
  },
  {
    id: 'mariadb:repeatable-read+galera',
    kind: 'vendor',
    title: 'MariaDB Galera Cluster, REPEATABLE READ',
    owner: 'mariadb',
    level: 'repeatable read',
    settings,
    mechanism: { ...readCommitted, pivot: 'first-read' },
    forbids: snapshotForPlainReads,
    sources,
  },
];

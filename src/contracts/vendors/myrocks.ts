/**
 * MariaDB with MyRocks tables (storage engine ROCKSDB). It has two levels. REPEATABLE READ is snapshot isolation: one snapshot
 * for reads and writes, taken as late as possible, by the first statement that touches data; who writes or locks a row that
 * changed since then gets an error (1213, "snapshot conflict"), which undoes the statement and leaves the transaction open. There
 * are no gap locks. READ COMMITTED takes a snapshot for each statement; a writer that waited looks at its row again.
 */
import { snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const settings = { default_storage_engine: 'ROCKSDB' };

const sources = [
  ...cite(
    'MariaDB, MyRocks Transactional Isolation',
    'https://mariadb.com/docs/server/server-usage/storage-engines/myrocks/myrocks-transactional-isolation',
    'certifier',
    'forbids',
  ),
  ...cite(
    'MyRocks wiki, Transaction Isolation',
    'https://github.com/facebook/mysql-5.6/wiki/Transaction-Isolation',
    'protocol',
    'pivot',
    'writesSee',
    'lockingReadsSee',
    'ownWrites',
    'readsLock',
    'writeConflict',
    'firstUpdaterWins',
  ),
];

const repeatableRead: Mechanism = {
  protocol: 'locking',
  pivot: 'first-statement',
  writesSee: 'snapshot',
  lockingReadsSee: 'snapshot',
  ownWrites: true,
  writeConflict: 'waits',
  readsLock: false,
  firstUpdaterWins: true,
  certifier: 'none',
};

const readCommitted: Mechanism = {
  ...repeatableRead,
  pivot: 'statement',
  writesSee: 'current',
  lockingReadsSee: 'current',
  firstUpdaterWins: false,
};

export const myrocksContracts: readonly Contract[] = [
  {
    id: 'mariadb:read-committed+rocksdb',
    kind: 'vendor',
    title: 'MariaDB MyRocks, READ COMMITTED',
    owner: 'mariadb',
    level: 'read committed',
    settings,
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources,
  },
  {
    id: 'mariadb:repeatable-read+rocksdb',
    kind: 'vendor',
    title: 'MariaDB MyRocks, REPEATABLE READ',
    owner: 'mariadb',
    level: 'repeatable read',
    settings,
    mechanism: repeatableRead,
    forbids: snapshotIsolation,
    sources,
  },
];

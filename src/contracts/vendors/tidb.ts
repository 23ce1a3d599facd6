/**
 * TiDB. In pessimistic mode writes and locking reads see the newest committed rows ("current read"), as in
 * InnoDB; in optimistic mode everything reads the snapshot of BEGIN and conflicts surface at COMMIT, taken keys included.
 */
import { snapshotForPlainReads, snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const docs = 'https://docs.pingcap.com/tidb/stable';
const levels = (section: string, ...clauses: readonly string[]) =>
  cite('TiDB Transaction Isolation Levels', `${docs}/transaction-isolation-levels#${section}`, ...clauses);
const pessimistic = (...clauses: readonly string[]) =>
  cite(
    'TiDB Pessimistic Transaction Mode: Behaviors',
    `${docs}/pessimistic-transaction#behaviors`,
    ...clauses,
  );
const optimistic = (...clauses: readonly string[]) =>
  cite('TiDB Optimistic Transaction Model', `${docs}/optimistic-transaction`, ...clauses);

const readCommitted: Mechanism = {
  protocol: 'locking',
  pivot: 'statement',
  writesSee: 'current',
  lockingReadsSee: 'current',
  ownWrites: true,
  writeConflict: 'waits',
  readsLock: false,
  firstUpdaterWins: false,
  certifier: 'none',
  shareLocksNothing: true,
  autocommitLocksNothing: true,
};

const pessimisticSources = pessimistic(
  'protocol',
  'writesSee',
  'lockingReadsSee',
  'writeConflict',
  'readsLock',
  'firstUpdaterWins',
  'shareLocksNothing',
  'forbids',
);

const autocommit = cite(
  'TiDB Configuration File: pessimistic-auto-commit',
  `${docs}/tidb-configuration-file#pessimistic-auto-commit-new-in-v600`,
  'autocommitLocksNothing',
);

export const tidbContracts: readonly Contract[] = [
  {
    id: 'tidb:read-committed',
    kind: 'vendor',
    title: 'TiDB, READ COMMITTED (pessimistic)',
    owner: 'tidb',
    level: 'read committed',
    settings: { tidb_txn_mode: 'pessimistic' },
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: [
      ...levels('read-committed-isolation-level', 'pivot', 'ownWrites', 'certifier', 'forbids'),
      ...pessimisticSources,
      ...autocommit,
    ],
  },
  {
    id: 'tidb:repeatable-read',
    kind: 'vendor',
    title: 'TiDB, REPEATABLE READ (pessimistic)',
    owner: 'tidb',
    level: 'repeatable read',
    settings: { tidb_txn_mode: 'pessimistic' },
    mechanism: { ...readCommitted, pivot: 'begin' },
    forbids: snapshotForPlainReads,
    sources: [
      ...levels('repeatable-read-isolation-level', 'pivot', 'ownWrites', 'certifier', 'forbids'),
      ...pessimisticSources,
      ...autocommit,
    ],
  },
  {
    id: 'tidb:snapshot+optimistic',
    kind: 'vendor',
    title: 'TiDB, snapshot isolation (REPEATABLE READ, optimistic)',
    owner: 'tidb',
    level: 'snapshot',
    settings: { tidb_txn_mode: 'optimistic' },
    mechanism: {
      protocol: 'optimistic',
      pivot: 'begin',
      writesSee: 'snapshot',
      lockingReadsSee: 'snapshot',
      ownWrites: true,
      writeConflict: 'none',
      readsLock: false,
      keysCheckedAtCommit: true,
      firstUpdaterWins: true,
      certifier: 'none',
    },
    forbids: snapshotIsolation,
    sources: [
      ...levels('repeatable-read-isolation-level', 'pivot', 'ownWrites', 'certifier', 'forbids'),
      ...optimistic(
        'protocol',
        'writesSee',
        'lockingReadsSee',
        'writeConflict',
        'readsLock',
        'firstUpdaterWins',
        'forbids',
      ),
      ...cite(
        'TiDB Constraints: Optimistic transactions',
        `${docs}/constraints#optimistic-transactions`,
        'keysCheckedAtCommit',
      ),
    ],
  },
];

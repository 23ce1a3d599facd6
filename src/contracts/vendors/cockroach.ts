/**
 * CockroachDB. READ COMMITTED gives every statement one snapshot, its writes included: a conflicting statement
 * is retried as a whole on a newer one. SERIALIZABLE orders transactions by timestamp; a transaction pushed to a
 * later timestamp re-validates what it read and goes on there (read refresh).
 */
import { everyAnomaly, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const docs = 'https://www.cockroachlabs.com/docs/stable';

const readCommitted: Mechanism = {
  protocol: 'timestamp',
  pivot: 'statement',
  writesSee: 'current',
  lockingReadsSee: 'current',
  ownWrites: true,
  writeConflict: 'waits',
  readsLock: false,
  firstUpdaterWins: false,
  certifier: 'none',
};

export const cockroachContracts: readonly Contract[] = [
  {
    id: 'cockroach:read-committed',
    kind: 'vendor',
    title: 'CockroachDB, READ COMMITTED',
    owner: 'cockroach',
    level: 'read committed',
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: [
      ...cite(
        'CockroachDB, Read Committed Transactions',
        `${docs}/read-committed`,
        'pivot',
        'writesSee',
        'lockingReadsSee',
        'writeConflict',
        'readsLock',
        'firstUpdaterWins',
        'certifier',
        'forbids',
      ),
      ...cite(
        'CockroachDB, Transaction Layer',
        `${docs}/architecture/transaction-layer`,
        'protocol',
        'ownWrites',
      ),
    ],
  },
  {
    id: 'cockroach:serializable',
    kind: 'vendor',
    title: 'CockroachDB, SERIALIZABLE',
    owner: 'cockroach',
    level: 'serializable',
    mechanism: {
      ...readCommitted,
      pivot: 'first-statement',
      writesSee: 'snapshot',
      lockingReadsSee: 'snapshot',
      firstUpdaterWins: true,
      certifier: 'timestamp',
      snapshotMoves: true,
    },
    forbids: everyAnomaly,
    sources: [
      ...cite('CockroachDB, Serializable Transactions', `${docs}/demo-serializable`, 'forbids'),
      ...cite(
        'CockroachDB, Transaction Layer',
        `${docs}/architecture/transaction-layer`,
        'protocol',
        'pivot',
        'writesSee',
        'lockingReadsSee',
        'ownWrites',
        'writeConflict',
        'readsLock',
        'firstUpdaterWins',
        'certifier',
        'snapshotMoves',
      ),
    ],
  },
];

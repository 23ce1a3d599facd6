/**
 * PostgreSQL. READ UNCOMMITTED is accepted and behaves as READ COMMITTED; REPEATABLE READ is snapshot isolation
 * with first-updater-wins; SERIALIZABLE adds the SSI certifier. The snapshot is taken by the first statement
 * that is not transaction control, not by BEGIN.
 */
import { everyAnomaly, snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const page = 'https://www.postgresql.org/docs/current/transaction-iso.html';
const levels = 'PostgreSQL, 13.2. Transaction Isolation (table 13.1)';
const rowLocks = cite(
  'PostgreSQL, 13.3.2. Row-Level Locks',
  'https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS',
  'protocol',
  'writeConflict',
  'readsLock',
);

const failures = cite(
  'PostgreSQL sources, access/transam/README, The Transaction System',
  'https://github.com/postgres/postgres/blob/master/src/backend/access/transam/README',
  'failureRollsBack',
);

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
  failureRollsBack: true,
};

const repeatableRead: Mechanism = {
  ...readCommitted,
  pivot: 'first-statement',
  writesSee: 'snapshot',
  lockingReadsSee: 'snapshot',
  firstUpdaterWins: true,
};

const readCommittedSources = [
  ...cite(
    'PostgreSQL, 13.2.1. Read Committed Isolation Level',
    `${page}#XACT-READ-COMMITTED`,
    'pivot',
    'writesSee',
    'lockingReadsSee',
    'ownWrites',
    'firstUpdaterWins',
    'forbids',
  ),
  ...cite(levels, page, 'certifier', 'forbids'),
  ...rowLocks,
  ...failures,
];

export const postgresContracts: readonly Contract[] = [
  {
    id: 'postgres:read-uncommitted',
    kind: 'vendor',
    title: 'PostgreSQL, READ UNCOMMITTED (behaves as READ COMMITTED)',
    owner: 'postgres',
    level: 'read uncommitted',
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: readCommittedSources,
  },
  {
    id: 'postgres:read-committed',
    kind: 'vendor',
    title: 'PostgreSQL, READ COMMITTED',
    owner: 'postgres',
    level: 'read committed',
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: readCommittedSources,
  },
  {
    id: 'postgres:repeatable-read',
    kind: 'vendor',
    title: 'PostgreSQL, REPEATABLE READ',
    owner: 'postgres',
    level: 'repeatable read',
    mechanism: repeatableRead,
    forbids: snapshotIsolation,
    sources: [
      ...cite(
        'PostgreSQL, 13.2.2. Repeatable Read Isolation Level',
        `${page}#XACT-REPEATABLE-READ`,
        'pivot',
        'writesSee',
        'lockingReadsSee',
        'ownWrites',
        'firstUpdaterWins',
        'certifier',
        'forbids',
      ),
      ...rowLocks,
      ...failures,
    ],
  },
  {
    id: 'postgres:serializable',
    kind: 'vendor',
    title: 'PostgreSQL, SERIALIZABLE',
    owner: 'postgres',
    level: 'serializable',
    mechanism: { ...repeatableRead, certifier: 'ssi' },
    forbids: everyAnomaly,
    sources: [
      ...cite(
        'PostgreSQL, 13.2.3. Serializable Isolation Level',
        `${page}#XACT-SERIALIZABLE`,
        'pivot',
        'writesSee',
        'lockingReadsSee',
        'ownWrites',
        'firstUpdaterWins',
        'certifier',
        'forbids',
      ),
      ...rowLocks,
      ...failures,
    ],
  },
];

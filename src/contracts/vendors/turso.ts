/**
 * Turso. With its write-ahead log it follows SQLite: one writer, snapshot readers. With MVCC and
 * BEGIN CONCURRENT it is snapshot isolation from BEGIN on, and a second writer of a row gets an error at once.
 */
import { everyAnomaly, snapshotIsolation } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract } from '../contract.js';

const transactions = 'https://docs.turso.tech/sql-reference/statements/transactions';
const concurrentWrites = 'https://docs.turso.tech/tursodb/concurrent-writes';
const manual = 'https://github.com/tursodatabase/turso/blob/main/docs/manual.md';

export const tursoContracts: readonly Contract[] = [
  {
    id: 'turso:snapshot+mvcc',
    kind: 'vendor',
    title: 'Turso, MVCC with BEGIN CONCURRENT',
    owner: 'turso',
    level: 'snapshot',
    settings: { journal_mode: 'mvcc' },
    mechanism: {
      protocol: 'optimistic',
      pivot: 'begin',
      writesSee: 'snapshot',
      lockingReadsSee: 'unsupported',
      ownWrites: true,
      writeConflict: 'fails',
      readsLock: false,
      firstUpdaterWins: true,
      certifier: 'none',
    },
    forbids: snapshotIsolation,
    sources: [
      ...cite('Turso, Concurrent Writes', concurrentWrites, 'protocol', 'writeConflict', 'firstUpdaterWins'),
      ...cite(
        'Turso Database Manual: Concurrent transaction lifecycle',
        `${manual}#concurrent-transaction-lifecycle`,
        'pivot',
        'writesSee',
        'lockingReadsSee',
        'ownWrites',
        'readsLock',
        'certifier',
        'forbids',
      ),
    ],
  },
  {
    id: 'turso:serializable+wal',
    kind: 'vendor',
    title: 'Turso, write-ahead log',
    owner: 'turso',
    level: 'serializable',
    settings: { journal_mode: 'wal' },
    mechanism: {
      protocol: 'single-writer',
      pivot: 'first-statement',
      writesSee: 'snapshot',
      lockingReadsSee: 'unsupported',
      ownWrites: true,
      writeConflict: 'fails',
      readsLock: false,
      firstUpdaterWins: true,
      certifier: 'serial-execution',
    },
    forbids: everyAnomaly,
    sources: [
      ...cite(
        'Turso, Transactions',
        transactions,
        'protocol',
        'pivot',
        'writeConflict',
        'certifier',
        'readsLock',
      ),
      ...cite(
        'Turso Database Manual: Deferred transaction lifecycle',
        `${manual}#deferred-transaction-lifecycle`,
        'writesSee',
        'lockingReadsSee',
        'ownWrites',
        'firstUpdaterWins',
      ),
      ...cite('SQLite, Isolation In SQLite', 'https://sqlite.org/isolation.html', 'forbids'),
    ],
  },
];

/**
 * SQLite. One writer at a time for the whole file makes every transaction serial, in both journal modes; they
 * differ in what readers meet. With the write-ahead log readers keep the snapshot of their first statement and a
 * stale reader cannot become a writer (SQLITE_BUSY_SNAPSHOT). With the rollback journal a reader's shared lock
 * keeps a writer from committing (SQLITE_BUSY).
 */
import { everyAnomaly } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const isolation = (...clauses: readonly string[]) =>
  cite('SQLite, Isolation In SQLite', 'https://sqlite.org/isolation.html', ...clauses);
const transactions = (...clauses: readonly string[]) =>
  cite('SQLite, Transaction', 'https://sqlite.org/lang_transaction.html', ...clauses);

const wal: Mechanism = {
  protocol: 'single-writer',
  pivot: 'first-statement',
  writesSee: 'snapshot',
  lockingReadsSee: 'unsupported',
  ownWrites: true,
  writeConflict: 'fails',
  readsLock: false,
  firstUpdaterWins: true,
  certifier: 'serial-execution',
};

const common = [
  ...isolation('ownWrites', 'certifier', 'forbids'),
  ...transactions('pivot', 'protocol', 'writeConflict'),
  ...cite('SQLite, SELECT', 'https://sqlite.org/lang_select.html', 'lockingReadsSee'),
];

export const sqliteContracts: readonly Contract[] = [
  {
    id: 'sqlite:serializable+wal',
    kind: 'vendor',
    title: 'SQLite, write-ahead log',
    owner: 'sqlite',
    level: 'serializable',
    settings: { journal_mode: 'wal' },
    mechanism: wal,
    forbids: everyAnomaly,
    sources: [
      ...common,
      ...cite(
        'SQLite, Result Codes: SQLITE_BUSY_SNAPSHOT',
        'https://sqlite.org/rescode.html#busy_snapshot',
        'writesSee',
        'firstUpdaterWins',
      ),
      ...cite(
        'SQLite, Write-Ahead Logging: Concurrency',
        'https://sqlite.org/wal.html#concurrency',
        'readsLock',
      ),
    ],
  },
  {
    id: 'sqlite:serializable+rollback',
    kind: 'vendor',
    title: 'SQLite, rollback journal',
    owner: 'sqlite',
    level: 'serializable',
    settings: { journal_mode: 'rollback' },
    mechanism: { ...wal, readsLock: true },
    forbids: everyAnomaly,
    sources: [
      ...common,
      ...cite(
        'SQLite, File Locking And Concurrency In SQLite Version 3',
        'https://sqlite.org/lockingv3.html#locking',
        'readsLock',
        'writesSee',
        'firstUpdaterWins',
      ),
    ],
  },
];

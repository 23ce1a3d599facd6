/**
 * H2 with its MVStore. Writers lock rows and wait for each other; readers never wait.
 *
 * At READ UNCOMMITTED reads, and writes that look for their rows, see what others have not committed. At READ COMMITTED each statement has its
 * own snapshot. SNAPSHOT and SERIALIZABLE take one of all tables with the first statement;
 * the manual says that SERIALIZABLE is no more than that. REPEATABLE READ takes the snapshot of a table when the transaction first uses
 * that table: the rows of one table are read from one state, those of two tables need not be. From REPEATABLE READ on, writing a row
 * that changed since the snapshot fails with error 40001, which H2 words as a deadlock; the manual promises that for no level.
 */
import { noDirtyData, snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, ContractSource, Mechanism } from '../contract.js';

const manual = 'https://h2database.com/html/advanced.html';
const isolation = (...clauses: readonly string[]) =>
  cite('H2, Advanced: Transaction Isolation', `${manual}#transaction_isolation`, ...clauses);
const mvcc = (...clauses: readonly string[]) =>
  cite('H2, Advanced: Multi-Version Concurrency Control (MVCC)', `${manual}#mvcc`, ...clauses);
const selects = cite(
  'H2, Commands: SELECT',
  'https://h2database.com/html/commands.html#select',
  'lockingReadsSee',
);
const decisions = (...clauses: readonly string[]) =>
  cite(
    'H2 sources, TxDecisionMaker: RepeatableReadLockDecisionMaker',
    'https://github.com/h2database/h2database/blob/master/h2/src/main/org/h2/mvstore/tx/TxDecisionMaker.java',
    ...clauses,
  );
const snapshots = (...clauses: readonly string[]) =>
  cite(
    'H2 sources, Transaction: markStatementStart',
    'https://github.com/h2database/h2database/blob/master/h2/src/main/org/h2/mvstore/tx/Transaction.java',
    ...clauses,
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
};

const snapshot: Mechanism = {
  ...readCommitted,
  pivot: 'first-statement',
  writesSee: 'snapshot',
  lockingReadsSee: 'snapshot',
  firstUpdaterWins: true,
};

const common: readonly ContractSource[] = [
  ...isolation('pivot', 'certifier', 'forbids'),
  ...mvcc('protocol', 'ownWrites', 'writeConflict', 'readsLock', 'forbids'),
  ...selects,
];
const currentWrites: readonly ContractSource[] = [...common, ...mvcc('writesSee', 'firstUpdaterWins')];
const snapshotWrites: readonly ContractSource[] = [
  ...common,
  ...snapshots('pivot'),
  ...decisions('writesSee', 'lockingReadsSee', 'firstUpdaterWins'),
];

export const h2Contracts: readonly Contract[] = [
  {
    id: 'h2:read-uncommitted',
    kind: 'vendor',
    title: 'H2, READ UNCOMMITTED',
    owner: 'h2',
    level: 'read uncommitted',
    mechanism: { ...readCommitted, pivot: 'uncommitted', writesSearchUncommitted: true },
    forbids: ['G0', 'lost-update-expression', 'own-write-missed'],
    sources: [...currentWrites, ...isolation('writesSearchUncommitted')],
  },
  {
    id: 'h2:read-committed',
    kind: 'vendor',
    title: 'H2, READ COMMITTED',
    owner: 'h2',
    level: 'read committed',
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: currentWrites,
  },
  {
    id: 'h2:repeatable-read',
    kind: 'vendor',
    title: 'H2, REPEATABLE READ (a snapshot for each table)',
    owner: 'h2',
    level: 'repeatable read',
    mechanism: { ...snapshot, snapshotPer: 'table', firstUpdaterWins: false },
    forbids: [...noDirtyData, 'lost-update-expression', 'own-write-missed'],
    sources: [...snapshotWrites, ...snapshots('snapshotPer')],
  },
  {
    id: 'h2:snapshot',
    kind: 'vendor',
    title: 'H2, SNAPSHOT',
    owner: 'h2',
    level: 'snapshot',
    mechanism: snapshot,
    forbids: snapshotIsolation,
    sources: snapshotWrites,
  },
  {
    id: 'h2:serializable',
    kind: 'vendor',
    title: 'H2, SERIALIZABLE (snapshot isolation)',
    owner: 'h2',
    level: 'serializable',
    mechanism: snapshot,
    forbids: snapshotIsolation,
    sources: snapshotWrites,
  },
];

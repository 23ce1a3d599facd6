/**
 * SQL Server. Without row versioning reads take shared locks: for the read (READ COMMITTED), to the end of the
 * transaction (REPEATABLE READ), with key ranges (SERIALIZABLE). With row versioning they do not:
 * `read_committed_snapshot` gives each statement a snapshot, SNAPSHOT the whole transaction and fails on rows changed
 * since (error 3960). The number by which a snapshot is ordered is drawn at the first read or write, not at BEGIN (the
 * guide; Pisco §6.2.1 takes the start). Its locking reads are the UPDLOCK and HOLDLOCK hints.
 */
import { everyAnomaly, itemLocks, snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, ContractSource, Mechanism } from '../contract.js';

const guide = (...clauses: readonly string[]) =>
  cite(
    'SQL Server, Transaction Locking and Row Versioning Guide',
    'https://learn.microsoft.com/en-us/sql/relational-databases/sql-server-transaction-locking-and-row-versioning-guide',
    ...clauses,
  );

const sources: readonly ContractSource[] = [
  ...cite(
    'SET TRANSACTION ISOLATION LEVEL (Transact-SQL): Arguments',
    'https://learn.microsoft.com/en-us/sql/t-sql/statements/set-transaction-isolation-level-transact-sql#arguments',
    'readsLock',
    'certifier',
    'forbids',
  ),
  ...guide('protocol', 'pivot', 'writesSee', 'ownWrites', 'writeConflict', 'firstUpdaterWins', 'forbids'),
  ...cite(
    'Table Hints (Transact-SQL)',
    'https://learn.microsoft.com/en-us/sql/t-sql/queries/hints-transact-sql-table',
    'lockingReadsSee',
  ),
];

const versioned: Mechanism = {
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
const locked: Mechanism = { ...versioned, readsLock: true };

export const sqlserverContracts: readonly Contract[] = [
  {
    id: 'sqlserver:read-uncommitted',
    kind: 'vendor',
    title: 'SQL Server, READ UNCOMMITTED',
    owner: 'sqlserver',
    level: 'read uncommitted',
    mechanism: { ...versioned, pivot: 'uncommitted' },
    forbids: ['G0', 'lost-update-expression', 'own-write-missed'],
    sources,
  },
  {
    id: 'sqlserver:read-committed',
    kind: 'vendor',
    title: 'SQL Server, READ COMMITTED (locking)',
    owner: 'sqlserver',
    level: 'read committed',
    mechanism: { ...versioned, readsLockBriefly: true },
    forbids: statementSnapshots,
    sources: [...sources, ...guide('readsLockBriefly')],
  },
  {
    id: 'sqlserver:read-committed+read_committed_snapshot',
    kind: 'vendor',
    title: 'SQL Server, READ COMMITTED with read_committed_snapshot',
    owner: 'sqlserver',
    level: 'read committed',
    settings: { read_committed_snapshot: 'ON' },
    mechanism: versioned,
    forbids: statementSnapshots,
    sources,
  },
  {
    id: 'sqlserver:repeatable-read',
    kind: 'vendor',
    title: 'SQL Server, REPEATABLE READ',
    owner: 'sqlserver',
    level: 'repeatable read',
    mechanism: locked,
    forbids: itemLocks,
    sources,
  },
  {
    id: 'sqlserver:snapshot',
    kind: 'vendor',
    title: 'SQL Server, SNAPSHOT',
    owner: 'sqlserver',
    level: 'snapshot',
    mechanism: {
      ...versioned,
      pivot: 'first-statement',
      writesSee: 'snapshot',
      lockingReadsSee: 'snapshot',
      firstUpdaterWins: true,
    },
    forbids: snapshotIsolation,
    sources,
  },
  {
    id: 'sqlserver:serializable',
    kind: 'vendor',
    title: 'SQL Server, SERIALIZABLE',
    owner: 'sqlserver',
    level: 'serializable',
    mechanism: { ...locked, certifier: 'two-phase-locking' },
    forbids: everyAnomaly,
    sources,
  },
];

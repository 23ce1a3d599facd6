/**
 * Oracle Database. READ COMMITTED restarts a statement whose rows changed under it; SERIALIZABLE reads as of the
 * transaction's start and fails on rows changed since (ORA-08177). Readers never lock, so the manual's
 * "serializable" is snapshot isolation, and write skew remains possible.
 */
import { snapshotIsolation, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, Mechanism } from '../contract.js';

const page =
  'https://docs.oracle.com/en/database/oracle/oracle-database/21/cncpt/data-concurrency-and-consistency.html';
const section = (title: string, ...clauses: readonly string[]) =>
  cite(`Oracle Database Concepts 21c, Data Concurrency and Consistency: ${title}`, page, ...clauses);

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

const locking = section('Row Locks and Concurrency', 'protocol', 'writeConflict', 'readsLock');
const consistency = section('Multiversion Read Consistency', 'pivot', 'ownWrites');

export const oracleContracts: readonly Contract[] = [
  {
    id: 'oracle:read-committed',
    kind: 'vendor',
    title: 'Oracle, READ COMMITTED',
    owner: 'oracle',
    level: 'read committed',
    mechanism: readCommitted,
    forbids: statementSnapshots,
    sources: [
      ...section(
        'Read Committed Isolation Level',
        'writesSee',
        'lockingReadsSee',
        'firstUpdaterWins',
        'certifier',
        'forbids',
      ),
      ...consistency,
      ...locking,
    ],
  },
  {
    id: 'oracle:serializable',
    kind: 'vendor',
    title: 'Oracle, SERIALIZABLE (snapshot isolation)',
    owner: 'oracle',
    level: 'serializable',
    mechanism: {
      ...readCommitted,
      pivot: 'begin',
      writesSee: 'snapshot',
      lockingReadsSee: 'snapshot',
      firstUpdaterWins: true,
    },
    forbids: snapshotIsolation,
    sources: [
      ...section(
        'Serializable Isolation Level',
        'writesSee',
        'lockingReadsSee',
        'firstUpdaterWins',
        'certifier',
        'forbids',
      ),
      ...consistency,
      ...locking,
    ],
  },
];

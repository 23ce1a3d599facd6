/**
 * InnoDB, shared by MySQL and MariaDB. Plain reads are consistent reads from a snapshot; UPDATE, DELETE and
 * locking reads see the newest committed rows and lock them. The manual warns that a transaction which updates
 * rows others have changed sees its own new versions next to older ones of the other rows. So REPEATABLE READ
 * promises repeatable plain reads and own writes, but neither lost updates nor skews are excluded.
 *
 * A row that a transaction itself updated must show that update, also when the update left the stored value as
 * it was: the warning excuses old versions of *other* rows only. MySQL #113228 and MDEV-26642 break exactly this.
 *
 * SERIALIZABLE turns plain reads into locking reads, which see current rows: the pivot is the statement, and
 * two-phase locking makes that serial. (Pisco §6.2.1 lists it under the first-read pivot; a locking read of a
 * row changed after the first read shows otherwise.)
 */
import { everyAnomaly, snapshotForPlainReads, statementSnapshots } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract, ContractSource, Mechanism } from '../contract.js';

export interface InnodbManual {
  readonly owner: string;
  readonly vendor: string;
  readonly isolationLevels: (level: string) => readonly ContractSource[];
  readonly consistentReads: (...clauses: readonly string[]) => readonly ContractSource[];
  readonly lockingReads: (...clauses: readonly string[]) => readonly ContractSource[];
  readonly locksSet: (...clauses: readonly string[]) => readonly ContractSource[];
}

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
  passedRows: 'released',
};

export const innodbRepeatableRead: Mechanism = {
  ...readCommitted,
  pivot: 'first-read',
  passedRows: 'kept',
};

export const innodbSerializable: Mechanism = {
  ...readCommitted,
  readsLock: true,
  certifier: 'two-phase-locking',
  passedRows: 'kept',
};

/** The four levels as both manuals describe them. */
export function innodbContracts(manual: InnodbManual): readonly Contract[] {
  const { owner, vendor } = manual;
  const common = [
    ...manual.consistentReads('ownWrites', 'forbids', 'firstUpdaterWins'),
    ...manual.lockingReads('lockingReadsSee'),
    ...manual.locksSet('protocol', 'writesSee', 'writeConflict', 'passedRows', 'forbids'),
  ];
  return [
    {
      id: `${owner}:read-uncommitted`,
      kind: 'vendor',
      title: `${vendor} InnoDB, READ UNCOMMITTED`,
      owner,
      level: 'read uncommitted',
      mechanism: { ...readCommitted, pivot: 'uncommitted' },
      forbids: ['G0', 'lost-update-expression', 'own-write-missed'],
      sources: [...manual.isolationLevels('read-uncommitted'), ...common],
    },
    {
      id: `${owner}:read-committed`,
      kind: 'vendor',
      title: `${vendor} InnoDB, READ COMMITTED`,
      owner,
      level: 'read committed',
      mechanism: readCommitted,
      forbids: statementSnapshots,
      sources: [...manual.isolationLevels('read-committed'), ...common],
    },
    {
      id: `${owner}:repeatable-read`,
      kind: 'vendor',
      title: `${vendor} InnoDB, REPEATABLE READ`,
      owner,
      level: 'repeatable read',
      mechanism: innodbRepeatableRead,
      forbids: snapshotForPlainReads,
      sources: [...manual.isolationLevels('repeatable-read'), ...common],
    },
    {
      id: `${owner}:serializable`,
      kind: 'vendor',
      title: `${vendor} InnoDB, SERIALIZABLE`,
      owner,
      level: 'serializable',
      mechanism: innodbSerializable,
      forbids: everyAnomaly,
      sources: [...manual.isolationLevels('serializable'), ...common],
    },
  ];
}

/** What is known of the two clauses that no manual has. */
const reports: readonly ContractSource[] = [
  ...cite('MySQL bug #105670', 'https://bugs.mysql.com/bug.php?id=105670', 'ownDeletesHide'),
  ...cite('MySQL bug #107887', 'https://bugs.mysql.com/bug.php?id=107887', 'ownDeletesHide'),
  ...cite(
    'Z.-M. Jiang et al., Detecting Transactional Bugs in Database Engines via Graph-Based Oracle Construction (OSDI 2023), Figure 1: a bug confirmed by MySQL',
    'https://www.usenix.org/conference/osdi23/presentation/jiang',
    'subqueriesSee',
  ),
];

/**
 * REPEATABLE READ with what users reported beyond the manual: rows still seen after an own DELETE although everybody
 * has deleted them, and conditions of writes whose subqueries do not see what a SELECT of the transaction sees.
 */
export function withReports(plain: Contract): Contract {
  return {
    ...plain,
    id: `${plain.id}+reported`,
    title: `${plain.title} with reported defects`,
    extends: plain.id,
    mechanism: { ...plain.mechanism!, ownDeletesHide: true, subqueriesSee: 'snapshot' },
    sources: [...plain.sources, ...reports],
  };
}

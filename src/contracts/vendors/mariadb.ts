/**
 * MariaDB with InnoDB tables: InnoDB's four levels, and `innodb_snapshot_isolation` (10.6.18 and later; on by
 * default from 11.6.2), which makes locking a row that changed after the snapshot an error (1020) and so turns
 * REPEATABLE READ into snapshot isolation.
 */
import { snapshotIsolation } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract } from '../contract.js';
import { innodbContracts, innodbRepeatableRead, innodbSerializable, withReports } from './innodb.js';

const reference = 'https://mariadb.com/docs/server/reference/sql-statements';
const setTransaction = `${reference}/administrative-sql-statements/set-commands/set-transaction`;
const mysqlManual = 'https://dev.mysql.com/doc/refman/8.4/en';
const settings = { innodb_snapshot_isolation: 'ON' };

const snapshotVariable = (...clauses: readonly string[]) =>
  cite(
    'MariaDB, InnoDB System Variables: innodb_snapshot_isolation',
    'https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation',
    ...clauses,
  );

const innodb = innodbContracts({
  owner: 'mariadb',
  vendor: 'MariaDB',
  isolationLevels: (level) =>
    cite(
      'MariaDB, SET TRANSACTION: Isolation Levels',
      `${setTransaction}#${level}`,
      'pivot',
      'readsLock',
      'certifier',
      'forbids',
    ),
  // MariaDB's manual refers to InnoDB's consistent reads without a chapter of its own.
  consistentReads: (...clauses) => [
    ...cite('MariaDB, REPEATABLE READ', `${reference}/transactions/transactions-repeatable-read`, 'forbids'),
    ...cite(
      'MySQL 8.4, 17.7.2.3 Consistent Nonlocking Reads (InnoDB)',
      `${mysqlManual}/innodb-consistent-read.html`,
      ...clauses,
    ),
  ],
  lockingReads: (...clauses) =>
    cite('MariaDB, FOR UPDATE', `${reference}/data-manipulation/selecting-data/for-update`, ...clauses),
  locksSet: (...clauses) =>
    cite(
      'MariaDB, InnoDB Lock Modes',
      'https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-lock-modes',
      ...clauses,
    ),
});

const plain = (id: string): Contract => innodb.find((contract) => contract.id === id)!;

export const mariadbContracts: readonly Contract[] = [
  ...innodb,
  withReports(plain('mariadb:repeatable-read')),
  {
    ...plain('mariadb:repeatable-read'),
    id: 'mariadb:repeatable-read+innodb_snapshot_isolation',
    title: 'MariaDB InnoDB, REPEATABLE READ with innodb_snapshot_isolation',
    settings,
    mechanism: {
      ...innodbRepeatableRead,
      writesSee: 'snapshot',
      lockingReadsSee: 'snapshot',
      firstUpdaterWins: true,
    },
    forbids: snapshotIsolation,
    sources: [
      ...snapshotVariable('writesSee', 'lockingReadsSee', 'firstUpdaterWins', 'forbids'),
      ...plain('mariadb:repeatable-read').sources,
    ],
  },
  {
    ...plain('mariadb:serializable'),
    id: 'mariadb:serializable+innodb_snapshot_isolation',
    title: 'MariaDB InnoDB, SERIALIZABLE with innodb_snapshot_isolation',
    settings,
    mechanism: innodbSerializable,
    sources: [...snapshotVariable('firstUpdaterWins'), ...plain('mariadb:serializable').sources],
  },
];

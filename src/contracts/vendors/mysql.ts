import { cite } from '../cite.js';
import type { Contract } from '../contract.js';
import { innodbContracts, withReports } from './innodb.js';

const manual = 'https://dev.mysql.com/doc/refman/9.7/en';

const innodb = innodbContracts({
  owner: 'mysql',
  vendor: 'MySQL',
  isolationLevels: (level) =>
    cite(
      'MySQL 9.7, 17.7.2.1 Transaction Isolation Levels',
      `${manual}/innodb-transaction-isolation-levels.html#isolevel_${level}`,
      'pivot',
      'readsLock',
      'certifier',
      'forbids',
    ),
  consistentReads: (...clauses) =>
    cite(
      'MySQL 9.7, 17.7.2.3 Consistent Nonlocking Reads',
      `${manual}/innodb-consistent-read.html`,
      ...clauses,
    ),
  lockingReads: (...clauses) =>
    cite('MySQL 9.7, 17.7.2.4 Locking Reads', `${manual}/innodb-locking-reads.html`, ...clauses),
  locksSet: (...clauses) =>
    cite(
      'MySQL 9.7, 17.7.3 Locks Set by Different SQL Statements in InnoDB',
      `${manual}/innodb-locks-set.html`,
      ...clauses,
    ),
});

/** MySQL with InnoDB tables. */
export const mysqlContracts: readonly Contract[] = [
  ...innodb,
  withReports(innodb.find(({ id }) => id === 'mysql:repeatable-read')!),
];

/**
 * PostgreSQL with hot standbys. Transactions on the primary are what they are on a single server. A standby takes read-only transactions at READ
 * COMMITTED and REPEATABLE READ; SERIALIZABLE is refused there. It replays the commits of the primary in the order of the log: each of its
 * snapshots is a committed state of the primary, perhaps an old one, and no later snapshot of that standby is older.
 *
 * The order of the log is not the order in which the primary makes concurrent commits visible. A reader on the primary and one on a standby may
 * therefore see two of them in opposite orders (a long fork): G-nonadjacent is not promised.
 */
import { snapshotIsolation } from '../anomaly-sets.js';
import { cite } from '../cite.js';
import type { Contract } from '../contract.js';
import { postgresContracts } from './postgres.js';

const sources = [
  ...cite(
    'PostgreSQL, 26.4. Hot Standby, User’s Overview',
    'https://www.postgresql.org/docs/current/hot-standby.html#HOT-STANDBY-USERS',
    'otherNodesLag',
    'forbids',
  ),
  ...cite(
    'Jepsen, Amazon RDS for PostgreSQL 17.4: Long Fork between a primary and its secondaries',
    'https://jepsen.io/analyses/amazon-rds-for-postgresql-17.4',
    'forbids',
  ),
];

const promised = snapshotIsolation.filter((anomaly) => anomaly !== 'G-nonadjacent');

export const standbyContracts: readonly Contract[] = ['read-committed', 'repeatable-read'].map((level) => {
  const plain = postgresContracts.find(({ id }) => id === `postgres:${level}`)!;
  return {
    ...plain,
    id: `${plain.id}+standby`,
    title: `${plain.title} with hot standbys`,
    settings: { cluster: 'standby' },
    mechanism: { ...plain.mechanism!, otherNodesLag: true },
    forbids: plain.forbids === snapshotIsolation ? promised : plain.forbids,
    sources: [...plain.sources, ...sources],
  };
});

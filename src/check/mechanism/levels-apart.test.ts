/**
 * What tells the contracts apart: for each story of the literature, by hand, every contract that lets it happen. All others must
 * find it, and under the name they are listed with.
 */
import { describe, expect, it } from 'vitest';
import { type Contract, contracts, type FindingKind } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { story, twoRows } from './story.case.js';
import { verifyMechanism } from './verify.js';

const dialects: Readonly<Record<string, Dialect>> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  tidb: 'mysql',
  sqlite: 'sqlite',
  turso: 'sqlite',
  duckdb: 'duckdb',
};

function kindsUnder(contract: Contract, text: string): readonly FindingKind[] {
  const setup = contract.id.endsWith('+rocksdb')
    ? [`${twoRows[0]} ENGINE=ROCKSDB`, twoRows[1]!]
    : [...twoRows];
  const dialect = dialects[contract.owner] ?? 'postgres';
  return verifyMechanism(story(text, { dialect, setup }), contract).findings.map(({ kind }) => kind);
}

/** `mariadb: RR, SER` in one word each. */
const named = (owner: string, ...rest: readonly string[]) => rest.map((each) => `${owner}:${each}`);

const readUncommitted = [
  ...named('mariadb', 'read-uncommitted'),
  ...named('mysql', 'read-uncommitted'),
  ...named('h2', 'read-uncommitted'),
  ...named('derby', 'read-uncommitted'),
  ...named('sqlserver', 'read-uncommitted'),
];

/** Each statement sees what is committed when it runs, and reads keep nobody away. */
const readCommitted = [
  ...named('postgres', 'read-uncommitted', 'read-committed', 'read-committed+standby'),
  ...named('mariadb', 'read-committed', 'read-committed+rocksdb', 'read-committed+galera'),
  ...named('mysql', 'read-committed'),
  ...named('tidb', 'read-committed'),
  ...named('cockroach', 'read-committed'),
  ...named('h2', 'read-committed'),
  ...named('hsqldb', 'read-committed+locks', 'read-committed+mvlocks', 'read-committed+mvcc'),
  ...named('derby', 'read-committed'),
  ...named('oracle', 'read-committed'),
  ...named('sqlserver', 'read-committed', 'read-committed+read_committed_snapshot'),
];

/** Plain reads see the snapshot of the first read, writes what is committed now. */
const innodb = [
  ...named('mariadb', 'repeatable-read', 'repeatable-read+reported', 'repeatable-read+galera'),
  ...named('mysql', 'repeatable-read', 'repeatable-read+reported'),
];

/** Everything sees one snapshot, of BEGIN. */
const snapshotOfBegin = [
  ...named('turso', 'snapshot+mvcc'),
  ...named('tidb', 'snapshot+optimistic'),
  ...named('oracle', 'serializable'),
];

/** Everything sees one snapshot, of the first statement, and who writes second fails. */
const snapshotOfStatement = [
  ...named('duckdb', 'snapshot'),
  ...named('postgres', 'repeatable-read', 'repeatable-read+standby'),
  ...named('mariadb', 'repeatable-read+rocksdb'),
  ...named('h2', 'snapshot', 'serializable'),
  ...named('hsqldb', 'repeatable-read+mvcc', 'serializable+mvcc'),
  ...named('sqlserver', 'snapshot'),
];

/** The same, with the first read for the first statement. */
const snapshotOfRead = named('mariadb', 'repeatable-read+innodb_snapshot_isolation');

/** The same, and a certifier keeps it serializable. */
const certified = [
  ...named('postgres', 'serializable'),
  ...named('sqlite', 'serializable+wal', 'serializable+rollback'),
  ...named('turso', 'serializable+wal'),
];

/** What was read stays locked to the end. */
const readsLock = [
  ...named('mariadb', 'serializable', 'serializable+innodb_snapshot_isolation'),
  ...named('mysql', 'serializable'),
  ...named('hsqldb', 'repeatable-read+locks', 'serializable+locks'),
  ...named('hsqldb', 'repeatable-read+mvlocks', 'serializable+mvlocks'),
  ...named('derby', 'repeatable-read', 'serializable'),
  ...named('sqlserver', 'repeatable-read', 'serializable'),
];

/** Of no group: TiDB's snapshot is of BEGIN, its writes see what is current. */
const tidb = named('tidb', 'repeatable-read');
const cockroach = named('cockroach', 'serializable');
/** A snapshot for each table. */
const h2 = named('h2', 'repeatable-read');
const lagging = contracts.filter(({ mechanism }) => mechanism?.otherNodesLag === true).map(({ id }) => id);

const everybody = contracts.filter(({ mechanism }) => mechanism !== undefined);

interface Told {
  readonly text: string;
  readonly allowedBy: readonly string[];
  /** The names it may have where it is not allowed. */
  readonly as: readonly FindingKind[];
}

const stories: Readonly<Record<string, Told>> = {
  'a value that is rolled back (G1a)': {
    text: `
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T2: ROLLBACK`,
    allowedBy: readUncommitted,
    as: ['dirty-read'],
  },
  'a value that is overwritten before it is committed (G1b)': {
    text: `
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T2: COMMIT`,
    allowedBy: readUncommitted,
    as: ['dirty-read', 'intermediate-read'],
  },
  'a row that is gone because of a DELETE that is rolled back': {
    text: `
      T2: BEGIN
      T2: DELETE FROM t WHERE id = 2 -> 1
      T1: SELECT id, v FROM t -> 1,10
      T2: ROLLBACK`,
    allowedBy: readUncommitted,
    as: ['missing-row'],
  },
  'a row that an INSERT put there before it is rolled back': {
    text: `
      T2: BEGIN
      T2: INSERT INTO t VALUES (3, 30) -> 1
      T1: SELECT id, v FROM t -> 1,10 | 2,20 | 3,30
      T2: ROLLBACK`,
    allowedBy: readUncommitted,
    as: ['dirty-read', 'extra-row'],
  },
  'two answers to one question (P2)': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T1: COMMIT`,
    allowedBy: [...readUncommitted, ...readCommitted],
    as: ['post-snapshot-read', 'lock-violated', 'G-single'],
  },
  'two rows of two states (A5A, read skew)': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 21 WHERE id = 2 -> 1
      T2: COMMIT
      T1: SELECT id, v FROM t WHERE id = 2 -> 2,21
      T1: COMMIT`,
    allowedBy: [...readUncommitted, ...readCommitted],
    as: ['post-snapshot-read', 'lock-violated', 'read-skew'],
  },
  'an update of what has changed since it was read (P4, lost update)': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: COMMIT`,
    allowedBy: [...readUncommitted, ...readCommitted, ...innodb, ...tidb, ...h2],
    as: ['update-of-changed-row', 'lock-violated', 'lost-update'],
  },
  'an update of what has changed, and was not read': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: COMMIT`,
    allowedBy: [
      ...[...readUncommitted, ...readCommitted, ...innodb, ...readsLock, ...tidb, ...h2],
      ...cockroach,
    ],
    as: ['update-of-changed-row'],
  },
  'each writes what the other one read (A5B, write skew)': {
    text: `
      T1: BEGIN
      T2: BEGIN
      T1: SELECT id, v FROM t -> 1,10 | 2,20
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 0 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 0 WHERE id = 2 -> 1
      T1: COMMIT
      T2: COMMIT`,
    allowedBy: [
      ...[...readUncommitted, ...readCommitted, ...innodb, ...tidb, ...h2],
      ...[...snapshotOfBegin, ...snapshotOfStatement, ...snapshotOfRead],
    ],
    as: ['write-skew', 'lock-violated'],
  },
  'a reader that makes an order impossible (Fekete’s read-only anomaly)': {
    text: `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10 | 2,20
      T1: UPDATE t SET v = 21 WHERE id = 2 -> 1
      T3: SELECT id, v FROM t -> 1,10 | 2,21
      T2: UPDATE t SET v = 0 WHERE id = 1 -> 1
      T2: COMMIT`,
    allowedBy: [
      ...[...readUncommitted, ...readCommitted, ...innodb, ...tidb, ...h2],
      ...[...snapshotOfBegin, ...snapshotOfStatement, ...snapshotOfRead],
    ],
    as: ['G2-item', 'lock-violated'],
  },
  'an old state, though the new one was committed before': {
    text: `
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10`,
    allowedBy: lagging,
    as: ['stale-read'],
  },
  'an own write that is not seen': {
    text: `
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: COMMIT`,
    allowedBy: [],
    as: ['own-write-missed'],
  },
  'two writers of one row at once (P0)': {
    text: `
      T1: BEGIN
      T2: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: COMMIT
      T2: COMMIT`,
    allowedBy: named('mariadb', 'read-committed+galera', 'repeatable-read+galera'),
    as: ['lock-violated', 'update-of-changed-row'],
  },
  'a write of what another one has read and not ended': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: COMMIT`,
    allowedBy: everybody.map(({ id }) => id).filter((id) => !readsLock.includes(id)),
    as: ['lock-violated'],
  },
  'what was committed after BEGIN and before the first statement': {
    text: `
      T1: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T1: COMMIT`,
    allowedBy: everybody.map(({ id }) => id).filter((id) => ![...snapshotOfBegin, ...tidb].includes(id)),
    as: ['post-snapshot-read'],
  },
  'what was the state at BEGIN, and is not at the first statement': {
    text: `
      T1: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: COMMIT`,
    allowedBy: [...snapshotOfBegin, ...tidb, ...lagging],
    as: ['stale-read'],
  },
  'what was committed after the first write and before the first read': {
    text: `
      T1: BEGIN
      T1: UPDATE t SET v = 21 WHERE id = 2 -> 1
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,11
      T1: COMMIT`,
    allowedBy: [
      ...[...readUncommitted, ...readCommitted, ...innodb, ...snapshotOfRead, ...readsLock],
      ...[...cockroach, ...h2],
    ],
    as: ['post-snapshot-read'],
  },
  'what was the state at the first write, and is not at the first read': {
    text: `
      T1: BEGIN
      T1: UPDATE t SET v = 21 WHERE id = 2 -> 1
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
      T1: COMMIT`,
    allowedBy: [
      ...[...snapshotOfBegin, ...snapshotOfStatement, ...certified, ...tidb, ...cockroach, ...h2],
      ...lagging,
    ],
    as: ['stale-read'],
  },
  'a DELETE of a row that came after the snapshot': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
      T2: INSERT INTO t VALUES (3, 30) -> 1
      T1: DELETE FROM t WHERE v >= 30 -> 1
      T1: COMMIT`,
    allowedBy: [
      ...[...readUncommitted, ...readCommitted, ...innodb, ...readsLock, ...tidb, ...h2],
      // Its snapshot moves on as long as nothing changed that it has read.
      ...cockroach,
    ],
    as: ['write-extra-row'],
  },
  'a DELETE that passes by a row which came after the snapshot': {
    text: `
      T1: BEGIN
      T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
      T2: INSERT INTO t VALUES (3, 30) -> 1
      T1: DELETE FROM t WHERE v >= 30 -> 0
      T1: COMMIT`,
    allowedBy: [
      ...[...snapshotOfBegin, ...snapshotOfStatement, ...snapshotOfRead, ...certified],
      ...[...cockroach, ...h2, ...lagging],
    ],
    as: ['write-missed-row'],
  },
};

it('the groups are all contracts that say how an engine works', () => {
  const groups = [
    ...[readUncommitted, readCommitted, innodb, snapshotOfBegin, snapshotOfStatement],
    ...[snapshotOfRead, certified, readsLock, tidb, cockroach, h2],
  ].flat();
  expect([...groups].sort()).toEqual(everybody.map(({ id }) => id).sort());
});

describe('every contract but those named finds', () => {
  it.each(Object.keys(stories))('%s', (name) => {
    const { text, allowedBy, as } = stories[name]!;
    const wrong = everybody.flatMap((contract) => {
      // A plain BEGIN takes no snapshot in Turso.
      const begun = contract.owner === 'turso' ? text.replaceAll('BEGIN', 'BEGIN CONCURRENT') : text;
      const kinds = kindsUnder(contract, begun);
      const right = allowedBy.includes(contract.id)
        ? kinds.length === 0
        : kinds.length > 0 && kinds.every((kind) => as.includes(kind));
      return right ? [] : [`${contract.id}: ${kinds.join(', ') || 'nothing'}`];
    });
    expect(wrong).toEqual([]);
  });
});

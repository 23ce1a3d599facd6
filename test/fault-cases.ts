/** For each fault, the case it should change: what a correct engine shows, and what the fault shows. */
import { parseScript, type ScheduledCase } from '../src/cases/index.js';
import type { History } from '../src/histories/index.js';
import type { FaultName } from '../src/targets/index.js';

export interface FaultCase {
  readonly fault: FaultName;
  /** Narrows the fault to the case's own table, and further where the case needs it. */
  readonly trigger: string;
  readonly case: ScheduledCase;
  /** What to look at. */
  readonly shows: (history: History) => unknown;
  readonly healthy: unknown;
  readonly faulty: unknown;
  /** InnoDB shows the faulty result by itself unless `innodb_snapshot_isolation` is on. */
  readonly needsFirstUpdaterWins?: boolean;
  readonly needsLockingReads?: boolean;
}

const rows = 'CREATE TABLE f (id INT PRIMARY KEY, v INT); INSERT INTO f VALUES (1, 10), (2, 20);';

export const faultCases: readonly FaultCase[] = [
  {
    fault: 'weaker-level',
    trigger: 'table=f',
    case: script(
      'weaker-level',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f WHERE id = 1
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT v FROM f WHERE id = 1
      T2: UPDATE f SET v = 12 WHERE id = 1
      T1: SELECT v FROM f WHERE id = 1
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [[[10]], [[10]], [[10]]],
    faulty: [[[10]], [[11]], [[12]]],
  },
  {
    fault: 'stale-snapshot',
    trigger: 'table=f',
    case: script(
      'stale-snapshot',
      `${rows}
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: BEGIN
      T1: SELECT v FROM f WHERE id = 1
      T1: COMMIT
      T1: SELECT v FROM f WHERE id = 1`,
    ),
    shows: readsOf('T1'),
    healthy: [[[11]], [[11]]],
    // The next transaction's old snapshot is younger: staleness does not last for ever.
    faulty: [[[10]], [[11]]],
  },
  {
    fault: 'late-snapshot',
    trigger: 'table=f',
    case: script(
      'late-snapshot',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f WHERE id = 1
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT v FROM f WHERE id = 1
      T2: UPDATE f SET v = 12 WHERE id = 1
      T1: SELECT v FROM f WHERE id = 1
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [[[10]], [[10]], [[10]]],
    faulty: [[[10]], [[11]], [[11]]],
  },
  {
    fault: 'dirty-read',
    trigger: 'table=f',
    case: script(
      'dirty-read',
      `${rows}
      T2: BEGIN
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT v FROM f WHERE id = 1
      T2: ROLLBACK
      T1: SELECT v FROM f WHERE id = 1`,
    ),
    shows: readsOf('T1'),
    healthy: [[[10]], [[10]]],
    faulty: [[[11]], [[10]]],
  },
  {
    fault: 'missed-own-write',
    trigger: 'table=f',
    case: script(
      'missed-own-write',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f
      T2: UPDATE f SET v = 21 WHERE id = 2
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT v FROM f
      T1: COMMIT
      T1: SELECT v FROM f`,
    ),
    shows: readsOf('T1'),
    healthy: [
      [[10], [20]],
      [[11], [20]],
      [[11], [21]],
    ],
    // Only the own write is missing: T2's later write stays out of the snapshot.
    faulty: [
      [[10], [20]],
      [[10], [20]],
      [[11], [21]],
    ],
  },
  {
    fault: 'missed-own-noop-write',
    trigger: 'table=f',
    case: script(
      'missed-own-noop-write',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f
      T2: UPDATE f SET v = 99
      T1: UPDATE f SET v = 99
      T1: SELECT v FROM f
      T1: COMMIT`,
    ),
    shows: (history) => [errorsOf('T1')(history).slice(0, 3), readsOf('T1')(history)[1]],
    healthy: [[null, null, 'serialization'], undefined],
    faulty: [
      [null, null, null],
      [[10], [20]],
    ],
    needsFirstUpdaterWins: true,
  },
  {
    fault: 'lost-update',
    trigger: 'table=f,nth=2',
    case: script(
      'lost-update',
      `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: UPDATE f SET v = 21 WHERE id = 2
      T1: COMMIT
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [countsOf('T1')(history), readsOf('T2')(history)],
    healthy: [[1, 1], [[[11], [21]]]],
    faulty: [[1, 1], [[[11], [20]]]],
  },
  {
    fault: 'lost-insert',
    trigger: 'table=f',
    case: script(
      'lost-insert',
      `${rows}
      T1: BEGIN
      T1: INSERT INTO f VALUES (3, 30), (4, 40)
      T1: COMMIT
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [countsOf('T1')(history), readsOf('T2')(history)],
    healthy: [[2], [[[10], [20], [30], [40]]]],
    faulty: [[2], [[[10], [20]]]],
  },
  {
    fault: 'commit-on-rollback',
    trigger: 'table=f',
    case: script(
      'commit-on-rollback',
      `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: ROLLBACK
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [readsOf('T2')(history), history.operations.map(({ ends }) => ends)],
    healthy: [[[[10], [20]]], [undefined, undefined, 'rollback', 'commit']],
    faulty: [[[[11], [20]]], [undefined, undefined, 'rollback', 'commit']],
  },
  {
    fault: 'partial-commit',
    trigger: 'table=f,match=id = 1',
    case: script(
      'partial-commit',
      `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: UPDATE f SET v = 21 WHERE id = 2
      T1: SELECT v FROM f
      T1: COMMIT
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [readsOf('T1')(history), readsOf('T2')(history)],
    healthy: [[[[11], [21]]], [[[11], [21]]]],
    faulty: [[[[11], [21]]], [[[10], [21]]]],
  },
  {
    fault: 'stripped-row-lock',
    trigger: 'table=f',
    case: script(
      'stripped-row-lock',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f WHERE id = 1 FOR UPDATE
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: COMMIT
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [
      readsOf('T1')(history),
      history.operations.some(({ kind, blocked }) => kind === 'update' && blocked === true),
    ],
    healthy: [[[[10]]], true],
    faulty: [[[[10]]], false],
    needsLockingReads: true,
  },
  {
    fault: 'unreported-write-conflict',
    trigger: 'table=f',
    case: script(
      'unreported-write-conflict',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f
      T2: UPDATE f SET v = v + 5 WHERE id = 1
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: COMMIT
      T2: SELECT v FROM f`,
    ),
    shows: (history) => [errorsOf('T1')(history)[2], readsOf('T2')(history)],
    healthy: ['serialization', [[[15], [20]]]],
    faulty: [null, [[[11], [20]]]],
    needsFirstUpdaterWins: true,
  },
  {
    fault: 'visible-committed-delete',
    trigger: 'table=f',
    case: script(
      'visible-committed-delete',
      `${rows}
      T1: BEGIN
      T1: DELETE FROM f WHERE id = 1
      T1: SELECT v FROM f
      T1: COMMIT
      T2: SELECT v FROM f
      T2: SELECT a.v FROM f a WHERE a.id = 1
      T2: UPDATE f SET v = 0 WHERE id = 1`,
    ),
    shows: (history) => [readsOf('T1')(history), readsOf('T2')(history), countsOf('T2')(history)],
    healthy: [[[[20]]], [[[20]], []], [0]],
    // Only reads are deceived: the row cannot be updated.
    faulty: [[[[20]]], [[[10], [20]], [[10]]], [0]],
  },
  {
    fault: 'resurrected-row',
    trigger: 'table=f',
    case: script(
      'resurrected-row',
      `${rows}
      T1: BEGIN
      T1: DELETE FROM f WHERE id = 1
      T1: SELECT v FROM f
      T1: COMMIT
      T2: SELECT v FROM f
      T2: UPDATE f SET v = 0 WHERE id = 1`,
    ),
    shows: (history) => [readsOf('T1')(history), readsOf('T2')(history), countsOf('T2')(history)],
    healthy: [[[[20]]], [[[20]]], [0]],
    faulty: [[[[20]]], [[[10], [20]]], [1]],
  },
  {
    fault: 'phantom-in-snapshot',
    trigger: 'table=f',
    case: script(
      'phantom-in-snapshot',
      `${rows}
      T1: BEGIN
      T1: SELECT v FROM f
      T2: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT v FROM f
      T2: INSERT INTO f VALUES (3, 30)
      T1: SELECT v FROM f
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [
      [[10], [20]],
      [[10], [20]],
      [[10], [20]],
    ],
    faulty: [
      [[10], [20]],
      [[10], [20]],
      [[11], [20], [30]],
    ],
  },
  {
    fault: 'split-predicate',
    trigger: 'table=f',
    case: script(
      'split-predicate',
      `CREATE TABLE f (id INT PRIMARY KEY, v INT); INSERT INTO f VALUES (1, 5), (2, 100);
      CREATE TABLE g (k INT); INSERT INTO g VALUES (5), (6);
      T1: BEGIN
      T1: SELECT id FROM f WHERE v <= (SELECT MIN(k) FROM g)
      T2: INSERT INTO g VALUES (1)
      T1: UPDATE f SET v = 0 WHERE v <= (SELECT MIN(k) FROM g)
      T1: COMMIT`,
    ),
    shows: (history) => [readsOf('T1')(history), countsOf('T1')(history)],
    healthy: [[[[1]]], [1]],
    faulty: [[[[1]]], [0]],
  },
  {
    fault: 'mixed-snapshot',
    trigger: 'table=f',
    case: script(
      'mixed-snapshot',
      `CREATE TABLE f (id INT PRIMARY KEY, v INT); INSERT INTO f VALUES (1, 5), (2, 100);
      CREATE TABLE g (k INT); INSERT INTO g VALUES (5), (6);
      T1: BEGIN
      T1: SELECT id FROM f WHERE id = 1
      T2: INSERT INTO g VALUES (1000)
      T1: SELECT id, COUNT(*) OVER (ORDER BY id) FROM f WHERE v <= (SELECT MAX(k) FROM g)
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [[[1]], [[1, 1]]],
    faulty: [
      [[1]],
      [
        [1, 1],
        [2, 2],
      ],
    ],
  },
  {
    fault: 'stale-index',
    trigger: 'table=f',
    case: script(
      'stale-index',
      `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 50 WHERE id = 1
      T1: SELECT id, COUNT(*) OVER (ORDER BY id) FROM f WHERE v >= 20
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [
      [
        [1, 1],
        [2, 2],
      ],
    ],
    faulty: [[[2, 2]]],
  },
  {
    fault: 'misfolded-expression',
    trigger: 'table=f',
    case: script(
      'misfolded-expression',
      `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: SELECT id, MAX(v) OVER (ORDER BY id) FROM f
      T1: COMMIT`,
    ),
    shows: readsOf('T1'),
    healthy: [
      [
        [1, 11],
        [2, 20],
      ],
    ],
    faulty: [
      [
        [1, 1],
        [2, 1],
      ],
    ],
  },
  {
    fault: 'altered-commit',
    trigger: 'table=f',
    case: script(
      'altered-commit',
      `${rows}
      T1: BEGIN
      T1: INSERT INTO f SELECT s.id + 10, MAX(s.v) OVER (ORDER BY s.id) FROM f AS s WHERE s.id = 1
      T1: COMMIT
      T2: SELECT v FROM f WHERE id = 11`,
    ),
    shows: readsOf('T2'),
    healthy: [[[10]]],
    faulty: [[[11]]],
  },
];

/** All that each of a case's sessions was told, in a form that two runs can be compared by. */
export function told(history: History): unknown {
  // By session: when a COMMIT lets another session go on, which answer arrives first is a race.
  return history.header.sessions.map((_, session) =>
    history.operations
      .filter((operation) => operation.session === session)
      .map((operation) => ({
        sql: operation.sql,
        error: operation.error?.class,
        ends: operation.ends,
        blocked: operation.blocked === true,
        rows: sorted(operation.rows),
        matched: operation.matched,
        changed: operation.changed,
      })),
  );
}

function script(name: string, text: string): ScheduledCase {
  return parseScript(text, { file: `${name}.sql` });
}

function of(session: string, history: History) {
  const number = history.header.sessions.indexOf(session);
  return history.operations.filter((operation) => operation.session === number);
}

function readsOf(session: string): (history: History) => unknown[] {
  return (history) => of(session, history).flatMap(({ rows }) => (rows === undefined ? [] : [sorted(rows)]));
}

function errorsOf(session: string): (history: History) => unknown[] {
  return (history) => of(session, history).map(({ error }) => error?.class ?? null);
}

function countsOf(session: string): (history: History) => unknown[] {
  return (history) =>
    of(session, history)
      .filter(({ kind }) => /^(insert|update|delete)$/.test(kind))
      .map(({ matched, changed }) => matched ?? changed);
}

function sorted(rows: History['operations'][number]['rows']): unknown {
  return rows === undefined
    ? undefined
    : [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

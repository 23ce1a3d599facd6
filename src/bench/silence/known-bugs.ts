/**
 * Bugs of current releases that oracles are right to report, and how to tell that one of them is behind a finding: by what the transactions it
 * names had done *before* it shows, not by anything that came later (`known-causes.ts`, `idle-updates.ts`,
 * `moved-rows.ts`, `undone-inserts.ts`, `duckdb-causes.ts`). Each entry names the report it stands for; what nobody else has
 * reported is described on the page of its engine with the statements that show it: MariaDB and MyRocks in `docs/stages/targets-mysql.md`, H2 and HSQLDB in
 * `docs/stages/targets-jdbc.md`, DuckDB and Turso in `docs/stages/targets-embedded.md`.
 */
import type { Finding, FindingKind } from '../../check/index.js';
import type { History } from '../../histories/index.js';
import { overwritesMeanwhile } from './deferred-updates.js';
import { indexesBetweenRemovals, missesConflicts } from './duckdb-causes.js';
import { updatesNothing } from './idle-updates.js';
import {
  losesSnapshot,
  movesRows,
  passesOpenWrite,
  passesTakenRows,
  readsFirstState,
  type Shown,
  shownBy,
  waitsForUndone,
} from './known-causes.js';
import { innodbAddress, primaryKey, tidbAddress, waitsForMovedRow, writesMovedRows } from './moved-rows.js';
import { leavesRowsOut } from './new-indexes.js';
import type { SilentPlace } from './targets.js';
import { losesInsert } from './undone-inserts.js';

export interface KnownBug {
  readonly report: string;
  /** The databases that have it. */
  readonly at: RegExp;
  readonly levels: readonly SilentPlace['level'][];
  /** Kinds of finding it shows as. */
  readonly kinds: readonly FindingKind[];
  readonly explains: (shown: Shown) => boolean;
}

const myrocks = /^mariadb:\?engine=rocksdb$/;
const tidb = /^tidb(@[\d.]+)?:$/;

/** The old row is one too many, or it is taken for what the own write should have replaced. */
const movedRowKinds = [
  'internal',
  'own-write-missed',
  'extra-row',
  'wrong-result',
  'result-differs',
] as const;

export const knownBugs: readonly KnownBug[] = [
  {
    report: 'MDEV-26642, MySQL #100328: an own update that changes nothing is not seen',
    at: /^(mariadb:|mysql:|mariadb@11\.8:\?innodb_snapshot_isolation=OFF|cluster:mariadb)$/,
    levels: ['repeatable read'],
    kinds: ['own-write-missed', 'wrong-result'],
    explains: updatesNothing,
  },
  {
    report: 'MySQL #113228: a row whose key another transaction has changed is seen at its old key, too',
    at: /^(mariadb:|mysql:|mariadb@11\.8:\?innodb_snapshot_isolation=OFF|cluster:mariadb)$/,
    levels: ['repeatable read'],
    kinds: movedRowKinds,
    explains: writesMovedRows(innodbAddress),
  },
  {
    report: 'TiDB #42487: an own update that changes nothing is not seen',
    at: tidb,
    levels: ['repeatable read'],
    kinds: ['own-write-missed', 'wrong-result'],
    explains: updatesNothing,
  },
  {
    report: 'TiDB #48960: a row whose key another transaction has changed is seen at its old key, too',
    at: tidb,
    levels: ['repeatable read'],
    kinds: movedRowKinds,
    explains: writesMovedRows(tidbAddress),
  },
  {
    report:
      'DuckDB #17223 and relatives: a DELETE or UPDATE of a row does not conflict with an UPDATE of other columns',
    at: /^duckdb/,
    levels: ['snapshot'],
    kinds: [
      ...(['lock-violated', 'update-of-changed-row', 'wrong-version', 'missing-row', 'extra-row'] as const),
      // What such a bug leaves behind may be, by chance, what somebody writes later.
      'dirty-read',
      ...(['own-write-missed', 'wrong-result', 'lost-write', 'incompatible-order', 'write-differs'] as const),
      ...([
        'stale-read',
        'result-differs',
        'write-missed-row',
        'write-extra-row',
        'fractured-snapshot',
      ] as const),
    ],
    explains: missesConflicts,
  },
  {
    report:
      'not reported: DuckDB fails for good where CREATE INDEX came between removals of rows that a transaction can still see',
    at: /^duckdb/,
    levels: ['snapshot'],
    kinds: ['server-crash'],
    explains: indexesBetweenRemovals,
  },
  {
    report: 'not reported: MyRocks takes no lock for LOCK IN SHARE MODE SKIP LOCKED',
    at: myrocks,
    levels: ['read committed', 'repeatable read'],
    kinds: ['lock-violated'],
    explains: ({ named }) => named.some(({ sql = '' }) => /\bSHARE MODE SKIP LOCKED\b/i.test(sql)),
  },
  {
    report: 'not reported: MyRocks takes another snapshot after a failed statement that had written',
    at: myrocks,
    levels: ['repeatable read'],
    kinds: [
      ...(['lost-update', 'read-skew', 'read-write-skew', 'G-single', 'G-nonadjacent'] as const),
      ...(['fractured-snapshot', 'post-snapshot-read', 'update-of-changed-row', 'wrong-result'] as const),
      ...(['missing-row', 'extra-row', 'write-missed-row', 'write-extra-row', 'wrong-version'] as const),
    ],
    explains: losesSnapshot,
  },
  {
    report: 'not reported: MyRocks meets a row twice that its transaction has moved to a smaller key',
    at: myrocks,
    levels: ['read committed', 'repeatable read'],
    kinds: [
      ...(['duplicate-write', 'write-extra-row', 'write-differs'] as const),
      ...(['unexpected-error', 'result-differs', 'wrong-result', 'extra-row'] as const),
    ],
    explains: movesRows,
  },
  {
    report: 'not reported: with innodb_snapshot_isolation a write passes by rows that an index has lost',
    at: /^mariadb@11\.8:$/,
    levels: ['repeatable read'],
    kinds: ['write-missed-row'],
    explains: (shown) => passesTakenRows(shown),
  },
  {
    report:
      'not reported: with innodb_snapshot_isolation a write does not wait for an uncommitted DELETE or UPDATE',
    at: /^mariadb@11\.8:$/,
    levels: ['read uncommitted'],
    kinds: ['write-missed-row'],
    explains: passesOpenWrite,
  },
  {
    report:
      'not reported: H2 never answers who waits for a transaction in which a statement has failed or was rolled back',
    at: /^h2:/,
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'snapshot', 'serializable'],
    kinds: ['no-answer'],
    explains: waitsForUndone,
  },
  {
    report:
      'not reported: an UPDATE of Derby that reads its own table in a subquery overwrites what others commit meanwhile',
    at: /^derby:/,
    levels: ['read uncommitted', 'read committed'],
    kinds: [
      ...(['incompatible-order', 'lost-write', 'lost-update', 'wrong-version', 'stale-read'] as const),
      ...(['missing-row', 'extra-row', 'wrong-result', 'write-missed-row', 'write-extra-row'] as const),
      ...(['result-differs', 'state-differs', 'write-differs'] as const),
      // The version that was overwritten is in no list, so who saw what came after seems not to have seen it.
      ...(['read-skew', 'read-write-skew', 'G-single', 'G-single-realtime', 'G-nonadjacent'] as const),
    ],
    explains: overwritesMeanwhile,
  },
  {
    report: 'not reported: H2 makes an index without the rows of the transactions that it waited for',
    at: /^h2:/,
    levels: ['snapshot', 'serializable'],
    kinds: [
      ...(['missing-row', 'extra-row', 'stale-read', 'wrong-version', 'wrong-result'] as const),
      ...(['write-missed-row', 'write-extra-row', 'fractured-snapshot', 'result-differs'] as const),
    ],
    explains: leavesRowsOut,
  },
  {
    report: 'not reported: H2 passes by a row whose primary key was changed while a write waited for it',
    at: /^h2:/,
    levels: ['repeatable read'],
    kinds: ['write-missed-row'],
    explains: waitsForMovedRow(primaryKey),
  },
  {
    report:
      "not reported: H2's ROLLBACK of an UPDATE that waited removes what another transaction has inserted since",
    at: /^h2:/,
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'snapshot', 'serializable'],
    kinds: [
      ...(['own-write-missed', 'missing-row', 'write-missed-row', 'lost-write'] as const),
      ...(['wrong-result', 'fractured-snapshot', 'result-differs', 'state-differs'] as const),
    ],
    explains: losesInsert,
  },
  {
    report: 'not reported: HSQLDB with MVLOCKS reads the state of its first statement',
    at: /^hsqldb:\?tx=mvlocks/,
    levels: ['repeatable read', 'serializable'],
    kinds: [
      ...(['stale-read', 'missing-row', 'extra-row', 'wrong-version', 'wrong-result'] as const),
      ...(['own-write-missed', 'fractured-snapshot', 'write-missed-row', 'write-extra-row'] as const),
      ...(['lost-update', 'read-skew', 'read-write-skew', 'G-single', 'G-single-realtime'] as const),
      ...(['G-nonadjacent', 'write-skew', 'G2-item', 'G2'] as const),
    ],
    explains: readsFirstState,
  },
  {
    report: 'not reported: Turso counts the rows of a window function among those that a write has written',
    at: /^turso/,
    levels: ['serializable', 'snapshot'],
    kinds: ['write-extra-row', 'write-differs', 'short-insert', 'lost-write'],
    explains: ({ named }) =>
      named.some(({ sql = '', kind }) => kind !== 'select' && /\bOVER\s*\(/i.test(sql)),
  },
];

/** The known bug that explains a finding. */
export function bugBehind(
  finding: Finding,
  history: History,
  { url, level }: SilentPlace,
): KnownBug | undefined {
  const shown = shownBy(finding, history);
  return knownBugs.find(
    (bug) =>
      bug.at.test(url) &&
      bug.levels.includes(level) &&
      bug.kinds.includes(finding.kind) &&
      bug.explains(shown),
  );
}

/**
 * Bugs of current releases that oracles are right to report, and how to tell that one of them is behind a finding: by what the transactions it
 * names had done *before* it shows, not by anything that came later (`known-causes.ts`). Each entry names the report it stands for; what nobody else has
 * reported is described on the page of its engine (`docs/stages/targets-mysql.md`), with the statements that show it.
 */
import type { Finding, FindingKind } from '../../check/index.js';
import type { History } from '../../histories/index.js';
import {
  losesSnapshot,
  missesConflicts,
  movesRows,
  passesOpenDelete,
  passesTakenRows,
  type Shown,
  shownBy,
  updatesNothing,
  waitsAfterStatement,
  waitsForUndone,
  writesMovedRows,
} from './known-causes.js';
import type { SilentPlace } from './targets.js';

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

export const knownBugs: readonly KnownBug[] = [
  {
    report: 'MDEV-26642, MySQL #100328: an own update that changes nothing is not seen',
    at: /^(mariadb:|mysql:|mariadb@11\.8:\?innodb_snapshot_isolation=OFF|tidb:|cluster:mariadb)$/,
    levels: ['repeatable read'],
    kinds: ['own-write-missed', 'wrong-result'],
    explains: updatesNothing,
  },
  {
    report: 'MySQL #113228: a row whose key another transaction has changed is seen at its old key, too',
    at: /^(mariadb:|mysql:|mariadb@11\.8:\?innodb_snapshot_isolation=OFF|cluster:mariadb)$/,
    levels: ['repeatable read'],
    kinds: ['internal', 'own-write-missed', 'wrong-result', 'result-differs'],
    explains: writesMovedRows,
  },
  {
    report:
      'DuckDB #17223 and relatives: a DELETE or UPDATE of a row does not conflict with an UPDATE of other columns',
    at: /^duckdb/,
    levels: ['snapshot'],
    kinds: [
      ...(['lock-violated', 'update-of-changed-row', 'wrong-version', 'missing-row', 'extra-row'] as const),
      ...(['own-write-missed', 'wrong-result', 'lost-write', 'incompatible-order', 'write-differs'] as const),
      ...(['stale-read', 'result-differs', 'write-missed-row', 'write-extra-row'] as const),
    ],
    explains: missesConflicts,
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
    explains: passesTakenRows,
  },
  {
    report: 'not reported: with innodb_snapshot_isolation a write does not wait for an uncommitted DELETE',
    at: /^mariadb@11\.8:$/,
    levels: ['read uncommitted'],
    kinds: ['write-missed-row'],
    explains: passesOpenDelete,
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
    report: 'not reported: HSQLDB with MVLOCKS reads the state of its first statement after a wait',
    at: /^hsqldb:\?tx=mvlocks/,
    levels: ['repeatable read', 'serializable'],
    kinds: [
      ...(['stale-read', 'missing-row', 'extra-row', 'wrong-version', 'wrong-result'] as const),
      ...(['own-write-missed', 'fractured-snapshot', 'write-missed-row', 'write-extra-row'] as const),
      ...(['lost-update', 'read-skew', 'G-single', 'G-single-realtime', 'G2-item', 'G2'] as const),
    ],
    explains: waitsAfterStatement,
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

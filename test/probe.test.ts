/**
 * What the engines we can run really allow, level by level. A change here means that an engine, a driver or a
 * judgement changed, and somebody must say which.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../src/errors.js';
import { type ProbeReport, probeOutcome, renderMarkdown, runProbe } from '../src/probe/index.js';
import { openTarget, type Target } from '../src/targets/index.js';
import { providedEngines } from '../src/targets/provided-engines.case.js';

/** One row per case, one letter per level: `-` prevented (waiting or not), `A` allowed, `V` violation, `?` unknown. */
function matrix(report: ProbeReport): Record<string, string> {
  const letter = { prevented: '-', blocked: '-', allowed: 'A', unknown: '?' };
  const rows: Record<string, string> = {};
  for (const { results } of report.levels) {
    for (const { case: id, verdict, violation } of results) {
      rows[id] = (rows[id] ?? '') + (violation ? 'V' : letter[verdict]);
    }
  }
  return rows;
}

/** The matrix from `case  letters` lines. */
function table(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/) as [string, string]),
  );
}

/** Opens a target, or says why it cannot be had here. */
async function open(url: string, optional: boolean): Promise<Target | string> {
  try {
    return await openTarget(url);
  } catch (error) {
    const missing = error instanceof IsoldeError && error.code === 'engine-missing';
    if (!missing || (process.env.ISOLDE_REQUIRE_ENGINES === '1' && !optional)) throw error;
    return error.message;
  }
}

const matricesPage = 'docs/stages/probe-matrices.md';

/** The page shows this matrix, of the same version; ISOLDE_UPDATE_DOCS=1 writes it there. */
function checkPage(name: string, matrix: string): void {
  const text = readFileSync(matricesPage, 'utf8');
  const [start, end] = [`<!-- probe ${name} -->`, `<!-- /probe ${name} -->`];
  const [before, after] = [text.indexOf(start) + start.length, text.indexOf(end)];
  expect(after, `${matricesPage} has a place for ${name}`).toBeGreaterThan(before);
  const [shown, found] = [text.slice(before, after).trim(), matrix.trim()];
  if (process.env.ISOLDE_UPDATE_DOCS === '1') {
    writeFileSync(matricesPage, `${text.slice(0, before)}\n\n${found}\n\n${text.slice(after)}`);
    return;
  }
  // Whether a short wait was noticed is a matter of time.
  const settled = (text: string) => text.replaceAll('✓ blocked', '✓ prevented');
  if (firstLine(shown) === firstLine(found)) expect(settled(found)).toBe(settled(shown));
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n'));
}

const snapshotMatrix = `
  G0                            -
  G1a                           -
  G1b                           -
  G1c                           -
  OTV                           -
  PMP                           -
  PMP-write                     -
  PMP-write-after-read          -
  PMP-write-stale-after-delete  -
  PMP-write-subquery            -
  lost-update                   -
  lost-update-expression        -
  lost-update-deleted-row       -
  lost-update-by-delete         -
  read-skew                     -
  G-single-predicate            -
  G-single-write-predicate      -
  read-write-skew               -
  G-nonadjacent                 -
  write-skew                    A
  G2-item-read-only             A
  G2                            A
  own-write                     -
  own-write-no-op               -
`;
const serialMatrix = snapshotMatrix.replaceAll(/ A$/gm, ' -');

/** InnoDB's four levels as both manuals have them: writes see current rows. */
const currentReadMatrix = `
  G0                            ----
  G1a                           A---
  G1b                           A---
  G1c                           A---
  OTV                           A---
  PMP                           AA--
  PMP-write                     ----
  PMP-write-after-read          AAA-
  PMP-write-stale-after-delete  --A-
  PMP-write-subquery            AAA-
  lost-update                   AAA-
  lost-update-expression        ----
  lost-update-deleted-row       ----
  lost-update-by-delete         AAA-
  read-skew                     AA--
  G-single-predicate            AA--
  G-single-write-predicate      AAA-
  read-write-skew               AAA-
  G-nonadjacent                 AA--
  write-skew                    AAA-
  G2-item-read-only             AAA-
  G2                            AAA-
  own-write                     ----
  own-write-no-op               --V-
`;
/** … and with innodb_snapshot_isolation, where writing a row that changed after the snapshot fails. */
const snapshotConflictMatrix = `
  G0                            ----
  G1a                           A---
  G1b                           A---
  G1c                           A---
  OTV                           A---
  PMP                           AA--
  PMP-write                     ----
  PMP-write-after-read          AA--
  PMP-write-stale-after-delete  ----
  PMP-write-subquery            AA--
  lost-update                   AA--
  lost-update-expression        ----
  lost-update-deleted-row       ----
  lost-update-by-delete         AA--
  read-skew                     AA--
  G-single-predicate            AA--
  G-single-write-predicate      AA--
  read-write-skew               AA--
  G-nonadjacent                 AA--
  write-skew                    AAA-
  G2-item-read-only             AAA-
  G2                            AAA-
  own-write                     ----
  own-write-no-op               ----
`;

/** TiDB: READ COMMITTED, REPEATABLE READ (pessimistic, both) and snapshot isolation (optimistic). */
const tidbMatrix = `
  G0                            ---
  G1a                           ---
  G1b                           ---
  G1c                           ---
  OTV                           ---
  PMP                           A--
  PMP-write                     -A-
  PMP-write-after-read          AA-
  PMP-write-stale-after-delete  -A-
  PMP-write-subquery            A--
  lost-update                   AA-
  lost-update-expression        ---
  lost-update-deleted-row       ---
  lost-update-by-delete         AA-
  read-skew                     A--
  G-single-predicate            A--
  G-single-write-predicate      AA-
  read-write-skew               AA-
  G-nonadjacent                 A--
  write-skew                    AAA
  G2-item-read-only             AAA
  G2                            AAA
  own-write                     ---
  own-write-no-op               -V-
`;

/** H2: its SERIALIZABLE is snapshot isolation. */
const h2Matrix = `
  G0                            -----
  G1a                           A----
  G1b                           A----
  G1c                           A----
  OTV                           A----
  PMP                           AA---
  PMP-write                     -A---
  PMP-write-after-read          AA---
  PMP-write-stale-after-delete  -----
  PMP-write-subquery            AA---
  lost-update                   AA---
  lost-update-expression        -----
  lost-update-deleted-row       -----
  lost-update-by-delete         AA---
  read-skew                     AA---
  G-single-predicate            AA---
  G-single-write-predicate      AA---
  read-write-skew               AA---
  G-nonadjacent                 AA---
  write-skew                    AAAAA
  G2-item-read-only             AAAAA
  G2                            AAAAA
  own-write                     -----
  own-write-no-op               -----
`;

/** HSQLDB with locks on tables. */
const tableLocksMatrix = `
  G0                            ---
  G1a                           ---
  G1b                           ---
  G1c                           ---
  OTV                           ---
  PMP                           A--
  PMP-write                     ---
  PMP-write-after-read          A--
  PMP-write-stale-after-delete  ---
  PMP-write-subquery            A--
  lost-update                   A--
  lost-update-expression        ---
  lost-update-deleted-row       ---
  lost-update-by-delete         A--
  read-skew                     A--
  G-single-predicate            A--
  G-single-write-predicate      A--
  read-write-skew               A--
  G-nonadjacent                 A--
  write-skew                    A--
  G2-item-read-only             A--
  G2                            A--
  own-write                     ---
  own-write-no-op               ---
`;
/** … and with MVCC, whose SERIALIZABLE is snapshot isolation. */
const hsqldbMvccMatrix = tableLocksMatrix.replaceAll(
  /^( +(?:write-skew|G2-item-read-only|G2) +)A--$/gm,
  '$1AAA',
);

const derbyMatrix = `
  G0                            ----
  G1a                           A---
  G1b                           A---
  G1c                           A---
  OTV                           A---
  PMP                           AAA-
  PMP-write                     ----
  PMP-write-after-read          AA--
  PMP-write-stale-after-delete  ----
  PMP-write-subquery            AAA-
  lost-update                   AA--
  lost-update-expression        ----
  lost-update-deleted-row       ----
  lost-update-by-delete         AA--
  read-skew                     AA--
  G-single-predicate            AA--
  G-single-write-predicate      AA--
  read-write-skew               AA--
  G-nonadjacent                 AA--
  write-skew                    AA--
  G2-item-read-only             AA--
  G2                            AAA-
  own-write                     ----
  own-write-no-op               ----
`;

interface Engine {
  readonly url: string;
  readonly outcome: string;
  readonly levels: readonly string[];
  readonly matrix: string;
  /** Not on every machine (`scripts/engines`). */
  readonly optional?: true;
  /** Its matrix stands in the documentation, under this name. */
  readonly page?: string;
}

const innodbLevels = ['read uncommitted', 'read committed', 'repeatable read', 'serializable'];

const engines: readonly Engine[] = [
  {
    url: 'duckdb:',
    outcome: 'violation',
    levels: ['snapshot'],
    // Without an index on the table, DuckDB misses a conflict between an UPDATE and a DELETE (duckdb #17223).
    matrix: snapshotMatrix.replaceAll(/(lost-update-(?:deleted-row|by-delete) +)-/g, '$1V'),
  },
  { url: 'turso:?mode=mvcc', outcome: 'kept', levels: ['snapshot'], matrix: snapshotMatrix },
  { url: 'turso:?mode=wal', outcome: 'kept', levels: ['serializable'], matrix: serialMatrix },
  { url: 'sqlite:', outcome: 'kept', levels: ['serializable'], matrix: serialMatrix },
  { url: 'sqlite:?journal=delete', outcome: 'kept', levels: ['serializable'], matrix: serialMatrix },
  {
    url: 'postgres:',
    outcome: 'kept',
    levels: ['read committed', 'repeatable read', 'serializable'],
    matrix: `
      G0                            ---
      G1a                           ---
      G1b                           ---
      G1c                           ---
      OTV                           ---
      PMP                           A--
      PMP-write                     A--
      PMP-write-after-read          A--
      PMP-write-stale-after-delete  ---
      PMP-write-subquery            A--
      lost-update                   A--
      lost-update-expression        ---
      lost-update-deleted-row       ---
      lost-update-by-delete         A--
      read-skew                     A--
      G-single-predicate            A--
      G-single-write-predicate      A--
      read-write-skew               A--
      G-nonadjacent                 A--
      write-skew                    AA-
      G2-item-read-only             AA-
      G2                            AA-
      own-write                     ---
      own-write-no-op               ---
    `,
  },
  {
    url: 'mariadb:?innodb_snapshot_isolation=OFF',
    outcome: 'violation',
    levels: innodbLevels,
    matrix: currentReadMatrix,
  },
  {
    url: 'mariadb:?innodb_snapshot_isolation=ON',
    outcome: 'kept',
    levels: innodbLevels,
    matrix: snapshotConflictMatrix,
  },
  // Alike in 2015 and today.
  ...[
    { url: providedEngines.mysql.url, page: 'mysql' },
    { url: providedEngines.mysql56.url, page: 'mysql-5.6' },
  ].map(
    (engine): Engine => ({
      ...engine,
      optional: true,
      outcome: 'violation',
      levels: innodbLevels,
      matrix: currentReadMatrix,
    }),
  ),
  {
    url: providedEngines.mariadb118.url,
    optional: true,
    page: 'mariadb-11.8',
    outcome: 'kept',
    levels: innodbLevels,
    matrix: snapshotConflictMatrix,
  },
  // Alike in both releases: TiDB #42487 is open.
  ...[
    { url: providedEngines.tidb.url, page: 'tidb' },
    { url: providedEngines.tidbOld.url, page: 'tidb-old' },
  ].map(
    (engine): Engine => ({
      ...engine,
      optional: true,
      outcome: 'violation',
      levels: ['read committed', 'repeatable read', 'snapshot'],
      matrix: tidbMatrix,
    }),
  ),
  {
    url: 'h2:',
    page: 'h2',
    outcome: 'kept',
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'snapshot', 'serializable'],
    matrix: h2Matrix,
  },
  ...[
    { url: 'hsqldb:', page: 'hsqldb', matrix: tableLocksMatrix },
    { url: 'hsqldb:?tx=mvlocks', page: 'hsqldb-mvlocks', matrix: tableLocksMatrix },
    { url: 'hsqldb:?tx=mvcc', page: 'hsqldb-mvcc', matrix: hsqldbMvccMatrix },
  ].map(
    (engine): Engine => ({
      ...engine,
      outcome: 'kept',
      levels: ['read committed', 'repeatable read', 'serializable'],
    }),
  ),
  {
    url: 'derby:',
    page: 'derby',
    outcome: 'kept',
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    matrix: derbyMatrix,
  },
];

describe.each(engines)('$url', ({ url, outcome, levels, matrix: expected, optional = false, page }) => {
  it('allows exactly what is written here', async ({ skip }) => {
    const target = await open(url, optional);
    if (typeof target === 'string') return skip(target);
    try {
      const report = await runProbe(target);
      expect(report.levels.map(({ level }) => level)).toEqual(levels);
      expect(report.levels.every(({ contractKnown }) => contractKnown)).toBe(true);
      expect(matrix(report)).toEqual(table(expected));
      expect(probeOutcome(report)).toBe(outcome);
      if (page !== undefined) checkPage(page, renderMarkdown(report));
    } finally {
      await target.close();
    }
  });
});

/**
 * What the engines we can run really allow, level by level. A change here means that an engine, a driver or a
 * judgement changed, and somebody must say which.
 */
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../src/errors.js';
import { type ProbeReport, probeOutcome, runProbe } from '../src/probe/index.js';
import { openTarget, type Target } from '../src/targets/index.js';

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
async function open(url: string): Promise<Target | string> {
  try {
    return await openTarget(url);
  } catch (error) {
    const missing = error instanceof IsoldeError && error.code === 'engine-missing';
    if (!missing || process.env.ISOLDE_REQUIRE_ENGINES === '1') throw error;
    return error.message;
  }
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

const engines = [
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
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    matrix: `
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
    `,
  },
  {
    url: 'mariadb:?innodb_snapshot_isolation=ON',
    outcome: 'kept',
    levels: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
    matrix: `
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
    `,
  },
] as const;

describe.each(engines)('$url', ({ url, outcome, levels, matrix: expected }) => {
  it('allows exactly what is written here', async ({ skip }) => {
    const target = await open(url);
    if (typeof target === 'string') return skip(target);
    try {
      const report = await runProbe(target);
      expect(report.levels.map(({ level }) => level)).toEqual(levels);
      expect(report.levels.every(({ contractKnown }) => contractKnown)).toBe(true);
      expect(matrix(report)).toEqual(table(expected));
      expect(probeOutcome(report)).toBe(outcome);
    } finally {
      await target.close();
    }
  });
});

/**
 * The mechanism verifier against real engines: free runs of a random workload and all probe cases give no finding except
 * the engines' known bugs; each fault of the wrapper is found, with the clause it breaks.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../src/cases/index.js';
import { explain } from '../src/check/index.js';
import { type MechanismResult, verifyMechanism } from '../src/check/mechanism/index.js';
import { findContract, type Level } from '../src/contracts/index.js';
import { runFree, runScheduled } from '../src/execute/index.js';
import type { History } from '../src/histories/index.js';
import { probeCases } from '../src/probe/index.js';
import type { Dialect } from '../src/sql/index.js';
import { duckdbAvailable } from '../src/targets/duckdb/index.js';
import {
  type FaultName,
  openTarget,
  parseFault,
  type Scratch,
  type Target,
  withFault,
} from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { begunFor } from './begun-for.js';
import { faultCases } from './fault-cases.js';
import { observed, randomCase } from './mechanism-workload.js';

/** A known bug: the finding it shows as, and where it is reported. */
interface KnownBug {
  readonly level: Level;
  readonly kinds: readonly string[];
  readonly issue: string;
}

interface Engine {
  readonly url: string;
  readonly missing: () => string | undefined;
  readonly bugs: readonly KnownBug[];
  /** The level at which faults are injected. */
  readonly faultLevel?: Level;
  /** Faults that change nothing the contract promises, or nothing that can be decided. */
  readonly undetectable?: readonly FaultName[];
}

const deletedAndUpdated: KnownBug = {
  level: 'snapshot',
  kinds: ['update-of-changed-row', 'lock-violated'],
  issue: 'duckdb #17223: an update and a delete of one row do not conflict',
};
const ownNoOpUpdate: KnownBug = {
  level: 'repeatable read',
  kinds: ['own-write-missed'],
  issue: 'MDEV-26642: an update that changes nothing is not seen by its own transaction',
};

const engines: readonly Engine[] = [
  { url: 'duckdb:', missing: duckdbAvailable, bugs: [deletedAndUpdated], faultLevel: 'snapshot' },
  { url: 'turso:?mode=mvcc', missing: tursoAvailable, bugs: [], faultLevel: 'snapshot' },
  { url: 'sqlite:', missing: sqliteAvailable, bugs: [] },
  { url: 'postgres:', missing: postgresAvailable, bugs: [], faultLevel: 'repeatable read' },
  {
    url: 'mariadb:',
    missing: mariadbAvailable,
    bugs: [ownNoOpUpdate],
    faultLevel: 'repeatable read',
    // Writes see current rows, and a subquery of a write may see either: both faults look like InnoDB itself.
    undetectable: ['unreported-write-conflict', 'split-predicate'],
  },
];

/** How each fault shows: one of these kinds, breaking this clause. */
const shows: Readonly<
  Partial<Record<FaultName, { readonly kinds: readonly string[]; readonly clause: RegExp }>>
> = {
  'weaker-level': { kinds: ['post-snapshot-read'], clause: /^pivot/ },
  'stale-snapshot': { kinds: ['stale-read'], clause: /^pivot/ },
  'late-snapshot': { kinds: ['post-snapshot-read'], clause: /^pivot/ },
  'dirty-read': { kinds: ['dirty-read'], clause: /^pivot/ },
  'missed-own-write': { kinds: ['own-write-missed'], clause: /^ownWrites/ },
  // Where the first updater wins, the no-op update should not have got so far.
  'missed-own-noop-write': {
    kinds: ['own-write-missed', 'update-of-changed-row'],
    clause: /^(ownWrites|firstUpdaterWins)/,
  },
  'lost-update': { kinds: ['stale-read'], clause: /^pivot/ },
  'lost-insert': { kinds: ['missing-row'], clause: /^pivot/ },
  'commit-on-rollback': { kinds: ['dirty-read'], clause: /^pivot/ },
  'partial-commit': { kinds: ['stale-read'], clause: /^pivot/ },
  'stripped-row-lock': { kinds: ['lock-violated'], clause: /^writeConflict/ },
  'unreported-write-conflict': { kinds: ['update-of-changed-row'], clause: /^firstUpdaterWins/ },
  'visible-committed-delete': { kinds: ['extra-row'], clause: /^pivot/ },
  'resurrected-row': { kinds: ['extra-row'], clause: /^pivot/ },
  'phantom-in-snapshot': { kinds: ['post-snapshot-read'], clause: /^pivot/ },
  'split-predicate': { kinds: ['write-missed-row'], clause: /^writesSee/ },
  // No mirror evaluates windows: these are for the statement oracle.
  'mixed-snapshot': { kinds: [], clause: /^/ },
  'stale-index': { kinds: [], clause: /^/ },
  'misfolded-expression': { kinds: [], clause: /^/ },
  'altered-commit': { kinds: [], clause: /^/ },
};

function told({ findings }: MechanismResult): string[] {
  return findings.map((finding) => `${finding.kind} (${finding.clause})\n${explain(finding)}`);
}

/** Upserts and MERGEs that compute; some engines lack subqueries in them, some have no MERGE. */
function upserts(dialect: Dialect): readonly string[] {
  const insert = 'INSERT INTO t (rid, k, v)';
  if (dialect === 'mysql')
    return [
      `${insert} VALUES (11, 1, 7), (12, 5, 8) ON DUPLICATE KEY UPDATE v = v + VALUES(v)`,
      `${insert} VALUES (11, 1, 7) ON DUPLICATE KEY UPDATE v = v + (SELECT MAX(s.v) FROM t AS s)`,
      `${insert} VALUES (11, 1, 7) ON DUPLICATE KEY UPDATE rid = v, v = (SELECT MIN(w) FROM u)`,
      `${insert} SELECT 14, k, v + 1 FROM t AS s WHERE k = 2 ON DUPLICATE KEY UPDATE v = VALUES(v) * 2`,
      `INSERT IGNORE INTO t (rid, k, v) SELECT w, k, 0 FROM u`,
      `REPLACE INTO t (rid, k, v) SELECT w, k, 0 FROM u WHERE k > 1`,
    ];
  return [
    `${insert} VALUES (11, 1, 7), (12, 5, 8) ON CONFLICT (k) DO UPDATE SET v = t.v + excluded.v`,
    `${insert} VALUES (11, 1, 7), (12, 2, 99) ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE t.v < excluded.v`,
    `${insert} VALUES (11, 1, 7) ON CONFLICT (k) DO UPDATE SET v = (SELECT MAX(s.v) + t.v FROM t AS s)`,
    `${insert} VALUES (11, 1, 7) ON CONFLICT (k) DO UPDATE SET v = excluded.v + (SELECT MAX(w) FROM u)`,
    `${insert} SELECT 14, k, v + 1 FROM t WHERE k = 2 ON CONFLICT (k) DO UPDATE SET v = excluded.v * 2`,
    `${insert} SELECT w, k, 0 FROM u WHERE w > 0 ON CONFLICT (k) DO NOTHING`,
    `MERGE INTO t USING (VALUES (1, 5), (2, 25), (8, 6), (9, 1)) AS s (k, n) ON t.k = s.k WHEN MATCHED AND t.v > s.n THEN UPDATE SET v = t.v - s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.n > 5 THEN INSERT (rid, k, v) VALUES (16, s.k, s.n) WHEN NOT MATCHED THEN DO NOTHING`,
    `MERGE INTO t USING u AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = t.v + s.w WHEN NOT MATCHED THEN INSERT (rid, k, v) VALUES (20, s.k, s.w)`,
    `MERGE INTO t USING (SELECT k, v FROM t WHERE v > 10) AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + (SELECT MAX(w) FROM u)`,
  ];
}

for (const { url, missing, bugs, faultLevel, undetectable } of engines) {
  const reason = missing();
  const skip = reason !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';
  describe.skipIf(skip)(`the mechanism verifier on ${url}${skip ? ` (${reason})` : ''}`, () => {
    let target: Target;
    let scratch: Scratch;
    beforeAll(async () => {
      target = await openTarget(url);
      scratch = await target.createScratch();
    });
    afterAll(async () => {
      await scratch?.drop();
      await target?.close();
    });

    const verify = (history: History, level: Level) =>
      verifyMechanism(history, findContract(target.levels.find((each) => each.level === level)!.contract)!);

    it('finds nothing in free runs but known bugs, and judges most of them', async () => {
      for (const { level } of target.levels) {
        const known = bugs.filter((bug) => bug.level === level).flatMap((bug) => bug.kinds);
        const oneKindOfWrite = target.name === 'duckdb';
        const program = randomCase({ seed: 7, sessions: 4, transactions: 25, target, oneKindOfWrite });
        const result = verify(await runFree(scratch, program, { target, level, observe: observed }), level);
        const unknown = result.findings.filter(({ kind }) => !known.includes(kind));
        expect(unknown.map(explain), `${level}, seed 7`).toEqual([]);
        const skippedReads = result.skipped
          .filter(({ what }) => what === 'read')
          .reduce((sum, { count }) => sum + count, 0);
        expect(result.checked.reads, level).toBeGreaterThan(skippedReads);
      }
    });

    it('computes what upserts and MERGE do as the database does', async () => {
      for (const write of upserts(target.dialect)) {
        const text = `CREATE TABLE t (rid INT, k INT PRIMARY KEY, v INT);
          CREATE TABLE u (k INT PRIMARY KEY, w INT);
          INSERT INTO t VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30);
          INSERT INTO u VALUES (1, 5), (9, 6);
          T1: ${write}
          T2: SELECT * FROM t`;
        const level = target.defaultLevel;
        const run = await runScheduled(scratch, parseScript(text, { file: 'upsert.sql' }), { target, level });
        const { error } = run.operations[0]!;
        if (error !== undefined) expect(error.class, error.message).toMatch(/^(syntax|unsupported)$/);
        const result = verify(run, level);
        expect(told(result), write).toEqual([]);
        expect(result.checked.reads, write).toBe(1);
      }
    });

    it('finds nothing in the probe cases but known bugs', async () => {
      for (const { level } of target.levels) {
        const known = bugs.filter((bug) => bug.level === level).flatMap((bug) => bug.kinds);
        for (const probe of probeCases) {
          const result = verify(
            await runScheduled(scratch, begunFor(probe, target, level), { target, level }),
            level,
          );
          const unknown = result.findings.filter(({ kind }) => !known.includes(kind));
          expect(unknown.map(explain), `${level}: ${probe.case.name}`).toEqual([]);
        }
      }
    });

    const level = faultLevel;
    if (level !== undefined)
      it('finds the faults of the wrapper, each with its clause', async () => {
        for (const { fault, trigger, case: scheduled, needsLockingReads } of faultCases) {
          if (undetectable?.includes(fault) || (needsLockingReads && !target.features.lockingReads)) continue;
          const begun = begunFor(scheduled, target, level);
          const faulty = withFault(target, parseFault(`${fault}(${trigger})`));
          const own = await faulty.createScratch();
          try {
            const result = verify(await runScheduled(own, begun, { target: faulty, level }), level);
            const { kinds, clause } = shows[fault]!;
            const fitting = result.findings.filter(
              (finding) => kinds.includes(finding.kind) && clause.test(finding.clause!),
            );
            const found = `${fault}: ${told(result).join('\n') || 'no finding'}`;
            if (kinds.length === 0) expect(result.findings, found).toEqual([]);
            else expect(fitting, found).not.toEqual([]);
            const healthy = verify(await runScheduled(scratch, begun, { target, level }), level);
            const bugKinds = bugs.flatMap((bug) => bug.kinds);
            expect(
              told({ ...healthy, findings: healthy.findings.filter(({ kind }) => !bugKinds.includes(kind)) }),
              fault,
            ).toEqual([]);
          } finally {
            await own.drop();
          }
        }
      });

    if (url === 'duckdb:')
      it.each([
        [
          'an update of a row that another transaction deleted',
          'DELETE FROM f WHERE id = 1',
          'UPDATE f SET v = 55 WHERE id = 1',
        ],
        [
          'a delete of a row that another transaction updated',
          'UPDATE f SET v = 55 WHERE id = 1',
          'DELETE FROM f WHERE id = 1',
        ],
        [
          'updates of two columns of one row',
          'UPDATE f SET v = 55 WHERE id = 1',
          'UPDATE f SET w = 1 WHERE id = 1',
        ],
      ])('finds that DuckDB does not notice %s', async (_, first, second) => {
        const scheduled = parseScript(
          `CREATE TABLE f (id INT, v INT, w INT); INSERT INTO f VALUES (1, 10, 0), (2, 20, 0);
        T1: BEGIN
        T1: SELECT * FROM f
        T2: ${first}
        T1: ${second}
        T1: COMMIT`,
          { file: 'conflict.sql' },
        );
        const { findings } = verify(
          await runScheduled(scratch, scheduled, { target, level: 'snapshot' }),
          'snapshot',
        );
        expect(findings.map(({ kind, clause }) => [kind, clause])).toEqual([
          ['update-of-changed-row', 'firstUpdaterWins true'],
        ]);
      });
  });
}

const noMariadb = mariadbAvailable();
const skipMariadb = noMariadb !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';

describe.skipIf(skipMariadb)(
  `MariaDB with innodb_snapshot_isolation${skipMariadb ? ` (${noMariadb})` : ''}`,
  () => {
    let target: Target;
    let scratch: Scratch;
    beforeAll(async () => {
      target = await openTarget('mariadb:?innodb_snapshot_isolation=ON');
      scratch = await target.createScratch();
    });
    afterAll(() => target?.close());

    const found = async (text: string, level: Level) => {
      const contract = findContract(target.levels.find((each) => each.level === level)!.contract)!;
      const scheduled = parseScript(text, { file: 'found.sql' });
      const history = await runScheduled(scratch, scheduled, { target, level });
      return verifyMechanism(history, contract).findings.map(({ kind, clause }) => [kind, clause]);
    };

    it('passes by a row whose delete is not committed, at READ UNCOMMITTED, and loses the update', async () => {
      const text = `
        CREATE TABLE n (rid INT, v INT); INSERT INTO n VALUES (1, 10), (2, 20);
        T1: BEGIN
        T1: DELETE FROM n WHERE rid = 2
        T2: UPDATE n SET v = 6 WHERE rid = 2
        T1: ROLLBACK`;
      expect(await found(text, 'read uncommitted')).toEqual([['write-missed-row', 'writesSee current']]);
      expect(await found(text, 'read committed')).toEqual([]);
    });

    it('misses a conflict with a DELETE where it looks through a secondary index, and only there', async () => {
      const text = (key: string) => `
        CREATE TABLE t (id INT PRIMARY KEY, v INT${key}); INSERT INTO t VALUES (1, 10);
        T2: BEGIN
        T2: SELECT id, v FROM t WHERE v > 0
        T1: DELETE FROM t
        T2: UPDATE t SET v = 30 WHERE v > 0`;
      expect(await found(text(', KEY (v)'), 'repeatable read')).toEqual([
        ['write-missed-row', 'writesSee snapshot'],
      ]);
      expect(await found(text(''), 'repeatable read')).toEqual([]);
    });
  },
);

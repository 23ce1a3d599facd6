/**
 * What was reported of InnoDB beyond its manual (`docs/decisions/reported-contracts.md`), on a real MariaDB: each of the
 * two shows as one finding of its own kind, shrinks to the few statements of its report, and is gone with
 * innodb_snapshot_isolation, where the server answers 1020 instead.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, type ScheduledCase } from '../src/cases/index.js';
import { verifyMechanism } from '../src/check/mechanism/index.js';
import { type Contract, findContract, reportedContract } from '../src/contracts/index.js';
import { runScheduled } from '../src/execute/index.js';
import { contractAt } from '../src/judge/index.js';
import { buryCase, candidateOf, DatabaseOracle, reduceFinding } from '../src/reduce/index.js';
import { openTarget, type Scratch, type Target } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';

const level = 'repeatable read';
const reported = findContract('mariadb:repeatable-read+reported')!;

const bugs = [
  {
    kind: 'own-delete-missed',
    statements: ['BEGIN', 'SELECT', 'DELETE', 'DELETE', 'SELECT'],
    script: `
      CREATE TABLE t (id INT PRIMARY KEY, v INT);
      INSERT INTO t VALUES (1, 10), (2, 20);
      T2: BEGIN;
      T2: SELECT id, v FROM t;
      T1: DELETE FROM t;
      T2: DELETE FROM t;
      T2: SELECT id, v FROM t;
      T2: COMMIT;`,
  },
  {
    kind: 'condition-mismatch',
    statements: ['BEGIN', 'SELECT', 'INSERT', 'UPDATE'],
    script: `
      CREATE TABLE t0 (id INT PRIMARY KEY, vkey INT);
      INSERT INTO t0 VALUES (1, 5), (2, 6);
      CREATE TABLE t1 (id INT PRIMARY KEY, c0 INT);
      INSERT INTO t1 VALUES (1, 5), (2, 100);
      T1: BEGIN;
      T1: SELECT * FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
      T2: INSERT INTO t0 VALUES (3, 1);
      T1: SELECT * FROM t1 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
      T1: UPDATE t1 SET c0 = 4 WHERE c0 <= (SELECT MIN(vkey) FROM t0);
      T1: COMMIT;`,
  },
] as const;

const parsed = (text: string): ScheduledCase => parseScript(text, { file: 'bug.sql', dialect: 'mysql' });

const missing = mariadbAvailable();
const skip = missing !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';

describe.skipIf(skip)(`MariaDB at REPEATABLE READ${skip ? ` (${missing})` : ''}`, () => {
  for (const isolation of ['OFF', 'ON'] as const) {
    describe(`with innodb_snapshot_isolation=${isolation}`, () => {
      const url = `mariadb:?innodb_snapshot_isolation=${isolation}`;
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

      const kinds = async (text: string, contract: Contract) => {
        const history = await runScheduled(scratch, parsed(text), { target, level });
        return verifyMechanism(history, contract).findings.map(({ kind }) => kind);
      };

      it('is hunted under what was reported, where something was, and under its manual when asked', () => {
        const manual = contractAt('vendor', target, level);
        expect(contractAt('reported', target, level)).toBe(isolation === 'ON' ? manual : reported);
        expect(reportedContract(manual)).toBe(isolation === 'ON' ? undefined : reported);
        const serial = contractAt('vendor', target, 'serializable');
        expect(contractAt('reported', target, 'serializable')).toBe(serial);
      });

      it.each(bugs)(`${isolation === 'ON' ? 'has no' : 'has'} $kind`, async ({ kind, script }) => {
        const manual = contractAt('vendor', target, level);
        expect(await kinds(script, contractAt('reported', target, level))).toEqual(
          isolation === 'ON' ? [] : [kind],
        );
        expect(await kinds(script, manual)).toEqual([]);
        // Not even the strict contract finds anything where the server refuses the write.
        if (isolation === 'ON') expect(await kinds(script, reported)).toEqual([]);
      });
    });
  }

  it.each(bugs)(
    '$kind, among 100 irrelevant statements, shrinks to its report',
    async ({ kind, script, statements }) => {
      const open = () => openTarget('mariadb:?innodb_snapshot_isolation=OFF');
      const oracle = await DatabaseOracle.open({ open, contract: reported, level });
      try {
        const start = buryCase(parsed(script), { operations: 100, sessions: 3 });
        const outcome = await reduceFinding(candidateOf(start), { oracle, confirmRuns: 5 });
        if (outcome.kind !== 'reduced') throw new Error(`nothing was reduced: ${outcome.kind}`);
        expect(outcome.finding.kind).toBe(kind);
        const { case: program, schedule } = outcome.result.result;
        const words = schedule.batches
          .flat()
          .map(([s, p]) => program.sessions[s]!.statements[p]!.split(' ')[0]);
        expect(words).toEqual(statements);
      } finally {
        await oracle.close();
      }
    },
  );
});

/** Instrumentation changes nothing an author can see: cases run serially with and without it, on a real engine. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findContract, type Level } from '../../contracts/index.js';
import { runScheduled } from '../../execute/index.js';
import type { History } from '../../histories/index.js';
import { openTarget, type Scratch, type Target } from '../../targets/index.js';
import { mariadbAvailable } from '../../targets/mariadb/index.js';
import { postgresAvailable } from '../../targets/postgres/index.js';
import { tursoAvailable } from '../../targets/turso/index.js';
import { explain } from '../explain.js';
import { checkInstrumented, instrumentCase, stripResults } from './index.js';
import { randomCase } from './random-case.case.js';

/** Rows as a bag, unless ORDER BY decides. */
function seen(history: History): unknown[] {
  return history.operations.map(({ sql, outcome, error, rows, columns, matched, ends }) => {
    const texts = rows?.map((row) => JSON.stringify(row));
    return {
      sql,
      outcome,
      error: error?.class,
      columns,
      rows: /ORDER BY/i.test(sql ?? '') ? texts : texts?.sort(),
      matched: rows === undefined ? matched : undefined,
      ends,
    };
  });
}

const seed = Number(process.env.ISOLDE_SEED ?? 20261115);

interface Engine {
  readonly url: string;
  readonly level: Level;
  readonly runs: number;
  readonly missing?: () => string | undefined;
}

/** Every way to see what a write reads: notes, RETURNING, plain companions, locking companions, none. */
const engines: readonly Engine[] = [
  { url: 'duckdb:', level: 'snapshot', runs: 25 },
  { url: 'sqlite:', level: 'serializable', runs: 30 },
  { url: 'turso:?mode=mvcc', level: 'snapshot', runs: 15, missing: tursoAvailable },
  { url: 'postgres:', level: 'read committed', runs: 10, missing: postgresAvailable },
  { url: 'postgres:', level: 'repeatable read', runs: 10, missing: postgresAvailable },
  { url: 'mariadb:', level: 'read committed', runs: 10, missing: mariadbAvailable },
  { url: 'mariadb:', level: 'repeatable read', runs: 10, missing: mariadbAvailable },
];

for (const { url, level, runs, missing } of engines) {
  const reason = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : missing?.();
  const title = `instrumented cases on ${url} at ${level} (seed ${seed})${reason ? `: ${reason}` : ''}`;
  describe.skipIf(reason !== undefined)(title, () => {
    let target: Target;
    let plain: Scratch;
    let marked: Scratch;
    beforeAll(async () => {
      target = await openTarget(url);
      plain = await target.createScratch();
      marked = await target.createScratch();
    });
    afterAll(() => target?.close());

    it('show their author the same results, and no anomaly, when nothing is concurrent', async () => {
      const contract = findContract(target.levels.find((each) => each.level === level)!.contract)!;
      await fc.assert(
        fc.asyncProperty(fc.nat(1_000_000), fc.boolean(), async (number, returning) => {
          const program = randomCase({ seed: number, dialect: target.dialect, sessions: 2, transactions: 4 });
          const instrumented = instrumentCase({ case: program }, target.dialect, { returning, contract });
          const original = await runScheduled(plain, { case: program }, { target, level });
          const run = { target, level, observe: instrumented.observe };
          const history = await runScheduled(marked, instrumented.scheduled, run);
          const stripped = stripResults(history, instrumented).history;
          expect(seen(stripped)).toEqual(seen(original));
          // Without the observer, whose level may be another one.
          const { sessions, sessionLevels } = original.header;
          expect([stripped.header.sessions, stripped.header.sessionLevels]).toEqual([
            sessions,
            sessionLevels,
          ]);
          const check = checkInstrumented(history, instrumented, { level: 'strict serializable' });
          expect(check.findings.map(explain)).toEqual([]);
          expect(check.notes.filter((note) => !/took no row|nothing returns/.test(note))).toEqual([]);
        }),
        { numRuns: runs, seed },
      );
    });
  });
}

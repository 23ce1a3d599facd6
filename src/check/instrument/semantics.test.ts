/** Instrumentation changes nothing an author can see: cases run serially with and without it, on a real engine. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScheduled } from '../../execute/index.js';
import type { History } from '../../histories/index.js';
import { openTarget, type Scratch, type Target } from '../../targets/index.js';
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

for (const url of ['duckdb:', 'sqlite:']) {
  describe(`instrumented cases on ${url} (seed ${seed})`, () => {
    let target: Target;
    let plain: Scratch;
    let marked: Scratch;
    beforeAll(async () => {
      target = await openTarget(url);
      plain = await target.createScratch();
      marked = await target.createScratch();
    });
    afterAll(() => target.close());

    it('show their author the same results, and no anomaly, when nothing is concurrent', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(1_000_000), async (number) => {
          const program = randomCase({ seed: number, dialect: target.dialect, sessions: 2, transactions: 3 });
          const instrumented = instrumentCase({ case: program }, target.dialect);
          const original = await runScheduled(plain, { case: program }, { target });
          const run = { target, observe: instrumented.observe };
          const history = await runScheduled(marked, instrumented.scheduled, run);
          expect(seen(stripResults(history, instrumented).history)).toEqual(seen(original));
          const check = checkInstrumented(history, instrumented, { level: 'strict serializable' });
          expect(check.findings.map(({ explanation }) => explanation)).toEqual([]);
          expect(check.valid, check.notes.join('; ')).toBe(true);
        }),
        { numRuns: 40, seed },
      );
    });
  });
}

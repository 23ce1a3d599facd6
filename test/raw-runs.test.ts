/**
 * From a free run of five thousand operations of twelve sessions to a minimal case, one bug for each engine. The whole matrix,
 * with more replays and longer runs, is `npm run bench raw` (docs/stages/raw-runs.md).
 */
import { describe, expect, it } from 'vitest';
import { rawBugs } from '../src/bench/raw-bugs.js';
import { measureRawRun } from '../src/bench/raw-run.js';
import { missedTargets } from '../src/bench/raw-table.js';
import { type RawWorkloadOptions, rawWorkload } from '../src/bench/raw-workload.js';
import { duckdbAvailable } from '../src/targets/duckdb/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { enginesRequired } from './isolde.js';

const missing = { duckdb: duckdbAvailable, mariadb: mariadbAvailable, postgres: postgresAvailable };

/** Whether nothing but the size of the minimal case is missed. */
function isOnlyLarger(missed: readonly string[]): boolean {
  return missed.length > 0 && missed.every((each) => /(operations|transactions), at most/.test(each));
}

describe('a raw run of 5,000 operations', () => {
  for (const name of ['no-op-update', 'duckdb-17223', 'unreported-write-conflict']) {
    const bug = rawBugs.find((each) => each.name === name)!;
    const reason = enginesRequired ? undefined : missing[bug.engine]();
    const title = `shows ${name} of ${bug.engine} in every replay by batch, and reduces to at most 10 operations`;
    it.skipIf(reason !== undefined)(
      reason === undefined ? title : `${title} (${reason})`,
      async () => {
        const measure = () =>
          measureRawRun({
            ...{ bug, operations: 5_000, seed: 1, replays: 3, randomReplays: 1 },
            open: () => openTarget(`${bug.engine}:`),
          });
        let result = await measure();
        // A free run is another one each time, and so is the finding that is reduced: now and then the least that shows it has a transaction more.
        for (let more = 0; more < 2 && isOnlyLarger(missedTargets(result)); more++) result = await measure();
        expect(missedTargets(result)).toEqual([]);
        expect(result).toMatchObject({
          batch: { shown: 3, runs: 3 },
          minimal: { isMinimal: true, shown: 3, runs: 3 },
        });
      },
      180_000,
    );
  }
});

describe('the program of a raw run', () => {
  const options: Omit<RawWorkloadOptions, 'seed'> = {
    name: 'shop',
    dialect: 'postgres',
    level: 'repeatable read',
    operations: 2_000,
    sessions: 12,
    keyedOrders: true,
    lockingReads: true,
  };

  it('is the same for the same seed, and another for another', () => {
    expect(rawWorkload({ ...options, seed: 1 })).toEqual(rawWorkload({ ...options, seed: 1 }));
    expect(rawWorkload({ ...options, seed: 2 })).not.toEqual(rawWorkload({ ...options, seed: 1 }));
  });

  it('mixes reads, locking reads, writes of every kind, rollbacks and single statements over all sessions', () => {
    const { sessions } = rawWorkload({ ...options, seed: 1 });
    const statements = sessions.flatMap((session) => session.statements);
    expect(sessions).toHaveLength(12);
    expect(statements.length).toBeGreaterThanOrEqual(2_000);
    for (const session of sessions) expect(session.statements.length).toBeGreaterThan(100);
    for (const part of [/^SELECT .*\d$/, / FOR UPDATE$/, /^INSERT/, /^UPDATE/, /^DELETE/, /^ROLLBACK$/]) {
      const share = statements.filter((sql) => part.test(sql)).length / statements.length;
      expect(share, String(part)).toBeGreaterThan(0.005);
    }
    const begins = statements.filter((sql) => sql === 'BEGIN').length;
    const ends = statements.filter((sql) => /^(COMMIT|ROLLBACK)$/.test(sql)).length;
    expect(ends).toBe(begins);
  });
});

/**
 * The faults against real engines: each changes the case it should change, in the way it should, and no probe
 * case; armed but never triggered, it changes nothing at all.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScheduledCase } from '../src/cases/index.js';
import type { Level } from '../src/contracts/index.js';
import { runScheduled, SessionPool } from '../src/execute/index.js';
import type { History } from '../src/histories/index.js';
import { probeCases } from '../src/probe/index.js';
import {
  faultNames,
  openTarget,
  parseFault,
  type Scratch,
  type Target,
  withFault,
} from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { mysqlAvailable } from '../src/targets/mysql/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { begunFor } from './begun-for.js';
import { type FaultCase, faultCases, told } from './fault-cases.js';

interface Engine {
  readonly url: string;
  readonly level: Level;
  readonly missing: () => string | undefined;
  /** Not on every machine (`scripts/engines`). */
  readonly optional?: true;
  /** Writing a row that changed after the snapshot fails. */
  readonly firstUpdaterWins: boolean;
  /** The faults to try; default: all. */
  readonly only?: (entry: FaultCase) => boolean;
}

const engines: readonly Engine[] = [
  { url: 'duckdb:', level: 'snapshot', missing: () => undefined, firstUpdaterWins: true },
  { url: 'turso:?mode=mvcc', level: 'snapshot', missing: tursoAvailable, firstUpdaterWins: true },
  { url: 'postgres:', level: 'repeatable read', missing: postgresAvailable, firstUpdaterWins: true },
  { url: 'mariadb:', level: 'repeatable read', missing: mariadbAvailable, firstUpdaterWins: false },
  {
    url: 'mariadb:?innodb_snapshot_isolation=ON',
    level: 'repeatable read',
    missing: mariadbAvailable,
    firstUpdaterWins: true,
    only: (entry) => entry.needsFirstUpdaterWins === true,
  },
  {
    url: 'mysql:',
    level: 'repeatable read',
    missing: mysqlAvailable,
    optional: true,
    firstUpdaterWins: false,
  },
];

// Cases of one set-up together: an unchanged schema is reset in milliseconds.
const probes = probeCases.toSorted((a, b) => (a.case.setup.join() < b.case.setup.join() ? -1 : 1));

it('has a case for every fault of isolation; those of keys and failures have theirs in key-faults.test.ts', () => {
  expect(faultCases.map(({ fault }) => fault)).toEqual(faultNames.slice(0, faultCases.length));
});

/** A scratch with connections of its own, kept from case to case. */
class Bench {
  readonly #pool: SessionPool;

  constructor(
    readonly target: Target,
    readonly scratch: Scratch,
    readonly level: Level,
  ) {
    this.#pool = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000 });
  }

  run(scheduled: ScheduledCase): Promise<History> {
    const { target, level } = this;
    return runScheduled(this.scratch, begunFor(scheduled, target, level), {
      target,
      level,
      sessions: this.#pool,
    });
  }
}

for (const engine of engines) {
  const missing = engine.missing();
  const skip = missing !== undefined && (engine.optional || process.env.ISOLDE_REQUIRE_ENGINES !== '1');
  describe.skipIf(skip)(`faults in ${engine.url}${skip ? ` (${missing})` : ''}`, () => {
    let target: Target;
    let plain: Bench;
    const healthyProbes: unknown[] = [];

    beforeAll(async () => {
      target = await openTarget(engine.url);
      plain = new Bench(target, await target.createScratch(), engine.level);
      for (const probe of probes) healthyProbes.push(told(await plain.run(probe)));
    });
    afterAll(async () => {
      await plain?.scratch.drop();
      await target?.close();
    });

    /** Runs with the fault injected. */
    const withBench = async (fault: string, use: (bench: Bench) => Promise<void>) => {
      const wrapped = withFault(target, parseFault(fault));
      const bench = new Bench(wrapped, await wrapped.createScratch(), engine.level);
      await use(bench).finally(() => bench.scratch.drop());
    };

    const expectHealthyProbes = async (bench: Bench) => {
      for (const [i, probe] of probes.entries()) {
        expect(told(await bench.run(probe)), probe.id).toEqual(healthyProbes[i]);
      }
    };

    for (const entry of faultCases.filter(engine.only ?? (() => true))) {
      it(`${entry.fault} changes its own case and no probe case`, async (context) => {
        if (entry.needsLockingReads && !target.features.lockingReads) {
          expect(() => withFault(target, parseFault(entry.fault))).toThrow(
            /cannot be injected into (duckdb|turso): it has no/,
          );
          return context.skip('the engine has no locking reads, and withFault says so');
        }
        if (entry.needsFirstUpdaterWins && !engine.firstUpdaterWins) {
          return context.skip('InnoDB shows this by itself unless innodb_snapshot_isolation is on');
        }
        // InnoDB's writes look at current rows: there the split goes the other way.
        const swap = entry.fault === 'split-predicate' && !engine.firstUpdaterWins;
        const [healthy, faulty] = swap ? [entry.faulty, entry.healthy] : [entry.healthy, entry.faulty];
        expect(entry.shows(await plain.run(entry.case))).toEqual(healthy);
        await withBench(`${entry.fault}(${entry.trigger})`, async (bench) => {
          expect(entry.shows(await bench.run(entry.case))).toEqual(faulty);
          expect(entry.shows(await bench.run(entry.case)), 'a second time').toEqual(faulty);
          await expectHealthyProbes(bench);
        });
      });

      it(`${entry.fault}, armed but never triggered, changes nothing`, async (context) => {
        if (entry.needsLockingReads && !target.features.lockingReads) return context.skip('no locking reads');
        await withBench(`${entry.fault}(nth=1000000)`, async (bench) => {
          const own = told(await plain.run(entry.case));
          expect(told(await bench.run(entry.case))).toEqual(own);
          await expectHealthyProbes(bench);
        });
      });
    }
  });
}

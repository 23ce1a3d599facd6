/**
 * The faults against real engines: each changes the case it should change, in the way it should, and no probe
 * case; armed but never triggered, it changes nothing at all.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScheduledCase } from '../src/cases/index.js';
import type { Level } from '../src/contracts/index.js';
import { runScheduled } from '../src/execute/index.js';
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
import { mariadbAvailable } from '../src/targets/mysql/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { type FaultCase, faultCases, told } from './fault-cases.js';

interface Engine {
  readonly url: string;
  readonly level: Level;
  readonly missing: () => string | undefined;
  readonly firstUpdaterWins: boolean;
}

const engines: readonly Engine[] = [
  { url: 'duckdb:', level: 'snapshot', missing: () => undefined, firstUpdaterWins: true },
  { url: 'postgres:', level: 'repeatable read', missing: postgresAvailable, firstUpdaterWins: true },
  { url: 'mariadb:', level: 'repeatable read', missing: mariadbAvailable, firstUpdaterWins: false },
  {
    url: 'mariadb:?innodb_snapshot_isolation=ON',
    level: 'repeatable read',
    missing: mariadbAvailable,
    firstUpdaterWins: true,
  },
];

it('has a case for every fault', () => {
  expect(faultCases.map(({ fault }) => fault)).toEqual(faultNames);
});

for (const engine of engines) {
  const missing = engine.missing();
  const skip = missing !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';
  describe.skipIf(skip)(`faults in ${engine.url}${skip ? ` (${missing})` : ''}`, () => {
    let target: Target;
    let plain: Scratch;
    const healthyProbes: unknown[] = [];

    beforeAll(async () => {
      target = await openTarget(engine.url);
      plain = await target.createScratch();
      for (const probe of probeCases) healthyProbes.push(told(await run(target, plain, probe)));
    });
    afterAll(async () => {
      await plain?.drop();
      await target?.close();
    });

    const run = (on: Target, scratch: Scratch, scheduled: ScheduledCase): Promise<History> =>
      runScheduled(scratch, scheduled, { target: on, level: engine.level });

    /** The healthy and the faulty result of a fault's case on this engine. */
    const expected = (entry: FaultCase) => {
      // InnoDB's writes look at current rows: there the split goes the other way.
      const swap = entry.fault === 'split-predicate' && target.name === 'mariadb' && !engine.firstUpdaterWins;
      return swap ? [entry.faulty, entry.healthy] : [entry.healthy, entry.faulty];
    };

    for (const entry of faultCases) {
      it(`${entry.fault} changes its own case and no probe case`, async (context) => {
        const { lockingReads } = target.features;
        if (entry.needsLockingReads && !lockingReads) {
          expect(() => withFault(target, parseFault(entry.fault))).toThrow(/cannot be injected into duckdb/);
          return context.skip('the engine has no locking reads, and withFault says so');
        }
        if (entry.needsFirstUpdaterWins && !engine.firstUpdaterWins) {
          return context.skip(
            'InnoDB shows this by itself; the engine with innodb_snapshot_isolation=ON is below',
          );
        }
        const [healthy, faulty] = expected(entry);
        expect(entry.shows(await run(target, plain, entry.case))).toEqual(healthy);
        const wrapped = withFault(target, parseFault(`${entry.fault}(${entry.trigger})`));
        const scratch = await wrapped.createScratch();
        try {
          expect(entry.shows(await run(wrapped, scratch, entry.case))).toEqual(faulty);
          expect(entry.shows(await run(wrapped, scratch, entry.case)), 'a second time').toEqual(faulty);
          for (const [i, probe] of probeCases.entries()) {
            expect(told(await run(wrapped, scratch, probe)), probe.id).toEqual(healthyProbes[i]);
          }
        } finally {
          await scratch.drop();
        }
      });

      it(`${entry.fault}, armed but never triggered, changes nothing`, async (context) => {
        if (entry.needsLockingReads && !target.features.lockingReads) return context.skip('no locking reads');
        const wrapped = withFault(target, parseFault(`${entry.fault}(nth=1000000)`));
        const scratch = await wrapped.createScratch();
        try {
          const own = await run(target, plain, entry.case);
          expect(told(await run(wrapped, scratch, entry.case))).toEqual(told(own));
          for (const [i, probe] of probeCases.entries()) {
            expect(told(await run(wrapped, scratch, probe)), probe.id).toEqual(healthyProbes[i]);
          }
        } finally {
          await scratch.drop();
        }
      });
    }
  });
}

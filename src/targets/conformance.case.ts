/**
 * The promises of `target.ts`, asked of every engine. A target's test file says how to open it:
 *
 *     describeConformance({ open: () => openTarget('duckdb:'), available: () => undefined });
 *
 * Where an engine differs by declaration (`features`), a behaviour checks the declaration. Where it cannot
 * keep a promise, the test file skips that behaviour by its name and says why; the skipped behaviour still
 * runs, and when it passes the skip is stale and fails. A behaviour that would hang is skipped unrun.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { concurrencyBehaviours } from './conformance/concurrency.case.js';
import { type Behaviour, Lab, type Outsider, type Spelling } from './conformance/lab.case.js';
import { scratchBehaviours } from './conformance/scratch.case.js';
import { transactionBehaviours } from './conformance/transactions.case.js';
import { valueBehaviours } from './conformance/values.case.js';
import type { Scratch, Target } from './target.js';

export interface ConformanceOptions {
  readonly open: () => Promise<Target>;
  /** Why the engine cannot be run here, or undefined when it can. */
  readonly available: () => string | undefined;
  /** Skipped where the engine is missing, also where engines are required: not every machine can have it. */
  readonly optional?: boolean;
  /** Behaviours the engine does not show, by name. */
  readonly skips?: Readonly<Record<string, string | { readonly reason: string; readonly unrun: true }>>;
  /** A connection beside the scratches of the opened target, where a user's own tables could be. */
  readonly outsider?: (target: Target) => Promise<Outsider>;
  /** Where the engine spells types otherwise than its dialect. */
  readonly spelling?: Spelling;
}

export const behaviours: readonly Behaviour[] = [
  ...scratchBehaviours,
  ...valueBehaviours,
  ...transactionBehaviours,
  ...concurrencyBehaviours,
];

const userTable = "a user's table of the same name survives untouched";

/** Declares the suite for one target. */
export function describeConformance(options: ConformanceOptions): void {
  const missing = options.available();
  describe('conformance', () => {
    if (missing !== undefined && (options.optional || process.env.ISOLDE_REQUIRE_ENGINES !== '1')) {
      it.skip(`all behaviours (${missing})`);
      return;
    }
    let target: Target | undefined;
    let scratch: Scratch | undefined;
    beforeAll(async () => {
      target = await options.open();
      scratch = await target.createScratch();
    });
    afterAll(async () => {
      await scratch?.drop();
      await target?.close();
    });

    it('skips only behaviours that exist', () => {
      const names = behaviours.map(({ name }) => name);
      expect(Object.keys(options.skips ?? {}).filter((name) => !names.includes(name))).toEqual([]);
    });

    for (const behaviour of behaviours) {
      const skip = options.skips?.[behaviour.name];
      const reason = typeof skip === 'string' ? skip : skip?.reason;
      it(
        reason === undefined ? behaviour.name : `${behaviour.name} (skipped: ${reason})`,
        async (context) => {
          const inapplicable = behaviour.inapplicable?.(target!);
          if (inapplicable !== undefined) return context.skip(inapplicable);
          if (typeof skip === 'object') return context.skip(skip.reason);
          if (behaviour.name === userTable && options.outsider === undefined) {
            return context.skip('no connection outside the scratches: the database itself is the scratch');
          }
          const outsider = options.outsider;
          const lab = new Lab(target!, scratch!, {
            outsider: outsider && (() => outsider(target!)),
            spelling: options.spelling,
          });
          const failure = await behaviour.run(lab).then(
            () => undefined,
            (thrown: unknown) => thrown ?? new Error('failed'),
          );
          await lab.closeSessions();
          if (reason === undefined) {
            if (failure !== undefined) throw failure;
          } else if (failure === undefined) {
            throw new Error(`stale skip: the engine now shows this behaviour, but the skip says: ${reason}`);
          } else {
            context.skip(reason);
          }
        },
      );
    }
  });
}

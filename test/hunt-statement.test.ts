/**
 * Hunts with the statement oracle: wrong results inside transactions are bugs, whether or not they need a second session. Each fault
 * of evaluation is given to the hunt as a case to vary; how long a hunt without a hint needs is in docs/stages/hunt-faults.md.
 */
import { describe, expect, it } from 'vitest';
import { hunt, type Shelf, type Shelved } from '../src/hunt/index.js';
import { type FaultName, openTarget } from '../src/targets/index.js';
import { faultCases } from './fault-cases.js';

/** What a hunt with this one case to vary stores. */
async function bugsOf(fault: FaultName): Promise<readonly Shelved[]> {
  const shelf: Shelf = {
    isIgnored: async () => false,
    add: async (bug) => ({ bug, isNew: true, files: [] }),
    seenAgain: () => undefined,
  };
  const { case: template } = faultCases.find((each) => each.fault === fault)!;
  const { bugs, counters } = await hunt({
    open: () => openTarget(`duckdb:?fault=${fault}`),
    shelf,
    seed: '1',
    oracles: ['statement'],
    templates: [template],
    to: 1,
  });
  expect(counters.unconfirmed).toBe(0);
  return bugs;
}

describe('a hunt with the statement oracle', () => {
  it.each([
    ['mixed-snapshot', 'result-differs', false],
    ['stale-index', 'result-differs', true],
    ['misfolded-expression', 'result-differs', true],
    // The session that reads the tables at the end sees it.
    ['altered-commit', 'result-differs', true],
  ] as const)(
    'stores %s',
    async (fault, kind, notIsolation) => {
      const [found, ...others] = await bugsOf(fault);
      expect(others).toEqual([]);
      expect(found?.bug).toMatchObject({
        finding: { kind, oracle: 'statement' },
        reproduced: { shown: 3, runs: 3 },
      });
      const control = { by: 'serial control', says: notIsolation ? 'not isolation' : 'agrees' };
      expect(found?.bug.secondLook?.[0]).toMatchObject(control);
      expect(found?.bug.notIsolation ?? false).toBe(notIsolation);
      expect(found?.bug.id).toMatch(notIsolation ? /^duckdb-not-isolation-/ : /^duckdb-result-differs-/);
    },
    60_000,
  );
});

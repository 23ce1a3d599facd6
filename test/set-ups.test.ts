/** What default hunts set up is accepted by the engine it is generated for: a program that is refused there is never run. */
import { describe, expect, it } from 'vitest';
import { findOracle } from '../src/check/index.js';
import { capabilitiesOf } from '../src/generate/index.js';
import { groupSize, Rounds } from '../src/hunt/index.js';
import { contractAt } from '../src/judge/index.js';
import { openTarget, targetDeclarations } from '../src/targets/index.js';

/** Engines that Isolde starts itself. */
const urls = targetDeclarations.flatMap(({ privateUrl }) => privateUrl?.({}) ?? []);

describe('the set-ups of the first programs', () => {
  it.for(urls)('are accepted by %s, plain and instrumented', { timeout: 120_000 }, async (url, { skip }) => {
    const target = await openTarget(url).catch((error: Error) => error);
    // Whether engines may be missing is decided by their own tests.
    if (target instanceof Error) return skip(target.message);
    try {
      const { defaultLevel: level } = target;
      const contract = contractAt('vendor', target, level);
      const oracles = [{ name: 'mechanism', rounds: 1 }] as const;
      const capabilities = capabilitiesOf(target);
      const rounds = new Rounds({ seed: '1', capabilities, levels: [level], oracles });
      const scratch = await target.createScratch();
      const refused: string[] = [];
      // Behind the opening, which takes one template after the other.
      for (let group = 5; group < 45; group++) {
        const { case: program } = rounds.round(group * groupSize);
        const prepared = findOracle('dependency-graph')!.prepare!({ case: program }, { target, contract });
        for (const { setup } of [program, prepared.program.case])
          await scratch.reset(setup).catch(({ message }: Error) => refused.push(message));
      }
      expect(refused).toEqual([]);
    } finally {
      await target.close();
    }
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelOf, restrictTo, type Subset } from '../case-model.js';
import { dependencyGraph, reachable, without } from '../dependencies.js';
import {
  arbitraryCase,
  arbitraryEdges,
  edgeSource,
  fakeContext,
  fakeOracle,
  numberedCase,
  numbersIn,
} from '../fake-oracle.case.js';
import { type ReductionResult, reduceCase } from '../reduce.js';
import { Trials } from '../trials.js';
import { type StrategyName, strategies, subsetTrials } from './index.js';
import { reduceUnits } from './pisco.js';

const names = Object.keys(strategies) as StrategyName[];

type Shows = (numbers: ReadonlySet<number>) => boolean;

/** Predicates over operation numbers; all of them hold for everything. */
function arbitraryPredicate(count: number): fc.Arbitrary<{ readonly shows: Shows; readonly text: string }> {
  const subset = fc.uniqueArray(fc.nat({ max: count - 1 }), { maxLength: 5 });
  const holds = (core: Subset) => (numbers: ReadonlySet<number>) => core.every((id) => numbers.has(id));
  const oneCore = subset.map((core) => ({ shows: holds(core), text: `all of ${core.join(',')}` }));
  const twoCores = fc.tuple(subset, subset).map(([a, b]) => ({
    shows: (numbers: ReadonlySet<number>) => holds(a)(numbers) || holds(b)(numbers),
    text: `all of ${a.join(',')} or all of ${b.join(',')}`,
  }));
  // Not monotone: removing an operation can hide the finding and removing another one bring it back.
  const erratic = fc.tuple(subset, fc.nat(), fc.integer({ min: 2, max: 5 })).map(([core, seed, modulus]) => ({
    shows: (numbers: ReadonlySet<number>) =>
      holds(core)(numbers) &&
      (numbers.size === count ||
        [...numbers].reduce((h, id) => (h * 31 + id + seed) % 1009, 7) % modulus !== 0),
    text: `all of ${core.join(',')}, erratic modulo ${modulus}`,
  }));
  return fc.oneof(oneCore, twoCores, erratic);
}

const arbitraryProblem = arbitraryCase.chain(({ candidate, count }) =>
  fc.record({
    candidate: fc.constant(candidate),
    count: fc.constant(count),
    edges: arbitraryEdges(count),
    predicate: arbitraryPredicate(count),
    witness: fc.uniqueArray(fc.nat({ max: count - 1 }), { maxLength: 4 }),
  }),
);

async function reduceBy(
  strategy: StrategyName,
  { candidate, edges, predicate, witness }: typeof arbitraryProblem extends fc.Arbitrary<infer T> ? T : never,
  lanes = 1,
): Promise<ReductionResult> {
  const result = await reduceCase(candidate, {
    oracle: fakeOracle(predicate.shows, { lanes }),
    strategy,
    witness: witness.toSorted((a, b) => a - b),
    dependencies: () => edgeSource(edges),
    context: fakeContext,
    operationsOnly: true,
    now: () => 0,
  });
  if ('notReproduced' in result) throw new Error('the whole case must show the finding');
  return result;
}

describe.each(names)('%s', (strategy) => {
  it('ends 1-minimal at its own granularity, whatever the predicate', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryProblem, async (problem) => {
        const { result } = await reduceBy(strategy, problem);
        const { shows } = problem.predicate;
        expect(shows(numbersIn(result))).toBe(true);
        const model = modelOf(result);
        const all = model.operations.map((_, id) => id);
        const parts =
          strategies[strategy].granularity === 'transactions'
            ? model.transactions.map(({ operations }) => operations)
            : all.map((id) => [id]);
        for (const part of parts) {
          expect(shows(numbersIn(restrictTo(model, without(all, part)))), problem.predicate.text).toBe(false);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('gives the same result and counts the same trials with four lanes', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryProblem, async (problem) => {
        const alone = await reduceBy(strategy, problem, 1);
        const together = await reduceBy(strategy, problem, 4);
        expect(together.result).toEqual(alone.result);
        expect({ ...together.counts, speculative: 0 }).toEqual({ ...alone.counts, speculative: 0 });
      }),
      { numRuns: 60 },
    );
  });
});

describe('pisco', () => {
  it('stays within 4M + 2M·log2(N/M) trials when what a related operation depends on is related', async () => {
    const problem = arbitraryCase.chain(({ candidate, count }) =>
      fc.record({
        candidate: fc.constant(candidate),
        edges: arbitraryEdges(count),
        seeds: fc.uniqueArray(fc.nat({ max: count - 1 }), { minLength: 1, maxLength: 4 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(problem, async ({ candidate, edges, seeds }) => {
        const model = modelOf(candidate);
        const graph = dependencyGraph(model, edgeSource(edges));
        const core = reachable(graph.predecessors, seeds);
        const trials = new Trials(candidate, {
          oracle: fakeOracle((numbers) => core.every((id) => numbers.has(id))),
        });
        const all = model.operations.map((_, id) => id);
        const left = await reduceUnits(all, graph, subsetTrials(model, trials));
        expect(left).toEqual(core);
        const [n, m] = [all.length, core.length];
        expect(trials.counts.trials).toBeLessThanOrEqual(4 * m + 2 * m * Math.log2(n / m));
      }),
      { numRuns: 300 },
    );
  });

  it('does not lose the finding where halves are redundant, as intersecting both results would', async () => {
    const candidate = numberedCase([[2], [2]]);
    const either: Shows = (numbers) => numbers.has(0) || numbers.has(3);
    const model = modelOf(candidate);
    const graph = dependencyGraph(model, edgeSource([]));
    const trials = new Trials(candidate, { oracle: fakeOracle(either) });
    expect(await reduceUnits([0, 1, 2, 3], graph, subsetTrials(model, trials))).toEqual([3]);
  });
});

describe('witness', () => {
  it('needs no more trials for a case ten times as long when the finding is local', async () => {
    const trialsFor = async (transactions: number) => {
      const candidate = numberedCase([0, 1, 2, 3].map(() => new Array<number>(transactions).fill(4)));
      const count = transactions * 16;
      const core = [count - 40, count - 33, count - 21];
      const result = await reduceCase(candidate, {
        oracle: fakeOracle((numbers) => core.every((id) => numbers.has(id))),
        witness: [core[0]!, core[2]!],
        dependencies: () => edgeSource([[core[1]!, core[2]!]]),
        context: fakeContext,
        operationsOnly: true,
      });
      if ('notReproduced' in result) throw new Error('must reproduce');
      expect([...numbersIn(result.result)]).toEqual(expect.arrayContaining(core));
      expect(numbersIn(result.result).size).toBe(3);
      return result.counts.trials;
    };
    const [short, long] = [await trialsFor(10), await trialsFor(100)];
    expect(long).toBe(short);
    expect(long).toBeLessThan(15);
  });
});

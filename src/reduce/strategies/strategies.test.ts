import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelOf, restrictTo, type Subset } from '../case-model.js';
import { type DependencyGraph, dependencyGraph, reachable, without } from '../dependencies.js';
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
import { type StrategyName, type SubsetTrials, strategies, subsetTrials } from './index.js';
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

/** Lines 6–14 with both halves from the same case; the reading `pisco.ts` argues against. */
async function bothFromTheSameCase(
  all: Subset,
  graph: DependencyGraph,
  trials: SubsetTrials,
): Promise<Subset> {
  const divide = async (set: Subset, current: Subset): Promise<readonly [retained: Subset, left: Subset]> => {
    const smaller = without(current, reachable(graph.successors, set));
    if (await trials.test(smaller)) return [[], smaller];
    if (set.length === 1) return [set, current];
    const half = set.length >> 1;
    const [r1, c1] = await divide(set.slice(0, half), current);
    const [r2, c2] = await divide(set.slice(half), current);
    return [[...r1, ...r2], c1.filter((id) => c2.includes(id))];
  };
  const done = new Set<number>();
  let current = all;
  let open = all.filter((id) => graph.predecessors[id]!.length === 0);
  while (open.length > 0) {
    const [retained, left] = await divide(open, current);
    for (const id of retained) done.add(id);
    current = left;
    const next = new Set(retained.flatMap((id) => graph.successors[id]!));
    open = [...next].filter((id) => left.includes(id) && !done.has(id)).sort((x, y) => x - y);
  }
  return current;
}

/** Cases in which whatever a related operation depends on is related, as Pisco's analysis supposes. */
const closedProblem = fc
  .oneof(
    arbitraryCase,
    // Long and narrow enough for the logarithm to matter.
    fc.integer({ min: 1, max: 60 }).map((length) => ({
      candidate: numberedCase([new Array<number>(length).fill(4), new Array<number>(length).fill(4)]),
      count: 8 * length,
    })),
  )
  .chain(({ candidate, count }) =>
    fc.record({
      candidate: fc.constant(candidate),
      edges: arbitraryEdges(count),
      seeds: fc.uniqueArray(fc.nat({ max: count - 1 }), { minLength: 1, maxLength: 4 }),
    }),
  )
  .map(({ candidate, edges, seeds }) => {
    const model = modelOf(candidate);
    const graph = dependencyGraph(model, edgeSource(edges));
    const core = reachable(graph.predecessors, seeds);
    const shows: Shows = (numbers) => core.every((id) => numbers.has(id));
    const all = model.operations.map((_, id) => id);
    const [n, m] = [all.length, core.length];
    return {
      ...{ candidate, edges, model, graph, core, shows, all },
      bound: 4 * m + 2 * m * Math.log2(n / m),
    };
  });

describe('pisco', () => {
  it('stays within 4M + 2M·log2(N/M) trials when what a related operation depends on is related', async () => {
    await fc.assert(
      fc.asyncProperty(closedProblem, async ({ candidate, model, graph, core, shows, all, bound }) => {
        const trials = new Trials(candidate, { oracle: fakeOracle(shows) });
        const left = await reduceUnits(all, graph, subsetTrials(model, trials));
        expect(left).toEqual(core);
        expect(trials.counts.trials).toBeLessThanOrEqual(bound);
      }),
      { numRuns: 200 },
    );
  });

  it('adds to that one trial of the whole and at most one of each operation left, for 1-minimality', async () => {
    await fc.assert(
      fc.asyncProperty(closedProblem, async ({ candidate, edges, core, shows, bound }) => {
        const { result, counts } = await reduceBy('pisco', {
          ...{ candidate, count: 0, edges, witness: [] },
          predicate: { shows, text: `all of ${core.join(',')}` },
        });
        expect(numbersIn(result).size).toBe(core.length);
        expect(counts.trials).toBeLessThanOrEqual(bound + 1 + core.length);
      }),
      { numRuns: 50 },
    );
  });

  it('ends where reducing both halves from the same case ends, with no more trials', async () => {
    await fc.assert(
      fc.asyncProperty(closedProblem, async ({ candidate, model, graph, core, shows, all }) => {
        const [one, other] = [0, 1].map(() => new Trials(candidate, { oracle: fakeOracle(shows) }));
        expect(await bothFromTheSameCase(all, graph, subsetTrials(model, other!))).toEqual(core);
        expect(await reduceUnits(all, graph, subsetTrials(model, one!))).toEqual(core);
        expect(one!.counts.trials).toBeLessThanOrEqual(other!.counts.trials);
      }),
      { numRuns: 50 },
    );
  });

  it('does not lose the finding where halves are redundant, as intersecting both results would', async () => {
    const candidate = numberedCase([[2], [2]]);
    const either: Shows = (numbers) => numbers.has(0) || numbers.has(3);
    const model = modelOf(candidate);
    const graph = dependencyGraph(model, edgeSource([]));
    const [one, other] = [0, 1].map(() => new Trials(candidate, { oracle: fakeOracle(either) }));
    expect(await reduceUnits([0, 1, 2, 3], graph, subsetTrials(model, one!))).toEqual([3]);
    expect(await bothFromTheSameCase([0, 1, 2, 3], graph, subsetTrials(model, other!))).toEqual([]);
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

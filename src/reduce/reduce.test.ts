import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';
import { edgeSource, fakeContext, fakeOracle, numberedCase, numbersIn } from './fake-oracle.case.js';
import { type ReductionOptions, type ReductionResult, reduceCase } from './reduce.js';
import { reduceFinding } from './reduce-finding.js';
import { type StrategyName, strategies } from './strategies/index.js';
import type { FindingOracle, ObservedRun, TrialOracle } from './trial.js';

const names = Object.keys(strategies) as StrategyName[];
const candidate = numberedCase([
  [3, 2, 4, 1, 3],
  [2, 4, 3, 3],
  [1, 5, 2, 4],
]);
const edges = [
  [2, 11],
  [4, 20],
  [11, 25],
] as const;
const shows = (numbers: ReadonlySet<number>) => [11, 20, 25].every((id) => numbers.has(id));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-reduce-'));
});
afterAll(() => rm(folder, { recursive: true }));

function options(oracle: TrialOracle, more: Partial<ReductionOptions> = {}): ReductionOptions {
  return {
    oracle,
    witness: [11, 25],
    dependencies: () => edgeSource(edges),
    context: fakeContext,
    now: () => 0,
    ...more,
  };
}

async function reduce(oracle: TrialOracle, more: Partial<ReductionOptions> = {}): Promise<ReductionResult> {
  const result = await reduceCase(candidate, options(oracle, more));
  if ('notReproduced' in result) throw new Error('must reproduce');
  return result;
}

/** An oracle that interrupts the reduction while its n-th trial runs. */
function interrupting(after: number): { readonly oracle: TrialOracle; readonly signal: AbortSignal } {
  const controller = new AbortController();
  const inner = fakeOracle(shows);
  const oracle: TrialOracle = {
    lanes: 1,
    run: async (given, lane) => {
      const answer = await inner.run(given, lane);
      if (inner.runs.length === after) controller.abort();
      return answer;
    },
  };
  return { oracle, signal: controller.signal };
}

describe('a reduction', () => {
  it('says that its result is minimal, and against how many removals', async () => {
    const result = await reduce(fakeOracle(shows), { confirmRuns: 20 });
    expect([...numbersIn(result.result)].sort()).toEqual([11, 20, 25]);
    expect(result).toMatchObject({
      minimal: true,
      sameFinding: true,
      confirmed: { shown: 20, runs: 20 },
      operations: 3,
      transactions: 3,
    });
    expect(result.removalsTried).toBe(3);
    expect(result.counts.trials).toBe(result.counts.accepted + result.counts.redundant);
  });

  it('runs no candidate twice', async () => {
    const oracle = fakeOracle(shows);
    const { counts } = await reduce(oracle, { confirmRuns: 0, operationsOnly: true });
    expect(new Set(oracle.runs).size).toBe(oracle.runs.length);
    expect(oracle.runs.length).toBe(counts.trials);
    expect(counts.cached).toBeGreaterThan(0);
  });

  it('does not start from a case that does not show the finding', async () => {
    const result = await reduceCase(candidate, options(fakeOracle(() => 'another')));
    expect(result).toEqual({ notReproduced: { verdict: 'another' } });
  });

  it('does not slide to another finding', async () => {
    const oracle = fakeOracle((numbers) => (shows(numbers) ? 'same' : numbers.has(3) ? 'another' : 'none'));
    const { result, counts } = await reduce(oracle, { strategy: 'ddmin' });
    expect(shows(numbersIn(result))).toBe(true);
    expect(counts.another).toBeGreaterThan(0);
  });

  it('counts what is infeasible and flaky apart, and keeps neither', async () => {
    const oracle = fakeOracle((numbers) =>
      !shows(numbers) ? 'none' : numbers.has(2) ? 'same' : numbers.has(4) ? 'infeasible' : 'flaky',
    );
    const { result, counts } = await reduce(oracle);
    expect([...numbersIn(result)].sort((a, b) => a - b)).toEqual([2, 11, 20, 25]);
    expect(counts.flaky).toBeGreaterThan(0);
    expect(counts.redundant).toBe(counts.none + counts.infeasible + counts.flaky);
  });

  it('returns the best so far when it is interrupted, and says so', async () => {
    const whole = await reduce(fakeOracle(shows));
    for (let after = 2; after < whole.counts.trials; after++) {
      const { oracle, signal } = interrupting(after);
      const result = await reduce(oracle, { signal });
      expect(shows(numbersIn(result.result))).toBe(true);
      expect(result).toMatchObject({ minimal: false, whyNotMinimal: 'interrupted' });
    }
  });

  it('ends at its limit of trials with the best so far', async () => {
    const { counts, whyNotMinimal } = await reduce(fakeOracle(shows), { strategy: 'ddmin', mostTrials: 7 });
    expect(counts.trials).toBe(7);
    expect(whyNotMinimal).toBe('the limit of trials was reached');
  });

  it.each(names)('interrupted at any trial and resumed, ends as if it had not been: %s', async (strategy) => {
    const whole = await reduce(fakeOracle(shows), { strategy });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: whole.counts.trials - 1 }), async (after) => {
        const stateFile = join(folder, `${strategy}-${after}.json`);
        await rm(stateFile, { force: true });
        const { oracle: stopping, signal } = interrupting(after);
        const first = await reduce(stopping, { strategy, stateFile, signal });
        expect(first.whyNotMinimal).toBe('interrupted');
        const oracle = fakeOracle(shows);
        const resumed = await reduce(oracle, { strategy, stateFile, confirmRuns: 0 });
        expect(resumed.result).toEqual(whole.result);
        expect(resumed.counts.trials).toBe(whole.counts.trials);
        // The trial that was under way when the signal came is asked again; nothing before it is.
        expect(oracle.runs.length).toBeLessThanOrEqual(whole.counts.trials - after + 1);
      }),
      { numRuns: 15 },
    );
  });

  it('keeps a readable state at every accepted step and leaves nothing beside it', async () => {
    const stateFile = join(folder, 'steps.json');
    const best: number[] = [];
    await reduce(fakeOracle(shows), {
      stateFile,
      strategy: 'ddmin',
      onProgress: ({ operations }) => best.push(operations),
    });
    const state = JSON.parse(await readFile(stateFile, 'utf8'));
    expect(
      state.best.sessions.flatMap((session: { statements: string[] }) => session.statements),
    ).toHaveLength(3);
    expect(best).toEqual(best.toSorted((a, b) => b - a));
    expect((await readdir(folder)).filter((name) => name.includes('.new'))).toEqual([]);
  });

  it('starts anew when the state in the file is of another reduction', async () => {
    const stateFile = join(folder, 'other.json');
    await reduce(fakeOracle(shows), { stateFile, strategy: 'ddmin' });
    const others = [
      { strategy: 'pisco' },
      { strategy: 'pisco', about: 'another finding' },
      { strategy: 'pisco', about: 'another finding', operationsOnly: true },
    ] as const;
    for (const other of others) {
      const oracle = fakeOracle(shows);
      const { counts } = await reduce(oracle, { stateFile, confirmRuns: 0, ...other });
      expect(oracle.runs.length).toBe(counts.trials);
    }
  });

  it.each([
    ['no JSON', 'this is not JSON'],
    ['{"format": "isolde-case", "version": 1}', 'expected "format": "isolde-reduction"'],
    ['{"format": "isolde-reduction", "version": 1, "answers": {"x": "maybe"}}', 'answers.x'],
  ])('refuses a state file that holds %s', async (text, problem) => {
    const stateFile = join(folder, 'bad.json');
    await writeFile(stateFile, text);
    await expect(reduce(fakeOracle(shows), { stateFile })).rejects.toThrow(problem);
  });

  it.each([
    // What comes after a success was tried ahead in vain, and creduce mostly succeeds.
    ['ddmin', 0.6],
    ['creduce', 0.8],
  ] as const)('takes less time with four lanes: %s', async (strategy, share) => {
    // Time stands still while anything is left to do, then all trials under way end together.
    const ticksWith = async (lanes: number) => {
      const waiting: (() => void)[] = [];
      const oracle = fakeOracle(shows, { lanes, delay: () => new Promise((end) => waiting.push(end)) });
      let over = false;
      const reduced = reduce(oracle, { strategy, operationsOnly: true, confirmRuns: 0 }).finally(() => {
        over = true;
      });
      let ticks = 0;
      while (!over) {
        await new Promise((turn) => setImmediate(turn));
        if (waiting.length > 0) ticks++;
        for (const end of waiting.splice(0)) end();
      }
      return { ticks, result: (await reduced).result };
    };
    const [one, four] = [await ticksWith(1), await ticksWith(4)];
    expect(four.result).toEqual(one.result);
    expect(four.ticks).toBeLessThan(share * one.ticks);
  });

  it('counts single runs when it confirms, not what repeated runs come to', async () => {
    let runs = 0;
    const oracle: TrialOracle = {
      ...fakeOracle(shows),
      runOnce: async () => ({ verdict: ++runs % 4 === 0 ? 'none' : 'same' }),
    };
    const result = await reduce(oracle, { confirmRuns: 8 });
    expect(result).toMatchObject({ sameFinding: false, confirmed: { shown: 6, runs: 8 } });
  });

  it('passes a broken environment on and leaves the best so far in the state file', async () => {
    const stateFile = join(folder, 'broken.json');
    const inner = fakeOracle(shows);
    const oracle: TrialOracle = {
      lanes: 1,
      run: (given, lane) =>
        inner.runs.length >= 4 ? Promise.reject(new Error('no database')) : inner.run(given, lane),
    };
    await expect(reduce(oracle, { stateFile, strategy: 'pisco' })).rejects.toThrow('no database');
    expect(JSON.parse(await readFile(stateFile, 'utf8')).answers).not.toEqual({});
  });
});

describe('a finding', () => {
  /** What a database would say of a run: an operation of the case for each statement, and a finding about two of them. */
  function observed(given: Candidate, operations: readonly number[]): ObservedRun {
    const texts = given.schedule.batches.flat().map(([s, p]) => given.case.sessions[s]!.statements[p]!);
    const history: History = {
      header: { sessions: given.case.sessions.map(({ name }) => name) },
      operations: given.schedule.batches.flat().map((statement, index) => ({
        ...{ index, session: statement[0], transaction: index, kind: 'update' as const, statement },
        ...{ sql: texts[index]!, start: index, end: index, outcome: 'ok' as const },
      })),
    };
    const named = operations.map((id) => texts.indexOf(`OP ${id}`));
    if (named.includes(-1)) return { history, findings: [] };
    const finding: Finding = {
      ...{ kind: 'wrong-result', oracle: 'mechanism', certainty: 'proved', rulesOut: [], transactions: [] },
      operations: named.map((index) => ({ index, transaction: index, text: '' })),
      explanation: [],
    };
    return { history, findings: [finding] };
  }

  const anyOracle = (operations: readonly number[]): FindingOracle & { looked: string[] } => {
    const looked: string[] = [];
    return {
      ...fakeOracle(shows),
      looked,
      subject: { name: 'fake 1', dialect: 'postgres', levels: [] },
      observe: async (given) => observed(given, operations),
      identity: ({ kind }) => kind,
      lookFor: (identity) => looked.push(identity),
    };
  };

  it('is reduced by whatever answers trials', async () => {
    const oracle = anyOracle([11, 25]);
    const outcome = await reduceFinding(candidate, { oracle });
    if (outcome.kind !== 'reduced') throw new Error(outcome.kind);
    expect([...numbersIn(outcome.result.result)].sort()).toEqual([11, 20, 25]);
    expect(outcome.result.minimal).toBe(true);
    expect(oracle.looked).toEqual(['wrong-result']);
  });

  it('that a second run of the whole case does not show is not reduced', async () => {
    const oracle: FindingOracle = {
      ...anyOracle([11, 25]),
      run: async () => ({ verdict: 'flaky', note: 'the finding showed in 3 of 10 runs' }),
    };
    for (const strategy of names) {
      expect(await reduceFinding(candidate, { oracle, strategy })).toMatchObject({
        kind: 'not-reproduced',
        trial: { verdict: 'flaky' },
      });
    }
  });

  it('that is not there ends with the run that shows none', async () => {
    expect((await reduceFinding(candidate, { oracle: anyOracle([999]) })).kind).toBe('no-finding');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candidate, contentKey } from './candidate.js';
import { modelOf, restrictTo } from './case-model.js';
import { fakeOracle, numberedCase } from './fake-oracle.case.js';
import type { TrialResult, Verdict } from './trial.js';
import { Stopped, Trials, unlessStopped } from './trials.js';

const whole = numberedCase([Array.from({ length: 8 }, () => 1)]);
const only = (id: number): Candidate => restrictTo(modelOf(whole), [id]);
const numberOf = (numbers: ReadonlySet<number>) => [...numbers][0]!;

describe('the first candidate that shows the finding', () => {
  it('is the first in order with any number of lanes, and trials are counted as with one', async () => {
    const verdicts = fc.array(fc.constantFrom<Verdict>('same', 'another', 'none', 'infeasible', 'flaky'), {
      ...{ minLength: 1, maxLength: 8 },
    });
    await fc.assert(
      fc.asyncProperty(verdicts, fc.integer({ min: 1, max: 4 }), async (answers, lanes) => {
        const trials = new Trials(whole, {
          oracle: fakeOracle((numbers) => answers[numberOf(numbers)]!, { lanes }),
        });
        const expected = answers.indexOf('same');
        expect(await trials.first(answers.length, only)).toBe(expected);
        expect(trials.best).toEqual(expected < 0 ? whole : only(expected));
        const asked = expected < 0 ? answers : answers.slice(0, expected + 1);
        const { trials: count, accepted, redundant, flaky, another, infeasible, none } = trials.counts;
        expect(count).toBe(asked.length);
        expect(accepted).toBe(expected < 0 ? 0 : 1);
        expect(redundant).toBe(flaky + another + infeasible + none);
        expect({ flaky, another, infeasible, none }).toEqual({
          flaky: asked.filter((each) => each === 'flaky').length,
          another: asked.filter((each) => each === 'another').length,
          infeasible: asked.filter((each) => each === 'infeasible').length,
          none: asked.filter((each) => each === 'none').length,
        });
        await trials.drain();
      }),
      { seed: 83, numRuns: 150 },
    );
  });

  it('is not looked for among those not worth a trial', async () => {
    const oracle = fakeOracle(() => false);
    const trials = new Trials(whole, { oracle });
    expect(await trials.first(4, (i) => (i % 2 === 0 ? undefined : only(i)))).toBe(-1);
    expect(oracle.runs).toEqual(['1', '3']);
  });

  it('becomes the best only if it is not merely looked for', async () => {
    const trials = new Trials(whole, { oracle: fakeOracle(() => true) });
    expect((await trials.find(2, only))?.number).toBe(0);
    expect(trials.best).toBe(whole);
  });
});

describe('answers', () => {
  it('are remembered by content: nothing runs twice, and what is asked again is counted as such', async () => {
    const oracle = fakeOracle(() => false);
    const trials = new Trials(whole, { oracle });
    await trials.test(only(1));
    await trials.test({ ...only(1), case: { ...only(1).case, name: 'renamed' } });
    expect(oracle.runs).toEqual(['1']);
    expect(trials.counts).toMatchObject({ trials: 1, cached: 1 });
  });

  it('of an interrupted reduction are used without a run', async () => {
    const oracle = fakeOracle(() => false);
    const known = new Map([[contentKey(only(2)), 'same' as const]]);
    const trials = new Trials(whole, { oracle, known });
    expect(await trials.test(only(2))).toBe(true);
    expect(oracle.runs).toEqual([]);
    expect(trials.counts).toMatchObject({ trials: 1, accepted: 1, speculative: 0 });
  });

  it('are told in order, with their notes and without their histories', async () => {
    const told: [string, TrialResult][] = [];
    const history = { header: { sessions: [] }, operations: [] };
    const oracle = {
      lanes: 3,
      run: async (candidate: Candidate): Promise<TrialResult> => {
        const sql = candidate.case.sessions[0]!.statements[0]!;
        return { verdict: 'none', history, ...(sql === 'OP 1' && { note: 'slow' }) };
      },
    };
    const onTrial = ({ case: program }: Candidate, result: TrialResult) =>
      told.push([program.sessions[0]!.statements[0]!, result]);
    await new Trials(whole, { oracle, onTrial }).first(3, only);
    expect(told).toEqual([
      ['OP 0', { verdict: 'none' }],
      ['OP 1', { verdict: 'none', note: 'slow' }],
      ['OP 2', { verdict: 'none' }],
    ]);
  });

  it('that an oracle failed to give are asked for again', async () => {
    let broken = true;
    const oracle = {
      lanes: 1,
      run: async (): Promise<TrialResult> => {
        if (broken) throw new Error('connection refused');
        return { verdict: 'same' };
      },
    };
    const trials = new Trials(whole, { oracle });
    await expect(trials.test(only(0))).rejects.toThrow('connection refused');
    expect(trials.answers.size).toBe(0);
    broken = false;
    expect(await trials.test(only(0))).toBe(true);
  });
});

describe('speculation', () => {
  it('runs what comes next on idle lanes, and counts what nobody asked for apart', async () => {
    const oracle = fakeOracle((numbers) => numberOf(numbers) === 0, { lanes: 3 });
    const trials = new Trials(whole, { oracle });
    expect(await trials.test(only(0), [() => only(1), () => only(2), () => only(3)])).toBe(true);
    await trials.drain();
    expect(new Set(oracle.runs)).toEqual(new Set(['0', '1', '2']));
    expect(trials.counts).toMatchObject({ trials: 1, speculative: 2 });
  });

  it('does not happen with one lane', async () => {
    const oracle = fakeOracle(() => false);
    await new Trials(whole, { oracle }).test(only(0), [() => only(1)]);
    expect(oracle.runs).toEqual(['0']);
  });
});

describe('a reduction told to stop', () => {
  it('asks nothing more after its limit, and keeps the best', async () => {
    const trials = new Trials(whole, {
      oracle: fakeOracle((numbers) => numberOf(numbers) === 0),
      mostTrials: 1,
    });
    expect(await trials.test(only(0))).toBe(true);
    await expect(trials.test(only(1))).rejects.toBeInstanceOf(Stopped);
    expect(trials.best).toEqual(only(0));
  });

  it('leaves a run in flight behind', async () => {
    const stop = new AbortController();
    const oracle = { lanes: 1, run: () => new Promise<TrialResult>(() => undefined) };
    const asked = new Trials(whole, { oracle, signal: stop.signal }).test(only(0));
    stop.abort();
    expect(await unlessStopped(asked)).toBe('stopped');
  });

  it('tells other errors from being stopped', async () => {
    await expect(unlessStopped(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await unlessStopped(Promise.resolve(4))).toBe(4);
  });

  it('awaits whoever keeps what was accepted', async () => {
    const kept: Candidate[] = [];
    const onAccepted = async (candidate: Candidate) => {
      await Promise.resolve();
      kept.push(candidate);
    };
    await new Trials(whole, { oracle: fakeOracle(() => true), onAccepted }).test(only(5));
    expect(kept).toEqual([only(5)]);
  });
});

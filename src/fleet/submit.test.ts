/** How commands are cut into jobs: laws over any range, chunk and choice. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupSize } from '../hunt/index.js';
import { type HuntJob, type MatrixJob, parseJob } from './job.js';
import { checkJob, type HuntRequest, huntJobs, matrixJobs, reduceJob } from './submit.js';

const some = <T>(minLength: number, ...items: readonly T[]) =>
  fc.uniqueArray(fc.constantFrom(...items), { minLength });
const requests: fc.Arbitrary<HuntRequest> = fc
  .record({
    targets: some(1, 'duckdb:', 'sqlite:', 'postgres:?fault=lost-update'),
    seeds: some(1, '1', '2', 'x'),
    levels: some(0, 'snapshot' as const, 'serializable' as const),
    profiles: some(0, 'no-op', 'read-mostly'),
    from: fc.nat(100),
    length: fc.integer({ min: 1, max: 120 }),
    chunk: fc.integer({ min: 1, max: 40 }),
  })
  .map(({ length, ...rest }) => ({ ...rest, to: rest.from + length, contract: 'vendor', runs: 3 }));

const cut = (request: HuntRequest) =>
  huntJobs(request).map(({ payload }) => parseJob(payload, 'job') as HuntJob);
const choiceOf = ({ target, seed, level, profile }: HuntJob) =>
  JSON.stringify([target, seed, level, profile]);

describe('a hunt', () => {
  it('takes an engine’s name for its URL, and no name that no engine has', () => {
    const request = {
      seeds: ['1'],
      levels: [],
      profiles: [],
      from: 0,
      to: 8,
      contract: 'vendor',
      runs: 3,
      chunk: 8,
    };
    expect(huntJobs({ ...request, targets: ['h2'] })).toMatchObject([{ needs: 'engine h2' }]);
    expect(() => huntJobs({ ...request, targets: ['duckdb:', 'foo:'] })).toThrow('"foo:"');
  });

  it('does every round of every choice once (seed 20)', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { from, to, targets, seeds, levels, profiles } = request;
        const done = new Map<string, number[]>();
        for (const job of cut(request)) {
          const rounds = Array.from({ length: job.to - job.from }, (_, i) => job.from + i);
          done.set(choiceOf(job), [...(done.get(choiceOf(job)) ?? []), ...rounds]);
        }
        const choices = [targets, seeds, levels, profiles].map(({ length }) => Math.max(1, length));
        expect(done.size).toBe(choices.reduce((all, each) => all * each));
        const all = Array.from({ length: to - from }, (_, i) => from + i);
        for (const rounds of done.values()) expect(rounds).toEqual(all);
      }),
      { seed: 20, numRuns: 60 },
    );
  });

  it('never cuts a group of rounds that share a program (seed 21)', () => {
    fc.assert(
      fc.property(requests, (request) => {
        for (const { from, to } of cut(request)) {
          if (from !== request.from) expect(from % groupSize).toBe(0);
          if (to !== request.to) expect(to % groupSize).toBe(0);
        }
      }),
      { seed: 21, numRuns: 60 },
    );
  });

  it('is cut where another range of it is cut, so that two batches share their jobs (seed 22)', () => {
    fc.assert(
      fc.property(requests, fc.integer({ min: 1, max: 50 }), (request, more) => {
        const ends = (to: number) => new Set(cut({ ...request, to }).map((job) => job.to));
        const longer = ends(request.to + more);
        for (const end of ends(request.to)) if (end !== request.to) expect(longer).toContain(end);
      }),
      { seed: 22, numRuns: 60 },
    );
  });

  it('looks everywhere before it goes on (seed 23)', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const starts = cut(request).map(({ from }) => from);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
      }),
      { seed: 23, numRuns: 40 },
    );
  });
});

describe('a matrix', () => {
  const subjects = [{ bug: 'b1' }, { file: 'a.sql', text: 'T1: SELECT 1' }];

  it('has a job for each case, database and level, those of a database together', () => {
    const jobs = matrixJobs({
      ...{ subjects, targets: ['duckdb:', 'sqlite:'], levels: ['snapshot', 'serializable'], runs: 3 },
    });
    const read = jobs.map(({ payload }) => parseJob(payload, 'job') as MatrixJob);
    expect(read.map(({ target }) => target)).toEqual([
      ...Array.from({ length: 4 }, () => 'duckdb:'),
      ...Array.from({ length: 4 }, () => 'sqlite:'),
    ]);
    expect(new Set(jobs.map(({ payload }) => payload)).size).toBe(8);
  });

  it('leaves the level to the case where none is named', () => {
    const [job] = matrixJobs({ subjects: subjects.slice(0, 1), targets: ['duckdb:'], levels: [], runs: 3 });
    expect(parseJob(job!.payload, 'job')).not.toHaveProperty('level');
    expect(job!.needs).toBe('engine duckdb');
  });
});

describe('a file', () => {
  const content = new Uint8Array([1, 2, 3]);

  it('goes with the job that checks it, which any worker can do', () => {
    expect(checkJob({ kind: 'check', file: 'a.jsonl' }, content)).toMatchObject({
      ...{ needs: 'check', input: { name: 'a.jsonl', content } },
    });
  });

  it('goes with a reduction of a history, and with no other', () => {
    const job = { kind: 'reduce', target: 'duckdb:', runs: 1, lanes: 1 } as const;
    const ofHistory = reduceJob({ ...job, subject: { history: 'h.jsonl' } }, content);
    expect(ofHistory.input).toEqual({ name: 'h.jsonl', content });
    const empty = { case: { dialect: 'duckdb', setup: [], sessions: [] } } as unknown as Parameters<
      typeof reduceJob
    >[0]['subject'];
    expect(reduceJob({ ...job, subject: empty }, content)).not.toHaveProperty('input');
  });
});

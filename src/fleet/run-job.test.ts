/** Jobs that cannot be done: what is said, whether another try is of use, and that no password is in it. */
import { describe, expect, it } from 'vitest';
import { type Job, printJob } from './job.js';
import { type JobProblem, JobRunner } from './run-job.js';
import type { TargetPolicy } from './target-policy.js';

const policy: TargetPolicy = {
  engines: { duckdb: '1.5' },
  allowed: ['postgres://ci:s3cret@127.0.0.1:1/test'],
};

async function run(job: Job | string, input?: string): Promise<JobProblem> {
  const runner = new JobRunner();
  const payload = typeof job === 'string' ? job : printJob(job);
  const bytes = input === undefined ? {} : { input: new TextEncoder().encode(input) };
  const text = { id: '5', payload, lost: 0, policy, ignored: [], ...bytes };
  return (await runner.run(text, new AbortController().signal)) as JobProblem;
}

const hunt = (target: string): Job => ({
  ...{ kind: 'hunt', target, seed: '1', from: 0, to: 1, contract: 'vendor', runs: 1 },
});

const history = [
  '{"format":"isolde-history","version":1,"sessions":["T1"]}',
  '{"index":0,"session":0,"transaction":0,"kind":"begin","start":0,"end":1,"outcome":"ok"}',
  '',
].join('\n');

describe('a job that cannot be done', () => {
  it.each<[string, Job | string, string | undefined, string, boolean]>([
    ['is no JSON', '{', undefined, 'job 5', true],
    ['is of an unknown kind', '{"format":"isolde-job","version":1,"kind":"x"}', undefined, 'kind', true],
    ['comes from a later version', '{"format":"isolde-job","version":99}', undefined, '99', true],
    ['lost its file', { kind: 'check', file: 'a.jsonl' }, undefined, 'a.jsonl: the file is missing', true],
    ['has a file that is no history', { kind: 'check', file: 'a.jsonl' }, '{"x": 1}', 'a.jsonl', true],
    [
      'asks for a level that is none',
      { kind: 'check', file: 'a.jsonl', level: 'strong' },
      history,
      'strong',
      true,
    ],
    // Another worker may have what this one has not.
    ['needs an engine that is not here', hunt('sqlite:'), undefined, 'this worker has no sqlite', false],
    ['needs a server of somebody’s', hunt('mysql://root@db/'), undefined, 'does not open mysql', true],
    ['would run a command', hunt('exec:rm -rf /'), undefined, 'does not open exec', true],
    ['names a program', hunt('postgres:?binaries=/tmp/x'), undefined, 'does not open postgres', true],
    ['names a file', hunt('duckdb:/home/me/x.db'), undefined, 'does not open duckdb', true],
    [
      'has nobody to ask',
      { kind: 'matrix', target: 'duckdb:', subject: { bug: 'b' }, runs: 1 },
      undefined,
      'no connection',
      false,
    ],
  ])('because it %s says so', async (_, job, input, words, hopeless) => {
    const { problem, hopeless: told } = await run(job, input);
    expect(problem).toContain(words);
    expect(told).toBe(hopeless);
  });

  it('says nothing of the worker’s passwords', async () => {
    // A server that nobody runs: port 1 refuses at once.
    const { problem } = await run(hunt('postgres://ci@127.0.0.1:1/test'));
    expect(problem).not.toContain('s3cret');
    expect(problem).toContain('127.0.0.1');
  });
});

it('a history is judged without any database', async () => {
  const answer = await run({ kind: 'check', file: 'a.jsonl' }, history);
  expect(answer).toMatchObject({ bugs: [], line: expect.stringMatching(/^checked a\.jsonl: /) });
});

it.each(['{"x": 1}', '', '{:type'])(
  'a file that cannot be read is called by the name it was submitted under: %j',
  async (content) => {
    const { problem } = await run({ kind: 'check', file: 'a.jsonl' }, content);
    expect(problem).toContain('a.jsonl');
    expect(problem).not.toMatch(/fleet-check|\/a\.jsonl/);
  },
);

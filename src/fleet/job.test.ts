/** A job is data from another machine. */
import { describe, expect, it } from 'vitest';
import { parseScript, serialOrder } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { privateEngine, targetDeclarations } from '../targets/index.js';
import { type HuntJob, type Job, parseJob, printJob } from './job.js';
import { huntJobs } from './submit.js';
import { admittedUrl, needOf, needsMet, type TargetPolicy } from './target-policy.js';

const hunt: HuntJob = {
  ...{ kind: 'hunt', target: 'duckdb:?fault=lost-update', seed: '7', from: 8, to: 24 },
  ...{ level: 'snapshot', contract: 'reported', profile: 'no-op', oracles: ['mechanism'], runs: 3 },
};
const scheduled = parseScript('CREATE TABLE t (a INT);\nT1: SELECT a FROM t;\nT2: SELECT a FROM t;', {
  file: 'small.sql',
  dialect: 'duckdb',
});

describe('jobs', () => {
  it('are read as they were printed', () => {
    const schedule = serialOrder(scheduled.case);
    const jobs: Job[] = [
      hunt,
      { kind: 'check', file: 'a.jsonl', historyFormat: 'isolde', level: 'serializable' },
      { kind: 'reduce', target: 'duckdb:', subject: { case: scheduled.case }, runs: 5, lanes: 4 },
      { kind: 'reduce', target: 'duckdb:', subject: { history: 'a.history.jsonl' }, runs: 5, lanes: 4 },
      {
        ...{ kind: 'matrix', target: 'duckdb:', level: 'snapshot', runs: 3 },
        subject: { file: 'a.sql', text: 'T1: SELECT 1' },
      },
      { kind: 'matrix', target: 'duckdb:', subject: { bug: 'duckdb-lost-update-1' }, runs: 3 },
      {
        ...{
          kind: 'trial',
          target: 'duckdb:',
          case: scheduled.case,
          schedule,
          identity: 'x',
          tolerated: ['SELECT gone'],
        },
        setting: { oracle: 'mechanism', contract: 'duckdb:snapshot', level: 'snapshot' },
      },
    ];
    for (const job of jobs) expect(parseJob(printJob(job), 'job')).toEqual(job);
  });

  it.each([
    ['{"format":"isolde-job","version":1,"kind":"shell","command":"rm"}', 'expected one of hunt'],
    [printJob({ ...hunt, extra: 1 } as HuntJob), 'unknown field extra'],
    [printJob({ ...hunt, to: 8 }), 'rounds behind "from"'],
    [printJob({ ...hunt, to: 1e9 }), 'rounds behind "from"'],
    [printJob({ ...hunt, runs: 0 }), 'from 1 to 1000'],
    [printJob({ ...hunt, profile: '{"name": 1}' }), 'profile'],
    [printJob({ ...hunt, oracles: ['tarot'] }), 'expected one of'],
    [printJob({ ...hunt, seed: 'x'.repeat(5000) }), 'at most 4000 characters'],
    [printJob({ kind: 'check', file: '../../etc/passwd' }), 'plain file name'],
    [printJob({ kind: 'check', file: '.bashrc' }), 'plain file name'],
    [
      printJob({ kind: 'matrix', target: 'duckdb:', subject: { file: '../a.sql', text: '' }, runs: 3 }),
      'plain file name',
    ],
    ['[', 'not JSON'],
  ])('are refused: %.100s', (text, why) => {
    expect(() => parseJob(text, 'job 1')).toThrow(why);
    expect(() => parseJob(text, 'job 1')).toThrow(IsoldeError);
  });
});

describe('targets of jobs', () => {
  it('are private engines with harmless parameters', () => {
    expect(privateEngine('duckdb:')).toBe('duckdb');
    expect(privateEngine('postgres:?fault=lost-update')).toBe('postgres');
    expect(privateEngine('turso:?mode=mvcc&process=own')).toBe('turso');
    expect(privateEngine('duckdb@1.1.3:')).toBe('duckdb@1.1.3');
    expect(privateEngine('hsqldb:?tx=mvcc')).toBe('hsqldb');
    expect(() => admittedUrl('duckdb@1.1.3:', { engines: { duckdb: '1.5' }, allowed: [] })).toThrow(
      'no duckdb@1.1.3',
    );
  });

  it.each(targetDeclarations.flatMap(({ name, privateUrl }) => (privateUrl ? [[name, privateUrl({})]] : [])))(
    'may be %s by %s, also with a version',
    (name, url) => {
      expect(privateEngine(url)).toBe(name);
      expect(privateEngine(`${name}@1.2.3:`)).toBe(`${name}@1.2.3`);
      expect(needOf(url)).toBe(`engine ${name}`);
    },
  );

  it.each(
    targetDeclarations.flatMap(({ name, privateUrl, settings = {} }) =>
      Object.entries(settings).flatMap(([setting, values]) =>
        values.map((value) => [name, `${privateUrl!({})}?${setting}=${value}`]),
      ),
    ),
  )('may have the settings that a matrix of %s has: %s', (name, url) => {
    expect(privateEngine(url)).toBe(name);
  });

  it('may not take a machine for themselves, or have another engine’s settings', () => {
    expect(privateEngine('duckdb:?threads=8')).toBe('duckdb');
    for (const url of ['duckdb:?threads=800', 'duckdb:?threads=x', 'sqlite:?threads=4', 'duckdb:?toString=1'])
      expect(privateEngine(url)).toBeUndefined();
  });

  it('may name a series, which the newest version of it answers', () => {
    const engines = {
      ...{ duckdb: 'v1.5.5', 'duckdb@1.1.1': 'v1.1.1', 'duckdb@1.1.3': 'v1.1.3' },
      ...{ 'tidb@6.6.0': '8.0.11-TiDB-v6.6.0', 'turso@0.5.0-pre.17': '0.5.0' },
    };
    const policy: TargetPolicy = { engines, allowed: [] };
    const met = needsMet(policy);
    for (const url of ['tidb@6.6:', 'tidb@6:', 'tidb@6.6.0:', 'duckdb@1.1:?fault=lost-update']) {
      expect(met).toContain(needOf(url));
      expect(admittedUrl(url, policy)).toBe(url);
    }
    expect(met).toContain('trial duckdb@1.1 v1.1.3');
    expect(met).not.toContain('trial duckdb@1.1 v1.1.1');
    // As in URLs: what leads to a release is none of its series, and 1.10 is not of 1.1.
    for (const url of ['turso@0.5:', 'duckdb@1.5:', 'duckdb@1.10:', 'duckdb@:', 'tidb@6.:', 'tidb:']) {
      expect(met).not.toContain(needOf(url));
      expect(() => admittedUrl(url, policy)).toThrow(IsoldeError);
    }
  });

  it.each(['foo:', 'foo', 'duckbd:?threads=4', ''])('are not what no engine is called: %j', (url) => {
    expect(() => needOf(url)).toThrow('no database is known by the URL');
  });

  it.each([
    'exec:rm -rf /',
    'duckdb:/home/somebody/data.db',
    'duckdb:?package=anything',
    'postgres:?binaries=/tmp/x',
    'postgres:?archive_command=touch%20x',
    'postgres:?shared_preload_libraries=x',
    'postgres://host/db',
    'mysql://root@host/',
    'sqlite:FOLDER',
    'sqlite:?journal=../x',
    'nothing:',
  ])('are not: %s', (url) => {
    const policy: TargetPolicy = { engines: { duckdb: '1', postgres: '18', sqlite: '3' }, allowed: [] };
    expect(privateEngine(url)).toBeUndefined();
    expect(() => admittedUrl(url, policy)).toThrow('does not open');
  });

  it('are servers only where the worker was told so, which has the password', () => {
    const policy: TargetPolicy = {
      engines: { duckdb: '1.5' },
      allowed: ['postgres://ci:s3cret@db:5432/test'],
    };
    expect(needsMet(policy)).toEqual([
      'trial duckdb 1.5',
      'check',
      'engine duckdb',
      'target postgres://ci@db:5432/test',
    ]);
    expect(needOf('postgres://ci@db:5432/test')).toBe('target postgres://ci@db:5432/test');
    expect(admittedUrl('postgres://ci@db:5432/test', policy)).toBe('postgres://ci:s3cret@db:5432/test');
    expect(() => admittedUrl('postgres://ci@db:5432/other', policy)).toThrow('--allow-target');
    expect(() => admittedUrl('postgres:', policy)).toThrow('no postgres');
    expect(() => needOf('postgres://ci:s3cret@db/test')).toThrow('jobs hold no passwords');
    expect(() => needOf('postgres://ci:s3cret@db/test')).not.toThrow('s3cret');
    const odd: TargetPolicy = { engines: {}, allowed: ['postgres://ci:s3@cret@db/test?password=s3cret'] };
    expect(needsMet(odd)).toEqual(['check', 'target postgres://ci@db/test']);
    expect(admittedUrl('postgres://ci@db/test', odd)).toBe(odd.allowed[0]);
  });
});

it('a hunt is cut at the same rounds whoever does it', () => {
  const jobs = huntJobs({
    ...{
      targets: ['duckdb:', 'sqlite:'],
      seeds: ['1', '2'],
      levels: [],
      profiles: [],
      contract: 'reported',
      runs: 3,
    },
    ...{ from: 4, to: 40, chunk: 12 },
  });
  const ranges = jobs
    .map(({ payload }) => parseJob(payload, 'job') as HuntJob)
    .map(({ from, to }) => [from, to]);
  expect(ranges).toEqual(
    [
      [4, 16],
      [16, 32],
      [32, 40],
    ].flatMap((range) => [range, range, range, range]),
  );
  expect(jobs.map(({ needs }) => needs).slice(0, 4)).toEqual([
    ...['engine duckdb', 'engine duckdb', 'engine sqlite', 'engine sqlite'],
  ]);
});

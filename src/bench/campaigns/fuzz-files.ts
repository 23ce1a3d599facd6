/** Files that Isolde writes for itself and reads again, and those that users write beside cases: each read as its command does. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Command } from 'commander';
import { printCaseFile, type ScheduledCase, serialOrder } from '../../cases/index.js';
import { check, parseCertificate, verifyCertificate } from '../../check/index.js';
import { applyConfig, readConfig } from '../../config-file.js';
import { IsoldeError } from '../../errors.js';
import { type Job, parseJob, printJob } from '../../fleet/index.js';
import {
  findCapabilities,
  generateCase,
  parseCapabilities,
  printCapabilities,
} from '../../generate/index.js';
import { formatSamples, readAnyHistory } from '../../histories/index.js';
import { type BurstFile, parseBurst, printBurst, readTemplates } from '../../hunt/index.js';
import { openKnown } from '../../known/index.js';
import {
  type Interaction,
  parseCounterexample,
  printCounterexample,
  printPlan,
} from '../../properties/index.js';
import { candidateOf, readState, writeState } from '../../reduce/index.js';
import type { FuzzSubject } from './fuzz-subject.js';

/** They work in a folder of their own below this one. */
export async function fuzzFiles(top: string, cases: readonly ScheduledCase[]): Promise<FuzzSubject[]> {
  const folder = await mkdtemp(join(top, 'files-'));
  return [
    await reductionState(folder, cases[0]!),
    configuration(folder),
    capabilities(),
    counterexample(),
    burst(),
    templates(folder, cases),
    jobs(cases[0]!),
    await certificate(folder),
    await knownBugs(folder),
  ];
}

/** What is read, printed and read again must be what it was. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error(`${what} and read again, is another`);
}

async function reductionState(folder: string, scheduled: ScheduledCase): Promise<FuzzSubject> {
  const [file, again] = [join(folder, 'state.json'), join(folder, 'again.json')];
  const answers = new Map([
    ['0123', 'same'],
    ['4567', 'flaky'],
  ] as const);
  await writeState(file, { start: 'x', answers, best: candidateOf(scheduled) });
  return {
    name: 'reduction-state',
    samples: [await readFile(file)],
    read: async (input) => {
      await writeFile(file, input);
      const state = (await readState(file))!;
      await writeState(again, state);
      same(await readState(again), state, 'a state, printed');
    },
  };
}

/** As a file that was merely found and as one that was named, applied to options of every sort. */
function configuration(folder: string): FuzzSubject {
  const file = join(folder, 'isolde.config.json');
  const sample = {
    format: 'isolde-config',
    version: 1,
    target: 'staging',
    targets: { staging: 'postgres://tester@db.example/scratch', local: 'duckdb:?process=own' },
    options: {
      '*': { store: 'bugs' },
      hunt: { for: '10m', 'only-new': true, ignore: ['a', 'b'], color: false, runs: 5 },
    },
  };
  return {
    name: 'config',
    samples: [Buffer.from(JSON.stringify(sample))],
    read: async (input, random) => {
      await writeFile(file, input);
      const program = new Command('isolde').exitOverride();
      program
        .command('hunt')
        .argument('[url]')
        .option('--store <folder>', '', 'bugs')
        .option('--for <time>')
        .option('--only-new')
        .option('--no-color')
        .option('--ignore <id>', '', (id: string, before: readonly string[] = []) => [...before, id])
        .option('--runs <n>', '', Number);
      applyConfig(program, readConfig({ file, named: random.chance(0.5) }), ['hunt', 'bugs']);
    },
  };
}

function capabilities(): FuzzSubject {
  return {
    name: 'capabilities',
    samples: ['postgres', 'mysql', 'sqlite', 'duckdb'].map((target) =>
      Buffer.from(printCapabilities(findCapabilities(target)!)),
    ),
    read: async (input) => {
      const read = parseCapabilities(input.toString(), 'x.capabilities.json');
      same(parseCapabilities(printCapabilities(read), 'printed'), read, 'capabilities, printed');
      generateCase('1', { capabilities: read });
    },
  };
}

function counterexample(): FuzzSubject {
  const interactions: readonly Interaction[] = [
    { type: 'statement', id: 0, group: 0, session: 0, sql: 'CREATE TABLE t (a INT)' },
    { type: 'statement', id: 1, group: 1, session: 1, sql: 'SELECT a FROM t', mayFail: true },
    { type: 'assume', group: 1, check: { type: 'fails', result: 1, classes: ['deadlock'] }, says: 'a' },
    { type: 'assert', group: 1, check: { type: 'lacks', result: 1, row: [1, 'x', null] }, says: 'b' },
    {
      type: 'assert',
      group: 1,
      check: { type: 'equal', left: { rows: 1 }, right: { sum: [1, 2] } },
      says: 'c',
    },
    { type: 'fault', group: 2, fault: 'kill', session: 0 },
  ];
  const sample = {
    plan: { seed: 'x', interactions, properties: new Map([[1, 'mine']]) },
    dialect: 'duckdb',
    level: 'snapshot',
    identity: 'i',
    message: 'm',
  } as const;
  return {
    name: 'counterexample',
    samples: [Buffer.from(printCounterexample(sample))],
    read: async (input) => {
      const read = parseCounterexample(input.toString(), 'counterexample.json');
      printPlan(read.plan);
      // Names of groups that the plan does not have are not printed.
      const printed = printCounterexample(read);
      same(
        printCounterexample(parseCounterexample(printed, 'printed')),
        printed,
        'a counterexample, printed',
      );
    },
  };
}

function burst(): FuzzSubject {
  const rate = { runs: 2, broken: 1, unknown: 0, outcomes: [{ text: '1 lost', count: 1 }] };
  const size = { sessions: 8, repeats: 200 };
  const sample: BurstFile = {
    ...{ program: 'pairs', form: 'block', fact: 'f', level: 'serializable', verdict: 'confirmed' },
    target: { name: 'postgres', version: '18.4', settings: { fault: 'lost-update' } },
    ...{ contract: 'postgres:serializable', clause: 'forbids G2', size, rate, serial: rate, control: rate },
    reduced: { ...size, rate },
    ...{ count: 1, firstSeen: '2026-01-31T12:00:00Z', lastSeen: '2026-01-31T12:00:00Z' },
  };
  return {
    name: 'burst',
    samples: [Buffer.from(printBurst(sample))],
    read: async (input) => {
      const read = parseBurst(input.toString(), 'burst.json');
      same(parseBurst(printBurst(read), 'printed'), read, 'a burst, printed');
    },
  };
}

/** The name of a set is a hash of its text: each input gets its own. */
function templates(folder: string, cases: readonly ScheduledCase[]): FuzzSubject {
  const printed = cases.slice(0, 3).map((each) => printCaseFile(each).trimEnd());
  const sample = `{"format": "isolde-templates", "version": 1, "templates": [\n${printed.join(',\n')}\n]}\n`;
  return {
    name: 'templates',
    samples: [Buffer.from(sample)],
    read: async (input) => {
      await mkdir(join(folder, 'templates'), { recursive: true });
      // The hash is that of the text as it is read.
      const hash = createHash('sha256').update(input.toString()).digest('hex').slice(0, 12);
      const file = join(folder, 'templates', `${hash}.json`);
      await writeFile(file, input);
      try {
        await readTemplates(folder, hash);
      } finally {
        await rm(file);
      }
    },
  };
}

function jobs(scheduled: ScheduledCase): FuzzSubject {
  const schedule = serialOrder(scheduled.case);
  const samples: readonly Job[] = [
    {
      ...{ kind: 'hunt', target: 'duckdb:?fault=lost-update', seed: '7', from: 8, to: 24 },
      ...{ level: 'snapshot', contract: 'reported', profile: 'no-op', oracles: ['mechanism'], runs: 3 },
    },
    { kind: 'check', file: 'a.jsonl', historyFormat: 'isolde', level: 'serializable' },
    { kind: 'reduce', target: 'duckdb:', subject: { case: scheduled.case }, runs: 5, lanes: 4 },
    {
      kind: 'matrix',
      target: 'duckdb:',
      subject: { file: 'a.sql', text: 'T1: SELECT 1' },
      level: 'snapshot',
      runs: 3,
    },
    {
      ...{
        kind: 'trial',
        target: 'duckdb:',
        case: scheduled.case,
        schedule,
        identity: 'x',
        tolerated: ['y'],
      },
      setting: { oracle: 'mechanism', contract: 'duckdb:snapshot', level: 'snapshot' },
    },
  ];
  return {
    name: 'fleet-job',
    samples: samples.map((job) => Buffer.from(printJob(job))),
    read: async (input) => {
      const job = parseJob(input.toString(), 'job 1');
      same(parseJob(printJob(job), 'printed'), job, 'a job, printed');
    },
  };
}

/** Read, and held against the history it is about. */
async function certificate(folder: string): Promise<FuzzSubject> {
  const file = join(folder, 'history.edn');
  await writeFile(file, formatSamples.jepsen);
  const read = await readAnyHistory(file, { format: 'jepsen' });
  if (read.kind !== 'kv') throw new Error('the sample of the format is no key-value history');
  const made = (['serializable', 'read committed'] as const).flatMap((level) => {
    const { certificate: found } = check(read, level, { certificate: true });
    return found === undefined ? [] : [Buffer.from(JSON.stringify(found))];
  });
  const invalid = {
    ...{ format: 'isolde-certificate', version: 1, level: 'serializable', valid: false },
    transactions: [0, 1],
  };
  return {
    name: 'certificate',
    samples: [...made, Buffer.from(JSON.stringify(invalid))],
    read: async (input) => void verifyCertificate(read.history, parseCertificate(input.toString())),
  };
}

/** Entries and cases of a user's own folder, with nothing beside them. */
async function knownBugs(folder: string): Promise<FuzzSubject> {
  const [own, shipped] = [join(folder, 'known'), join(folder, 'none')];
  await mkdir(join(own, 'cases'), { recursive: true });
  await mkdir(shipped);
  const entry = {
    ...{ id: 'x-1', name: 'X #1', engine: 'duckdb', url: 'https://example.org/1', status: 'confirmed' },
    ...{
      symptom: 'wrong-read',
      about: 'a',
      affected: ['1.0'],
      fixed: ['1.1'],
      settings: { a: 'b' },
      bug: 'y',
    },
    features: { levels: ['snapshot'], mode: 'optimistic', transactions: 2, has: ['update'] },
  };
  const script = `-- bug: y\n-- wrong: T1.2 rows (1, 10)\n-- wrong: T2.1 waits\nCREATE TABLE t (a INT, b INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN\nT1: SELECT * FROM t\nT2: UPDATE t SET b = 11\nT1: COMMIT\n`;
  const [lines, text] = [Buffer.from(`${JSON.stringify(entry)}\n`), Buffer.from(script)];
  return {
    name: 'known-bugs',
    samples: [lines, text],
    read: async (input) => {
      // What was a script is one still when it does not begin like JSON.
      const isScript = !input.subarray(0, 1).equals(Buffer.from('{'));
      await writeFile(join(own, 'own.jsonl'), isScript ? lines : input);
      await writeFile(join(own, 'cases', 'x-1.sql'), isScript ? input : text);
      const { problems, weights } = await openKnown({ own, shipped });
      weights.get('');
      if (problems.length > 0) throw new IsoldeError('bad-file', problems.join('\n'));
    },
  };
}

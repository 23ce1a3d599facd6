/**
 * A reduction as a job, and one trial of a reduction as another. The worker that takes the reduction decides; workers that are free answer
 * its trials (`fleet-oracle.ts`). SQL of jobs must be on the list of harmless statements, and pass the fence for files.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Case, printCaseFile } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { readAnyHistory } from '../histories/index.js';
import {
  type Asked,
  DatabaseOracle,
  type FindingOutcome,
  type NoSubject,
  reduceSubject,
  renderReduced,
  replayableHistory,
  type Subject,
  subjectOfCase,
  subjectOfHistory,
} from '../reduce/index.js';
import type { SharedDatabase } from '../store/index.js';
import {
  admit,
  type ForeignSql,
  findForbiddenStatement,
  privateEngine,
  sqlOfCase,
  type Target,
} from '../targets/index.js';
import { makeTemporaryFolder } from '../temporary-folder.js';
import { FleetOracle } from './fleet-oracle.js';
import type { ReduceJob, TrialJob } from './job.js';
import type { JobOutcome } from './queue.js';
import { printAnswer, TrialDesk } from './trial-desk.js';

export interface ReducePlace {
  readonly open: () => Promise<Target>;
  readonly signal: AbortSignal;
}

/** Trials one after another on one database. */
export class TrialRunner {
  #open: { readonly key: string; readonly oracle: DatabaseOracle } | undefined;

  async run(job: TrialJob, place: ReducePlace): Promise<JobOutcome> {
    const oracle = await this.#oracle(job, place);
    await admitJob(oracle.target, sqlOfCase(job.case), job.case.dialect);
    oracle.judgeBy(settingOf(job.setting));
    oracle.lookFor(job.identity, job.tolerated);
    const answer = await oracle.run(job, 0);
    return { result: printAnswer(answer), bugs: [], line: '' };
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.oracle.close().catch(() => undefined);
  }

  async #oracle({ target, setting }: TrialJob, { open }: ReducePlace): Promise<DatabaseOracle> {
    const key = JSON.stringify([target, setting]);
    if (this.#open?.key !== key) await this.close();
    this.#open ??= { key, oracle: await DatabaseOracle.open({ open, ...settingOf(setting) }) };
    return this.#open.oracle;
  }
}

function settingOf({
  oracle,
  contract,
  level,
}: TrialJob['setting'] | Pick<ReduceJob, 'oracle' | 'contract' | 'level'>): Asked {
  const found = contract === undefined ? undefined : findContract(contract);
  return {
    ...(oracle !== undefined && { oracle }),
    ...(found !== undefined && { contract: found }),
    ...(level !== undefined && { level }),
  };
}

async function admitJob(target: Target, sql: ForeignSql, dialect: Case['dialect']): Promise<void> {
  const forbidden = findForbiddenStatement(sql, dialect ?? target.dialect);
  if (forbidden !== undefined) throw new IsoldeError('usage', `the job is not run: ${forbidden}`);
  await admit(target, sql, { trust: false, source: 'the job' });
}

export interface ReducedAnswer {
  readonly operations: number;
  readonly minimal: boolean;
  readonly sameFinding: boolean;
  readonly shown: number;
  readonly runs: number;
  readonly trials: number;
  /** Trials that other workers answered. */
  readonly remote: number;
  readonly kind: string;
  /** The reduced case, as a file. */
  readonly file: string;
  /** For people. */
  readonly script: string;
}

export interface ReduceInput extends ReducePlace {
  readonly id: string;
  readonly database: SharedDatabase;
  readonly input?: Uint8Array | undefined;
  /** How long a trial waits for another worker. */
  readonly patienceMs?: number | undefined;
}

export async function runReduceJob(job: ReduceJob, place: ReduceInput): Promise<JobOutcome> {
  const { open, signal, database, id } = place;
  const asked = settingOf(job);
  const local = await DatabaseOracle.open({ open, signal, ...asked });
  const engine = privateEngine(job.target);
  const { version } = local.target.stamp;
  const needs = engine === undefined ? `target ${job.target}` : `trial ${engine} ${version}`;
  const desk = new TrialDesk({ database, job: id, needs, signal, patienceMs: place.patienceMs });
  const oracle = new FleetOracle({ local, desk, target: job.target, lanes: job.lanes });
  try {
    const subject = await readSubject(job, local, asked, place.input);
    if ('valid' in subject) throw new IsoldeError('usage', nothingToReduce(subject));
    return answerOf(await reduceSubject(subject, { oracle, confirmRuns: job.runs, signal }), oracle);
  } finally {
    await desk.close().catch(() => undefined);
    await local.close();
  }
}

async function readSubject(
  { subject }: ReduceJob,
  local: DatabaseOracle,
  asked: Asked,
  input: Uint8Array | undefined,
): Promise<Subject | NoSubject> {
  if (!('history' in subject)) {
    await admitJob(local.target, sqlOfCase(subject.case), subject.case.dialect);
    return subjectOfCase(subject, local, asked);
  }
  if (input === undefined) throw new IsoldeError('bad-file', `${subject.history}: the file is missing`);
  const folder = await makeTemporaryFolder('fleet-reduce');
  try {
    const path = join(folder.path, subject.history);
    await writeFile(path, input);
    const read = await readAnyHistory(path);
    if (read.kind !== 'sql')
      throw new IsoldeError('bad-file', `${subject.history} has no SQL that could be run again`);
    const replayable = replayableHistory(read, local.target, asked);
    const { header, operations } = replayable.history;
    const statements = operations.flatMap((operation) => operation.sql ?? []);
    await admitJob(local.target, { setup: header.setup ?? [], statements }, header.dialect);
    return subjectOfHistory(replayable, local);
  } finally {
    await folder.remove();
  }
}

function nothingToReduce({ unknownReasons }: NoSubject): string {
  return `there is no finding to reduce${unknownReasons.length === 0 ? '' : `: ${unknownReasons.join('; ')}`}`;
}

function answerOf(outcome: FindingOutcome, oracle: FleetOracle): JobOutcome {
  switch (outcome.kind) {
    case 'no-finding':
      throw new IsoldeError('usage', 'there is no finding to reduce: another run shows nothing');
    case 'not-reproduced':
      throw new IsoldeError(
        'usage',
        `the finding does not reproduce: ${outcome.trial.note ?? outcome.trial.verdict}`,
      );
    case 'stopped':
      throw new IsoldeError('target', 'interrupted');
    case 'reduced':
      break;
    default:
      outcome satisfies never;
  }
  const { result, finding } = outcome;
  const answer: ReducedAnswer = {
    operations: result.operations,
    minimal: result.minimal,
    sameFinding: result.sameFinding,
    shown: result.confirmed.shown,
    runs: result.confirmed.runs,
    trials: result.counts.trials,
    remote: oracle.remote,
    kind: finding.kind,
    file: printCaseFile(result.result),
    script: renderReduced(result.result, result.history, result.finding),
  };
  return {
    result: JSON.stringify(answer),
    bugs: [],
    line: `reduced to ${result.operations} operations in ${result.counts.trials} trials, ${oracle.remote} of them on other workers`,
  };
}

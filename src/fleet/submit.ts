/**
 * From a command to jobs. A hunt is seeds × targets × levels × profiles, each cut into ranges of rounds; the first ranges of all come first,
 * so that a batch that is ended early has looked everywhere. How it is cut depends on the command alone: one worker and a hundred do
 * the same jobs.
 */
import type { Level } from '../contracts/index.js';
import { groupSize } from '../hunt/index.js';
import { normalizeUrl } from '../targets/index.js';
import {
  type CellSubject,
  type CheckJob,
  type HuntJob,
  type MatrixJob,
  printJob,
  type ReduceJob,
} from './job.js';
import type { NewJob } from './queue.js';
import { needOf } from './target-policy.js';

export interface HuntRequest extends Pick<HuntJob, 'contract' | 'oracles' | 'runs' | 'from' | 'to'> {
  readonly targets: readonly string[];
  readonly seeds: readonly string[];
  /** None: each target's default. */
  readonly levels: readonly Level[];
  /** Names, or texts of profile files; none: the usual mixture. */
  readonly profiles: readonly string[];
  /** Rounds of one job. */
  readonly chunk: number;
}

export function huntJobs(request: HuntRequest): NewJob[] {
  const { seeds, levels, profiles, from, to, contract, oracles, runs } = request;
  const targets = request.targets.map(normalizeUrl);
  // Rounds of a group share their program, so a group stays whole.
  const chunk = Math.max(groupSize, Math.ceil(request.chunk / groupSize) * groupSize);
  const orNone = <T>(list: readonly T[]): readonly (T | undefined)[] =>
    list.length === 0 ? [undefined] : list;
  const jobs: NewJob[] = [];
  for (let first = from; first < to; ) {
    const end = Math.min(to, (Math.floor(first / chunk) + 1) * chunk);
    for (const target of targets)
      for (const seed of seeds)
        for (const level of orNone(levels))
          for (const profile of orNone(profiles)) {
            const job: HuntJob = {
              ...{ kind: 'hunt', target, seed, from: first, to: end, contract, runs },
              ...(level !== undefined && { level }),
              ...(profile !== undefined && { profile }),
              ...(oracles !== undefined && { oracles }),
            };
            jobs.push({ kind: 'hunt', needs: needOf(target), payload: printJob(job) });
          }
    first = end;
  }
  return jobs;
}

export interface MatrixRequest {
  readonly subjects: readonly CellSubject[];
  readonly targets: readonly string[];
  /** None: each case's own. */
  readonly levels: readonly Level[];
  readonly runs: number;
}

/** One job a cell; the cells of a database stand together, for a worker keeps the last one open. */
export function matrixJobs({ subjects, targets, levels, runs }: MatrixRequest): NewJob[] {
  return targets.flatMap((target) =>
    subjects.flatMap((subject) =>
      (levels.length === 0 ? [undefined] : levels).map((level): NewJob => {
        const job: MatrixJob = {
          kind: 'matrix',
          target,
          subject,
          runs,
          ...(level !== undefined && { level }),
        };
        return { kind: 'matrix', needs: needOf(target), payload: printJob(job) };
      }),
    ),
  );
}

export function checkJob(job: CheckJob, content: Uint8Array): NewJob {
  return { kind: 'check', needs: 'check', payload: printJob(job), input: { name: job.file, content } };
}

/** `content`: the history, where the job names one. */
export function reduceJob(job: ReduceJob, content: Uint8Array | undefined): NewJob {
  const { subject } = job;
  const target = normalizeUrl(job.target);
  return {
    kind: 'reduce',
    needs: needOf(target),
    payload: printJob({ ...job, target }),
    ...('history' in subject && content !== undefined && { input: { name: subject.history, content } }),
  };
}

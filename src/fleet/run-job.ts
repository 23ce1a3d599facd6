/** From the text of a job to its outcome: read it, look whether this worker may, do it. */
import { errorText, IsoldeError } from '../errors.js';
import type { HuntOptions } from '../hunt/index.js';
import { secretsIn, withoutSecrets } from '../secrets.js';
import type { SharedDatabase } from '../store/index.js';
import { runCheckJob } from './check-job.js';
import { runHuntJob } from './hunt-job.js';
import { type Job, parseJob } from './job.js';
import { runMatrixJob } from './matrix-job.js';
import { OpenTargets } from './open-targets.js';
import type { JobOutcome } from './queue.js';
import { runReduceJob, TrialRunner } from './reduce-job.js';
import { admittedUrl, type TargetPolicy } from './target-policy.js';

/** A job as it is handed to a slot. */
export interface JobText {
  readonly id: string;
  readonly payload: string;
  /** How often a worker was lost over it. */
  readonly lost: number;
  readonly policy: TargetPolicy;
  /** Bugs and signatures to pass over. */
  readonly ignored: readonly string[];
  readonly input?: Uint8Array;
}

/** A job that did not succeed. */
export interface JobProblem {
  readonly problem: string;
  /** Another try would end alike, wherever it runs. */
  readonly hopeless: boolean;
}

export interface JobRunnerOptions {
  readonly identify?: NonNullable<HuntOptions['identify']>;
  /** Connects to where the fleet meets, for jobs that ask others to help or run a stored bug. */
  readonly database?: () => Promise<SharedDatabase>;
  /** How long a trial waits for another worker. Default 0.3 s. */
  readonly patienceMs?: number;
}

/** Runs jobs one after another, with databases that stay open in between. */
export class JobRunner {
  readonly #targets = new OpenTargets();
  readonly #trials = new TrialRunner();

  constructor(private readonly options: JobRunnerOptions = {}) {}

  async run(text: JobText, signal: AbortSignal): Promise<JobOutcome | JobProblem> {
    try {
      return await this.#run(parseJob(text.payload, `job ${text.id}`), text, signal);
    } catch (error) {
      // What a failed job left open may be why it failed.
      await this.close();
      if (!(error instanceof IsoldeError)) throw error;
      const secrets = text.policy.allowed.flatMap(secretsIn);
      return {
        problem: withoutSecrets(errorText(error), secrets),
        hopeless: error.code === 'bad-file' || error.code === 'usage',
      };
    }
  }

  /** Closes what is open between jobs. */
  async close(): Promise<void> {
    await this.#trials.close();
    await this.#targets.close();
  }

  /** Beside the worker's own, for no longer than it is used: a server has few connections. */
  #connect(): Promise<SharedDatabase> {
    const { database } = this.options;
    if (database === undefined)
      throw new IsoldeError('connect', 'this worker has no connection for what such a job reads and asks');
    return database();
  }

  async #run(job: Job, text: JobText, signal: AbortSignal): Promise<JobOutcome> {
    const open = (target: string) =>
      this.#targets.opener(admittedUrl(target, text.policy), { ownProcess: text.lost > 0 });
    // Its database may be another one's next.
    if (job.kind !== 'trial') await this.#trials.close();
    switch (job.kind) {
      case 'hunt': {
        const { identify } = this.options;
        const place = { open: open(job.target), ignored: text.ignored, signal };
        return runHuntJob(job, { ...place, ...(identify !== undefined && { identify }) });
      }
      case 'check':
        return runCheckJob(job, text.input);
      case 'trial':
        return this.#trials.run(job, { open: open(job.target), signal });
      case 'matrix':
        return runMatrixJob(job, { open: open(job.target), signal, database: () => this.#connect() });
      case 'reduce': {
        const place = { open: open(job.target), signal, id: text.id, input: text.input };
        const { patienceMs } = this.options;
        const database = await this.#connect();
        return runReduceJob(job, { ...place, database, patienceMs }).finally(() => database.close());
      }
      default:
        return job satisfies never;
    }
  }
}

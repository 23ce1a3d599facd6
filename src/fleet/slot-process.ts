/**
 * Slots as processes. A job may keep its process busy for a minute without a pause, and an embedded engine may abort it: neither must keep
 * the worker from being heard of. So the worker holds the one connection to the shared database and sends heartbeats; each slot is a
 * process of its own that gets the text of a job and answers with its outcome.
 *
 * A slot's process ends with its worker: the pipe between them closes, however the worker ended. It is in a process group of its own, so
 * that Ctrl-C reaches the worker alone, which then gives its jobs back.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { errorText } from '../errors.js';
import type { JobOutcome } from './queue.js';
import { type JobProblem, JobRunner, type JobRunnerOptions, type JobText } from './run-job.js';
import type { Slot } from './worker.js';

type ToSlot = { readonly kind: 'run'; readonly job: JobText } | { readonly kind: 'stop' };
type FromSlot = { readonly kind: 'ended'; readonly outcome: JobOutcome | JobProblem };

/** How long a slot has to end a job it was told to stop. */
const stopMs = 5_000;

export interface ProcessSlotOptions {
  /** The program, and the arguments that make it a slot (`serveSlot`). */
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment: what must not stand on a command line. */
  readonly env: Readonly<Record<string, string>>;
}

export class ProcessSlot implements Slot {
  #child: ChildProcess | undefined;

  constructor(private readonly options: ProcessSlotOptions) {}

  run(job: JobText, signal: AbortSignal): Promise<JobOutcome | JobProblem> {
    const child = this.#started();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const stop = () => {
        child.send({ kind: 'stop' } satisfies ToSlot, () => undefined);
        timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
      };
      const end = (outcome: JobOutcome | JobProblem) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        child.off('message', hear);
        child.off('exit', crash);
        resolve(outcome);
      };
      const hear = (message: unknown) => end((message as FromSlot).outcome);
      const crash = (code: number | null, by: NodeJS.Signals | null) => {
        this.#child = undefined;
        end({ problem: `the process of the job ended with ${by ?? code}`, hopeless: false });
      };
      child.on('message', hear);
      child.once('exit', crash);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      child.send({ kind: 'run', job } satisfies ToSlot, (error) => {
        if (error !== null) child.kill('SIGKILL');
      });
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const timer = setTimeout(() => child.kill('SIGKILL'), 2 * stopMs);
    if (child.connected) child.disconnect();
    await ended;
    clearTimeout(timer);
  }

  #started(): ChildProcess {
    if (this.#child?.connected === true) return this.#child;
    const child = fork(this.options.program, [...this.options.args], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
      env: { ...process.env, ...this.options.env },
    });
    child.on('error', () => undefined);
    this.#child = child;
    return child;
  }
}

/** The other side: runs in the slot's process until the worker is gone, and ends it. */
export async function serveSlot(options: JobRunnerOptions): Promise<never> {
  const runner = new JobRunner(options);
  let stop = new AbortController();
  const gone = new Promise<void>((resolve) => {
    process.once('disconnect', () => resolve());
    // The worker may have died while this program was loaded.
    if (!process.connected) resolve();
  });
  process.on('message', (message: ToSlot) => {
    if (message.kind === 'stop') {
      stop.abort();
      return;
    }
    stop = new AbortController();
    void runner
      .run(message.job, stop.signal)
      .catch((error: unknown): JobProblem => ({ problem: errorText(error), hopeless: false }))
      .then((outcome) => process.send?.({ kind: 'ended', outcome } satisfies FromSlot, () => undefined));
  });
  await gone;
  stop.abort();
  await Promise.race([runner.close(), new Promise((resolve) => setTimeout(resolve, stopMs))]);
  // A job that does not listen must not keep the process.
  process.exit();
}

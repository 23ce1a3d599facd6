/**
 * A worker: takes jobs that it has the engines for, runs each in a slot, hands over what came of them.
 *
 * 1. It polls. An empty queue is asked again after 50 ms, 100 ms … up to some seconds, more or less by chance; one poll serves all slots.
 *    Nothing listens: a poll is one indexed look-up, and needs no session of its own.
 * 2. A heartbeat three times a lease says that it lives, and brings back which jobs are still its own. A job that is not any more (the
 *    machine slept, somebody cancelled it) is ended and its result thrown away.
 * 3. When the database goes away it goes on with what it has and connects again (`SharedDatabase.persistent`).
 * 4. Told to stop, it gives its jobs back at once. Killed, it says nothing: after the time of a lease others have them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../errors.js';
import type { JobOutcome, Lease, Queue } from './queue.js';
import type { JobProblem, JobText } from './run-job.js';
import { needsMet, type TargetPolicy } from './target-policy.js';

/** A place in which one job runs at a time. */
export interface Slot {
  run(job: JobText, signal: AbortSignal): Promise<JobOutcome | JobProblem>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  readonly queue: Queue;
  readonly name: string;
  readonly policy: TargetPolicy;
  readonly slots: readonly Slot[];
  readonly signal: AbortSignal;
  /** How long it may be unheard of before others get its jobs. Default 30. */
  readonly leaseSeconds?: number;
  /** The longest time between two looks at an empty queue. Default 5 s. */
  readonly longestPollMs?: number;
  /** End when there is nothing to do. */
  readonly untilIdle?: boolean;
  readonly log?: (line: string) => void;
  /** From 0 to 1; default: chance. */
  readonly random?: () => number;
}

export interface WorkerTally {
  done: number;
  failed: number;
  /** Jobs that were not its own any more when they ended. */
  lost: number;
}

const firstPollMs = 50;
/** A worker looks for lost ones with every so many heartbeats. */
const beatsPerReap = 3;

export async function work(options: WorkerOptions): Promise<WorkerTally> {
  const { queue, name, policy, slots, leaseSeconds = 30 } = options;
  const has = needsMet(policy);
  const id = await queue.register({ name, has, slots: slots.length, leaseSeconds });
  return new Worker(options, id, has).run();
}

class Worker {
  readonly #tally: WorkerTally = { done: 0, failed: 0, lost: 0 };
  readonly #active = new Map<string, { readonly lease: Lease; readonly stop: AbortController }>();
  readonly #free: Slot[];
  readonly #jobs = new Set<Promise<void>>();
  readonly #beatMs: number;
  #ignored: readonly string[] = [];
  #wake: () => void = () => undefined;
  #reapedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly options: WorkerOptions,
    private readonly id: string,
    private readonly has: readonly string[],
  ) {
    this.#free = [...options.slots];
    this.#beatMs = ((options.leaseSeconds ?? 30) * 1000) / 3;
  }

  async run(): Promise<WorkerTally> {
    const { signal, queue, slots } = this.options;
    const ending = new AbortController();
    await this.#beat();
    const beating = this.#keepBeating(ending.signal);
    try {
      await this.#takeJobs();
    } finally {
      if (signal.aborted) for (const { stop } of this.#active.values()) stop.abort();
      await Promise.allSettled(this.#jobs);
      ending.abort();
      await beating;
      await Promise.allSettled(slots.map((slot) => slot.close()));
      await queue.leave(this.id).catch(() => undefined);
    }
    return this.#tally;
  }

  async #takeJobs(): Promise<void> {
    const { signal, queue, longestPollMs = 5_000, untilIdle = false, random = Math.random } = this.options;
    for (let pauseMs = firstPollMs; !signal.aborted; ) {
      const slot = this.#free.pop();
      if (slot === undefined) {
        await this.#until(undefined);
        continue;
      }
      const lease = await queue.claim(this.id, this.has).catch(unlessAborted(signal));
      if (lease !== undefined) {
        pauseMs = firstPollMs;
        this.#start(lease, slot);
        continue;
      }
      this.#free.push(slot);
      await this.#reapNowAndThen();
      if (untilIdle && this.#active.size === 0 && (await this.#beat()) === 0) return;
      await this.#until(pauseMs * (0.5 + random()));
      pauseMs = Math.min(2 * pauseMs, longestPollMs);
    }
  }

  /** Waits for so long, or until a slot is free or the worker is told to stop. */
  async #until(ms: number | undefined): Promise<void> {
    const { signal } = this.options;
    const over = new AbortController();
    const stop = () => over.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
      over.signal.addEventListener('abort', () => resolve(), { once: true });
      if (over.signal.aborted) resolve();
    });
    const pause =
      ms === undefined ? woken : delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race(ms === undefined ? [woken] : [woken, pause]);
    over.abort();
    signal.removeEventListener('abort', stop);
  }

  #start(lease: Lease, slot: Slot): void {
    const stop = new AbortController();
    this.#active.set(lease.id, { lease, stop });
    const job = this.#do(lease, slot, stop.signal)
      .catch((error: unknown) => this.#say(`job ${lease.id}: ${errorText(error)}`))
      .finally(() => {
        this.#active.delete(lease.id);
        this.#jobs.delete(job);
        this.#free.push(slot);
        this.#wake();
      });
    this.#jobs.add(job);
  }

  async #do(lease: Lease, slot: Slot, signal: AbortSignal): Promise<void> {
    const { queue, policy } = this.options;
    const hasInput = lease.kind === 'check' || lease.kind === 'reduce';
    const input = hasInput ? (await queue.inputOf(lease.id))?.content : undefined;
    const outcome = await slot
      .run(
        {
          id: lease.id,
          payload: lease.payload,
          lost: lease.lost,
          policy,
          ignored: this.#ignored,
          ...(input !== undefined && { input }),
        },
        signal,
      )
      .catch((error: unknown): JobProblem => ({ problem: errorText(error), hopeless: false }));
    if (signal.aborted) {
      this.#tally.lost++;
      return;
    }
    const failed = 'problem' in outcome;
    const ended = failed
      ? await queue.fail(lease, outcome.problem, outcome.hopeless)
      : await queue.complete(lease, outcome);
    this.#tally[ended === 'lost' ? 'lost' : failed ? 'failed' : 'done']++;
    const line = ended === 'lost' ? 'not ours any more' : failed ? outcome.problem : outcome.line;
    if (line !== '') this.#say(`job ${lease.id}: ${line}`);
  }

  async #keepBeating(signal: AbortSignal): Promise<void> {
    for (let beats = 1; !signal.aborted; beats++) {
      await delay(this.#beatMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#beat();
        if (beats % beatsPerReap === 0) await this.options.queue.reap();
      } catch (error) {
        this.#say(errorText(error));
      }
    }
  }

  /** Returns how many jobs it gave back. */
  async #beat(): Promise<number> {
    const { queue } = this.options;
    const { held, ignored } = await queue.heartbeat(this.id);
    this.#ignored = ignored;
    const attempts = new Map(held.map(({ id, attempt }) => [id, attempt]));
    for (const { lease, stop } of this.#active.values())
      if (attempts.get(lease.id) !== lease.attempt) stop.abort();
    // Taken for us in a statement whose answer never came.
    const unknown = held.filter(({ id, attempt }) => this.#active.get(id)?.lease.attempt !== attempt);
    if (unknown.length > 0) await queue.giveBack(unknown, this.id);
    return unknown.length;
  }

  async #reapNowAndThen(): Promise<void> {
    const now = performance.now();
    if (now - this.#reapedAt < this.#beatMs) return;
    this.#reapedAt = now;
    await this.options.queue.reap().catch(unlessAborted(this.options.signal));
  }

  #say(line: string): void {
    this.options.log?.(line);
  }
}

/** Nothing, where the worker is ending anyway. */
function unlessAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (signal.aborted) return undefined;
    throw error;
  };
}

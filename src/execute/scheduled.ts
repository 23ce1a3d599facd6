/**
 * The scheduled executor: statements go out in the order of a schedule, and a statement that blocks does not
 * stop it.
 *
 * After each batch the run *settles*: it goes on when every statement in flight is either answered or waits for
 * another session. Waiting is asked of the database (`Scratch.waiting`), never guessed from time passed:
 *
 * 1. Send the batch. A statement whose session is still blocked stays queued behind it.
 * 2. Wait for answers. While some are missing, ask who waits; the run is settled when one look shows that
 *    all statements in flight wait and none was answered meanwhile (a wait for a session that is itself
 *    still running ends by itself).
 *    A statement that the schedule says is cancelled, and that waits when the next statement of its session is due, is
 *    cancelled, and its answer waited for: it fell to a deadlock in another run, and fails here at the same place.
 * 3. When a blocked statement is answered (its blocker committed), its session's queued statements go out
 *    at once, before the next batch: the same answers always lead to the same order of sends.
 *
 * When the schedule is over and statements still wait, sessions that have nothing left to send but hold a
 * transaction open are rolled back, as a disconnecting client's would be. What then still waits ends by the
 * database's deadlock detection or time-outs, or by the watchdog (`run.ts`): a schedule that cannot run
 * ends as data, never as a hang.
 *
 * On several nodes the run also waits, between two batches, until all of them show what was committed on any.
 *
 * Cost: one event-loop turn per statement; `waiting` is asked only when an answer takes longer than `patienceMs`.
 */
import { type ScheduledCase, type StatementRef, scheduleProblem, serialOrder } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import type { Scratch, Target } from '../targets/index.js';
import type { Lane } from './lane.js';
import { type RunOptions, runCase } from './run.js';

/** How long an answer may take before we ask whether its session waits; and the longest pause between asks. */
const patienceMs = 2;
const longestPauseMs = 25;
/** How long a node may stay behind another one before the run goes on all the same: a statement may keep it there. */
const catchUpLimitMs = 1_000;

/** Runs a case by its schedule (its sessions one after another if it has none) and returns what happened. */
export function runScheduled(
  scratch: Scratch,
  scheduled: ScheduledCase,
  options: RunOptions,
): Promise<History> {
  const program = scheduled.case;
  const schedule = scheduled.schedule ?? serialOrder(program);
  const problem = scheduleProblem(program, schedule);
  if (problem !== undefined) {
    return Promise.reject(
      new IsoldeError('usage', `the schedule does not fit the case "${program.name}": ${problem}`),
    );
  }
  return runCase(scratch, program, options, async ({ lanes, recorder, stopped }) => {
    const conductor = new Conductor(lanes, scratch, options.target, schedule.cancelled ?? []);
    const letPurge = schedule.keepsHistory === true ? await scratch.keepHistory?.() : undefined;
    try {
      let commits = 0;
      for (const batch of schedule.batches) {
        if (stopped()) break;
        for (const [session, position] of batch) conductor.release(session, position);
        await conductor.settle();
        // An order means the same every time only if every node has what was committed before.
        if (recorder.commits > commits) await scratch.catchUp?.(catchUpLimitMs).catch(() => undefined);
        commits = recorder.commits;
      }
      await conductor.finish(stopped);
    } finally {
      await letPurge?.();
    }
  });
}

class Conductor {
  /** Per lane: how far into its program the schedule has come. */
  readonly #released: number[];
  readonly #inFlight = new Map<Lane, Promise<void>>();
  readonly #cancelled: ReadonlySet<string>;
  /** Lanes whose statement in flight is being cancelled. */
  readonly #ending = new Set<Lane>();
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly lanes: readonly Lane[],
    private readonly scratch: Scratch,
    private readonly target: Target,
    cancelled: readonly StatementRef[],
  ) {
    this.#cancelled = new Set(cancelled.map(String));
    this.#released = lanes.map(() => 0);
  }

  /** Lets a lane send its program up to and including `position`. */
  release(session: number, position: number): void {
    const lane = this.lanes[session]!;
    this.#released[session] = position + 1;
    // Its place in the program is behind the statement in flight.
    const waits = this.#inFlight.has(lane) && lane.position === position;
    if (waits && this.#cancelled.has(String([session, position - 1]))) {
      this.#ending.add(lane);
      void lane.session.cancel().catch(() => undefined);
    }
    this.#sendNext(lane);
  }

  #sendNext(lane: Lane): void {
    if (this.#inFlight.has(lane) || this.#failure !== undefined) return;
    const statement = lane.next(this.#released[lane.number]!);
    if (statement !== undefined) this.#track(lane, lane.send(statement));
  }

  #track(lane: Lane, sent: Promise<void>): void {
    const done = sent
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .then(() => {
        this.#inFlight.delete(lane);
        this.#ending.delete(lane);
        this.#sendNext(lane);
        this.#wake();
      });
    this.#inFlight.set(lane, done);
  }

  /** Resolves when every statement in flight is answered or waits for another session. */
  async settle(): Promise<void> {
    let pauseMs = patienceMs;
    while (this.#inFlight.size > 0) {
      const answered = await this.#answerWithin(pauseMs);
      if (answered) {
        pauseMs = patienceMs;
        continue;
      }
      if (this.target.features.conflicts === 'fail') continue;
      const flying = [...this.#inFlight.entries()];
      const waiting = await this.scratch.waiting().catch(() => new Set());
      const unchanged = flying.every(([lane, done]) => this.#inFlight.get(lane) === done);
      for (const [lane, done] of flying) {
        if (waiting.has(lane.session) && this.#inFlight.get(lane) === done) lane.blocked = true;
      }
      if (unchanged && flying.every(([lane]) => waiting.has(lane.session) && !this.#ending.has(lane))) break;
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Whether some statement was answered before the time was over. */
  #answerWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  /** Brings the last statements home. */
  async finish(stopped: () => boolean): Promise<void> {
    while (this.#inFlight.size > 0) {
      const idleHolder = this.lanes.find(
        (lane) =>
          !this.#inFlight.has(lane) &&
          lane.transaction >= 0 &&
          !lane.lost &&
          (stopped() || lane.next() === undefined),
      );
      if (idleHolder !== undefined) {
        this.#track(idleHolder, idleHolder.endOpenTransaction());
        await this.settle();
      } else await Promise.race(this.#inFlight.values());
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

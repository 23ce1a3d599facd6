/**
 * Where the trials of a reduction wait for workers. A trial is a job of the reduction's batch, under a key made of its content: a reduction
 * that is begun again by another worker finds the answers that are there already.
 *
 * Nobody has to come: a trial that no worker has begun after a moment is taken back and left to the one who asked.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { IsoldeError } from '../errors.js';
import { parseJson } from '../json.js';
import type { TrialResult, Verdict } from '../reduce/index.js';
import type { SharedDatabase } from '../store/index.js';

const verdicts: readonly Verdict[] = ['same', 'another', 'none', 'infeasible', 'flaky'];
const usualPatienceMs = 300;
const firstLookMs = 5;
const longestLookMs = 50;
/** How often it looks whether anybody is there to help. */
const helpersMs = 2_000;

interface Waiting {
  readonly since: number;
  readonly resolve: (answer: TrialResult | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface TrialRow {
  readonly id: string;
  readonly state: string;
  readonly result: string | null;
}

export interface TrialDeskOptions {
  readonly database: SharedDatabase;
  /** The job of the reduction. */
  readonly job: string;
  /** What a worker must have for its trials. */
  readonly needs: string;
  readonly signal: AbortSignal;
  /** How long a trial waits to be begun. Default 0.3 s. */
  readonly patienceMs?: number | undefined;
}

export class TrialDesk {
  readonly #waiting = new Map<string, Waiting>();
  #looking: Promise<void> | undefined;
  #helpers = true;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: TrialDeskOptions) {}

  /** Whether another worker could take a trial, as far as is known. */
  get hasHelpers(): boolean {
    return this.#helpers;
  }

  /** What a worker says of a trial; undefined: none took it, or none could do it. */
  async ask(key: string, payload: string): Promise<TrialResult | undefined> {
    const { database, job, needs } = this.options;
    const [row] = await database.persistent(() =>
      database.query<TrialRow>(
        `WITH made AS (
           INSERT INTO isolde_shared.jobs (batch, key, kind, needs, payload)
           SELECT batch, $2, 'trial', $3, $4 FROM isolde_shared.jobs WHERE id = $1
           ON CONFLICT (batch, key) DO NOTHING RETURNING id, state, result)
         SELECT id, state, result FROM made
         UNION ALL SELECT trial.id, trial.state, trial.result FROM isolde_shared.jobs AS trial
           WHERE trial.batch = (SELECT batch FROM isolde_shared.jobs WHERE id = $1) AND trial.key = $2`,
        [job, key, needs, payload],
      ),
    );
    if (row === undefined) return undefined;
    return new Promise((resolve, reject) => {
      this.#waiting.set(row.id, { since: performance.now(), resolve, reject });
      this.#begin();
    });
  }

  /** Looks for answers as long as somebody waits; if that is not possible any more, all who wait hear why. */
  #begin(): void {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        for (const { reject } of this.#waiting.values()) reject(error);
        this.#waiting.clear();
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#waiting.size > 0) this.#begin();
      });
  }

  /** Takes back what nobody has begun. */
  async close(): Promise<void> {
    const { database, job } = this.options;
    for (const { resolve } of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
    await this.#looking;
    await database.query(
      `UPDATE isolde_shared.jobs SET state = 'cancelled' WHERE kind = 'trial' AND state = 'ready'
         AND batch = (SELECT batch FROM isolde_shared.jobs WHERE id = $1)`,
      [job],
    );
  }

  async #look(): Promise<void> {
    const { database, signal } = this.options;
    for (let pauseMs = firstLookMs; this.#waiting.size > 0; ) {
      if (signal.aborted) {
        for (const { resolve } of this.#waiting.values()) resolve(undefined);
        this.#waiting.clear();
        return;
      }
      const rows = await database.persistent(() =>
        database.query<TrialRow>('SELECT id, state, result FROM isolde_shared.jobs WHERE id = ANY($1)', [
          [...this.#waiting.keys()],
        ]),
      );
      await this.#countHelpers();
      let answered = false;
      for (const row of rows) answered = (await this.#settle(row)) || answered;
      pauseMs = answered ? firstLookMs : Math.min(2 * pauseMs, longestLookMs);
      if (this.#waiting.size > 0) await delay(pauseMs);
    }
  }

  /** Whether the trial is answered. */
  async #settle({ id, state, result }: TrialRow): Promise<boolean> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || state === 'running') return false;
    if (state === 'ready') {
      const { database, patienceMs = usualPatienceMs } = this.options;
      if (this.#helpers && performance.now() - waiting.since < patienceMs) return false;
      const taken = await database.persistent(() =>
        database.query(
          `UPDATE isolde_shared.jobs SET state = 'cancelled' WHERE id = $1 AND state = 'ready' RETURNING id`,
          [id],
        ),
      );
      if (taken.length === 0) return false;
    }
    this.#waiting.delete(id);
    waiting.resolve(state === 'done' && result !== null ? readAnswer(result, id) : undefined);
    return true;
  }

  async #countHelpers(): Promise<void> {
    const now = performance.now();
    if (now - this.#lookedAt < helpersMs) return;
    this.#lookedAt = now;
    const { database, needs, job } = this.options;
    const [row] = await database.persistent(() =>
      database.query<{ others: number }>(
        `SELECT count(*)::int AS others FROM isolde_shared.workers
         WHERE ended IS NULL AND seen > now() - lease AND $1 = ANY(has)
           AND (slots > 1 OR id <> (SELECT coalesce(worker, 0) FROM isolde_shared.jobs WHERE id = $2))`,
        [needs, job],
      ),
    );
    this.#helpers = (row?.others ?? 0) > 0;
  }
}

export function printAnswer({ verdict, note }: TrialResult): string {
  return JSON.stringify({ verdict, note });
}

/** Undefined: the one who did it speaks otherwise than we, as another version may, and the trial is left to the one who asked. */
function readAnswer(text: string, job: string): TrialResult | undefined {
  try {
    const node = parseJson(text, `the result of job ${job}`).object(['verdict', 'note']);
    const note = node.maybe('note', (each) => each.text());
    return { verdict: node.at('verdict').oneOf(verdicts), ...(note !== undefined && { note }) };
  } catch (error) {
    if (error instanceof IsoldeError) return undefined;
    throw error;
  }
}

/**
 * The queue: jobs go in, are leased to workers, and come out with their results.
 *
 *     ready → running → done
 *       ↑        │  ↘ failed       after three failures, or twenty lost workers
 *       └────────┘                 given back, failed, or its worker was not heard of for the time of a lease
 *
 * - A result and the end of its job are one transaction, which looks first whether the job is still leased to this worker for this
 *   attempt. So a job that ran twice has one result, and bugs are counted once.
 * - Every call may be repeated after a lost connection: submitting is known by a name the submitter made up, the end of a job by its
 *   attempt; a job that was taken without the worker ever hearing of it is given back with the next heartbeat.
 * - Time is the database's: no clock of a worker matters.
 * - After the server itself was away, nobody is taken for dead until workers had the time of a lease to be heard of again.
 */
import { IsoldeError } from '../errors.js';
import type { VersionTried } from '../report/index.js';
import {
  addPacked,
  addTried,
  type PackedBug,
  prepareTables,
  type SharedDatabase,
  type Sql,
  storeTables,
} from '../store/index.js';
import { fleetTables } from './fleet-tables.js';

export interface NewJob {
  readonly kind: string;
  readonly needs: string;
  readonly payload: string;
  /** A file that the job reads. */
  readonly input?: { readonly name: string; readonly content: Uint8Array };
}

export interface NewBatch {
  readonly kind: string;
  readonly title: string;
  /** A name that no other submission has. */
  readonly submission: string;
  readonly jobs: readonly NewJob[];
}

/** A job that a worker holds. */
export interface Lease {
  readonly id: string;
  readonly batch: string;
  readonly worker: string;
  readonly kind: string;
  readonly payload: string;
  readonly attempt: number;
  /** How often a worker was lost over it, or failed. */
  readonly lost: number;
}

export interface WorkerFacts {
  readonly name: string;
  readonly has: readonly string[];
  readonly slots: number;
  readonly leaseSeconds: number;
}

/** What a job brought. */
export interface JobOutcome {
  /** JSON. */
  readonly result: string;
  readonly bugs: readonly PackedBug[];
  /** A stored bug was tried on a database. */
  readonly tried?: { readonly bug: string; readonly run: VersionTried };
  /** One line for the log; empty: none. */
  readonly line: string;
}

/** What a worker hears back from its heartbeat. */
export interface Heard {
  readonly held: readonly Pick<Lease, 'id' | 'attempt'>[];
  readonly ignored: readonly string[];
}

interface JobRow {
  readonly id: string;
  readonly batch: string;
  readonly kind: string;
  readonly payload: string;
  readonly state: string;
  readonly worker: string | null;
  readonly attempt: number;
  readonly lost: number;
}

const mostFailures = 3;
const mostLost = 20;
/** Jobs of one statement: a submission of a million is many statements of one transaction. */
const jobsAtOnce = 5_000;

export class Queue {
  constructor(readonly database: SharedDatabase) {}

  /** Makes the tables that are missing. */
  async prepare(): Promise<void> {
    await this.database.persistent(async () => {
      await prepareTables(this.database, storeTables);
      await prepareTables(this.database, fleetTables);
    });
  }

  /** Puts a batch in as a whole; the same submission again changes nothing. Returns the batch's number. */
  submit({ kind, title, submission, jobs }: NewBatch): Promise<string> {
    return this.#transaction(async (sql) => {
      const made = await sql.query<{ id: string }>(
        `INSERT INTO isolde_shared.batches (kind, title, submission) VALUES ($1, $2, $3)
         ON CONFLICT (submission) DO NOTHING RETURNING id`,
        [kind, title, submission],
      );
      if (made.length === 0) {
        const [known] = await sql.query<{ id: string }>(
          'SELECT id FROM isolde_shared.batches WHERE submission = $1',
          [submission],
        );
        return known!.id;
      }
      const batch = made[0]!.id;
      for (let from = 0; from < jobs.length; from += jobsAtOnce)
        await insertJobs(sql, batch, jobs.slice(from, from + jobsAtOnce), from);
      await note(sql, { batch, line: `submitted ${jobs.length} jobs: ${title}` });
      return batch;
    });
  }

  register({ name, has, slots, leaseSeconds }: WorkerFacts): Promise<string> {
    return this.#transaction(async (sql) => {
      const [row] = await sql.query<{ id: string }>(
        `INSERT INTO isolde_shared.workers (name, has, slots, lease)
         VALUES ($1, $2, $3, make_interval(secs => $4)) RETURNING id`,
        [name, has, slots, leaseSeconds],
      );
      return row!.id;
    });
  }

  /** The next job of the first of these needs that has one. */
  async claim(worker: string, has: readonly string[]): Promise<Lease | undefined> {
    const rows = await this.#persistent(() =>
      this.database.query<JobRow>(
        'SELECT id, batch, kind, payload, attempt, lost + failures AS lost FROM isolde_shared.claim($1, $2)',
        [worker, has],
      ),
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    const { id, batch, kind, payload, attempt, lost } = row;
    return { id, batch, worker, kind, payload, attempt, lost };
  }

  /** Says that a worker lives; returns the jobs that are leased to it, and what hunts pass over. */
  async heartbeat(worker: string): Promise<Heard> {
    const [row] = await this.#persistent(() =>
      this.database.query<{ held: { id: number; attempt: number }[] | null; ignored: string[] | null }>(
        `WITH beat AS (UPDATE isolde_shared.workers SET seen = now(), ended = NULL WHERE id = $1)
         SELECT
           (SELECT json_agg(json_build_object('id', id, 'attempt', attempt))
            FROM isolde_shared.jobs WHERE worker = $1 AND state = 'running') AS held,
           (SELECT array_agg(what) FROM isolde_shared.ignored) AS ignored`,
        [worker],
      ),
    );
    const held = (row?.held ?? []).map(({ id, attempt }) => ({ id: String(id), attempt }));
    return { held, ignored: row?.ignored ?? [] };
  }

  /** Writes a job's results and ends it. `lost`: it was not ours any more, and nothing was written. */
  complete(lease: Lease, { result, bugs, tried, line }: JobOutcome): Promise<'done' | 'lost'> {
    // In one order, so that two workers never wait for each other.
    const sorted = bugs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return this.#ending(lease, async (sql) => {
      for (const bug of sorted) {
        const { id, isNew } = await addPacked(sql, bug);
        await sql.query(
          `INSERT INTO isolde_shared.batch_bugs AS known VALUES ($1, $2, 1, $3)
           ON CONFLICT (batch, bug) DO UPDATE SET jobs = known.jobs + 1`,
          [lease.batch, id, isNew],
        );
      }
      if (tried !== undefined) await addTried(sql, tried.bug, tried.run);
      await sql.query(
        `UPDATE isolde_shared.jobs SET state = 'done', result = $2, problem = NULL, finished = now() WHERE id = $1`,
        [lease.id, result],
      );
      if (line !== '') await note(sql, { ...lease, job: lease.id, line });
    });
  }

  /** A job could not be done; it is tried again by whoever comes, unless that is of no use. */
  fail(lease: Lease, problem: string, hopeless = false): Promise<'done' | 'lost'> {
    return this.#ending(lease, async (sql) => {
      await sql.query(
        `UPDATE isolde_shared.jobs SET failures = failures + 1, problem = $2, finished = now(),
           state = CASE WHEN $3 OR failures + 1 >= $4 THEN 'failed' ELSE 'ready' END WHERE id = $1`,
        [lease.id, problem, hopeless, mostFailures],
      );
      await note(sql, { ...lease, job: lease.id, line: `failed: ${problem}` });
    });
  }

  /** Gives jobs back that this worker will not do. */
  async giveBack(leases: readonly Pick<Lease, 'id' | 'attempt'>[], worker: string): Promise<void> {
    for (const { id, attempt } of leases) {
      await this.database.query(
        `UPDATE isolde_shared.jobs SET state = 'ready'
         WHERE id = $1 AND attempt = $2 AND worker = $3 AND state = 'running'`,
        [id, attempt, worker],
      );
    }
  }

  /** A worker ends: what it holds is free at once. */
  async leave(worker: string): Promise<void> {
    await this.database.transaction(async (sql) => {
      await sql.query(
        `UPDATE isolde_shared.jobs SET state = 'ready' WHERE worker = $1 AND state = 'running'`,
        [worker],
      );
      await sql.query('UPDATE isolde_shared.workers SET ended = now() WHERE id = $1', [worker]);
    });
  }

  /** Frees the jobs of workers that were not heard of for the time of their lease. Returns how many. */
  async reap(): Promise<number> {
    return this.#transaction(async (sql) => {
      const freed = await sql.query<{ id: string; batch: string; worker: string; state: string }>(
        `UPDATE isolde_shared.jobs AS job
         SET lost = lost + 1, problem = 'its worker was lost',
             state = CASE WHEN lost + 1 >= $1 THEN 'failed' ELSE 'ready' END
         FROM isolde_shared.workers AS worker
         WHERE job.state = 'running' AND worker.id = job.worker
           AND (worker.ended IS NOT NULL OR worker.seen < now() - worker.lease)
           AND pg_postmaster_start_time() < now() - worker.lease
         RETURNING job.id, job.batch, job.worker, job.state`,
        [mostLost],
      );
      for (const { id, batch, worker, state } of freed) {
        const line =
          state === 'failed'
            ? `failed: ${mostLost} workers were lost over it`
            : 'its worker was lost: ready again';
        await note(sql, { batch, job: id, worker, line });
      }
      return freed.length;
    });
  }

  /** Takes back what nobody has begun of a batch; what runs is ended by its workers with their next heartbeat. */
  cancel(batch: string): Promise<number> {
    return this.#transaction(async (sql) => {
      const known = await sql.query('SELECT id FROM isolde_shared.batches WHERE id = $1', [batch]);
      if (known.length === 0) throw new IsoldeError('usage', `there is no batch ${batch}`);
      const rows = await sql.query(
        `UPDATE isolde_shared.jobs SET state = 'cancelled', finished = now()
         WHERE batch = $1 AND state IN ('ready', 'running') RETURNING id`,
        [batch],
      );
      await note(sql, { batch, line: `cancelled ${rows.length} jobs` });
      return rows.length;
    });
  }

  /** The file that a job reads. */
  async inputOf(job: string): Promise<{ readonly name: string; readonly content: Uint8Array } | undefined> {
    const rows = await this.#persistent(() =>
      this.database.query<{ name: string; content: Buffer }>(
        'SELECT name, content FROM isolde_shared.job_inputs WHERE job = $1',
        [job],
      ),
    );
    return rows[0];
  }

  /** Ends a job if it is still leased so. A repeated end of the same attempt is none. */
  #ending(lease: Lease, end: (sql: Sql) => Promise<void>): Promise<'done' | 'lost'> {
    return this.#transaction(async (sql) => {
      const [row] = await sql.query<JobRow>(
        'SELECT state, worker, attempt FROM isolde_shared.jobs WHERE id = $1 FOR UPDATE',
        [lease.id],
      );
      const isOurs = row !== undefined && row.worker === lease.worker && row.attempt === lease.attempt;
      if (!isOurs || row.state === 'cancelled') return 'lost';
      if (row.state !== 'running') return 'done';
      await end(sql);
      return 'done';
    });
  }

  #persistent<T>(work: () => Promise<T>): Promise<T> {
    return this.database.persistent(work);
  }

  #transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.database.persistent(() => this.database.transaction(work));
  }
}

async function insertJobs(sql: Sql, batch: string, jobs: readonly NewJob[], from: number): Promise<void> {
  const rows = await sql.query<{ id: string; key: string }>(
    `INSERT INTO isolde_shared.jobs (batch, key, kind, needs, payload)
     SELECT $1, key, kind, needs, payload
     FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS job (key, kind, needs, payload)
     RETURNING id, key`,
    [
      batch,
      jobs.map((_, i) => String(from + i)),
      jobs.map(({ kind }) => kind),
      jobs.map(({ needs }) => needs),
      jobs.map(({ payload }) => payload),
    ],
  );
  for (const { id, key } of rows) {
    const input = jobs[Number(key) - from]?.input;
    if (input === undefined) continue;
    await sql.query('INSERT INTO isolde_shared.job_inputs VALUES ($1, $2, $3)', [
      id,
      input.name,
      Buffer.from(input.content),
    ]);
  }
}

interface Note {
  readonly batch?: string;
  readonly job?: string;
  readonly worker?: string;
  readonly line: string;
}

async function note(sql: Sql, { batch, job, worker, line }: Note): Promise<void> {
  await sql.query('INSERT INTO isolde_shared.events (batch, job, worker, line) VALUES ($1, $2, $3, $4)', [
    batch ?? null,
    job ?? null,
    worker ?? null,
    line,
  ]);
}

/** What a fleet is doing and what came of it, read from its tables, as data. */

import { levels } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { addReasons, type HuntCounters, newCounters } from '../hunt/index.js';
import { optional, parseJson } from '../json.js';
import type { SharedDatabase } from '../store/index.js';
import type { CheckAnswer } from './check-job.js';
import { type CellAnswer, cellOutcomes } from './matrix-job.js';
import type { ReducedAnswer } from './reduce-job.js';

export interface WorkerLine {
  readonly id: string;
  readonly name: string;
  readonly has: readonly string[];
  readonly slots: number;
  readonly running: number;
  readonly alive: boolean;
  /** Seconds since it was last heard of. */
  readonly silent: number;
}

export type JobStates = Readonly<Record<'ready' | 'running' | 'done' | 'failed' | 'cancelled', number>>;

export interface BatchLine extends JobStates {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly created: string;
  /** Jobs that wait for something that no living worker has. */
  readonly stranded: readonly string[];
}

export interface FleetStatus {
  readonly workers: readonly WorkerLine[];
  readonly batches: readonly BatchLine[];
}

/** Living workers, and those that were lost within the last hour; the last batches. */
export async function fleetStatus(database: SharedDatabase, batches = 20): Promise<FleetStatus> {
  const workers = await database.query<WorkerLine>(
    `SELECT id, name, has, slots, seen > now() - lease AS alive,
       extract(epoch FROM now() - seen)::float AS silent,
       (SELECT count(*)::int FROM isolde_shared.jobs AS job WHERE job.worker = worker.id AND state = 'running') AS running
     FROM isolde_shared.workers AS worker WHERE ended IS NULL AND seen > now() - interval '1 hour' ORDER BY id`,
  );
  const lines = await database.query<BatchLine>(`${batchQuery} ORDER BY batch.id DESC LIMIT $1`, [batches]);
  return { workers, batches: lines };
}

const states = ['ready', 'running', 'done', 'failed', 'cancelled'] as const;

const batchQuery = `SELECT batch.id, batch.kind, batch.title, to_char(batch.created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created,
   ${states.map((state) => `jobs.${state}`).join(', ')}, coalesce(waiting.needs, '{}') AS stranded
 FROM isolde_shared.batches AS batch
 CROSS JOIN LATERAL (
   SELECT ${states.map((state) => `count(*) FILTER (WHERE state = '${state}')::int AS ${state}`).join(', ')}
   FROM isolde_shared.jobs WHERE jobs.batch = batch.id AND kind <> 'trial') AS jobs
 CROSS JOIN LATERAL (
   SELECT array_agg(DISTINCT needs) AS needs FROM isolde_shared.jobs AS job
   WHERE job.batch = batch.id AND job.state = 'ready' AND NOT EXISTS (
     SELECT FROM isolde_shared.workers AS worker
     WHERE worker.ended IS NULL AND worker.seen > now() - worker.lease AND job.needs = ANY(worker.has))) AS waiting`;

/** One batch; without a number the last one. */
export async function batchLine(database: SharedDatabase, batch: string | undefined): Promise<BatchLine> {
  if (batch !== undefined && !/^\d{1,18}$/.test(batch))
    throw new IsoldeError('usage', `a batch has a number, not "${batch}"; isolde fleet status lists them`);
  const where = batch === undefined ? '' : 'WHERE batch.id = $1';
  const [line] = await database.query<BatchLine>(
    `${batchQuery} ${where} ORDER BY batch.id DESC LIMIT 1`,
    batch === undefined ? [] : [batch],
  );
  if (line !== undefined) return line;
  throw new IsoldeError(
    'usage',
    batch === undefined ? 'nothing was submitted yet' : `there is no batch ${batch}`,
  );
}

export function isOver({ ready, running }: JobStates): boolean {
  return ready + running === 0;
}

export interface FailedJob {
  readonly id: string;
  readonly needs: string;
  readonly problem: string;
}

export interface BatchResults {
  readonly batch: BatchLine;
  /** All jobs of a hunt together. */
  readonly counters?: HuntCounters;
  readonly bugs: readonly { readonly id: string; readonly jobs: number; readonly isNew: boolean }[];
  readonly checks: readonly CheckAnswer[];
  readonly cells: readonly CellAnswer[];
  readonly reductions: readonly ReducedAnswer[];
  readonly failed: readonly FailedJob[];
}

const resultsAtOnce = 1_000;

export async function batchResults(
  database: SharedDatabase,
  batch: string | undefined,
): Promise<BatchResults> {
  const line = await batchLine(database, batch);
  const bugs = await database.query<{ id: string; jobs: number; isNew: boolean }>(
    'SELECT bug AS id, jobs, is_new AS "isNew" FROM isolde_shared.batch_bugs WHERE batch = $1 ORDER BY bug',
    [line.id],
  );
  const failed = await database.query<FailedJob>(
    `SELECT id, needs, coalesce(problem, '') AS problem FROM isolde_shared.jobs
     WHERE batch = $1 AND state = 'failed' AND kind <> 'trial' ORDER BY id LIMIT 100`,
    [line.id],
  );
  const counters = newCounters();
  const checks: CheckAnswer[] = [];
  const cells: CellAnswer[] = [];
  const reductions: ReducedAnswer[] = [];
  for (let after = '0'; ; ) {
    const rows = await database.query<{ id: string; kind: string; result: string }>(
      `SELECT id, kind, result FROM isolde_shared.jobs
       WHERE batch = $1 AND id > $2 AND state = 'done' AND kind <> 'trial' ORDER BY id LIMIT ${resultsAtOnce}`,
      [line.id, after],
    );
    for (const { id, kind, result } of rows) {
      if (kind === 'hunt') addCounters(counters, result, id);
      else if (kind === 'check') checks.push(readCheck(result, id));
      else if (kind === 'matrix') cells.push(readCell(result, id));
      else if (kind === 'reduce') reductions.push(readReduced(result, id));
    }
    if (rows.length < resultsAtOnce) break;
    after = rows.at(-1)!.id;
  }
  return { batch: line, bugs, checks, cells, reductions, failed, ...(line.kind === 'hunt' && { counters }) };
}

function addCounters(sum: HuntCounters, result: string, job: string): void {
  const counters = parseJson(result, `the result of job ${job}`).at('counters');
  for (const name of Object.keys(sum) as (keyof HuntCounters)[]) {
    const value = counters.at(name).value;
    if (name !== 'firstBugSeconds' && name !== 'undecidedReasons' && typeof value === 'number')
      sum[name] += value;
  }
  // Workers of an older Isolde do not count them.
  const reasons = counters.maybe('undecidedReasons', (node) =>
    node.items().map((item) => ({ reason: item.at('reason').text(), rounds: item.at('rounds').count() })),
  );
  addReasons(sum, reasons ?? []);
}

function readCheck(result: string, job: string): CheckAnswer {
  const node = parseJson(result, `the result of job ${job}`);
  const texts = (name: string) =>
    node
      .at(name)
      .items()
      .map((item) => item.text());
  const valid = node.at('valid').value;
  return {
    file: node.at('file').text(),
    format: node.at('format').text(),
    valid: typeof valid === 'boolean' ? valid : 'unknown',
    kinds: texts('kinds'),
    strongest: texts('strongest'),
    unknownReasons: texts('unknownReasons'),
  };
}

function readCell(result: string, job: string): CellAnswer {
  const node = parseJson(result, `the result of job ${job}`);
  return {
    subject: node.at('subject').text(),
    target: node.at('target').text(),
    outcome: node.at('outcome').oneOf(cellOutcomes),
    why: node.at('why').text(),
    shown: node.at('shown').count(),
    runs: node.at('runs').count(),
    ...optional(
      'level',
      node.maybe('level', (each) => each.oneOf(levels)),
    ),
    ...optional(
      'version',
      node.maybe('version', (each) => each.text()),
    ),
  };
}

function readReduced(result: string, job: string): ReducedAnswer {
  const node = parseJson(result, `the result of job ${job}`);
  return {
    operations: node.at('operations').count(),
    minimal: node.at('minimal').value === true,
    sameFinding: node.at('sameFinding').value === true,
    shown: node.at('shown').count(),
    runs: node.at('runs').count(),
    trials: node.at('trials').count(),
    remote: node.at('remote').count(),
    kind: node.at('kind').text(),
    file: node.at('file').text(),
    script: node.at('script').text(),
  };
}

export interface LogLine {
  readonly id: string;
  readonly at: string;
  readonly job: string | null;
  readonly worker: string | null;
  readonly line: string;
}

/** What happened after an event: of one batch, or of all. */
export function logLines(
  database: SharedDatabase,
  {
    batch,
    after = '0',
    most = 1_000,
  }: { readonly batch?: string; readonly after?: string; readonly most?: number },
): Promise<readonly LogLine[]> {
  return database.query<LogLine>(
    `SELECT * FROM (
       SELECT id, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, job, worker, line FROM isolde_shared.events
       WHERE ($1::bigint IS NULL OR batch = $1) AND id > $2 ORDER BY id DESC LIMIT $3) AS last ORDER BY id`,
    [batch ?? null, after, most],
  );
}

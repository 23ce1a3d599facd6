/**
 * `npm run campaign fleet [-- --count 50 --seed S]`: a hunt over four workers, of which one after another is killed with SIGKILL at random
 * moments and replaced, and now and then the PostgreSQL where they meet. Afterwards every job must be done, exactly once, and the
 * bugs must be those that one worker finds that nobody disturbs: none lost, none twice.
 *
 * Only rounds that run by a schedule take part (`scheduled-jobs.ts`): what a free run shows is left to chance, killed or not. Every job that
 * finds a bug leaves one line with it, so a job that was counted twice would show.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  batchLine,
  batchResults,
  isOver,
  type LocalServer,
  type NewJob,
  Queue,
  startLocalServer,
} from '../../fleet/index.js';
import { Random } from '../../generate/index.js';
import { SharedDatabase, SharedStore } from '../../store/index.js';
import { openFolder, until, workingIn } from './processes.js';
import { type ScheduledHunt, scheduledJobs } from './scheduled-jobs.js';
import type { CampaignTable } from './table.js';

export interface FleetCampaignOptions {
  /** Workers that are killed. */
  readonly count: number;
  readonly seed: string;
}

const cli = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const workers = 4;
/** One kill of the server for so many of workers. */
const workersPerServer = 10;
const leaseSeconds = 3;
const longestMs = 30 * 60_000;
const hunt: ScheduledHunt = {
  ...{
    target: 'duckdb:',
    seed: '3',
    profiles: ['no-op'],
    contract: 'vendor',
    oracles: ['mechanism'],
    runs: 2,
  },
};

interface Campaign {
  readonly local: LocalServer;
  readonly queue: Queue;
  readonly folder: string;
  readonly random: Random;
  /** Workers that run, by their names. */
  readonly running: Map<string, ChildProcess>;
}

/** What a batch left behind, as far as it must not depend on who was killed. */
interface Outcome {
  readonly jobs: number;
  readonly done: number;
  readonly rounds: number;
  readonly bugs: readonly string[];
  readonly entries: number;
  readonly lost: number;
  readonly attempts: number;
}

/** Enough that the last is not done before the last kill. */
const jobsPerKill = 4;
const fewestJobs = 16;

export async function fleet({ count, seed }: FleetCampaignOptions): Promise<CampaignTable> {
  const folder = await openFolder('fleet-campaign');
  const failures: string[] = [];
  const kills = { workers: 0, servers: 0 };
  try {
    const jobs = await scheduledJobs(hunt, Math.max(fewestJobs, jobsPerKill * count));
    const alone = await runOnce(folder, seed, jobs, async () => {});
    console.error(`undisturbed: ${describe(alone)}`);
    const disturbed = await runOnce(folder, seed, jobs, async (campaign, start) => {
      for (let i = 1; i < workers; i++) start();
      while (kills.workers < count && !(await isDone(campaign))) {
        await pause(campaign.random.between(0, 200));
        if (!(await killOne(campaign))) continue;
        start();
        kills.workers++;
        if (kills.workers % Math.min(workersPerServer, count) !== 0) continue;
        await pause(campaign.random.between(0, 500));
        await campaign.local.server.kill!();
        kills.servers++;
        const so = describe(await outcomeOf(campaign));
        console.error(`${kills.workers} workers and ${kills.servers} servers killed: ${so}`);
      }
    });
    console.error(`disturbed: ${describe(disturbed)}`);
    failures.push(...compare(alone, disturbed));
    if (!(await until(() => workingIn(folder).length === 0, 60_000)))
      failures.push(`${workingIn(folder).length} processes of killed workers are left`);
    if (kills.workers < count)
      failures.push(`only ${kills.workers} of ${count} workers were killed before all was done`);
    return {
      name: 'fleet',
      title: 'A fleet whose workers and server are killed',
      about: `A hunt in \`duckdb:\` over ${workers} workers. Workers get SIGKILL at random moments and are replaced; after every ${workersPerServer} of them the PostgreSQL where they meet gets it, too, and is started again. A failure is a job that is not done, a round that is missing or counted twice, a bug that the undisturbed hunt finds and this one does not, or the other way round, a bug with two entries, a job that reported a bug twice, or a process of a killed worker that is left.`,
      command: `npm run campaign fleet -- --count ${count} --seed ${seed}`,
      heads: [
        'hunt',
        'workers killed',
        'servers killed',
        'jobs',
        'done',
        'taken',
        'lost with a worker',
        'rounds',
        'bugs',
        'entries',
      ],
      rows: [
        rowOf('one worker, undisturbed', alone, { workers: 0, servers: 0 }),
        rowOf(`${workers} workers`, disturbed, kills),
      ],
      failures,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Disturb = (campaign: Campaign, start: () => void) => Promise<void>;

/** Submits the hunt to a fleet of its own, lets `disturb` do what it likes, and waits for the end. */
async function runOnce(
  folder: string,
  seed: string,
  jobs: readonly NewJob[],
  disturb: Disturb,
): Promise<Outcome> {
  const local = await startLocalServer(undefined);
  const database = await SharedDatabase.open(local.url);
  const running = new Map<string, ChildProcess>();
  const random = new Random(`${seed} fleet`);
  const campaign: Campaign = { local, queue: new Queue(database), folder, random, running };
  const start = () => startWorker(campaign);
  try {
    await campaign.queue.prepare();
    await campaign.queue.submit({ kind: 'hunt', title: 'campaign', submission: randomUUID(), jobs });
    start();
    await disturb(campaign, start);
    const end = Date.now() + longestMs;
    while (!(await isDone(campaign)) && Date.now() < end) await pause(200);
    return await outcomeOf(campaign);
  } finally {
    for (const child of running.values()) child.kill('SIGTERM');
    await Promise.all(
      [...running.values()].map((child) => new Promise((resolve) => child.once('exit', resolve))),
    );
    await database.close();
    await local.server.stop();
  }
}

let started = 0;

function startWorker({ local, folder, running }: Campaign): void {
  const name = `worker ${started++}`;
  const args = ['fleet', 'work', '--engines', 'duckdb', '--lease', `${leaseSeconds}s`, '--name', name];
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder, ISOLDE_FLEET_DB: local.url },
    stdio: 'ignore',
  });
  running.set(name, child);
  child.once('exit', () => running.delete(name));
}

/** Kills a worker that has a job; false: none has one just now. */
async function killOne({ queue: { database }, running, random }: Campaign): Promise<boolean> {
  const rows = await database.persistent(() =>
    database.query<{ name: string }>(
      `SELECT worker.name FROM isolde_shared.jobs AS job JOIN isolde_shared.workers AS worker ON worker.id = job.worker
       WHERE job.state = 'running' ORDER BY worker.id`,
    ),
  );
  const busy = rows.flatMap(({ name }) => running.get(name) ?? []);
  if (busy.length === 0) return false;
  const victim = random.pick(busy);
  const gone = new Promise((resolve) => victim.once('exit', resolve));
  victim.kill('SIGKILL');
  await gone;
  return true;
}

async function isDone({ queue: { database } }: Campaign): Promise<boolean> {
  return isOver(await database.persistent(() => batchLine(database, undefined)));
}

function outcomeOf({ queue: { database } }: Campaign): Promise<Outcome> {
  return database.persistent(async () => {
    const { batch, counters, bugs } = await batchResults(database, undefined);
    const { bugs: stored, problems } = await new SharedStore(database).list();
    const [taken] = await database.query<{ lost: number; attempts: number }>(
      'SELECT sum(lost)::int AS lost, sum(attempt)::int AS attempts FROM isolde_shared.jobs',
    );
    const [runs] = await database.query<{ runs: number }>(
      'SELECT count(*)::int AS runs FROM isolde_shared.bug_runs',
    );
    // Every job that found a bug left one line of it: more would be a result that was told twice.
    const told = bugs.reduce((sum, { jobs }) => sum + jobs, 0);
    const twice = runs?.runs === told ? 0 : 1;
    return {
      jobs: batch.ready + batch.running + batch.done + batch.failed + batch.cancelled,
      done: batch.done,
      rounds: counters?.rounds ?? 0,
      bugs: bugs.map(({ id }) => id),
      entries: stored.length + problems.length + twice,
      lost: taken?.lost ?? 0,
      attempts: taken?.attempts ?? 0,
    };
  });
}

function compare(alone: Outcome, disturbed: Outcome): string[] {
  const problems: string[] = [];
  for (const [name, each] of [
    ['undisturbed', alone],
    ['disturbed', disturbed],
  ] as const) {
    if (each.done !== each.jobs)
      problems.push(`${name}: ${each.jobs - each.done} of ${each.jobs} jobs are not done`);
    if (each.entries !== each.bugs.length)
      problems.push(`${name}: ${each.entries} entries of ${each.bugs.length} bugs`);
  }
  if (alone.bugs.length === 0) problems.push('the hunt finds nothing, so nothing can be lost');
  if (alone.rounds !== disturbed.rounds)
    problems.push(`${disturbed.rounds} rounds instead of ${alone.rounds}`);
  for (const id of alone.bugs) if (!disturbed.bugs.includes(id)) problems.push(`${id} was lost`);
  for (const id of disturbed.bugs)
    if (!alone.bugs.includes(id)) problems.push(`${id} was found by the disturbed hunt alone`);
  return problems;
}

function describe({ jobs, done, lost, rounds, bugs }: Outcome): string {
  return `${done} of ${jobs} jobs done, ${lost} lost with a worker, ${rounds} rounds, ${bugs.length} bugs`;
}

function rowOf(
  name: string,
  outcome: Outcome,
  kills: { readonly workers: number; readonly servers: number },
): string[] {
  const { jobs, done, attempts, lost, rounds, bugs, entries } = outcome;
  return [
    name,
    ...[kills.workers, kills.servers, jobs, done, attempts, lost, rounds, bugs.length, entries].map(String),
  ];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

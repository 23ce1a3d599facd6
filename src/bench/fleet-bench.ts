/**
 * `npm run bench fleet [-- --rounds N --seconds S --workers 1,10,100,1000 --only hunt,queue,reduce --write]`:
 *
 * 1. hunt: one worker and four, as processes, on the same jobs: rounds a minute, and whether they find the same bugs. Bugs are compared on jobs of
 *    their own, without the rounds that run freely: what those show is left to chance.
 * 2. queue: simulated workers, each with a connection of its own and jobs that take no time, against one real PostgreSQL: how many jobs a
 *    second the queue hands out and takes back, how long taking one takes, what that costs the server. Where it no longer grows, it is saturated. And what jobs that find bugs
 *    leave in the database, in bytes.
 * 3. reduce: a case of 20,000 operations, its trials on one worker and on four: the same result.
 *
 * `--write` puts the figures into docs/stages/fleet.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseScript } from '../cases/index.js';
import {
  type BatchResults,
  batchLine,
  batchResults,
  huntJobs,
  isOver,
  type LocalServer,
  type NewJob,
  Queue,
  reduceJob,
  startLocalServer,
} from '../fleet/index.js';
import { buryCase } from '../reduce/index.js';
import { SharedDatabase } from '../store/index.js';
import { childrenCpuMs, cpuMsOf, familyOf, openFolder } from './campaigns/processes.js';
import { scheduledJobs, scheduledRounds } from './campaigns/scheduled-jobs.js';
import { type Figure, median } from './measure.js';
import { writeSection } from './page-section.js';

const cli = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const page = 'docs/stages/fleet.md';

export async function benchFleet(args: readonly string[]): Promise<Figure[]> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '1024' },
      seconds: { type: 'string', default: '10' },
      workers: { type: 'string', default: '1,10,100,1000' },
      operations: { type: 'string', default: '20000' },
      only: { type: 'string', default: 'hunt,queue,reduce' },
      write: { type: 'boolean', default: false },
    },
  });
  const only = values.only.split(',');
  const figures: Figure[] = [];
  if (only.includes('hunt')) figures.push(...(await benchHunts(Number(values.rounds))));
  if (only.includes('queue'))
    figures.push(...(await benchQueue(values.workers.split(',').map(Number), Number(values.seconds))));
  if (only.includes('reduce')) figures.push(...(await benchReduction(Number(values.operations))));
  if (values.write) await write(figures, `npm run bench fleet -- ${args.join(' ')}`);
  return figures;
}

interface Fleet {
  readonly local: LocalServer;
  readonly queue: Queue;
  readonly folder: string;
}

async function withFleet<T>(use: (fleet: Fleet) => Promise<T>): Promise<T> {
  const folder = await openFolder('fleet-bench');
  const local = await startLocalServer(undefined);
  const database = await SharedDatabase.open(local.url);
  try {
    const queue = new Queue(database);
    await queue.prepare();
    return await use({ local, queue, folder });
  } finally {
    await database.close();
    await local.server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What was stored, in bytes. */
interface Sizes {
  readonly jobs: number;
  readonly resultBytes: number;
  readonly bugs: number;
  readonly bugBytes: number;
}

interface Done {
  readonly results: BatchResults;
  /** From the submission to the end. */
  readonly seconds: number;
  readonly cpuMs: number;
  readonly sizes: Sizes;
}

/** Lets processes do a batch. */
function doBatch(kind: string, jobs: readonly NewJob[], workers: number): Promise<Done> {
  const before = childrenCpuMs();
  return withFleet(async ({ local, queue, folder }) => {
    const { database } = queue;
    const team: ChildProcess[] = Array.from({ length: workers }, () =>
      spawn(process.execPath, [cli, 'fleet', 'work', '--engines', 'duckdb'], {
        cwd: folder,
        env: { ...process.env, ISOLDE_FLEET_DB: local.url },
        stdio: 'ignore',
      }),
    );
    try {
      // They are there before the clock runs.
      for (let there = 0; there < workers; await pause(50)) {
        const [row] = await database.query<{ n: number }>(
          'SELECT count(*)::int AS n FROM isolde_shared.workers',
        );
        there = row?.n ?? 0;
      }
      const began = performance.now();
      const batch = await queue.submit({ kind, title: 'bench', submission: randomUUID(), jobs });
      while (!isOver(await batchLine(database, batch))) await pause(50);
      const seconds = (performance.now() - began) / 1000;
      const results = await batchResults(database, batch);
      const sizes = await storedSizes(database);
      await end(team);
      return { results, seconds, cpuMs: childrenCpuMs() - before, sizes };
    } finally {
      await end(team);
    }
  });
}

async function storedSizes(database: SharedDatabase): Promise<Sizes> {
  const [sizes] = await database.query<Sizes>(
    `SELECT
       (SELECT count(*)::int FROM isolde_shared.jobs) AS jobs,
       (SELECT coalesce(sum(octet_length(result)), 0)::int FROM isolde_shared.jobs) AS "resultBytes",
       (SELECT count(*)::int FROM isolde_shared.bugs) AS bugs,
       (SELECT coalesce(sum(octet_length(record)), 0)::int FROM isolde_shared.bugs)
         + (SELECT coalesce(sum(octet_length(content)), 0)::int FROM isolde_shared.bug_files)
         + (SELECT coalesce(sum(octet_length(line)), 0)::int FROM isolde_shared.bug_runs) AS "bugBytes"`,
  );
  return sizes!;
}

async function end(team: ChildProcess[]): Promise<void> {
  const left = team.splice(0);
  for (const child of left) child.kill('SIGTERM');
  await Promise.all(left.map((child) => new Promise((resolve) => child.once('exit', resolve))));
}

const huntSeed = 'fleet';
const huntBy = { profiles: [], contract: 'reported', runs: 3 };

async function benchHunts(rounds: number): Promise<Figure[]> {
  const request = { ...huntBy, targets: ['duckdb:'], seeds: [huntSeed], levels: [] };
  const jobs = huntJobs({ ...request, from: 0, to: rounds, chunk: 32 });
  const [one, four] = [await doBatch('hunt', jobs, 1), await doBatch('hunt', jobs, 4)];
  const perMinute = ({ seconds }: typeof one) => (rounds * 60) / seconds;
  const ratio = perMinute(four) / perMinute(one);
  return [
    {
      name: `duckdb:, ${rounds} rounds, one worker`,
      measured: `${perMinute(one).toFixed(0)} rounds a minute`,
    },
    {
      name: `duckdb:, ${rounds} rounds, four workers`,
      measured: `${perMinute(four).toFixed(0)} rounds a minute`,
    },
    { name: 'four workers ÷ one', measured: ratio.toFixed(2), target: '≥ 1.7', pass: ratio >= 1.7 },
    {
      name: 'processor time of a round, one worker and four, starts included',
      measured: `${(one.cpuMs / rounds).toFixed(0)} ms and ${(four.cpuMs / rounds).toFixed(0)} ms`,
    },
    await sameBugs(rounds),
  ];
}

/** Whether one worker and four find the same bugs, on a quarter of the rounds. */
async function sameBugs(rounds: number): Promise<Figure> {
  const count = Math.max(1, Math.round(rounds / 4 / scheduledRounds));
  const jobs = await scheduledJobs({ ...huntBy, target: 'duckdb:', seed: huntSeed }, count);
  const [one, four] = [await doBatch('hunt', jobs, 1), await doBatch('hunt', jobs, 4)];
  const ids = ({ results }: Done) => results.bugs.map(({ id }) => id).join(' ');
  const same = ids(one) === ids(four);
  return {
    name: `bugs of one worker and of four, ${count * scheduledRounds} rounds that run by a schedule (what free rounds show is left to chance)`,
    measured: `${one.results.bugs.length} and ${four.results.bugs.length}, ${same ? 'the same' : 'not the same'}`,
    target: 'the same',
    pass: same,
  };
}

interface Load {
  readonly workers: number;
  readonly jobsPerSecond: number;
  readonly claimMs: readonly number[];
  readonly serverMsPerJob: number;
}

async function benchQueue(sizes: readonly number[], seconds: number): Promise<Figure[]> {
  const loads: Load[] = [];
  for (const size of sizes) loads.push(await withFleet((fleet) => simulate(fleet, size, seconds)));
  const figures = loads.flatMap(({ workers, jobsPerSecond, claimMs, serverMsPerJob }): Figure[] => {
    const sorted = claimMs.toSorted((a, b) => a - b);
    const slowest = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
    return [
      {
        name: `${workers} simulated workers, jobs of no time`,
        measured: `${jobsPerSecond.toFixed(0)} jobs a second; taking one ${median(claimMs).toFixed(1)} ms, 99 % below ${slowest.toFixed(0)} ms; server ${serverMsPerJob.toFixed(2)} ms of processor a job`,
      },
    ];
  });
  const best = loads.reduce((a, b) => (b.jobsPerSecond > a.jobsPerSecond ? b : a));
  const most = loads.at(-1)!;
  return [
    ...figures,
    {
      name: 'saturated',
      measured: `at ${best.jobsPerSecond.toFixed(0)} jobs a second, with ${best.workers} workers; with ${most.workers} one core of the server is enough for ${(1000 / most.serverMsPerJob).toFixed(0)} jobs a second, so for ${(10_000 / most.serverMsPerJob).toFixed(0)} slots with jobs of 10 s`,
    },
    await idleFigure(most.workers, seconds),
    await sizeFigure(),
  ];
}

/** What real jobs leave in the database: a hunt that finds bugs, in jobs of the usual size. */
async function sizeFigure(): Promise<Figure> {
  const rounds = { from: 0, to: 512, chunk: 128 };
  const jobs = huntJobs({ ...huntBy, ...rounds, targets: ['duckdb:'], seeds: [huntSeed], levels: [] });
  const { sizes } = await doBatch('hunt', jobs, 1);
  const { jobs: count, resultBytes, bugs, bugBytes } = sizes;
  const each = (bytes: number, of: number) => `${Math.round(bytes / Math.max(1, of))} bytes`;
  return {
    name: `what ${count} hunts of ${rounds.chunk} rounds leave in the database`,
    measured: `${each(resultBytes, count)} a job's result, ${each(bugBytes, bugs)} a bug (${bugs} of them, with their files)`,
  };
}

/** More than are done in the time. */
const jobsAtHand = 40_000;

/** Workers that take and give back as fast as the database answers. */
async function simulate({ local, queue }: Fleet, workers: number, seconds: number): Promise<Load> {
  const jobs: NewJob[] = Array.from({ length: jobsAtHand }, (_, i) => ({
    kind: 'none',
    needs: 'simulated',
    payload: String(i),
  }));
  await queue.submit({ kind: 'none', title: 'bench', submission: randomUUID(), jobs });
  const crowd = await openCrowd(local, workers);
  const claimMs: number[] = [];
  let done = 0;
  const cpuBefore = serverCpuMs(local);
  const began = performance.now();
  const end = began + seconds * 1000;
  await Promise.all(
    crowd.map(async ({ queue: own, id }) => {
      while (performance.now() < end) {
        const asked = performance.now();
        const lease = await own.claim(id, ['simulated']);
        claimMs.push(performance.now() - asked);
        if (lease === undefined) return;
        await own.complete(lease, { result: '{}', bugs: [], line: 'done' });
        done++;
      }
    }),
  );
  const took = (performance.now() - began) / 1000;
  const cpu = serverCpuMs(local) - cpuBefore;
  for (const { database } of crowd) await database.close();
  return { workers, jobsPerSecond: done / took, claimMs, serverMsPerJob: cpu / done };
}

/** What workers cost that look at an empty queue every five seconds and send a heartbeat every ten. */
function idleFigure(workers: number, seconds: number): Promise<Figure> {
  return withFleet(async ({ local }) => {
    const crowd = await openCrowd(local, workers);
    const end = performance.now() + seconds * 1000;
    const before = serverCpuMs(local);
    const every = async (ms: number, what: () => Promise<unknown>) => {
      await pause(Math.random() * ms);
      for (; performance.now() < end; await pause(ms)) await what();
    };
    await Promise.all(
      crowd.flatMap(({ queue, id }) => [
        every(5_000, () => queue.claim(id, ['engine duckdb', 'engine postgres', 'check'])),
        every(10_000, () => queue.heartbeat(id)),
      ]),
    );
    const share = (serverCpuMs(local) - before) / (seconds * 1000);
    for (const { database } of crowd) await database.close();
    return {
      name: `${workers} idle workers`,
      measured: `${(100 * share).toFixed(1)} % of one core of the server`,
    };
  });
}

async function openCrowd(local: LocalServer, workers: number) {
  const crowd: { database: SharedDatabase; queue: Queue; id: string }[] = [];
  for (let i = 0; i < workers; i++) {
    const database = await SharedDatabase.open(local.url);
    const queue = new Queue(database);
    const id = await queue.register({
      name: `simulated ${i}`,
      has: ['simulated'],
      slots: 1,
      leaseSeconds: 30,
    });
    // What a connection does for the first time it does slowly.
    await queue.claim(id, ['nothing']);
    await queue.heartbeat(id);
    crowd.push({ database, queue, id });
  }
  return crowd;
}

const serverCpuMs = ({ server }: LocalServer) =>
  familyOf(server.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0);

async function benchReduction(operations: number): Promise<Figure[]> {
  const text = await readFile('examples/scripts/duckdb-17223.sql', 'utf8');
  const small = parseScript(text, { file: 'duckdb-17223.sql', dialect: 'duckdb' });
  const subject = buryCase(small, { operations, sessions: 8, seed: 1 });
  const job = reduceJob({ kind: 'reduce', target: 'duckdb:', subject, runs: 5, lanes: 8 }, undefined);
  const [one, four] = [await doBatch('reduce', [job], 1), await doBatch('reduce', [job], 4)];
  const [a, b] = [one.results.reductions[0], four.results.reductions[0]];
  const same = a !== undefined && a.file === b?.file && a.trials === b.trials;
  const describe = (each: typeof a, seconds: number) =>
    each === undefined
      ? 'not reduced'
      : `${each.operations} operations after ${each.trials} trials, ${each.remote} on other workers, ${seconds.toFixed(1)} s`;
  return [
    { name: `reduction of ${operations} operations, one worker`, measured: describe(a, one.seconds) },
    { name: `reduction of ${operations} operations, four workers`, measured: describe(b, four.seconds) },
    {
      name: 'result of one worker and of four',
      measured: same ? 'the same' : 'not the same',
      target: 'the same',
      pass: same,
    },
  ];
}

async function write(figures: readonly Figure[], command: string): Promise<void> {
  const rows = figures.map(({ name, measured, target = '', pass }) => {
    const verdict = pass === undefined ? '' : pass ? 'yes' : '**no**';
    return `| ${name} | ${measured} | ${target} | ${verdict} |`;
  });
  const table = [
    `Written by \`${command.trim()}\` with Node ${process.versions.node} on ${process.platform}-${process.arch}, two cores for everything.`,
    '',
    '| | measured | wanted | met |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
  await writeSection(page, 'figures', table);
}

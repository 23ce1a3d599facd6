/**
 * `npm run campaign kill [-- --count N --seed S --at I --target URL … --jobs J]`: commands are stopped at random moments, by each signal, and so
 * are the servers they started. Afterwards the store must be readable with nothing lost, no process may be left, and the
 * next command with the same temporary folder must leave nothing in it but what it may keep.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../generate/index.js';
import { openStore } from '../../store/index.js';
import { familyOf, isServerProcess, openFolder, processesIn, runs, startIsolde, until } from './processes.js';
import type { CampaignTable } from './table.js';

export interface KillOptions {
  readonly count: number;
  readonly seed: string;
  /** Only the trial of this number. */
  readonly at?: number | undefined;
  readonly targets?: readonly string[] | undefined;
  /** How many moments are tried at once; default 1. */
  readonly jobs?: number | undefined;
}

const blows = ['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'server SIGKILL', 'server SIGSTOP'] as const;
type Blow = (typeof blows)[number];
const activities = ['hunt', 'reduce', 'reproduce', 'matrix', 'import'] as const;
type Activity = (typeof activities)[number];

const usualTargets = ['duckdb:', 'sqlite:', 'duckdb:?process=own', 'postgres:', 'mariadb:'];
const isServer = (target: string) => /^(postgres|mariadb):|process=own/.test(target);
const withFault = (target: string, fault: string) =>
  `${target}${target.includes('?') ? '&' : '?'}fault=${fault}`;
/** A command that is told to end, or hunts for eight seconds, has ended by then on a busy machine, too. */
const longestMs = 180_000;
/** Where a private MariaDB keeps its data. */
const sharedMemory = '/dev/shm';
/** What private servers keep between runs on purpose: a template of their data. */
const keptNames = /^isolde-(postgres|mariadb)-\d+$/;

export async function kill(options: KillOptions): Promise<CampaignTable> {
  const folder = await openFolder('kill');
  const failures: string[] = [];
  const tried = new Map<string, { trials: number; failed: number }>();
  try {
    const source = join(folder, 'source');
    await makeSource(source, folder);
    const [from, to] = options.at === undefined ? [0, options.count] : [options.at, options.at + 1];
    let next = from;
    const work = async () => {
      for (let i = next++; i < to; i = next++) await tryAndCount(i);
    };
    const tryAndCount = async (i: number) => {
      const plan = planOf(i, options);
      const problems = await tryOne(plan, join(folder, `trial-${i}`), source);
      const key = `${plan.activity} | ${plan.blow}`;
      const entry = tried.get(key) ?? { trials: 0, failed: 0 };
      tried.set(key, { trials: entry.trials + 1, failed: entry.failed + (problems.length > 0 ? 1 : 0) });
      const replay = `\`npm run campaign kill -- --seed ${options.seed} --at ${i}${targetsOf(options)}\``;
      for (const problem of problems)
        failures.push(
          `${plan.activity} ${plan.target} ${plan.blow} after ${plan.afterMs} ms: ${problem}; ${replay}`,
        );
      if (problems.length > 0) console.error(failures.at(-1));
      if (i % 10 === 9) console.error(`${i + 1} of ${to}: ${failures.length} failures`);
    };
    await Promise.all(Array.from({ length: options.jobs ?? 1 }, work));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const rows = [...tried]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { trials, failed }]) => [...key.split(' | '), String(trials), String(failed)]);
  const all = rows.reduce((sum, row) => [sum[0]! + Number(row[2]), sum[1]! + Number(row[3])], [0, 0]);
  return {
    name: 'kill',
    title: 'Stopped at random moments',
    about:
      'Commands are stopped, or their servers killed or halted for three seconds, at a random moment. A failure is a store that cannot be read or lost a bug, a process left, a command that does not end, or a file in the temporary folder after the next command. What SIGKILL leaves in shared memory has to be gone by then, too.',
    command: `npm run campaign kill -- --count ${options.count} --seed ${options.seed}${targetsOf(options)}${jobsOf(options)}`,
    heads: ['command', 'what happens to it', 'moments', 'failures'],
    rows: [...rows, ['all', '', ...all.map(String)]],
    failures,
  };
}

/** The targets decide what a seed draws. */
const targetsOf = ({ targets = [] }: KillOptions) => targets.map((url) => ` --target '${url}'`).join('');
const jobsOf = ({ jobs = 1 }: KillOptions) => (jobs === 1 ? '' : ` --jobs ${jobs}`);

interface Plan {
  readonly activity: Activity;
  readonly target: string;
  readonly blow: Blow;
  readonly afterMs: number;
}

function planOf(i: number, { seed, targets = usualTargets }: KillOptions): Plan {
  const random = new Random(`${seed} kill ${i}`);
  const possible = targets.some(isServer) ? blows : blows.filter((each) => !each.startsWith('server'));
  const blow = possible[i % possible.length]!;
  const activity = blow.startsWith('server') ? random.pick(activities.slice(0, 4)) : random.pick(activities);
  const fitting = targets.filter((target) => !blow.startsWith('server') || isServer(target));
  return { activity, target: random.pick(fitting), blow, afterMs: random.between(50, 4_000) };
}

/** A store with bugs to reduce, reproduce and import. */
async function makeSource(source: string, folder: string): Promise<void> {
  const args = ['hunt', 'duckdb:', '--seed', 'demo', '--bugs', '1', '--for', '60s', '--store', source];
  const { code, said } = await startIsolde(args, tmpdir(), folder).ended;
  if (code !== 1) throw new Error(`the hunt for a bug to work on ended with ${code}: ${said}`);
}

/** The process that made a server's folder; a folder of something else has none. */
function ownerOf(folder: string): number {
  try {
    return Number(readFileSync(join(folder, 'owner'), 'utf8'));
  } catch {
    return Number.NaN;
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function argsOf({ activity, target }: Plan, place: string, source: string): Promise<string[]> {
  const store = ['--store', join(place, 'store')];
  const [bug] = await readdir(join(source, 'bugs'));
  const script = join(source, 'bugs', bug!, 'case.sql');
  switch (activity) {
    case 'hunt':
      return ['hunt', withFault(target, 'missed-own-write'), '--for', '8s', '--seed', '1', ...store];
    case 'reduce':
      return [
        'reduce',
        script,
        '--target',
        withFault(target, 'lost-update'),
        '--state',
        join(place, 'state.json'),
      ];
    case 'reproduce':
      return ['reproduce', script, '--target', withFault(target, 'lost-update'), '--runs', '20'];
    case 'matrix':
      return ['matrix', bug!, '--targets', target, withFault(target, 'lost-update'), ...store];
    case 'import':
      return ['bugs', 'import', source, ...store];
  }
}

async function tryOne(plan: Plan, place: string, source: string): Promise<string[]> {
  const temporary = join(place, 'tmp');
  await mkdir(temporary, { recursive: true });
  // Something is in the store before: it must be there afterwards.
  await cp(source, join(place, 'store'), { recursive: true });
  const { child, ended } = startIsolde(await argsOf(plan, place, source), temporary, place);
  await new Promise((resolve) => setTimeout(resolve, plan.afterMs));
  const family = new Set(familyOf(child.pid!));
  await strike(plan.blow, child.pid!, family);
  const problems: string[] = [];
  const limit = new Promise<undefined>((resolve) => setTimeout(resolve, longestMs, undefined).unref());
  const end = await Promise.race([ended, limit]);
  if (end === undefined) {
    problems.push(`it did not end within ${longestMs / 1000} s`);
    child.kill('SIGKILL');
    await ended;
  } else if (/unexpected failure|TypeError|RangeError/.test(end.said)) {
    problems.push(`it ended with ${JSON.stringify(end.said.slice(-300))}`);
  }
  const left = () => [...new Set([...family, ...processesIn(temporary)])].filter(runs);
  if (!(await until(() => left().length === 0, 60_000))) {
    problems.push(`${left().length} processes are left`);
    for (const pid of left()) process.kill(pid, 'SIGKILL');
  }
  problems.push(...(await inspect(plan, place, temporary, source)));
  // Servers of others come and go there: ours are those that say so.
  const inMemory = () =>
    namesIn(sharedMemory).filter((name) => family.has(ownerOf(join(sharedMemory, name))));
  if (!(await until(() => inMemory().length === 0, 60_000)))
    problems.push(`left in shared memory: ${inMemory().join(', ')}`);
  await rm(place, { recursive: true, force: true });
  return problems;
}

/** Adds to `family` what it finds of the command's processes. */
async function strike(blow: Blow, pid: number, family: Set<number>): Promise<void> {
  const signal = blow.split(' ').pop() as NodeJS.Signals;
  const servers = () => familyOf(pid).slice(1).filter(isServerProcess);
  // A server takes a moment to start, and a command that has ended has none.
  if (blow.startsWith('server')) await until(() => servers().length > 0 || !runs(pid), 20_000);
  for (const each of familyOf(pid)) family.add(each);
  const victims = blow.startsWith('server') ? servers() : [pid];
  const send = (name: NodeJS.Signals) => {
    for (const each of victims) {
      try {
        process.kill(each, name);
      } catch {
        // It has ended by itself.
      }
    }
  };
  send(signal);
  if (signal !== 'SIGSTOP') return;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  send('SIGCONT');
}

/** The store and the temporary folder, after the next command. */
async function inspect(plan: Plan, place: string, temporary: string, source: string): Promise<string[]> {
  const problems: string[] = [];
  const store = await openStore(join(place, 'store'));
  const { bugs, problems: unreadable } = await store.list();
  problems.push(...unreadable.map((text) => `the store cannot be read: ${text}`));
  for (const { id } of bugs) await store.get(id).catch((error: unknown) => problems.push(String(error)));
  for (const name of await readdir(join(source, 'bugs')))
    if (!bugs.some(({ id }) => id === name)) problems.push(`the bug ${name} is gone`);
  const next = ['probe', plan.target, '--anomaly', 'G0'];
  const { code, said } = await startIsolde(next, temporary, place).ended;
  if (code !== 0) problems.push(`the next command ended with ${code}: ${said.slice(-200)}`);
  const left = (await readdir(temporary)).filter((name) => !keptNames.test(name));
  if (left.length > 0) problems.push(`left in the temporary folder: ${left.join(', ')}`);
  return problems;
}

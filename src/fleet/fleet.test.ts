/** The queue, workers and commands of a fleet against a real PostgreSQL, one for all tests. */
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { parseScript } from '../cases/index.js';
import { buryCase, candidateOf } from '../reduce/index.js';
import { SharedDatabase, SharedStore } from '../store/index.js';
import { eventually } from '../targets/conformance/lab.case.js';
import { openTarget } from '../targets/index.js';
import { asUser, describePostgres, urlOf } from '../targets/postgres/postgres-lab.case.js';
import { roleScript } from './fleet-tables.js';
import { type LocalServer, startLocalServer } from './local-server.js';
import { batchLine, batchResults, isOver, logLines } from './overview.js';
import { type Lease, type NewJob, Queue } from './queue.js';
import { JobRunner } from './run-job.js';
import { huntJobs, matrixJobs, reduceJob } from './submit.js';
import { work } from './worker.js';

/** As it is built: a worker starts this program for its slots. */
const program = resolve('dist/bin/isolde.js');

async function duckdbVersion(): Promise<string> {
  const target = await openTarget('duckdb:');
  await target.close();
  return target.stamp.version;
}

describePostgres('a fleet', () => {
  let local: LocalServer;
  let made = 0;
  const open: SharedDatabase[] = [];

  beforeAll(async () => {
    local = await startLocalServer(undefined, { max_connections: '60' });
  });
  afterAll(async () => {
    for (const database of open) await database.close();
    await local.server.stop();
  });

  async function connect(url: string): Promise<Queue> {
    const database = await SharedDatabase.open(url);
    open.push(database);
    return new Queue(database);
  }

  /** A database with the tables of a fleet. */
  async function makeFleet(): Promise<{ readonly url: string; readonly queue: Queue }> {
    const database = `fleet${made++}`;
    await asUser(urlOf(local.server), `CREATE DATABASE ${database}`);
    const url = urlOf(local.server, { database });
    const queue = await connect(url);
    await queue.prepare();
    return { url, queue };
  }

  const facts = { name: 'test', has: ['check'], slots: 1, leaseSeconds: 30 };
  const jobs = (count: number, needs = 'check'): NewJob[] =>
    Array.from({ length: count }, (_, i) => ({ kind: 'check', needs, payload: String(i) }));
  const outcome = (result: string) => ({ result, bugs: [], line: 'done' });
  const batch = (name: string, list: readonly NewJob[]) => ({
    ...{ kind: 'check', title: name, submission: name, jobs: list },
  });

  it('gives every job to one worker, and to those alone who have what it needs', async () => {
    const { url, queue } = await makeFleet();
    await queue.submit(batch('a', [...jobs(20, 'engine tidb'), ...jobs(60)]));
    // The same submission again is none.
    const id = await queue.submit(batch('a', jobs(60)));
    const queues = await Promise.all(Array.from({ length: 8 }, () => connect(url)));
    const taken = await Promise.all(
      queues.map(async (each) => {
        const worker = await each.register(facts);
        const leases: Lease[] = [];
        for (let lease = await each.claim(worker, ['check']); lease !== undefined; ) {
          leases.push(lease);
          await each.complete(lease, outcome(`"${lease.payload}"`));
          lease = await each.claim(worker, ['check']);
        }
        return leases;
      }),
    );
    expect(new Set(taken.flat().map((lease) => lease.id)).size).toBe(60);
    expect(taken.flat()).toHaveLength(60);
    expect(await batchLine(queue.database, id)).toMatchObject({
      ...{ ready: 20, running: 0, done: 60, stranded: ['engine tidb'] },
    });
  });

  it('frees the jobs of a worker that is not heard of, and takes one result of a job', async () => {
    const { queue } = await makeFleet();
    await queue.submit(batch('b', jobs(2)));
    const [dead, alive] = [
      await queue.register({ ...facts, leaseSeconds: 0.2 }),
      await queue.register({ ...facts, leaseSeconds: 60 }),
    ];
    const [lost, kept] = [await queue.claim(dead, ['check']), await queue.claim(alive, ['check'])];
    await eventually(20_000, 'the job is free', async () => (await queue.reap()) === 1);
    const again = await queue.claim(alive, ['check']);
    expect(again).toMatchObject({ id: lost!.id, attempt: 2, lost: 1 });
    // Who was away has nothing to say any more, and a result said twice is one.
    expect(await queue.complete(lost!, outcome('"late"'))).toBe('lost');
    expect(await queue.fail(lost!, 'late')).toBe('lost');
    for (const lease of [again!, again!, kept!])
      expect(await queue.complete(lease, outcome('"first"'))).toBe('done');
    expect(await queue.complete(lost!, outcome('"later"'))).toBe('lost');
    const rows = await queue.database.query<{ result: string }>('SELECT result FROM isolde_shared.jobs');
    expect(rows.map(({ result }) => result)).toEqual(['"first"', '"first"']);
  });

  it('tries a failed job three times, and ends what was cancelled', async () => {
    const { queue } = await makeFleet();
    const first = await queue.submit(batch('c', jobs(1)));
    const worker = await queue.register(facts);
    for (let i = 0; i < 3; i++) await queue.fail((await queue.claim(worker, ['check']))!, `no ${i}`);
    expect(await queue.claim(worker, ['check'])).toBeUndefined();
    expect((await batchResults(queue.database, first)).failed).toMatchObject([{ problem: 'no 2' }]);
    const second = await queue.submit(batch('d', jobs(2)));
    const lease = await queue.claim(worker, ['check']);
    expect(await queue.cancel(second)).toBe(2);
    expect((await queue.heartbeat(worker)).held).toEqual([]);
    expect(await queue.complete(lease!, outcome('"x"'))).toBe('lost');
  });

  const worker = {
    name: 'w',
    policy: { engines: { duckdb: '1' }, allowed: [] },
    get slots() {
      return [new JobRunner()];
    },
    signal: new AbortController().signal,
    untilIdle: true,
    longestPollMs: 200,
  };
  const request = {
    ...{ targets: ['duckdb:'], seeds: ['3'], levels: [], profiles: ['no-op'] },
    ...{ contract: 'vendor', oracles: ['mechanism'], runs: 2, from: 0, to: 24, chunk: 8 },
  };

  /** Workers that end when nothing is left to do; returns which bugs they found. */
  async function huntWith(workers: number): Promise<readonly string[]> {
    const { url, queue } = await makeFleet();
    const id = await queue.submit({ kind: 'hunt', title: 'hunt', submission: 'x', jobs: huntJobs(request) });
    const tallies = await Promise.all(
      Array.from({ length: workers }, async () => work({ ...worker, queue: await connect(url) })),
    );
    expect(tallies.reduce((sum, { done }) => sum + done, 0)).toBe(3);
    const { bugs, counters, failed } = await batchResults(queue.database, id);
    expect([failed, counters?.rounds]).toEqual([[], 24]);
    const { bugs: stored } = await new SharedStore(queue.database).list();
    expect(stored.map((bug) => bug.id).sort()).toEqual(bugs.map((bug) => bug.id));
    return bugs.map((bug) => bug.id);
  }

  it('finds the same bugs with three workers as with one', async () => {
    const alone = await huntWith(1);
    expect(alone.length).toBeGreaterThan(0);
    expect(await huntWith(3)).toEqual(alone);
  });

  it('reduces to the same case with trials on other workers as alone', async () => {
    const version = await duckdbVersion();
    const small = parseScript(await readFile('examples/scripts/duckdb-17223.sql', 'utf8'), {
      ...{ file: 'duckdb-17223.sql', dialect: 'duckdb' },
    });
    const subject = buryCase(candidateOf(small), { operations: 150, sessions: 4, seed: 7 });
    const reduceWith = async (workers: number) => {
      const { url, queue } = await makeFleet();
      const job = reduceJob({ kind: 'reduce', target: 'duckdb:', subject, runs: 1, lanes: 4 }, undefined);
      const id = await queue.submit({ kind: 'reduce', title: 'reduce', submission: 'x', jobs: [job] });
      const stop = new AbortController();
      const policy = { engines: { duckdb: version }, allowed: [] };
      const ended = Array.from({ length: workers }, async () => {
        const database = () => SharedDatabase.open(url);
        const slots = [new JobRunner({ database, patienceMs: 60_000 })];
        const options = { ...worker, policy, slots, untilIdle: false, signal: stop.signal };
        return work({ ...options, queue: await connect(url) });
      });
      await eventually(60_000, 'the job is done', async () => isOver(await batchLine(queue.database, id)));
      stop.abort();
      await Promise.all(ended);
      const { reductions, failed } = await batchResults(queue.database, id);
      expect(failed).toEqual([]);
      return reductions[0]!;
    };
    const alone = await reduceWith(1);
    expect(alone).toMatchObject({ minimal: true, sameFinding: true, remote: 0 });
    const together = await reduceWith(3);
    expect(together.remote).toBeGreaterThan(0);
    expect({ ...together, remote: 0 }).toEqual(alone);
  });

  it('runs the cells of a matrix, and says why one cannot be run', async () => {
    const { url, queue } = await makeFleet();
    const text = await readFile('examples/scripts/duckdb-17223.sql', 'utf8');
    const subjects = [{ file: 'duckdb-17223.sql', text }];
    const jobs = matrixJobs({
      subjects,
      targets: ['duckdb:', 'sqlite:'],
      levels: ['snapshot', 'serializable'],
      runs: 1,
    });
    expect(jobs).toHaveLength(4);
    const id = await queue.submit({ kind: 'matrix', title: 'matrix', submission: 'x', jobs });
    const policy = { engines: { duckdb: '1', sqlite: '3' }, allowed: [] };
    await Promise.all([1, 2].map(async () => work({ ...worker, policy, queue: await connect(url) })));
    const { cells, failed } = await batchResults(queue.database, id);
    expect(failed).toEqual([]);
    expect(cells.map(({ target, level, outcome, shown }) => [target, level, outcome, shown]).sort()).toEqual([
      ['duckdb:', 'serializable', 'cannot-run', 0],
      ['duckdb:', 'snapshot', 'shows', 1],
      ['sqlite:', 'serializable', 'does-not-show', 0],
      ['sqlite:', 'snapshot', 'cannot-run', 0],
    ]);
    const { out } = await isolde(['fleet', 'results', '--db', url]);
    expect(out).toContain('duckdb-17223\tduckdb:\tsnapshot\tshows\t1 of 1 run');
  });

  it('runs bugs of the shared store, and writes down with them what came of it', async () => {
    const { url, queue } = await makeFleet();
    await queue.submit({ kind: 'hunt', title: 'hunt', submission: 'x', jobs: huntJobs(request) });
    await work({ ...worker, queue: await connect(url) });
    const store = new SharedStore(queue.database);
    const [found] = (await store.list()).bugs;
    const env = { ISOLDE_FLEET_DB: url };
    const fleet = (...args: readonly string[]) => isolde(['fleet', ...args], { env });
    const named = ['--targets', 'duckdb:', 'sqlite:', '--runs', '1'];
    expect((await fleet('matrix', found!.id, ...named)).out).toBe('batch 2: 2 jobs');
    const slots = [new JobRunner({ database: () => SharedDatabase.open(url) })];
    const policy = { engines: { duckdb: '1', sqlite: '3' }, allowed: [] };
    expect(await work({ ...worker, policy, slots, queue: await connect(url) })).toMatchObject({ done: 2 });
    expect((await fleet('results')).out).toContain(`${found!.id}\tduckdb:\t\tshows\t1 of 1 run`);
    // SQLite has no such level: it was not tried there.
    const { versions } = await store.get(found!.id);
    expect(versions.map(({ target, outcome, shown }) => [target.name, outcome, shown])).toEqual([
      ['duckdb', 'alive', 1],
    ]);
    expect((await fleet('matrix', 'duckdb-17223', '--targets', 'duckdb:')).out).toBe('batch 3: 1 job');
    expect((await fleet('matrix', 'no-such-bug')).code).toBe(3);
  });

  it('says which version of a matrix is the first bad one, and which the first good', async () => {
    const { url, queue } = await makeFleet();
    const script = ['matrix', 'examples/scripts/duckdb-17223.sql', '--targets', 'duckdb:'];
    const versions = { '1.1.0': 'does-not-show', '1.2.0': 'shows', '1.3.0': 'does-not-show' };
    const asked = [...script, '--versions', Object.keys(versions).join(',')];
    expect((await isolde(['fleet', ...asked, '--db', url])).out).toBe('batch 1: 3 jobs');
    const id = await queue.register(facts);
    for (const [version, outcome] of Object.entries(versions)) {
      const lease = await queue.claim(id, [`engine duckdb@${version}`]);
      const answer = {
        subject: 'duckdb-17223',
        target: `duckdb@${version}:`,
        outcome,
        why: '',
        shown: 1,
        runs: 1,
      };
      await queue.complete(lease!, { result: JSON.stringify(answer), bugs: [], line: '' });
    }
    const { out, code } = await isolde(['fleet', 'results', '--db', url]);
    expect(code).toBe(1);
    expect(out).toMatch(
      /duckdb-17223 +duckdb +first bad 1\.2\.0 after 1\.1\.0, first good 1\.3\.0 after 1\.2\.0/,
    );
  });

  it('needs no more rights than its roles have', async () => {
    const { url, queue } = await makeFleet();
    await asUser(
      url,
      ...roleScript()
        .split(/;\n/)
        .map((sql) => sql.replaceAll(/^--.*\n/gm, ''))
        .filter((sql) => sql.trim() !== ''),
    );
    const name = new URL(url).pathname.slice(1);
    await asUser(url, `CREATE ROLE w_${name} LOGIN PASSWORD 'pw1' IN ROLE isolde_worker`);
    await asUser(url, `CREATE ROLE s_${name} LOGIN PASSWORD 'pw2' IN ROLE isolde_submitter`);
    const workerUrl = urlOf(local.server, { user: `w_${name}`, password: 'pw1', database: name });
    const asWorker = await connect(workerUrl);
    const asSubmitter = await connect(
      urlOf(local.server, { user: `s_${name}`, password: 'pw2', database: name }),
    );
    await asSubmitter.prepare();
    const id = await asSubmitter.submit({
      ...{ kind: 'hunt', title: 'h', submission: 'x', jobs: huntJobs(request) },
    });
    expect(await work({ ...worker, queue: asWorker })).toEqual({ done: 3, failed: 0, lost: 0 });
    expect((await batchResults(asSubmitter.database, id)).batch.done).toBe(3);
    // A reduction puts its trials into the queue, a cell of a stored bug is written down with the bug.
    const [bug] = (await new SharedStore(asSubmitter.database).list()).bugs;
    const text = await readFile('examples/scripts/duckdb-17223.sql', 'utf8');
    const small = parseScript(text, { file: 'duckdb-17223.sql', dialect: 'duckdb' });
    const subject = buryCase(candidateOf(small), { operations: 30, sessions: 2, seed: 7 });
    const jobs = [
      reduceJob({ kind: 'reduce', target: 'duckdb:', subject, runs: 1, lanes: 2 }, undefined),
      ...matrixJobs({ subjects: [{ bug: bug!.id }], targets: ['duckdb:'], levels: [], runs: 1 }),
    ];
    const more = await asSubmitter.submit({ kind: 'reduce', title: 'r', submission: 'y', jobs });
    const slots = [new JobRunner({ database: () => SharedDatabase.open(workerUrl), patienceMs: 50 })];
    const policy = { engines: { duckdb: await duckdbVersion() }, allowed: [] };
    expect(await work({ ...worker, policy, slots, queue: asWorker })).toMatchObject({ failed: 0 });
    const { reductions, cells } = await batchResults(asSubmitter.database, more);
    expect(reductions).toMatchObject([{ minimal: true, sameFinding: true }]);
    expect(cells).toMatchObject([{ subject: bug!.id, outcome: 'shows' }]);
    expect((await new SharedStore(queue.database).get(bug!.id)).versions).toHaveLength(1);
    const refused = async (as: Queue, sql: string) =>
      expect(as.database.query(sql), sql).rejects.toThrow('isolde fleet serve --roles');
    await refused(asWorker, 'DELETE FROM isolde_shared.bugs');
    await refused(asWorker, `INSERT INTO isolde_shared.ignored VALUES ('x', 'y')`);
    await refused(asWorker, `UPDATE isolde_shared.jobs SET payload = 'x'`);
    await refused(asWorker, 'CREATE TABLE isolde_shared.mine (a INT)');
    await refused(asSubmitter, `UPDATE isolde_shared.bugs SET record = ''`);
    await refused(asSubmitter, 'SELECT * FROM isolde_shared.claim(1, ARRAY[]::text[])');
    await refused(asSubmitter, `INSERT INTO isolde_shared.ignored VALUES ('x', 'y')`);
    // Who submits may write down what became of a bug; who keeps the bugs takes others in, and says which are passed over.
    const stored = await new SharedStore(queue.database).get(bug!.id);
    await new SharedStore(asSubmitter.database).recordRun(bug!.id, stored.versions[0]!);
    await asUser(url, `CREATE ROLE k_${name} LOGIN PASSWORD 'pw3' IN ROLE isolde_keeper`);
    const asKeeper = await connect(
      urlOf(local.server, { user: `k_${name}`, password: 'pw3', database: name }),
    );
    const kept = new SharedStore(asKeeper.database);
    expect(await kept.add(stored, { imported: true })).toMatchObject({ isNew: false });
    for (const reason of ['known', 'still known']) await kept.ignore(bug!.id, reason);
    expect(await kept.isIgnored(stored)).toBe(true);
    expect(await kept.unignore(bug!.id)).toBe(true);
    await kept.recordRun(bug!.id, stored.versions[0]!);
    await refused(asKeeper, 'DELETE FROM isolde_shared.bugs');
    await refused(
      asKeeper,
      `INSERT INTO isolde_shared.batches (kind, title, submission) VALUES ('', '', '')`,
    );
    expect(await queue.reap()).toBe(0);
  }, 180_000);

  it('goes on when the server is killed under it', async () => {
    const { url, queue } = await makeFleet();
    const id = await queue.submit({ kind: 'hunt', title: 'h', submission: 'x', jobs: huntJobs(request) });
    const ended = work({ ...worker, queue: await connect(url) });
    await eventually(30_000, 'a job is done', async () => (await batchLine(queue.database, id)).done > 0);
    await local.server.kill!();
    expect(await ended).toMatchObject({ failed: 0 });
    const { batch: line, counters } = await queue.database.persistent(() => batchResults(queue.database, id));
    expect(line).toMatchObject({ ready: 0, running: 0, done: 3, failed: 0 });
    expect(counters?.rounds).toBe(24);
  });

  it('does as many jobs at once as a worker has slots, each in a process of its own', async () => {
    const { url, queue } = await makeFleet();
    await queue.submit({ kind: 'hunt', title: 'h', submission: 'x', jobs: huntJobs(request) });
    const args = ['fleet', 'work', '--engines', 'duckdb', '--slots', '2', '--until-idle'];
    const { stderr } = await promisify(execFile)(process.execPath, [program, ...args], {
      env: { ...process.env, ISOLDE_FLEET_DB: url },
    });
    expect(stderr).toContain('2 slots for duckdb');
    expect(stderr).toContain('3 jobs done, 0 failed');
    const together = await queue.database.query(
      `SELECT FROM isolde_shared.jobs AS a JOIN isolde_shared.jobs AS b
       ON a.id < b.id AND a.started < b.finished AND b.started < a.finished`,
    );
    expect(together.length).toBeGreaterThan(0);
  }, 120_000);

  it('has a server of its own, whose URL nobody else can read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'isolde-fleet-test-'));
    // Started by root, the server runs as another user.
    await chmod(folder, 0o711);
    let said = '';
    const serve = () => {
      const child = spawn(process.execPath, [program, 'fleet', 'serve', '--local'], { cwd: folder });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
    };
    let { child: serving, ended } = serve();
    const says = (what: string) =>
      eventually(90_000, what, async () => {
        if (serving.exitCode !== null) throw new Error(said);
        return said.includes(what);
      });
    try {
      await says('the tables are in');
      const file = join(folder, '.isolde', 'fleet.url');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const url = (await readFile(file, 'utf8')).trim();
      const { password } = new URL(url);
      expect((await isolde(['fleet', 'status', '--db', `@${file}`])).code).toBe(0);
      // Killed, the server comes back where workers wait for it; so it does for the next `serve`.
      const pidFile = join(folder, '.isolde', 'fleet', 'data', 'postmaster.pid');
      process.kill(Number((await readFile(pidFile, 'utf8')).split('\n')[0]), 'SIGKILL');
      await says('the PostgreSQL runs again on port');
      expect((await isolde(['fleet', 'status', '--db', url])).code).toBe(0);
      serving.kill('SIGTERM');
      await ended;
      said = '';
      ({ child: serving, ended } = serve());
      await says('the tables are in');
      expect((await readFile(file, 'utf8')).trim()).toBe(url);
      expect(said).not.toContain(decodeURIComponent(password));
      serving.kill('SIGTERM');
      await ended;
      await expect(stat(file)).rejects.toThrow('ENOENT');
    } finally {
      serving.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);

  it('is used by commands that never print the password', async () => {
    const { url } = await makeFleet();
    const folder = await mkdtemp(join(tmpdir(), 'isolde-fleet-test-'));
    const fleet = async (...args: readonly string[]) => {
      const printed = await isolde(['fleet', ...args], { env: { ISOLDE_FLEET_DB: url } });
      expect(printed.out + printed.err).not.toContain(local.server.login.password);
      return printed;
    };
    const history = join(folder, 'h.edn');
    await writeFile(history, '{:type :ok, :f :txn, :process 0, :value [[:w :x 1]], :index 0}\n');
    const hunt = ['hunt', ...request.targets, '--seed', '3', '--profile', 'no-op', '--contract', 'vendor'];
    expect(
      await fleet(...hunt, '--oracle', 'mechanism', '--runs', '2', '--rounds', '8..23', '--chunk', '8'),
    ).toMatchObject({
      code: 0,
      out: 'batch 1: 2 jobs',
    });
    expect((await fleet('check', history, '--level', 'serializable')).out).toBe('batch 2: 1 job');
    expect((await fleet('hunt', 'exec:sh', '--rounds', '8')).out).toBe('batch 3: 1 job');
    expect((await fleet('hunt', 'postgres://a:secretly@h/db')).err).toContain('jobs hold no passwords');
    expect((await fleet('work', '--engines', 'duckdb', '--until-idle')).err).toContain(
      '3 jobs done, 0 failed',
    );
    const status = await fleet('status');
    expect(status.out).toContain('no worker has exec:sh');
    const results = await fleet('results', '1');
    expect([results.code, results.out]).toEqual([
      1,
      expect.stringMatching(/duckdb-[\w-]+ {2}new, in [12] jobs?/),
    ]);
    expect(await fleet('results', '2')).toMatchObject({ code: 0, out: 'h.edn\ttrue' });
    expect((await fleet('results', '3')).code).toBe(2);
    expect((await fleet('logs', '1')).out).toMatch(/job 1, worker 1: hunted in duckdb:/);
    expect(await logLines(open.at(-1)!, {})).not.toEqual([]);
    expect((await fleet('cancel', '3')).out).toBe('1 job cancelled');
    expect((await isolde(['fleet', 'serve', '--roles'])).out).toContain('GRANT');
    expect((await isolde(['fleet', 'serve', '--setup', '--db', url])).err).toContain(
      'the tables are in postgres://',
    );
    await rm(folder, { recursive: true, force: true });
  });
});

/** Hunts as users run them: real processes that are interrupted, killed, short of disk, or two at a time. */
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../src/bench/campaigns/processes.js';
import { openStore } from '../src/store/index.js';
import { eventually } from '../src/targets/conformance/lab.case.js';
import { listLocal } from '../src/targets/index.js';
import { mariadbAvailable, startMariadbServer } from '../src/targets/mariadb/index.js';
import { WireConnection } from '../src/targets/mysql/mysql-wire.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { connectOutsider, startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { enginesRequired, isolde } from './isolde.js';

let folder: string;
let program: string;
let stores = 0;
const newStore = () => join(folder, `store-${++stores}`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-processes-'));
  // What a package starts, at its place in a package: every hunt here is a process of its own, and one file loads faster than five hundred.
  const built = join(folder, 'dist', 'bin');
  execFileSync(process.execPath, ['scripts/bundle.mjs', built], { stdio: 'pipe' });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  symlinkSync(resolve('package.json'), join(folder, 'package.json'));
  symlinkSync(resolve('known'), join(folder, 'known'));
  program = join(built, 'isolde.js');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Two bugs within a few rounds. */
const twoBugs = ['--seed', 'demo', '--template', 'examples/scripts/duckdb-update-returning.sql'];

/** A running `isolde hunt`, with what it has printed so far. */
const start = (...args: readonly string[]) => startIn(process.cwd(), ...args);

function startIn(cwd: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [program, 'hunt', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { out: '', err: '' };
  child.stdout.on('data', (data) => {
    printed.out += String(data);
  });
  child.stderr.on('data', (data) => {
    printed.err += String(data);
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  return {
    pid: child.pid!,
    printed,
    ended,
    signal: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL') => child.kill(name),
    /** Waits until something is printed; fails when the process ends first. */
    prints: async (pattern: RegExp) => {
      const over = ended.then((code) => {
        throw new Error(`it ended with ${code} before it printed ${pattern}: ${printed.out}${printed.err}`);
      });
      over.catch(() => undefined);
      while (!pattern.test(printed.out + printed.err))
        await Promise.race([over, new Promise((done) => setTimeout(done, 5))]);
    },
  };
}

const bugsIn = (store: string) =>
  existsSync(join(store, 'bugs')) ? readdirSync(join(store, 'bugs')).sort() : [];

/** Processes whose parent is this one, by number. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
      return Number(fields[1]) === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8');

describe('Ctrl-C', () => {
  it('ends a hunt within a second, with every bug it told of on disk, and the next one goes on behind', async () => {
    const store = newStore();
    const hunt = start(...twoBugs, '--store', store, '--for', '120s', '--sibling', 'none');
    await hunt.prints(/^bug [\s\S]*^bug /m);
    const asked = performance.now();
    hunt.signal('SIGINT');
    expect(await hunt.ended).toBe(1);
    // A second, and half a one for a machine that is busy with other tests.
    expect(performance.now() - asked).toBeLessThan(1_500);
    const told = [...hunt.printed.out.matchAll(/^bug (\S+)/gm)].map(([, id]) => id!);
    expect(told.length).toBeGreaterThan(1);
    expect(bugsIn(store)).toEqual(expect.arrayContaining(told.toSorted()));
    expect((await (await openStore(store)).list()).problems).toEqual([]);
    // Not on a terminal: whole lines, nothing is drawn over.
    expect(hunt.printed.err).not.toContain('\u001b');
    const next = start(...twoBugs, '--store', store, '--rounds', '8', '--sibling', 'none');
    await next.ended;
    expect(next.printed.err).toMatch(/going on at round [1-9]/);
  }, 120_000);
});

describe.each(['SIGTERM', 'SIGHUP'] as const)('%s', (signal) => {
  it('ends a hunt like Ctrl-C, with nothing left behind', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'isolde-signal-'));
    const hunt = start(`sqlite:${parent}`, '--store', newStore(), '--for', '60s', '--json');
    await hunt.prints(/hunting in/);
    await eventually(20_000, 'a scratch', async () => readdirSync(parent).length > 0);
    hunt.signal(signal);
    expect([0, 1]).toContain(await hunt.ended);
    expect(readdirSync(parent)).toEqual([]);
    rmSync(parent, { recursive: true });
  }, 60_000);
});

describe('a kill', () => {
  it('leaves whole bugs, and the next hunt goes on', async () => {
    const store = newStore();
    const hunt = start('--seed', 'demo', '--store', store, '--for', '60s');
    await hunt.prints(/^bug /m);
    hunt.signal('SIGKILL');
    await hunt.ended;
    const { bugs, problems } = await (await openStore(store)).list();
    expect(problems).toEqual([]);
    expect(bugs.length).toBeGreaterThan(0);
    const next = start('--seed', 'demo', '--store', store, '--rounds', '0..12', '--json');
    expect(await next.ended).toBe(1);
    const { bugs: again } = JSON.parse(next.printed.out) as { bugs: { isNew: boolean }[] };
    expect(again.some(({ isNew }) => !isNew)).toBe(true);
  }, 60_000);
});

describe('an embedded engine that aborts', () => {
  it.skipIf(!existsSync('/proc/self/stat'))(
    'has a process of its own in the next hunts, unless the URL says otherwise',
    async () => {
      const store = newStore();
      const first = start('sqlite:', '--store', store, '--for', '60s');
      await first.prints(/hunting in/);
      // What `abort()` in a native library does to the process.
      process.kill(first.pid, 'SIGABRT');
      expect(await first.ended).toBeNull();
      for (const [url, own] of [
        ['sqlite:', true],
        ['sqlite:?process=same', false],
      ] as const) {
        const hunt = start(url, '--store', store, '--for', '60s');
        await hunt.prints(/hunting in/);
        expect(/runs in a process of its own/.test(hunt.printed.err), hunt.printed.err).toBe(own);
        const engines = childrenOf(hunt.pid).filter((pid) => commandOf(pid).startsWith('node'));
        expect(engines).toHaveLength(own ? 1 : 0);
        hunt.signal('SIGINT');
        expect([0, 1]).toContain(await hunt.ended);
      }
      // A hunt that ends in order leaves no mark.
      expect(readdirSync(join(store, 'engines')).filter((name) => !name.endsWith('.crashed'))).toEqual([]);
    },
    60_000,
  );
});

/** Turso, but a process that sends it an UPDATE aborts, as old releases do for reasons of their own. */
function abortingTurso(): string {
  const place = mkdtempSync(join(folder, 'aborting-'));
  const home = join(place, 'node_modules', 'aborting-turso');
  mkdirSync(home, { recursive: true });
  const real = pathToFileURL(createRequire(import.meta.url).resolve('@tursodatabase/database')).href;
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ name: 'aborting-turso', version: '0.0.1', type: 'module', exports: './index.js' }),
  );
  writeFileSync(
    join(home, 'index.js'),
    `import * as turso from ${JSON.stringify(real)};
     export const connect = async (...args) => {
       const database = await turso.connect(...args);
       const prepare = database.prepare.bind(database);
       database.prepare = (sql) => (/^UPDATE/i.test(sql) ? process.abort() : prepare(sql));
       return database;
     };`,
  );
  return place;
}

describe('another version of an embedded engine, which aborts', () => {
  const url = 'turso:?package=aborting-turso';
  // Small cases: every trial of a reduction starts a process.
  const profile = { tables: 1, rows: 1, sessions: 2, transactions: 1, statements: 1 };
  const weights = { 'statement.update': 1000 };
  const rounds = () => {
    const file = join(folder, 'updates.json');
    const head = { format: 'isolde-profile', version: 1, name: 'updates' };
    writeFileSync(file, JSON.stringify({ ...head, ...profile, weights }));
    return ['--seed', 'abort', '--rounds', '0..1', '--runs', '1', '--profile', file];
  };

  it('does not end the hunt: the abort is a bug, reduced in fresh processes', async () => {
    const place = abortingTurso();
    const store = newStore();
    const hunt = startIn(place, url, ...rounds(), '--store', store, '--json');
    expect(await hunt.ended, hunt.printed.err).toBe(1);
    const { counters, finished } = JSON.parse(hunt.printed.out);
    expect(finished).toBe(2);
    expect(counters.reopened).toBeGreaterThan(0);
    const opened = await openStore(store);
    const { bugs } = await opened.list();
    expect(bugs).toHaveLength(1);
    const { case: program, finding } = await opened.get(bugs[0]!.id);
    expect(finding.kind).toBe('server-crash');
    const statements = program.sessions.flatMap((session) => session.statements);
    expect(statements.filter((sql) => sql.startsWith('UPDATE'))).toHaveLength(1);
    expect(statements.length).toBeLessThan(4);
  }, 240_000);

  it('ends a hunt that is told to run it in its own process', async () => {
    const hunt = startIn(abortingTurso(), `${url}&process=same`, ...rounds(), '--store', newStore());
    expect(await hunt.ended).toBeNull();
  }, 120_000);
});

describe('two hunts on one store at once', () => {
  it('find the same bugs as one entry each, with a count, and lose none', async () => {
    const store = newStore();
    const args = ['--seed', 'demo', '--rounds', '0..40', '--store', store, '--json'];
    const two = [start(...args), start(...args)];
    for (const { ended } of two) expect(await ended).toBe(1);
    const results = two.map(
      ({ printed }) => JSON.parse(printed.out) as { bugs: { id: string; isNew: boolean }[] },
    );
    const ids = new Set(results.flatMap(({ bugs }) => bugs.map(({ id }) => id)));
    const { bugs, problems } = await (await openStore(store)).list();
    expect(problems).toEqual([]);
    expect(new Set(bugs.map(({ id }) => id))).toEqual(ids);
    // Each was new to exactly one of them.
    for (const id of ids) {
      const firsts = results.flatMap((each) => each.bugs.filter((bug) => bug.id === id && bug.isNew));
      expect(firsts, id).toHaveLength(1);
    }
    const common = [...ids].filter((id) => results.every((each) => each.bugs.some((bug) => bug.id === id)));
    expect(common.length).toBeGreaterThan(0);
    for (const { id, count } of bugs) if (common.includes(id)) expect(count).toBeGreaterThan(1);
    expect(readdirSync(store).filter((name) => name.startsWith('lock'))).toEqual([]);
  }, 60_000);
});

/** A server that plays the user's: its URL, and a look at its namespaces from outside. */
interface UsersServer {
  readonly url: string;
  create(namespace: string): Promise<unknown>;
  /** Namespaces called `isolde…`. */
  namespaces(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

async function usersPostgres(): Promise<UsersServer> {
  const server = await startServer();
  const user = await connectOutsider(urlOf(server));
  return {
    url: urlOf(server),
    create: (name) => user.execute(`CREATE SCHEMA ${name}`),
    namespaces: async () => {
      const { rows } = await user.execute(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isolde%'`);
      return rows!.map(([name]) => String(name));
    },
    stop: async () => {
      await user.close();
      await server.stop();
    },
  };
}

async function usersMariadb(): Promise<UsersServer> {
  const server = await startMariadbServer();
  const user = await WireConnection.open(server.address);
  return {
    url: `mariadb://root@localhost/?socket=${server.address.socket}`,
    create: (name) => user.query(`CREATE DATABASE ${name}`),
    namespaces: async () => {
      const { rows } = await user.query("SHOW DATABASES LIKE 'isolde%'");
      return rows!.map(([name]) => String(name));
    },
    stop: async () => {
      await user.quit();
      await server.stop();
    },
  };
}

const usersServers = [
  { name: 'PostgreSQL', open: usersPostgres, missing: postgresAvailable() },
  { name: 'MariaDB', open: usersMariadb, missing: mariadbAvailable() },
];
describe.each(usersServers)("a hunt on a user's $name", ({ open, missing }) => {
  // Called as ours are, but for the mark.
  const mine = 'isolde_bbbbbbbbbbbb';
  let server: UsersServer;
  beforeAll(async () => {
    if (missing !== undefined && !enginesRequired) return;
    server = await open();
    await server.create(mine);
  }, 60_000);
  afterAll(() => server?.stop());
  const ours = async () => (await server.namespaces()).filter((name) => name !== mine);

  it.skipIf(missing !== undefined && !enginesRequired).each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    `that gets %s leaves nothing that \`clean\` does not find, and what is the user's stays${missing === undefined ? '' : ` (${missing})`}`,
    async (signal) => {
      const hunt = start(server.url, '--store', newStore(), '--for', '60s', '--json');
      await hunt.prints(/hunting in/);
      await eventually(20_000, 'a namespace of the hunt', async () => (await ours()).length > 0);
      hunt.signal(signal);
      const code = await hunt.ended;
      const left = await ours();
      // A scratch and its copy of the rows are one.
      const listed = left.filter((name) => !name.endsWith('_copy')).sort();
      if (signal === 'SIGKILL') expect(listed).not.toEqual([]);
      else expect({ ends: [0, 1].includes(code!), left }).toEqual({ ends: true, left: [] });
      const cleaned = async (...flags: readonly string[]) => {
        const { out, code: ended } = await isolde(['clean', server.url, '--json', ...flags]);
        expect(ended).toBe(0);
        return JSON.parse(out) as readonly { namespace: string; inUse: boolean; dropped: boolean }[];
      };
      // The server needs a moment to see that the connections of a killed process are gone.
      const idle = async () => (await cleaned('--dry-run')).every(({ inUse }) => !inUse);
      await eventually(20_000, 'the end of the connections', idle);
      const named = (found: readonly { namespace: string }[]) =>
        found.map(({ namespace }) => namespace).sort();
      expect(named(await cleaned('--dry-run'))).toEqual(listed);
      expect(await ours()).toEqual(left);
      const dropped = await cleaned();
      expect(named(dropped.filter((each) => each.dropped))).toEqual(listed);
      expect(await server.namespaces()).toEqual([mine]);
    },
    90_000,
  );
});

/** A file system with room for one bug, where this user may mount one. */
function smallDisk(kilobytes: number): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'isolde-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', place], { stdio: 'ignore' });
    return place;
  } catch {
    rmSync(place, { recursive: true, force: true });
    return undefined;
  }
}

const disk = process.platform === 'linux' ? smallDisk(300) : undefined;
afterAll(() => {
  if (disk === undefined) return;
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true, force: true });
});

describe('a disk that fills up', () => {
  it.skipIf(disk === undefined)(
    `ends the hunt with a message and exit code 3, and what was stored stays${disk === undefined ? ' (mounting is not allowed here)' : ''}`,
    async () => {
      const store = join(disk!, 'store');
      const hunt = start(...twoBugs, '--store', store, '--for', '60s');
      expect(await hunt.ended).toBe(3);
      expect(hunt.printed.err).toMatch(/^isolde: cannot write .*: (the disk is full|.*ENOSPC.*)$/m);
      expect(hunt.printed.err).not.toMatch(/^\s+at /m);
      const told = [...hunt.printed.out.matchAll(/^bug (\S+)/gm)].map(([, id]) => id!);
      expect(told.length).toBeGreaterThan(0);
      const kept = await openStore(store);
      for (const id of told) expect((await kept.get(id)).id).toBe(id);
    },
    90_000,
  );
});

const servers = [
  { name: 'PostgreSQL', url: 'postgres:', missing: postgresAvailable() },
  { name: 'MariaDB', url: 'mariadb:', missing: mariadbAvailable() },
  { name: 'DuckDB', url: 'duckdb:?process=own', missing: undefined },
];
for (const { name, url, missing } of servers) {
  const suite = missing === undefined || enginesRequired ? describe : describe.skip;
  suite(`a private ${name} process${missing === undefined ? '' : ` (${missing})`}`, () => {
    it.skipIf(!existsSync('/proc/self/stat'))(
      'that is killed in mid-hunt is started again, the hunt goes on, calls it no bug and leaves no server behind',
      async () => {
        const store = newStore();
        mkdirSync(store);
        const level = url.startsWith('duckdb') ? 'snapshot' : 'serializable';
        const hunt = start(
          url,
          '--level',
          level,
          '--store',
          store,
          '--rounds',
          '0..64',
          '--profile',
          'mixed',
          '--json',
        );
        await hunt.prints(/hunting in/);
        const seen = new Set<number>();
        // Its watchdog, a shell, is a child too.
        const [server] = childrenOf(hunt.pid).filter((pid) => /postgres|mariadbd|node/.test(commandOf(pid)));
        seen.add(server!);
        process.kill(server!, 'SIGKILL');
        await hunt.prints(/the database went away and is opened again/);
        const code = await hunt.ended;
        const { counters, finished, bugs } = JSON.parse(hunt.printed.out);
        expect(finished, hunt.printed.err).toBe(65);
        // DuckDB has bugs of its own; that its process was killed is none.
        if (url.startsWith('duckdb')) expect(JSON.stringify(bugs)).not.toContain('crash');
        else expect({ code, bugs }).toEqual({ code: 0, bugs: [] });
        expect(counters.reopened).toBeGreaterThan(0);
        for (const pid of seen) expect(runs(pid)).toBe(false);
        expect(childrenOf(hunt.pid)).toEqual([]);
      },
      90_000,
    );
  });
}

it('a version that a URL names runs in a process of its own, and a matrix over it finds the known bug', async () => {
  const { version } = (await listLocal('duckdb')).find(({ folder: cached }) => cached === undefined)!;
  const args = [
    'matrix',
    'duckdb-17223',
    '--targets',
    'duckdb:',
    '--versions',
    version,
    '--store',
    newStore(),
    '--json',
  ];
  const { out, code } = await new Promise<{ readonly out: string; readonly code: number | null }>((done) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    child.stdout.on('data', (data) => {
      printed += String(data);
    });
    child.once('close', (ended) => done({ out: printed, code: ended }));
  });
  expect(code).toBe(1);
  const { cells } = JSON.parse(out) as {
    cells: { result: { outcome: string; target: { settings: object } } }[];
  };
  expect(cells).toMatchObject([
    { result: { outcome: 'shows', target: { version, settings: { process: 'own' } } } },
  ]);
});

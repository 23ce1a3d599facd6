/** Hunts on real engines: what they find, what they must not find, and what they survive. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { countStatements } from '../src/cases/index.js';
import { IsoldeError } from '../src/errors.js';
import { capabilitiesOf } from '../src/generate/index.js';
import {
  groupSize,
  type HuntEvent,
  hunt,
  openShelf,
  Rounds,
  type Shelved,
  templatesOfStore,
} from '../src/hunt/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable, startPostgresServer } from '../src/targets/postgres/index.js';
import { providedEngines } from '../src/targets/provided-engines.case.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-hunt-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;
const newStore = () => join(folder, `store-${++stores}`);
const bugsIn = (store: string) =>
  existsSync(join(store, 'bugs')) ? readdirSync(join(store, 'bugs')).sort() : [];

function suite(missing: string | undefined) {
  return missing === undefined || enginesRequired ? describe : describe.skip;
}

describe('a hunt in DuckDB', () => {
  it('finds a bug of the release, shows it in all replays, reduces it and writes its reports', async () => {
    const store = newStore();
    const bugs: (HuntEvent & { kind: 'bug' })[] = [];
    const shelf = await openShelf(store);
    const result = await hunt({
      open: () => openTarget('duckdb:'),
      shelf,
      seed: 'demo',
      bugs: 1,
      forMs: 40_000,
      onEvent: (event) => {
        if (event.kind === 'bug') bugs.push(event);
      },
    });
    await shelf.close();
    expect(result.stopped).toBe('bugs');
    const { bug, files } = bugs[0]!.shelved;
    expect(bug.reproduced).toEqual({ shown: 3, runs: 3 });
    expect(countStatements(bug.case)).toBeLessThanOrEqual(8);
    expect(bug.raw!.operations).toBeGreaterThan(countStatements(bug.case));
    expect(bugsIn(store)).toEqual([bug.id]);
    for (const file of files) expect(readFileSync(file, 'utf8')).toContain(bug.title);
  }, 60_000);

  it('sets a program aside that cannot be set up', async () => {
    const refused: number[] = [];
    const result = await hunt({
      open: async () => {
        const target = await openTarget('duckdb:');
        const createScratch = async () => {
          const scratch = await target.createScratch();
          const reset = (setup: readonly string[]) =>
            setup.length === 0
              ? scratch.reset(setup)
              : Promise.reject(new IsoldeError('target', 'cannot be reset'));
          return Object.assign(Object.create(scratch), { reset }) as typeof scratch;
        };
        return { ...target, createScratch };
      },
      shelf: await openShelf(newStore()),
      seed: '1',
      from: 80,
      to: 96,
      profile: 'no-op',
      onEvent: (event) => {
        if (event.kind === 'refused') refused.push(event.round.number);
      },
    });
    expect(refused).toEqual([80, 81, 88, 89]);
    expect(result.counters.roundsNotRun).toBe(16);
  });

  it('brings the finding under way to its end when the time is up', async () => {
    const forMs = 5_000;
    const began = performance.now();
    let overtime = false;
    const shelf = await openShelf(newStore());
    const result = await hunt({
      open: () => openTarget('duckdb:'),
      shelf,
      seed: 'demo',
      forMs,
      onEvent: ({ kind }) => {
        if (kind !== 'pursuing' || overtime) return;
        overtime = true;
        // The time runs out before the first replay; the core is left to others meanwhile.
        const left = Math.max(0, forMs + 500 - (performance.now() - began));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left);
      },
    });
    await shelf.close();
    expect(result.stopped).toBe('time');
    expect(result.bugs.map(({ bug }) => countStatements(bug.case))).toEqual([expect.any(Number)]);
    expect(countStatements(result.bugs[0]!.bug.case)).toBeLessThanOrEqual(6);
  }, 60_000);

  it('the demo ends with a bug, its interleaving and the paths of its reports', async () => {
    const store = newStore();
    const { code, out } = await isolde(['demo', '--store', store]);
    expect(out).toContain('Known as DuckDB #17223');
    expect(code).toBe(1);
    expect(out).toMatch(/│/);
    const paths = [...out.matchAll(/^ {2}(\S+report\.\w+)$/gm)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) expect(existsSync(path), path).toBe(true);
    // It ends by offering the studio, with the store that has the bug.
    expect(out.split('\n').at(-1)).toBe(`See it step by step in a browser:  npx isolde studio ${store}`);
  }, 60_000);

  it('stops when asked to, at once, with its bugs on disk, and goes on where it stopped', async () => {
    const store = newStore();
    const stop = new AbortController();
    let [stoppedAt, bugs] = [0, 0];
    const out = (text: string) => {
      if (text.startsWith('bug ')) bugs++;
    };
    const err = (text: string) => {
      // In a later round than the bug's: a round that was cut short is run again.
      if (bugs === 0 || stoppedAt > 0 || !/^[1-9]\d* rounds/.test(text)) return;
      stoppedAt = performance.now();
      stop.abort();
    };
    const args = ['hunt', '--seed', 'demo', '--store', store, '--for', '40s'];
    const { code } = await isolde(args, { out, err, signal: stop.signal });
    expect(performance.now() - stoppedAt).toBeLessThan(1_500);
    expect(code).toBe(1);
    expect(bugsIn(store)).toHaveLength(bugs);
    const again = await isolde(['hunt', '--seed', 'demo', '--store', store, '--rounds', '8']);
    expect(again.err).toMatch(/going on at round [1-9]/);
    expect(again.err).toMatch(/^8 rounds/m);
  }, 60_000);

  it('says what the database is held to, and when that is another engine’s promise', async () => {
    const opening = async (...args: string[]) =>
      (await isolde(['hunt', '--store', newStore(), '--rounds', '1', ...args])).err;
    const own = await opening();
    expect(own).toMatch(/^hunting in duckdb \S+ at snapshot, held to duckdb:snapshot$/m);
    expect(own).not.toContain('another engine');
    expect(await opening('--contract', 'adya')).not.toContain('another engine');
    expect(await opening('--contract', 'mariadb:repeatable-read')).toContain(
      "mariadb:repeatable-read is another engine's promise: what breaks it need not be a bug of duckdb",
    );
  }, 60_000);

  it('prints a line for each bug that finds it again', async () => {
    const first = await isolde([
      'hunt',
      '--seed',
      'demo',
      '--store',
      newStore(),
      '--bugs',
      '1',
      '--for',
      '40s',
    ]);
    const replay = /again: npx isolde (.*)$/m.exec(first.out)![1]!.split(' ');
    const store = newStore();
    const again = await isolde([...replay, '--store', store]);
    expect(again.code).toBe(1);
    expect(first.out).toContain(bugsIn(store)[0]);
  }, 60_000);

  it('passes over a bug it is told to ignore', async () => {
    const store = newStore();
    const seen: Shelved[] = [];
    const run = async (ignore: readonly string[], to: number) => {
      const shelf = await openShelf(store, { ignore });
      const result = await hunt({
        open: () => openTarget('duckdb:'),
        shelf,
        seed: 'demo',
        to,
        ...(ignore.length === 0 ? { bugs: 1 } : {}),
      });
      await shelf.close();
      return result;
    };
    const first = await run([], 400);
    seen.push(...first.bugs);
    const second = await run([seen[0]!.bug.signature], first.finished + 1);
    expect(second.counters.ignored).toBeGreaterThan(0);
    expect(second.bugs.map(({ bug }) => bug.id)).not.toContain(seen[0]!.bug.id);
  }, 60_000);

  it('shares a store with another hunt', async () => {
    const store = newStore();
    const args = ['hunt', '--store', store, '--rounds', '0..56'];
    const [one, other] = await Promise.all([
      isolde([...args, '--seed', 'demo', '--json']),
      isolde([...args, '--seed', 'demo', '--json']),
    ]);
    const ids = [one, other].flatMap(({ out }) =>
      (JSON.parse(out).bugs as { id: string }[]).map(({ id }) => id),
    );
    expect(ids.length).toBeGreaterThan(0);
    expect(bugsIn(store)).toEqual([...new Set(ids)].sort());
  }, 60_000);
});

describe('a seed', () => {
  it('gives the same rounds with the same answers and the same bugs on a second run', async () => {
    const run = async () => {
      const told: unknown[] = [];
      const shelf = await openShelf(newStore());
      const { counters, bugs } = await hunt({
        open: () => openTarget('duckdb:'),
        shelf,
        seed: 'again',
        to: 24,
        onEvent: (event) => {
          if (event.kind === 'bug' || event.kind === 'pursuing') told.push([event.kind, event.round]);
        },
      });
      const { seconds: _, firstBugSeconds: __, ...counted } = counters;
      return { told, counted, bugs: bugs.map(({ bug }) => [bug.id, bug.case, bug.schedule]) };
    };
    const first = await run();
    expect(first.told.length).toBeGreaterThan(0);
    expect(await run()).toEqual(first);
  }, 90_000);

  it('and the set of bugs varied make the rounds of a later hunt, and its replay lines name both', async () => {
    const store = newStore();
    const hunting = (...args: string[]) => isolde(['hunt', '--store', store, ...args]);
    expect((await hunting('--seed', 'demo', '--bugs', '1', '--for', '40s')).code).toBe(1);
    // A group that varies a stored bug, found without running anything.
    const found = (await templatesOfStore(store))!;
    const target = await openTarget('duckdb:');
    const rounds = new Rounds({
      seed: 'later',
      capabilities: capabilitiesOf(target),
      levels: ['snapshot'],
      oracles: [
        { name: 'mechanism', rounds: 5 },
        { name: 'dependency-graph', rounds: 3 },
      ],
      found: found.templates,
    });
    await target.close();
    const groups = Array.from({ length: 200 }, (_, i) => rounds.round((10 + i) * groupSize));
    const varied = groups.filter(({ source }) => source.startsWith('bug '));
    expect(varied.length).toBeGreaterThan(0);
    for (const { number, source } of varied) {
      const args = ['--seed', 'later', '--reuse', found.hash, '--rounds', `${number}..${number + 4}`];
      const { out } = await hunting(...args);
      const told = / round (\d+), (.*), \w+$/m.exec(out);
      // Dressed boldly, not every one shows the bug again.
      if (told === null) continue;
      expect(told[2]).toBe(source);
      const line = /again: npx isolde (.*)$/m.exec(out)![1]!.split(' ');
      expect(line).toEqual(expect.arrayContaining(['--reuse', found.hash, '--store', store]));
      const again = await isolde(line);
      expect(again.code).toBe(1);
      expect(again.out).toContain(told[0]);
      return;
    }
    throw new Error('no stored bug shows again in any dress');
  }, 90_000);
});

describe('what a hunt prints', () => {
  const args = () => ['hunt', 'sqlite:', '--store', newStore()];

  it('is drawn over on a terminal, no wider than it, and takes its lines away', async () => {
    const drawn: string[] = [];
    await isolde([...args(), '--for', '3s'], {
      err: (text) => drawn.push(text),
      errIsTerminal: true,
      width: 60,
    });
    const live = drawn.filter((text) => text.includes('\nfindings:')).slice(0, -1);
    expect(live.length).toBeGreaterThan(1);
    for (const text of live) for (const line of text.split('\n')) expect(line.length).toBeLessThan(60);
    expect(drawn.filter((text) => text.includes('\u001b[2A'))).toHaveLength(live.length);
    // What stays undecided may be said behind either line.
    const last = drawn.findLast((text) => text.includes('\nfindings:'));
    expect(last).toMatch(
      /conflicts on rows in [\d.]+ % of rounds(, [\d.]+ % of rounds undecided)?\nfindings: 0 raw/,
    );
  }, 30_000);

  it('is one JSON object when asked for, with all that people see', async () => {
    const { code, out } = await isolde([...args(), '--rounds', '9', '--json']);
    expect(code).toBe(0);
    const { target, levels, stopped, finished, counters, bugs } = JSON.parse(out);
    expect({ stopped, finished, bugs }).toEqual({ stopped: 'rounds', finished: 9, bugs: [] });
    expect({ target, levels }).toEqual({
      target: { name: expect.any(String), version: expect.stringMatching(/^\d/) },
      levels: [expect.any(String)],
    });
    expect(counters).toMatchObject({ rounds: 9, invalid: 0, raw: 0, firstBugSeconds: null });
  }, 30_000);
});

suite(postgresAvailable())('a hunt in PostgreSQL', () => {
  it('held to theory keeps bugs that can be read, shown, run again and exported', async () => {
    const store = newStore();
    const args = ['--contract', 'adya', '--level', 'RR', '--seed', '1', '--bugs', '1', '--for', '60s'];
    const { code, err } = await isolde([
      'hunt',
      'postgres:',
      ...args,
      '--fail-on',
      'theory',
      '--store',
      store,
    ]);
    expect(code, err).toBe(1);
    const [id] = bugsIn(store);
    const { out } = await isolde(['bugs', 'list', '--store', store]);
    expect(out).toContain('theory only');
    expect((await isolde(['bugs', 'show', id!, '--store', store])).code).toBe(0);
    expect((await isolde(['bugs', 'rerun', id!, '--runs', '1', '--store', store])).code).toBe(1);
    expect((await isolde(['bugs', 'export', id!, join(folder, 'theory'), '--store', store])).code).toBe(0);
    // Nobody's manual is broken, so by default it is no reason to fail.
    expect((await isolde(['hunt', 'postgres:', ...args, '--restart', '--store', newStore()])).code).toBe(0);
  }, 180_000);

  it('is silent at SERIALIZABLE', async () => {
    const args = [
      'hunt',
      'postgres:',
      '--level',
      'serializable',
      '--rounds',
      '40',
      '--store',
      newStore(),
      '--json',
    ];
    const { code, out } = await isolde(args);
    const { counters } = JSON.parse(out);
    expect(counters).toMatchObject({ raw: 0, invalid: 0 });
    expect(counters.rounds).toBe(40);
    expect(counters.conflicts / counters.rounds).toBeGreaterThan(0.5);
    expect(code).toBe(0);
  }, 30_000);

  it('finds a fault', async () => {
    const url = 'postgres:?fault=commit-on-rollback';
    const args = [
      'hunt',
      url,
      '--level',
      'rr',
      '--bugs',
      '1',
      '--for',
      '40s',
      '--store',
      newStore(),
      '--json',
    ];
    const { code, out } = await isolde(args);
    expect(code).toBe(1);
    expect(JSON.parse(out).bugs).toHaveLength(1);
  }, 60_000);

  it('goes on when the server is killed, and calls that no bug', async () => {
    let kill = () => {};
    const starts: (() => Promise<void>)[] = [];
    const open = async () => {
      const server = await startPostgresServer({ settings: {}, startTimeoutMs: 30_000 });
      starts.push(() => server.stop());
      kill = () => process.kill(server.pid, 'SIGKILL');
      const { user, password } = server.login;
      return openTarget(`postgres://${user}:${password}@${server.host}:${server.port}/postgres`);
    };
    let killed = false;
    const shelf = await openShelf(newStore());
    const result = await hunt({
      open,
      shelf,
      seed: '1',
      jobs: 2,
      to: 64,
      onEvent: (event) => {
        if (event.kind !== 'progress' || event.counters.rounds < 10 || killed) return;
        killed = true;
        kill();
      },
    });
    await Promise.all(starts.map((stop) => stop().catch(() => undefined)));
    expect(result.counters.reopened).toBeGreaterThan(0);
    expect(result.finished).toBe(64);
    expect(result.bugs).toEqual([]);
  }, 60_000);
});

suite(mariadbAvailable())('a hunt in MariaDB', () => {
  it('lets transactions meet on a row in most rounds, and says nothing the server does not understand', async () => {
    const { counters } = await hunt({
      open: () => openTarget('mariadb:'),
      shelf: await openShelf(newStore()),
      seed: '7',
      levels: ['serializable'],
      to: 96,
    });
    expect(counters.conflicts / counters.rounds).toBeGreaterThan(0.5);
    expect(counters.invalid / counters.statements).toBeLessThan(0.05);
  }, 60_000);

  it('finds the update that changes nothing and is not seen by its own transaction', async () => {
    const args = [
      'hunt',
      'mariadb:',
      '--level',
      'rr',
      '--bugs',
      '1',
      '--for',
      '40s',
      '--store',
      newStore(),
      '--json',
    ];
    const { code, out } = await isolde(args);
    expect(code).toBe(1);
    expect(JSON.parse(out).bugs[0].clause).toBe('ownWrites');
  }, 60_000);
});

const { mysql } = providedEngines;
describe.skipIf(mysql.missing !== undefined)(
  `a hunt in MySQL${mysql.missing ? ` (${mysql.missing})` : ''}`,
  () => {
    it('finds a bug that is known at REPEATABLE READ, and nothing at SERIALIZABLE', async () => {
      const at = async (level: 'repeatable read' | 'serializable', limits: { to: number; bugs?: number }) =>
        hunt({
          open: () => openTarget(mysql.url),
          shelf: await openShelf(newStore()),
          seed: '7',
          levels: [level],
          oracles: ['mechanism'],
          ...limits,
        });
      const { bugs } = await at('repeatable read', { to: 96, bugs: 1 });
      const known = ['own-write-missed', 'own-delete-missed', 'condition-mismatch'];
      expect(known).toContain(bugs[0]?.bug.finding.kind);
      const serial = await at('serializable', { to: 48 });
      expect(serial.bugs).toEqual([]);
      expect(serial.counters.conflicts / serial.counters.rounds).toBeGreaterThan(0.5);
      expect(serial.counters.invalid / serial.counters.statements).toBeLessThan(0.05);
    }, 180_000);
  },
);

const { tidbOld } = providedEngines;
describe.skipIf(tidbOld.missing !== undefined)(
  `a hunt in TiDB 6.6${tidbOld.missing ? ` (${tidbOld.missing})` : ''}`,
  () => {
    it('finds an own write that is missed at REPEATABLE READ, as in #42487', async () => {
      const { bugs } = await hunt({
        open: () => openTarget(tidbOld.url),
        shelf: await openShelf(newStore()),
        seed: '7',
        levels: ['repeatable read'],
        oracles: ['mechanism'],
        ...{ to: 96, bugs: 1 },
      });
      expect(bugs[0]?.bug.finding.kind).toBe('own-write-missed');
    }, 180_000);
  },
);

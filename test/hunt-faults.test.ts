/** What befalls hunts: databases that die, disks that fill up, stores of other times. In one process, through the real hunt. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countStatements } from '../src/cases/index.js';
import { IsoldeError } from '../src/errors.js';
import { hunt, openShelf } from '../src/hunt/index.js';
import { diskFiles, openStore, rerunBug, type StoreFiles } from '../src/store/index.js';
import { openTarget, type Target } from '../src/targets/index.js';
import { isolde } from './isolde.js';
import { mortal } from './mortal-target.js';

let folder: string;
let stores = 0;
const newStore = () => join(folder, `store-${++stores}`);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-hunt-faults-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a database that dies under a statement', () => {
  it('is opened again, and the death is a bug: confirmed, reduced, stored, and read back', async () => {
    let deaths = 0;
    const store = newStore();
    const shelf = await openShelf(store);
    const open = () => mortal(/^\s*DELETE\b/i, () => deaths++);
    const { bugs, counters, finished } = await hunt({ open, shelf, seed: '1', to: 24 });
    await shelf.close();
    expect(finished).toBe(24);
    expect(counters.reopened).toBe(deaths);
    const crash = bugs.find(({ bug }) => bug.finding.kind === 'server-crash');
    expect(crash?.bug).toMatchObject({ reproduced: { shown: 3, runs: 3 }, finding: { oracle: 'server' } });
    expect(countStatements(crash!.bug.case)).toBe(1);
    const kept = await (await openStore(store)).get(crash!.bug.id);
    expect(kept.case.sessions.flatMap(({ statements }) => statements)[0]).toMatch(/^DELETE/);
    expect(await readFile(crash!.files[0]!, 'utf8')).toContain('the server crashed');
    const target = await open();
    expect(await rerunBug(kept, target, { runs: 1 })).toMatchObject({ outcome: 'alive', shown: 1 });
    await target.close();
    const healthy = await openTarget('duckdb:');
    expect((await rerunBug(kept, healthy, { runs: 1 })).outcome).toBe('fixed');
    await healthy.close();
  }, 60_000);

  it('ends the hunt with a message when it cannot be opened again', async () => {
    let opened = 0;
    const open = async () => {
      if (++opened > 1) throw new IsoldeError('connect', 'nobody answers');
      return mortal(/^\s*DELETE\b/i, () => undefined);
    };
    const shelf = await openShelf(newStore());
    const hunting = hunt({ open, shelf, seed: '1', to: 24, reopenMs: 300 });
    await expect(hunting).rejects.toThrow(/went away .* could not be opened again: nobody answers/);
  }, 60_000);
});

describe('a disk that is full', () => {
  it('ends the hunt with a message, and keeps what was stored before', async () => {
    const store = newStore();
    let bugs = 0;
    const full: StoreFiles = {
      ...diskFiles,
      async write(path, text) {
        if (path.includes(join('tmp', '')) && path.endsWith('bug.json')) bugs++;
        if (bugs > 1) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        await diskFiles.write(path, text);
      },
    };
    const shelf = await openShelf(store, { files: full });
    const open = () => openTarget('duckdb:?fault=missed-own-write');
    let opened: Target | undefined;
    const hunting = hunt({
      open,
      shelf,
      seed: 'demo',
      jobs: 2,
      to: 400,
      onEvent: (event) => {
        if (event.kind === 'opened') opened = event.target;
      },
    });
    await expect(hunting).rejects.toThrow(/cannot write .*store-\d+.*: the disk is full/);
    const { bugs: kept, problems } = await (await openStore(store)).list();
    expect(problems).toEqual([]);
    expect(kept).toHaveLength(1);
    // The lanes have ended and the database is closed: nothing goes on behind the error.
    await expect(opened!.createScratch()).rejects.toThrow();
  }, 60_000);
});

describe('a store of another format', () => {
  const hunting = (store: string, ...more: string[]) =>
    isolde(['hunt', 'no-such-engine:', '--rounds', '1', '--store', store, ...more]);

  it.each([
    ['older than formats have numbers', undefined, 'older than this Isolde reads'],
    ['newer', '{"format": "isolde-store", "version": 99}', 'a newer Isolde is needed'],
    ['of something else', '{"format": "shopping-list", "version": 1}', 'isolde-store'],
    ['cut off', '{"format": "isol', 'is not JSON'],
  ])('%s is refused before a database is opened', async (_, head, message) => {
    const store = newStore();
    await mkdir(join(store, 'bugs', 'old-bug'), { recursive: true });
    if (head !== undefined) await writeFile(join(store, 'store.json'), head);
    const { code, err } = await hunting(store);
    expect(code).toBe(3);
    expect(err).toContain(message);
    expect(err).not.toContain('no-such-engine');
    expect(err.split('\n')).toHaveLength(1);
  });

  it('keeps its bugs where they are', async () => {
    const store = newStore();
    await mkdir(join(store, 'bugs', 'old-bug'), { recursive: true });
    await writeFile(join(store, 'bugs', 'old-bug', 'note.txt'), 'mine');
    await hunting(store);
    expect(await readFile(join(store, 'bugs', 'old-bug', 'note.txt'), 'utf8')).toBe('mine');
  });

  it('with the progress of an older hunt says so, and starts anew when told to', async () => {
    const store = newStore();
    const args = ['hunt', 'sqlite:', '--rounds', '2', '--no-reuse', '--store', store];
    expect((await isolde(args)).code).toBe(0);
    const [name] = await readdir(join(store, 'hunts'));
    const file = join(store, 'hunts', name!);
    await writeFile(file, (await readFile(file, 'utf8')).replace('"format": 1', '"format": 0'));
    const { code, err } = await isolde(args);
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringContaining('(format): expected 1, found 0; --restart'),
    });
    expect((await isolde([...args, '--restart'])).code).toBe(0);
  }, 30_000);
});

describe('a slip of the pen', () => {
  it.each([
    [['--contract', 'adia'], 'no contract is called "adia"'],
    [['--level', 'rrr'], 'rrr'],
    [['--profile', 'no-such-profile'], 'is no profile'],
    [['--rounds', '9..3'], '--rounds takes'],
    [['--for', 'ever'], '--for takes a time'],
    [['--bugs', '0'], '--bugs takes a whole number'],
    [['--reuse', 'xyz'], '--reuse takes the name of a set'],
    [['--template', '/no/such/file.sql'], '/no/such/file.sql'],
  ])('%j is refused before a database is opened', async (args, message) => {
    const { code, err } = await isolde(['hunt', 'no-such-engine:', '--store', newStore(), ...args]);
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining(message) });
    expect(err).not.toContain('no-such-engine');
  });
});

/** The store in PostgreSQL against the store in a folder: the same content, one entry a bug, the same distrust. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isolde } from '../../../test/isolde.js';
import { openKnown } from '../../known/index.js';
import { probeCases } from '../../probe/index.js';
import { findBug } from '../../report/found-bug.case.js';
import type { Bug } from '../../report/index.js';
import { openTarget } from '../../targets/index.js';
import type { PrivateServer } from '../../targets/postgres/index.js';
import { asUser, describePostgres, startServer, urlOf } from '../../targets/postgres/postgres-lab.case.js';
import { openStore } from '../store.js';
import { SharedDatabase, SharedUnavailable } from './shared-database.js';
import { SharedStore } from './shared-store.js';

describePostgres('the shared store', () => {
  let root: string;
  let server: PrivateServer;
  let bug: Bug;
  let other: Bug;
  const open: SharedStore[] = [];
  let made = 0;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'isolde-shared-test-'));
    server = await startServer({ synchronous_commit: 'on', full_page_writes: 'on' });
    const target = await openTarget('duckdb:');
    const scratch = await target.createScratch();
    const found = (id: string) =>
      findBug({ target, scratch, scheduled: probeCases.find((each) => each.id === id)! });
    bug = await found('lost-update-deleted-row');
    other = { ...bug, id: 'duckdb-other-00000000', signature: '000000000000' };
    await target.close();
  });
  afterAll(async () => {
    for (const store of open) await store.close();
    await server.stop();
    await rm(root, { recursive: true, force: true });
  });

  /** A database of its own, and stores on it. */
  async function makeDatabase(): Promise<{ url: string; openAgain: () => Promise<SharedStore> }> {
    const database = `store${made++}`;
    await asUser(urlOf(server), `CREATE DATABASE ${database}`);
    const url = urlOf(server, { database });
    const openAgain = async () => {
      const store = await SharedStore.open(url);
      open.push(store);
      return store;
    };
    return { url, openAgain };
  }

  async function filesOf(folder: string): Promise<Record<string, string>> {
    const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
    return Object.fromEntries(
      await Promise.all(
        names.map(async ({ parentPath, name }) => [name, await readFile(join(parentPath, name), 'latin1')]),
      ),
    );
  }

  it('gives back what was put in, and exports the same folder as a store on disk', async () => {
    const { openAgain } = await makeDatabase();
    const [shared, local] = [await openAgain(), await openStore(join(root, 'local'))];
    for (const store of [shared, local]) {
      expect(await store.add(bug, { raw: bug.history })).toEqual({ id: bug.id, isNew: true, count: 1 });
      expect(await store.add({ ...bug, count: 4 })).toEqual({ id: bug.id, isNew: false, count: 5 });
      await store.recordRun(bug.id, {
        target: bug.target,
        outcome: 'alive',
        shown: 3,
        runs: 3,
        at: '2026-06-01T00:00:00Z',
      });
    }
    expect(await (await openAgain()).get(bug.id.slice(0, 12))).toEqual(await local.get(bug.signature));
    const folders = [
      await shared.exportTo(bug.id, join(root, 'a')),
      await local.exportTo(bug.id, join(root, 'b')),
    ];
    expect(await filesOf(folders[0]!)).toEqual(await filesOf(folders[1]!));
    expect((await shared.list()).bugs).toEqual((await local.list()).bugs);
  });

  it('holds one entry of a bug that eight connections add at the same moment', async () => {
    const { openAgain } = await makeDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, openAgain));
    const added = await Promise.all(
      stores.flatMap((store) => [store.add(bug), store.add({ ...bug, count: 2 })]),
    );
    expect(added.filter(({ isNew }) => isNew)).toHaveLength(1);
    const { bugs } = await stores[0]!.list();
    expect(bugs.map(({ id, count }) => [id, count])).toEqual([[bug.id, 24]]);
    expect(Math.max(...added.map(({ count }) => count))).toBe(24);
  });

  it('passes over what is ignored', async () => {
    const store = await (await makeDatabase()).openAgain();
    await store.ignore(bug.signature, 'known');
    await store.ignore(bug.signature, 'filed');
    expect(await store.isIgnored(bug)).toBe(true);
    expect(await store.isIgnored(other)).toBe(false);
    expect((await store.ignored()).map(({ what, reason }) => [what, reason])).toEqual([
      [bug.signature, 'filed'],
    ]);
  });

  it('trusts no row: what was tampered with is reported, and found again it is replaced', async () => {
    const { url, openAgain } = await makeDatabase();
    const store = await openAgain();
    await store.add(bug);
    await asUser(url, `UPDATE isolde_shared.bugs SET record = replace(record, '"count": 1', '"count": -1')`);
    const { bugs, problems } = await store.list();
    expect([bugs, problems]).toEqual([[], [expect.stringContaining('expected an integer from 0 on')]]);
    await expect(store.get(bug.id)).rejects.toThrow('expected an integer from 0 on');
    await asUser(url, `UPDATE isolde_shared.bug_files SET content = 'x' WHERE name LIKE '%jsonl'`);
    expect(await store.add(bug)).toMatchObject({ isNew: false, count: 1 });
    expect(await store.get(bug.id)).toMatchObject({ id: bug.id, history: bug.history });
    // A good record before a broken file.
    await asUser(url, `UPDATE isolde_shared.bug_files SET content = 'x' WHERE name LIKE '%finding.json'`);
    await expect(store.get(bug.id)).rejects.toThrow('finding.json');
    expect(await store.add(bug)).toMatchObject({ isNew: false, count: 2 });
    expect(await store.get(bug.id)).toMatchObject({ id: bug.id, count: 2 });
  });

  it('is a store for isolde bugs, and bugs travel between both kinds', async () => {
    const { url } = await makeDatabase();
    const folder = join(root, 'travel');
    await (await openStore(folder)).add(bug);
    expect(await isolde(['bugs', 'import', folder, '--store', url])).toMatchObject({
      code: 0,
      out: `${bug.id}: new`,
    });
    expect((await isolde(['bugs', 'import', folder, '--store', url])).out).toBe(
      `${bug.id}: known, seen 1 time`,
    );
    const list = await isolde(['bugs', 'list', '--store', url]);
    expect([list.code, list.out.includes(bug.id)]).toEqual([0, true]);
    expect((await isolde(['bugs', 'show', bug.id, '--store', url])).out).not.toContain(server.login.password);
    const back = join(root, 'back');
    expect(await isolde(['bugs', 'import', url, '--store', back])).toMatchObject({ code: 0 });
    const [there, here] = [
      await (await openStore(folder)).get(bug.id),
      await (await openStore(back)).get(bug.id),
    ];
    expect({ ...here, replay: '' }).toEqual({ ...there, replay: '' });
    const rerun = await isolde(['bugs', 'rerun', '--runs', '1', '--store', url]);
    expect([rerun.code, rerun.out]).toEqual([1, expect.stringContaining('alive')]);
  });

  it('takes what a hunt finds, whose notes lie in .isolde and name no password', async () => {
    const { url, openAgain } = await makeDatabase();
    await (await openAgain()).add(bug);
    const cwd = await mkdtemp(join(root, 'hunt-'));
    const hunt = (...args: string[]) =>
      promisify(execFile)(
        process.execPath,
        [resolve('dist/bin/isolde.js'), 'hunt', 'duckdb:', '--store', url, '--sibling', 'none', ...args],
        { cwd, timeout: 60_000 },
      ).catch((error: { readonly code?: unknown; readonly stderr: string }) => {
        // It may find a bug.
        if (error.code === 1) return error;
        throw error;
      });
    const first = await hunt('--rounds', '4');
    expect((await hunt('--rounds', '4', '--no-reuse', '--keep-unconfirmed')).stderr).toContain(
      'going on at round 4',
    );
    expect(first.stderr).not.toContain(server.login.password);
    expect(await readdir(cwd)).toEqual(['.isolde']);
    const files = await readdir(cwd, { recursive: true });
    expect(files.map((file) => file.replaceAll(/[0-9a-f]{12}/g, 'HASH')).sort()).toEqual(
      expect.arrayContaining([
        '.isolde/shared/HASH/hunts/HASH.json',
        '.isolde/shared/HASH/templates/HASH.json',
      ]),
    );
    const texts = await Promise.all(
      files.filter((file) => file.endsWith('.json')).map((file) => readFile(join(cwd, file), 'utf8')),
    );
    expect([...files, ...texts].join('\n')).not.toContain(server.login.password);
    const [set] = files.flatMap((file) => /templates.([0-9a-f]{12})\.json$/.exec(file)?.[1] ?? []);
    // Rounds come back by the set's name, and a set that is not there is said at once.
    await hunt('--rounds', '2..2', '--reuse', set!);
    await expect(hunt('--rounds', '2..2', '--reuse', '000000000000')).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining('there is no set of templates'),
    });
  }, 120_000);

  it('loses nothing of a bug on the way to a folder and back', async () => {
    const [{ url, openAgain }, again] = [await makeDatabase(), await makeDatabase()];
    const store = await openAgain();
    const [report] = (await openKnown()).bugs;
    const { id: reported, name, url: page } = report!;
    const full: Bug = {
      ...bug,
      replay: 'npx isolde hunt duckdb: --level snapshot --seed 7 --rounds 12..12',
      known: {
        verdict: 'duplicate',
        reports: [{ id: reported, name, ...(page !== undefined && { url: page }), why: 'the same' }],
        why: 'it shows the same',
      },
    };
    for (const seed of ['7', '8', '9']) await store.add({ ...full, seed });
    const tried = { target: bug.target, outcome: 'fixed', shown: 0, runs: 3, at: bug.lastSeen } as const;
    await store.recordRun(bug.id, tried);
    const folder = join(root, 'there');
    expect((await isolde(['bugs', 'import', url, '--store', folder])).code).toBe(0);
    expect((await isolde(['bugs', 'import', folder, '--store', again.url])).code).toBe(0);
    const shown = (place: string) => isolde(['bugs', 'show', bug.id, '--json', '--store', place]);
    const first = await shown(url);
    expect((await shown(folder)).out).toBe(first.out);
    expect((await shown(again.url)).out).toBe(first.out);
    const runs = await readFile(join(folder, 'bugs', bug.id, 'runs.jsonl'), 'utf8');
    expect(runs.trim().split('\n')).toHaveLength(4);
    await (await again.openAgain()).exportTo(bug.id, join(root, 'back-again'));
    expect(await readFile(join(root, 'back-again', bug.id, 'runs.jsonl'), 'utf8')).toBe(runs);
  });

  it('refuses SQL that reaches out of a scratch, as a folder does', async () => {
    const { url, openAgain } = await makeDatabase();
    const store = await openAgain();
    const setup = [...bug.case.setup, `COPY t TO '/tmp/stolen.csv'`];
    await store.add({ ...bug, case: { ...bug.case, setup } });
    const into = join(root, 'refused');
    const { code, err } = await isolde(['bugs', 'import', url, '--store', into]);
    expect([code, err]).toEqual([3, expect.stringContaining('is not imported')]);
  });

  it('goes on when the server was killed, and says nothing of the password', async () => {
    const { url, openAgain } = await makeDatabase();
    await (await openAgain()).add(bug);
    const waits: string[] = [];
    const database = await SharedDatabase.open(url, { onWait: (why) => waits.push(why) });
    const count = () =>
      database.persistent(() =>
        database.query<{ n: string }>('SELECT count(*) AS n FROM isolde_shared.bugs'),
      );
    expect(await count()).toEqual([{ n: '1' }]);
    const killed = server.kill!();
    await expect(
      (async () => {
        for (let i = 0; i < 1000; i++) await database.query('SELECT pg_sleep(0.01)');
      })(),
    ).rejects.toBeInstanceOf(SharedUnavailable);
    expect(await count()).toEqual([{ n: '1' }]);
    await killed;
    await database.close();
    expect(waits.join()).not.toContain(server.login.password);
    const wrong = urlOf(server, { password: 'not-it-at-all' });
    const refused = await SharedStore.open(wrong).catch((error: unknown) => String(error));
    expect(refused).toMatch(/password of user "isolde" is wrong/);
    expect(refused).not.toContain('not-it-at-all');
  });
});

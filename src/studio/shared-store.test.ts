/** The studio on a store in PostgreSQL, which several machines write to. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { findBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openBugStore } from '../store/index.js';
import { openTarget } from '../targets/index.js';
import type { PrivateServer } from '../targets/postgres/index.js';
import { asUser, describePostgres, startServer, urlOf } from '../targets/postgres/postgres-lab.case.js';
import type { BugPage } from './api.js';
import type { BugListPage } from './bugs.js';
import { clientFileTypes } from './client-files.js';
import { exportSite } from './export-site.js';
import { type Studio, startStudio } from './server.js';
import type { ShrinkPage } from './shrinking.js';

const script = `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;`;

describePostgres('the studio of a shared store', () => {
  let folder: string;
  let server: PrivateServer;
  let place: string;
  let studio: Studio;
  let bug: Bug;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isolde-studio-shared-'));
    for (const name of Object.keys(clientFileTypes)) writeFileSync(join(folder, name), '');
    server = await startServer({ synchronous_commit: 'on', full_page_writes: 'on' });
    await asUser(urlOf(server), 'CREATE DATABASE bugs');
    place = urlOf(server, { database: 'bugs' });
    const target = await openTarget('duckdb:');
    const scheduled = parseScript(script, { file: 'case.sql', dialect: 'duckdb' });
    bug = await findBug({ target, scratch: await target.createScratch(), scheduled });
    await target.close();
    await add(bug);
    studio = await startStudio({ store: place, client: folder });
  }, 60_000);
  afterAll(async () => {
    await studio?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function add(found: Bug): Promise<void> {
    const store = await openBugStore(place);
    await store.add(found, { raw: found.history });
    await store.close();
  }

  async function get<T>(path: string, body?: unknown): Promise<T> {
    const headers = { 'content-type': 'application/json', origin: new URL(studio.url).origin };
    const post = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    return (await (await fetch(`${studio.url}api/${path}`, post)).json()) as T;
  }

  it('lists its bugs, and shows and shrinks them', async () => {
    const { bugs, problems, place: shown } = await get<BugListPage>('bugs');
    expect({ ids: bugs.map(({ id }) => id), problems }).toEqual({ ids: [bug.id], problems: [] });
    expect(shown).toContain('/bugs');
    expect((await get<BugPage>(`bugs/${bug.id}`)).report.title).toBe(bug.title);
    const shrink = await get<ShrinkPage>('shrink', { bug: bug.id });
    expect(shrink.tree[0]?.says).toBe('the same finding');
  });

  it('tells pages when another machine adds a bug', async () => {
    const news = await fetch(`${studio.url}api/events`);
    const reader = news.body!.pipeThrough(new TextDecoderStream()).getReader();
    const heard = (async () => {
      for (let text = ''; ; ) {
        text += (await reader.read()).value ?? '';
        if (text.includes('"kind":"bugs"')) return true;
      }
    })();
    // The watch must have looked once before there is a difference.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await add({ ...bug, id: 'duckdb-other-00000000', signature: '000000000000' });
    expect(await heard).toBe(true);
    await reader.cancel();
    expect((await get<BugListPage>('bugs')).bugs).toHaveLength(2);
  }, 60_000);

  it('is exported as a site', async () => {
    const client = folder;
    const { bugs, problems } = await exportSite({ store: place, folder: join(folder, 'site'), client });
    expect({ bugs, problems }).toEqual({ bugs: 2, problems: [] });
  });
});

/** Stores, servers and browsers for tests of the studio. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { parseScript } from '../src/cases/index.js';
import { findBug, findGraphBug } from '../src/report/found-bug.case.js';
import type { Bug } from '../src/report/index.js';
import { openStore } from '../src/store/index.js';
import { type Studio, type StudioOptions, startStudio } from '../src/studio/index.js';
import { openTarget, type Target } from '../src/targets/index.js';
import { enginesRequired } from './isolde.js';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = programs.find((path) => existsSync(path));

/** Why there are no page tests here; undefined: there are. In CI a missing browser is a failure. */
export const noBrowser: string | undefined =
  program === undefined && !enginesRequired
    ? 'Chromium is not installed (apt-get install chromium)'
    : undefined;

export async function openBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error('Chromium is not installed (apt-get install chromium)');
  return chromium.launch({
    executablePath: program,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Builds the page once into a folder of the test's. */
export async function builtClient(folder: string): Promise<string> {
  const place = join(folder, 'client');
  // Plain JavaScript without types; the path is hidden from the compiler.
  const script = '../scripts/bundle-studio.mjs';
  const { bundleStudio } = (await import(script)) as { bundleStudio: (directory: string) => Promise<void> };
  await bundleStudio(place);
  return place;
}

export interface Lab {
  readonly folder: string;
  readonly client: string;
  readonly store: string;
  /** Where screenshots are kept: `ISOLDE_SCREENSHOTS`, or the test's folder. */
  readonly pictures: string;
  start(options?: Partial<StudioOptions>): Promise<Studio>;
  remove(): void;
}

export async function openLab(): Promise<Lab> {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-studio-test-'));
  const client = await builtClient(folder);
  const store = join(folder, 'store');
  const pictures = process.env.ISOLDE_SCREENSHOTS ?? join(folder, 'pictures');
  mkdirSync(pictures, { recursive: true });
  return {
    ...{ folder, client, store, pictures },
    start: (options = {}) => startStudio({ store, client, ...options }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const deletedRow = `-- name: update of a row that another transaction deleted
CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T2: BEGIN;
T2: SELECT * FROM t;
T1: DELETE FROM t WHERE id = 1;
T2: UPDATE t SET v = 55 WHERE id = 1;
T2: COMMIT;
T1: SELECT * FROM t;
`;

export const writeSkew = `-- name: write skew
CREATE TABLE duty (id INT PRIMARY KEY, doctor VARCHAR(20), on_call INT);
INSERT INTO duty VALUES (1, 'alice', 1), (2, 'bob', 1);
T1: BEGIN;
T2: BEGIN;
T1: SELECT * FROM duty WHERE on_call = 1;
T2: SELECT * FROM duty WHERE on_call = 1;
T1: UPDATE duty SET on_call = 0 WHERE id = 1;
T2: UPDATE duty SET on_call = 0 WHERE id = 2;
T1: COMMIT;
T2: COMMIT;
`;

export const hostile = {
  script: '<script>globalThis.hacked = 1</script>',
  image: '<img src=x onerror="globalThis.hacked = 1">',
  style: '</style><style>*{display:none}</style>',
  quotes: `"'\`-->]]>`,
  bidi: '\u202egnp.exe\u2066',
} as const;

const table = `"t${hostile.image.replaceAll('"', '')}"`;

/** A bug in whose every text somebody tries something. */
export const hostileScript = `-- name: ${hostile.script} ${hostile.style}
CREATE TABLE ${table} (id INT, v VARCHAR);
INSERT INTO ${table} VALUES (1, '${hostile.script}'), (2, '${hostile.bidi}'), (3, '${'x'.repeat(1_000_000)}');
INSERT INTO ${table} VALUES ${Array.from({ length: 10_000 }, (_, i) => `(${i + 10}, '${hostile.style}')`).join(', ')};
T2: BEGIN;
T2: SELECT * FROM ${table};
T1: DELETE FROM ${table} WHERE id = 1;
T2: UPDATE ${table} SET v = '${hostile.quotes.replaceAll("'", "''")}' WHERE id = 1;
T2: COMMIT;
T1: SELECT * FROM ${table};
`;

export interface FilledStore {
  readonly deleted: Bug;
  readonly skew: Bug;
  readonly attack: Bug;
}

/** Real bugs of the embedded database, put into a store. */
export async function fillStore(folder: string): Promise<FilledStore> {
  const target = await openTarget('duckdb:');
  let faulty: Target | undefined;
  try {
    const script = (text: string) => parseScript(text, { file: 'case.sql', dialect: 'duckdb' });
    const scratch = await target.createScratch();
    const deleted = await findBug({ target, scratch, scheduled: script(deletedRow) });
    const skew = await findGraphBug(target, script(writeSkew), { contract: 'adya:PL-3' });
    // An engine with a fault is another engine, so that the same finding is another bug; this fault never strikes.
    faulty = await openTarget('duckdb:?fault=lost-insert(nth=99)');
    const attack = await findBug({
      target: faulty,
      scratch: await faulty.createScratch(),
      scheduled: script(hostileScript),
    });
    const titled = { ...attack, title: `${attack.title} ${Object.values(hostile).join(' ')}` };
    const store = await openStore(folder);
    for (const bug of [titled, deleted, skew]) await store.add(bug);
    return { deleted, skew, attack };
  } finally {
    await faulty?.close();
    await target.close();
  }
}

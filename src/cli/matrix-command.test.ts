import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { caseOf, fileSubject } from '../matrix/index.js';
import { findBug } from '../report/found-bug.case.js';
import { openStore } from '../store/index.js';
import { findVersion, listLocal, openTarget } from '../targets/index.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-matrix-command-test-'));
const store = join(folder, 'store');
const faulty = 'duckdb:?fault=commit-on-rollback';
const script = `CREATE TABLE t (id INT, v INT);
INSERT INTO t VALUES (1, 10);
T1: BEGIN
T1: UPDATE t SET v = 11
T1: ROLLBACK
T2: SELECT id, v FROM t
`;
const file = join(folder, 'rollback.sql');
let id = '';
let installed = '';
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(async () => {
  writeFileSync(file, script);
  const target = await openTarget(faulty);
  const scratch = await target.createScratch();
  const bug = await findBug({ target, scratch, scheduled: caseOf(fileSubject(script, file)) });
  await target.close();
  // Without its fault it runs on plain DuckDB when nobody says where.
  id = (await (await openStore(store)).add(bug)).id;
  installed = (await listLocal('duckdb')).find(({ folder: cached }) => cached === undefined)!.version;
});

describe('isolde matrix', () => {
  it('runs known bugs and files over targets, for people and for programs', async () => {
    const shown = await isolde([
      'matrix',
      'duckdb-17223',
      file,
      '--targets',
      'duckdb:',
      'sqlite:',
      '--store',
      store,
      '-n',
      '2',
    ]);
    expect(shown.code, shown.err).toBe(1);
    expect(shown.out).toMatch(/duckdb +2\/2 +no/);
    expect(shown.out).toMatch(/sqlite +– +no/);
    expect(shown.out).toContain('sqlite has no level snapshot');
    const json = await isolde([
      'matrix',
      file,
      '--targets',
      'duckdb:',
      '--store',
      store,
      '--json',
      '-n',
      '1',
    ]);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toMatchObject({
      subjects: [{ id: 'rollback', kind: 'case' }],
      cells: [
        {
          subject: 'rollback',
          place: { url: 'duckdb:' },
          result: { outcome: 'does-not-show', shown: 0, runs: 1 },
        },
      ],
    });
    expect((await isolde(['matrix', file, '-t', 'duckdb:', '--markdown', '--store', store])).out).toContain(
      '| --- | --- |',
    );
  });

  it('writes versions tried into stored bugs, which their reports show, and goes on where it was', async () => {
    const args = [
      'matrix',
      id,
      '--targets',
      'duckdb:?process=same',
      '--versions',
      installed,
      '--store',
      store,
      '-n',
      '1',
    ];
    const first = await isolde(args);
    expect(first.code, first.err).toBe(0);
    const again = await isolde(args);
    expect(again.err).toContain('kept');
    expect(again.out).toBe(first.out);
    expect((await isolde([...args, '--restart'])).err).not.toContain('kept');
    const bug = await (await openStore(store)).get(id);
    expect(bug.versions.map(({ target, outcome }) => [target.version, outcome])).toEqual([
      [installed, 'fixed'],
      [installed, 'fixed'],
    ]);
    const report = readFileSync(join(store, 'bugs', id, 'report.md'), 'utf8');
    expect(report.split('\n').filter((line) => line.includes('fixed'))).toHaveLength(1);
  });

  it('says what is wrong with what it was asked', async () => {
    const wrong = async (...args: string[]) => (await isolde(['matrix', ...args, '--store', store])).err;
    expect(await wrong('nothing-of-that-name')).toContain('there is no bug "nothing-of-that-name"');
    expect(await wrong(file, '--versions', '../x')).toContain('"../x" names no version');
    expect(await wrong(file, '--targets', 'duckdb:', '--versions', '0.0.1')).toContain('--fetch');
    expect(await wrong(file, '--targets', 'mariadb:', '--versions', '11.8')).toContain(
      'npm has no versions of mariadb',
    );
    expect(await wrong(file, '--levels', 'XX')).toContain('no isolation level');
    expect(await wrong(folder, '--jobs', '0')).toContain('--jobs takes a whole number above 0');
    await expect(findVersion('duckdb@0.0.1:')).rejects.toThrow(/--fetch/);
  });
});

describe('isolde bugs rerun --targets', () => {
  it('is a regression suite over several databases', async () => {
    const junit = join(folder, 'bugs.xml');
    const args = [
      'bugs',
      'rerun',
      '--targets',
      'duckdb:',
      faulty,
      '--store',
      store,
      '-n',
      '2',
      '--no-record',
    ];
    const { code, out, err } = await isolde([...args, '--junit', junit]);
    expect(code, err).toBe(1);
    expect(out).toContain('2/2');
    expect(readFileSync(junit, 'utf8')).toContain('tests="2" failures="1" errors="0" skipped="0"');
    const json = JSON.parse((await isolde([...args, '--json'])).out) as { outcome: string }[];
    expect(json.map(({ outcome }) => outcome)).toEqual(['fixed', 'alive']);
    expect((await isolde(['bugs', 'rerun', '--targets', 'duckdb:', '--store', store])).code).toBe(0);
  });
});

describe('isolde dedupe of two, by a matrix', () => {
  it('says one where they come and go together, two where they differ, and what it cannot say', async () => {
    const gone = join(folder, 'deleted.sql');
    writeFileSync(gone, script.replace('UPDATE t SET v = 11', 'DELETE FROM t'));
    const inserted = join(folder, 'inserted.sql');
    writeFileSync(
      inserted,
      'CREATE TABLE t (id INT, v INT);\nT1: INSERT INTO t VALUES (1, 10)\nT1: SELECT id, v FROM t\n',
    );
    const compare = (other: string, ...targets: string[]) =>
      isolde(['dedupe', file, other, '--store', store, '-n', '1', '--targets', ...targets]);
    const renamed = join(folder, 'renamed.sql');
    writeFileSync(renamed, script.replaceAll(/\bt\b/g, 'stock').replaceAll('11', '12'));
    const one = await compare(renamed, 'duckdb:', faulty);
    expect(one, one.err).toMatchObject({
      code: 1,
      out: expect.stringContaining('one bug\n  they behave alike, and they show together on duckdb, fault='),
    });
    // One change that fixes both, and different symptoms: it may fix two bugs.
    const family = await compare(gone, 'duckdb:', faulty);
    expect(family, family.err).toMatchObject({
      code: 2,
      out: expect.stringContaining('a single change (fault) may fix several bugs'),
    });
    const two = await compare(inserted, 'duckdb:', faulty, 'duckdb:?fault=lost-insert');
    expect(two, two.err).toMatchObject({
      code: 0,
      out: expect.stringMatching(/two bugs\n {2}on .* shows and .* does not/),
    });
    expect(await compare(gone, 'duckdb:')).toMatchObject({
      code: 2,
      out: expect.stringContaining('neither shows'),
    });
    expect(await compare(file, 'duckdb:')).toMatchObject({
      code: 3,
      err: expect.stringContaining('both are rollback'),
    });
  });
});

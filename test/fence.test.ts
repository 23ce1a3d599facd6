/** SQL from a file is not run where it could write outside the scratch, by any command. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTarget, type Target } from '../src/targets/index.js';
import { isolde } from './isolde.js';

const script = `CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);

T1: BEGIN
T1: UPDATE t SET v = 11 WHERE id = 1
T1: COMMIT
T1: DELETE FROM main.users
`;

describe('a file of somebody’s, on a database of ours', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-fence-'));
  const file = join(folder, 'case.sql');
  const database = join(folder, 'shop.duckdb');
  const url = `duckdb:${database}`;

  const countUsers = async (file = database) => {
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    const [[count]] = (await (await connection.run('SELECT count(*)::INT FROM users')).getRows()) as [
      [number],
    ];
    connection.closeSync();
    instance.closeSync();
    return count;
  };

  beforeAll(async () => {
    writeFileSync(file, script);
    const instance = await DuckDBInstance.create(database);
    const connection = await instance.connect();
    await connection.run("CREATE TABLE users (id INT, name TEXT); INSERT INTO users VALUES (1, 'ann')");
    connection.closeSync();
    instance.closeSync();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['run', ['run', file, '--target', url]],
    ['reproduce', ['reproduce', file, '--target', url]],
    ['reduce', ['reduce', file, '--target', url]],
    ['hunt --template', ['hunt', url, '--rounds', '1', '--template', file, '--store', join(folder, 'store')]],
  ])('%s refuses, says why and what to do', async (_, args) => {
    const { code, err } = await isolde(args);
    expect(code).toBe(3);
    expect(err).toContain('every statement may write to all of');
    expect(err).toContain('--trust-case');
    expect(await countUsers()).toBe(1);
  });

  it('bugs rerun --target refuses, runs nothing and records nothing; --trust-case runs it', async () => {
    const store = join(folder, 'bugs');
    const found = await isolde(['hunt', 'duckdb:', '--seed', 'demo', '--bugs', '1', '--store', store]);
    expect(found.code).toBe(1);
    const [id] = readdirSync(join(store, 'bugs'));
    const evil = join(store, 'bugs', id!, 'case.case.json');
    const program = JSON.parse(readFileSync(evil, 'utf8'));
    program.setup.push('DELETE FROM main.users');
    writeFileSync(evil, JSON.stringify(program));
    const runs = () => readFileSync(join(store, 'bugs', id!, 'runs.jsonl'), 'utf8');
    const before = runs();
    const refused = await isolde(['bugs', 'rerun', '--target', url, '--store', store]);
    expect(refused.code).toBe(3);
    expect(refused.err).toContain('every statement may write to all of');
    expect(refused.err).toContain('--trust-case');
    expect(refused.out).toBe('');
    expect(runs()).toBe(before);
    expect(await countUsers()).toBe(1);
    const copy = join(folder, 'copy.duckdb');
    copyFileSync(database, copy);
    const trusted = await isolde([
      'bugs',
      'rerun',
      '--target',
      `duckdb:${copy}`,
      '--trust-case',
      '--store',
      store,
    ]);
    expect(trusted.code).not.toBe(3);
    expect(runs()).not.toBe(before);
    expect(await countUsers()).toBe(1);
    expect(await countUsers(copy)).toBe(0);
  }, 60_000);

  it('a hunt without files is not affected', async () => {
    const { code } = await isolde(['hunt', url, '--rounds', '1', '--store', join(folder, 'store')]);
    expect([0, 1]).toContain(code);
    expect(await countUsers()).toBe(1);
  });

  it('the library runs what it is given, and has the same fence for who asks', async () => {
    const library = await import('../src/index.js');
    const theirs = library.parseScript(script, { file });
    const ask = (target: Target, trust: boolean) =>
      library.admit(target, library.sqlOfCase(theirs.case), { trust, source: file });
    const target = await library.openTarget(url);
    await expect(ask(target, false)).rejects.toMatchObject({ code: 'safety' });
    await expect(ask(target, true)).resolves.toBeUndefined();
    await target.close();
    const own = await library.openTarget('duckdb:');
    await expect(ask(own, false)).resolves.toBeUndefined();
    await own.close();
    expect(await countUsers()).toBe(1);
    // What docs/library.md says: `run` itself does not ask.
    const copy = join(folder, 'library.duckdb');
    copyFileSync(database, copy);
    const users = await library.openTarget(`duckdb:${copy}`);
    await library.run(theirs, { target: users });
    await users.close();
    expect(await countUsers(copy)).toBe(0);
  });

  it('a file that is trusted runs', async () => {
    expect((await isolde(['run', file, '--target', url, '--trust-case'])).code).toBe(0);
    expect(await countUsers()).toBe(0);
  });

  it('an adapter that cannot be asked runs what is on the allow-list only', async () => {
    const adapter = { ...(await openTarget('duckdb:')) };
    const { admit } = await import('../src/targets/index.js');
    const { reach: _, ...silent } = adapter;
    const admitted = (sql: string) =>
      admit(silent, { setup: [], statements: [sql] }, { trust: false, source: 'x' });
    await expect(admitted('SELECT 1')).resolves.toBeUndefined();
    await expect(admitted("COPY t TO 'x'")).rejects.toThrow('--trust-case');
    await adapter.close();
  });
});

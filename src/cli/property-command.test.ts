import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { parseScript } from '../cases/index.js';
import { shippedProperties } from '../properties/index.js';
import { findBug } from '../report/found-bug.case.js';
import { openStore } from '../store/index.js';
import { openTarget } from '../targets/index.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-property-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const property = (...args: string[]) => isolde(['property', ...args, '--store', join(folder, 'store')]);

describe('isolde property', () => {
  it('lists what comes with Isolde', async () => {
    const { code, out } = await property('--list');
    expect(code).toBe(0);
    expect(out).toContain('pqs: a query whose condition is true for a row returns it');
  });

  it('runs a property of the user’s file, and says what held', { timeout: 60_000 }, async () => {
    const { code, out, err } = await property(
      ...['examples/properties/deleted-rows.mjs', '--target', 'sqlite:', '--plans', '3'],
    );
    expect(code, err).toBe(0);
    expect(out).toMatch(/^3 plans, \d+ statements, \d+ assertions .*: every property held$/);
  });

  it('prints a failure with the line that replays it, and the line does', { timeout: 120_000 }, async () => {
    const faulty = 'duckdb:?fault=commit-on-rollback';
    const junit = join(folder, 'properties.xml');
    const { code, out } = await property(
      ...['--only', 'rollback', '--target', faulty, '--length', '12', '--junit', junit],
    );
    expect(code).toBe(1);
    expect(out).toContain('rollback: it does not hold that the table is as before the transaction');
    expect(readFileSync(junit, 'utf8')).toContain('<failure type="assertion"');
    const [, line] = /replay: npx isolde property (.*)$/m.exec(out)!;
    const args = [...line!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b]) => a ?? b!);
    expect((await property(...args)).out).toContain('shown in 3 of 3 runs');
    const sound = await property(...args.slice(0, 2), '--target', 'duckdb:');
    expect([sound.code, sound.out]).toEqual([0, expect.stringContaining('shown in 0 of 3 runs')]);
    // The store knows it, too.
    const bugs = (...rest: string[]) => isolde(['bugs', ...rest, '--store', join(folder, 'store')]);
    const [, id] = /^(duckdb-rollback-\w+) {2}rollback: it does not hold/m.exec((await bugs('list')).out)!;
    expect((await bugs('show', id!)).out).toMatch(/Replay: `npx isolde property --replay/);
    expect((await bugs('rerun', id!)).err).toContain('name the database it is run on');
    expect(await bugs('rerun', id!, '--target', faulty)).toMatchObject({
      ...{ code: 1, out: expect.stringContaining('shown in 3 of 3 runs') },
    });
    expect((await bugs('rerun', id!, '--target', 'duckdb:')).code).toBe(0);
  });

  it('tests all for a while and tells CI of each', { timeout: 120_000 }, async () => {
    const junit = join(folder, 'all.xml');
    const { code, err } = await property(
      ...['--all', '--target', 'sqlite:', '--for', '1s', '--length', '20', '--junit', junit],
    );
    expect(code, err).toBe(0);
    const xml = readFileSync(junit, 'utf8');
    for (const { name } of shippedProperties) expect(xml).toContain(`name="${name}"`);
    expect(xml).toMatch(new RegExp(`tests="${shippedProperties.length}" failures="0"`));
    // What was not tested does not count as passed.
    expect(xml).toMatch(/name="kill"[^>]*>\s*<skipped message="the fault kill cannot be given here"/);
  });

  it('tests a stored bug that was exported as a property', { timeout: 120_000 }, async () => {
    const faulty = 'duckdb:?fault=missed-own-write';
    const scheduled = parseScript(
      'CREATE TABLE t (id INT, v INT);\nINSERT INTO t VALUES (1, 10);\nT1: BEGIN;\nT1: UPDATE t SET v = 11 WHERE id = 1;\nT1: SELECT v FROM t;\nT1: COMMIT;',
      { file: 'bug.sql', dialect: 'duckdb' },
    );
    const target = await openTarget(faulty);
    const scratch = await target.createScratch();
    const bug = await findBug({ target, scratch, scheduled, kind: 'own-write-missed' });
    await target.close();
    const store = join(folder, 'bugs');
    await (await openStore(store)).add(bug);
    const exported = await isolde(['bugs', 'export', bug.id, folder, '--property', '--store', store]);
    expect(exported.code, exported.err).toBe(0);
    const file = join(folder, `${bug.id}.mjs`);
    // Users have the package; here it is this folder.
    const index = JSON.stringify(join(process.cwd(), 'src/index.ts'));
    writeFileSync(file, readFileSync(file, 'utf8').replace("'isolde-db'", index));
    const found = await property(file, '--target', faulty, '--plans', '3', '--length', '20');
    expect([found.code, found.out]).toEqual([1, expect.stringContaining(`regression ${bug.id}`)]);
    expect((await property(file, '--target', 'duckdb:', '--plans', '3', '--length', '20')).code).toBe(0);
  });

  it('refuses what it cannot use, with a message', async () => {
    const empty = join(folder, 'empty.mjs');
    writeFileSync(empty, 'export const nothing = 1;');
    expect((await property(empty)).err).toContain('exports no property');
    expect((await property(join(folder, 'missing.mjs'))).err).toContain('there is no file');
    expect((await property('--only', 'tarot')).err).toContain('no property is called "tarot"; there are pqs');
    expect((await property('--workload', 'all')).err).toContain('read:write:create');
    const bad = join(folder, 'bad.json');
    writeFileSync(bad, '{"format":"isolde-counterexample","version":1,"level":"none"}');
    expect((await property('--replay', bad)).err).toContain(`${bad}:1`);
  });
});

describe('isolde capabilities', () => {
  const toy = 'exec:node examples/toy-engine/adapter.mjs';
  const file = join(folder, 'toy.capabilities.json');
  const capabilities = (...args: string[]) => isolde(['capabilities', ...args, '--plans', '25']);

  it('learns what an engine can do', { timeout: 120_000 }, async () => {
    const { code, out } = await capabilities(toy, '--file', file);
    expect(code, out).toBe(0);
    const learned = JSON.parse(readFileSync(file, 'utf8')) as { proven: string[]; unsupported: string[] };
    expect(learned.proven).toContain('statement.delete');
    expect((await capabilities(toy, '--file', file)).out).toContain('features work');
  });

  it('says what an engine lost, and so do properties with its file', { timeout: 120_000 }, async () => {
    // Turso has no generated columns; an earlier build is said to have had them.
    const turso = join(folder, 'turso.capabilities.json');
    expect((await capabilities('turso:', '--file', turso)).code).toBe(0);
    const kept = () => JSON.parse(readFileSync(turso, 'utf8')) as { proven: string[]; unsupported: string[] };
    const lost = 'column.generated';
    expect(kept().unsupported).toContain(lost);
    writeFileSync(turso, JSON.stringify({ ...kept(), proven: [...kept().proven, lost] }));
    const junit = join(folder, 'lost.xml');
    const { code, out } = await property(
      ...['--only', 'create twice', '--target', 'turso:', '--capabilities', turso, '--junit', junit],
      ...['--plans', '15', '--workload', '1:1:98', '--length', '40'],
    );
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(`lost: ${lost} worked before and is refused now`),
    ]);
    expect(out).toContain('every property held, 1 feature lost');
    expect(readFileSync(junit, 'utf8')).toMatch(
      new RegExp(`<testcase classname="isolde.capabilities" name="${lost}"[^>]*>\\s*<failure type="lost"`),
    );
    // It stays a failure until `isolde capabilities --accept` takes it as it is.
    expect(kept().proven).toContain(lost);
  });
});

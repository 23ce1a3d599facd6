import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

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

  it('learns what an engine can do, and says what it lost', { timeout: 120_000 }, async () => {
    const { code, out } = await capabilities(toy, '--file', file);
    expect(code, out).toBe(0);
    const learned = JSON.parse(readFileSync(file, 'utf8')) as { proven: string[]; unsupported: string[] };
    expect(learned.proven).toContain('statement.delete');
    // An earlier build could do more.
    const refused = learned.unsupported.find((feature) => /^(set|column)\./.test(feature))!;
    writeFileSync(file, JSON.stringify({ ...learned, proven: [...learned.proven, refused] }));
    const later = await capabilities(toy, '--file', file);
    expect([later.code, later.out]).toEqual([
      1,
      expect.stringContaining(`lost: ${refused} worked before and is refused now`),
    ]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      proven: expect.arrayContaining([refused]),
    });
  });
});

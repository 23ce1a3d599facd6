import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

const store = join(mkdtempSync(join(tmpdir(), 'isolde-burst-')), 'store');
afterAll(() => rmSync(join(store, '..'), { recursive: true, force: true }));

const faulty = 'duckdb:?fault=lost-update(every=2)';
const size = ['--sessions', '3', '--repeats', '8', '--runs', '2'];
const burst = (...args: string[]) => isolde(['burst', ...args, ...size, '--store', store]);
const bugs = (...args: string[]) => isolde(['bugs', ...args, '--store', store]);

describe('isolde burst', () => {
  it('keeps what is broken; the store lists, shows, reruns and ignores it', { timeout: 60_000 }, async () => {
    const found = await burst(faulty, '--program', 'increments');
    expect(found.code, found.err).toBe(1);
    expect(found.out).toMatch(/increments \(statements\): broken, but not isolation/);
    const [, id] = /^(duckdb-burst-increments-\w+) {2}/m.exec((await bugs('list')).out)!;
    expect(found.out).toContain(id);
    const shown = await bugs('show', id!);
    expect(shown.out).toMatch(/\| one session, one after another \| 2 of 2 \|/);
    expect(JSON.parse((await bugs('show', id!, '--json')).out)).toMatchObject({ program: 'increments' });
    expect((await bugs('rerun', id!)).err).toContain('name the database it is run on');
    const alive = await bugs('rerun', id!, '--target', faulty, '--runs', '4');
    expect(alive).toMatchObject({ code: 1, out: expect.stringMatching(/alive.*\n.*[1-4] of 4 runs broken/) });
    const fixed = await bugs('rerun', id!, '--target', 'duckdb:', '--runs', '2');
    expect(fixed).toMatchObject({ code: 0, out: expect.stringMatching(/not seen.*\n.*0 of 2 runs broken/) });
    expect((await bugs('rerun', id!, '--target', 'sqlite:')).err).toContain('has no level snapshot');
    expect((await bugs('ignore', id!)).code).toBe(0);
  });

  it('keeps nothing where nothing is broken', { timeout: 60_000 }, async () => {
    const sound = await burst('duckdb:', '--program', 'keys', '--form', 'statements');
    expect(sound).toMatchObject({ code: 0, out: expect.stringContaining('nothing broken') });
    expect((await burst('duckdb:', '--form', 'smoke')).err).toContain('no form of a burst');
  });
});

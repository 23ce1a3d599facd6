/** One file, every command that judges it: the same verdict, the same exit code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, describe, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { reduce } from '../reduce/index.js';
import { openTarget } from '../targets/index.js';
import type { CliWorld } from './context.js';
import { main } from './main.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-one-verdict-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dirtyReads = 'duckdb:?fault=dirty-read';

/** What it shows with the fault takes concurrency: session after session, nothing is wrong with it. */
const free = `-- schedule: none
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10);
T1: BEGIN
T1: UPDATE t SET v = 11 WHERE id = 1
T1: SELECT v FROM t WHERE id = 1
T1: SELECT v FROM t WHERE id = 1
T1: UPDATE t SET v = 12 WHERE id = 1
T1: COMMIT
T2: BEGIN
T2: SELECT v FROM t WHERE id = 1
T2: SELECT v FROM t WHERE id = 1
T2: SELECT v FROM t WHERE id = 1
T2: SELECT v FROM t WHERE id = 1
T2: COMMIT
`;

const misspelt = `CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
T1: BEGIN
T1: SELEC * FROM t
T1: COMMIT
`;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function isolde(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const world: CliWorld = {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
  };
  const code = await main(args, world);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const judging: readonly (readonly [command: string, flags: readonly string[]])[] = [
  ['run', ['--check']],
  ['reproduce', ['--runs', '2']],
  ['reduce', ['--runs', '1']],
];

describe('a case without a schedule whose finding takes concurrency', () => {
  const path = file('free.sql', free);

  it.each(judging)('is broken for %s', async (command, flags) => {
    expect((await isolde(command, path, ...flags, '--target', dirtyReads)).code).toBe(1);
  });

  it.each(judging)('is kept for %s by a database without the fault', async (command, flags) => {
    expect((await isolde(command, path, ...flags, '--target', 'duckdb:')).code).toBe(0);
  });

  it('shows in a matrix, and is compared as a finding by dedupe', async () => {
    const cells = await isolde('matrix', path, '--targets', dirtyReads, '--json');
    expect(cells.out).toContain('"outcome": "shows"');
    const answer = await isolde('dedupe', path, '--target', dirtyReads);
    expect(answer.out + answer.err).not.toContain('nothing is wrong');
  });

  it('is reduced by the library', async () => {
    const scheduled = parseScript(free, { file: 'free.sql', dialect: 'duckdb' });
    const outcome = await reduce(scheduled, { open: () => openTarget(dirtyReads), confirmRuns: 1 });
    expect(outcome.kind).toBe('reduced');
  });

  it('is said to run freely; what the user counts is run so often', async () => {
    const once = await isolde('run', path, '--check', '--runs', '2', '--target', 'duckdb:');
    expect(once.err).toBe('the case has no schedule: its sessions run freely');
    expect(once.out).toMatch(/of 2 runs gave these results/);
    const often = await isolde('run', path, '--check', '--target', 'duckdb:');
    expect(often.err).toContain('its sessions run freely, 20 times at most');
  });
});

describe('a script in which nothing can run', () => {
  const path = file('misspelt.sql', misspelt);
  const recorded = join(folder, 'misspelt.history.jsonl');

  it.each(judging)('is undecided for %s', async (command, flags) => {
    const { code, err } = await isolde(command, path, ...flags, '--target', 'duckdb:');
    expect(code).toBe(2);
    expect(err).toContain('no statement could be run');
  });

  it('is undecided as a recorded history, too', async () => {
    await isolde('run', path, '--target', 'duckdb:', '--out', recorded);
    expect((await isolde('check', recorded)).code).toBe(2);
    expect((await isolde('reproduce', recorded, '--target', 'duckdb:')).code).toBe(2);
    expect((await isolde('reduce', recorded, '--target', 'duckdb:')).code).toBe(2);
  });

  it('is undecided in a matrix', async () => {
    const { out } = await isolde('matrix', path, '--targets', 'duckdb:', '--json');
    expect(out).toContain('"outcome": "undecided"');
  });
});

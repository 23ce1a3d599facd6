import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeCases } from '../probe/index.js';
import { findBug, findGraphBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openStore } from '../store/index.js';
import { openTarget } from '../targets/index.js';
import { main } from './main.js';

let root: string;
let store: string;
let bug: Bug;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'isolde-bugs-'));
  store = join(root, 'store');
  const target = await openTarget('duckdb:');
  bug = await findBug({
    target,
    scratch: await target.createScratch(),
    scheduled: probeCases.find(({ id }) => id === 'lost-update-deleted-row')!,
    kind: 'update-of-changed-row',
  });
  await target.close();
  await (await openStore(store)).add(bug);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function isolde(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(['bugs', ...args, ...(args.includes('--store') ? [] : ['--store', store])], {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 120,
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('isolde bugs', () => {
  it('lists bugs, for people and for programs', async () => {
    const { code, out } = await isolde('list');
    expect(code).toBe(0);
    expect(out).toContain(bug.id);
    expect(out).toContain('20 of 20 runs');
    const [first] = JSON.parse((await isolde('list', '--json')).out) as { id: string; ignored: boolean }[];
    expect(first).toMatchObject({ id: bug.id, ignored: false, count: 1 });
    expect((await isolde('list', '--store', join(root, 'none'))).out).toContain('no bugs in');
  });

  it('shows one bug with its interleaving, what was expected and the argument', async () => {
    const { code, out } = await isolde('show', bug.signature);
    expect(code).toBe(0);
    expect(out).toMatch(/T1 +│ T2 +│ after/);
    expect(out).toContain('got 1 matched, expected a serialization error');
    expect(out).toContain('However, T2 then wrote');
    expect(JSON.parse((await isolde('show', bug.id, '--json')).out)).toEqual(bug);
  });

  it('reruns every bug on its own engine: alive, exit code 1, JUnit, and the run is in the store', async () => {
    const junit = join(root, 'junit.xml');
    const { code, out } = await isolde('rerun', '--junit', junit);
    expect(code).toBe(1);
    expect(out).toContain(`alive (3 of 3 runs)  ${bug.id}`);
    expect(await readFile(junit, 'utf8')).toMatch(/tests="1" failures="1".*\n[\s\S]*<failure type="alive"/);
    expect((await (await openStore(store)).get(bug.id)).versions).toMatchObject([
      { outcome: 'alive', shown: 3, runs: 3 },
    ]);
  });

  it('says by exit code 2 that a bug could not be run, and keeps JSON clean', async () => {
    const { code, out } = await isolde('rerun', bug.id, '--target', 'sqlite:', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject([{ id: bug.id, outcome: 'not-run' }]);
  });

  it('exits with 0 when every bug is fixed', async () => {
    const fixed = join(root, 'fixed');
    const target = await openTarget('duckdb:?fault=missed-own-write');
    const scheduled = probeCases.find(({ id }) => id === 'own-write')!;
    await (await openStore(fixed)).add(
      await findBug({ target, scratch: await target.createScratch(), scheduled }),
    );
    await target.close();
    const { code, out } = await isolde(
      'rerun',
      '--target',
      'duckdb:',
      '--runs',
      '1',
      '--no-record',
      '--store',
      fixed,
    );
    expect(out).toContain('fixed (0 of 1 runs)');
    expect(code).toBe(0);
    expect((await isolde('rerun', '--no-record', '--store', fixed)).code).toBe(1);
  });

  it('reruns bugs that only instrumented runs show: fixed, alive and changed by exit code and JUnit', async () => {
    const traced = join(root, 'traced');
    const url = 'duckdb:?fault=dirty-read';
    const target = await openTarget(url);
    const dirty = await findGraphBug(target, probeCases.find(({ id }) => id === 'G1a')!, 'duckdb:snapshot');
    await target.close();
    await (await openStore(traced)).add(dirty);
    const junit = join(root, 'traced.xml');
    const run = async (on: string) => {
      const args = ['rerun', '--target', on, '--no-record', '--store', traced, '--junit', junit];
      const { code, out } = await isolde(...args);
      return { code, out, xml: await readFile(junit, 'utf8') };
    };
    const alive = await run(url);
    expect(alive).toMatchObject({ code: 1, out: expect.stringContaining('alive (3 of 3 runs)') });
    expect(alive.xml).toMatch(/tests="1" failures="1" errors="0" skipped="0"[\s\S]*<failure type="alive"/);
    const fixed = await run('duckdb:');
    expect(fixed).toMatchObject({ code: 0, out: expect.stringContaining('fixed (0 of 3 runs)') });
    expect(fixed.xml).toMatch(/tests="1" failures="0" errors="0" skipped="0"/);
    const changed = await run('duckdb:?fault=commit-on-rollback');
    expect(changed).toMatchObject({ code: 2, out: expect.stringContaining('another violation shows') });
    expect(changed.xml).toMatch(/errors="1"[\s\S]*<error type="changed"/);
  });

  it('tells of a bug that cannot be read, and goes on with the others', async () => {
    const partly = join(root, 'partly');
    const opened = await openStore(partly);
    await opened.add(bug);
    const target = await openTarget('duckdb:?fault=missed-own-write');
    const scheduled = probeCases.find(({ id }) => id === 'own-write')!;
    const { id } = await opened.add(
      await findBug({ target, scratch: await target.createScratch(), scheduled }),
    );
    await target.close();
    await writeFile(join(opened.folderOf(bug.id), 'finding.json'), '{');
    const rerun = await isolde(
      'rerun',
      '--target',
      'duckdb:',
      '--runs',
      '1',
      '--no-record',
      '--store',
      partly,
    );
    expect(rerun).toMatchObject({ code: 2, out: expect.stringContaining(`fixed (0 of 1 runs)  ${id}`) });
    expect(rerun.err).toContain('finding.json');
    expect((await isolde('show', id, '--store', partly)).code).toBe(0);
    expect((await isolde('export', id, join(root, 'partly-out'), '--store', partly)).code).toBe(0);
    expect((await isolde('rerun', bug.id, '--store', partly)).code).toBe(3);
  });

  it('exports and imports', async () => {
    const out = await isolde('export', bug.id, join(root, 'out'));
    expect(out).toMatchObject({ code: 0, out: join(root, 'out', bug.id) });
    const second = join(root, 'second');
    expect((await isolde('import', join(root, 'out'), '--store', second)).out).toBe(`${bug.id}: new`);
    expect((await isolde('import', out.out, '--store', second)).out).toBe(`${bug.id}: known, seen 2 times`);
  });

  it('ignores a bug, a signature never seen, and nothing else', async () => {
    expect((await isolde('ignore', bug.id, '--reason', 'known')).code).toBe(0);
    expect((await isolde('ignore', 'abcdef012345')).code).toBe(0);
    expect((await isolde('list')).out).toContain(', ignored');
    const { code, err } = await isolde('ignore', 'dukcdb-typo');
    expect(code).toBe(3);
    expect(err).toContain('neither the id of a stored bug nor a signature');
  });

  it('answers bad input with one line and exit code 3', async () => {
    const newer = join(root, 'newer');
    await (await openStore(newer)).add(bug);
    await writeFile(join(newer, 'store.json'), '{"format": "isolde-store", "version": 9}');
    for (const [args, message] of [
      [['show', 'nothing'], 'there is no bug "nothing"'],
      [['rerun', '--runs', '0'], '--runs takes a whole number'],
      [['list', '--store', newer], 'a newer Isolde is needed'],
      [['import', root], 'is no bug’s folder'],
      [['rerun', '--no-record', '--junit', '/dev/full'], 'cannot write /dev/full: the disk is full'],
    ] as const) {
      const { code, err } = await isolde(...args);
      expect({ code, lines: err.split('\n').length }, err).toEqual({ code: 3, lines: 1 });
      expect(err.replace("bug's", 'bug’s')).toContain(message);
    }
  });
});

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeCases } from '../probe/index.js';
import { findBug, findGraphBug } from '../report/found-bug.case.js';
import type { Bug } from '../report/index.js';
import { openStore } from '../store/index.js';
import { startStudio } from '../studio/index.js';
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

const isolde = (...args: readonly string[]) =>
  command('bugs', ...args, ...(args.includes('--store') ? [] : ['--store', store]));

async function command(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, {
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
    const none = await isolde('list', '--store', join(root, 'none'));
    expect([none.code, none.err]).toEqual([3, expect.stringContaining('there is no store')]);
  });

  it('shows one bug with its interleaving, what was expected and the argument', async () => {
    const { code, out } = await isolde('show', bug.signature);
    expect(code).toBe(0);
    expect(out).toMatch(/T1 +│ T2 +│ after/);
    expect(out).toContain('got 1 matched, expected a serialization error');
    expect(out).toContain('However, T2 then wrote');
    expect(JSON.parse((await isolde('show', bug.id, '--json')).out)).toEqual({
      ...(bug as object),
      label: 'breaks-manual',
    });
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
    const dirty = await findGraphBug(target, probeCases.find(({ id }) => id === 'G1a')!, {
      contract: 'duckdb:snapshot',
    });
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

  describe('a store with one bug that cannot be read', () => {
    let partly: string;
    let whole: string;
    let broken: string;

    beforeAll(async () => {
      partly = join(root, 'partly');
      const opened = await openStore(partly);
      await opened.add(bug);
      const target = await openTarget('duckdb:?fault=missed-own-write');
      const scheduled = probeCases.find(({ id }) => id === 'own-write')!;
      const { id } = await opened.add(
        await findBug({ target, scratch: await target.createScratch(), scheduled }),
      );
      await target.close();
      whole = id;
      broken = bug.id;
    });

    // What `list` reads, and what only the bug itself needs.
    describe.each(['bug.json', 'finding.json'])('%s', (file) => {
      let text: string;
      const path = () => join(partly, 'bugs', broken, file);
      beforeAll(async () => {
        text = await readFile(path(), 'utf8');
        await writeFile(path(), '{');
      });
      afterAll(() => writeFile(path(), text));

      it.each([
        ['rerun', () => ['rerun', '--target', 'duckdb:', '--runs', '1', '--no-record'], 2],
        ['import', () => ['import', partly, '--store', join(root, `taken-in-${file}`)], 2],
      ] as const)('%s tells of it and does the others', async (_, args, exitCode) => {
        const given = args();
        const { code, out, err } = await isolde(
          ...given,
          ...(given[0] === 'rerun' ? ['--store', partly] : []),
        );
        expect({ code, out }).toEqual({ code: exitCode, out: expect.stringContaining(whole) });
        expect(out).not.toContain(broken);
        expect(err).toContain(join(broken, file));
      });

      it('show and export give the others, and an error for this one', async () => {
        const out = join(root, `out-of-${file}`);
        for (const [args, id, exitCode] of [
          [['show'], whole, 0],
          [['show'], broken, 3],
          [['export', out], whole, 0],
          [['export', out], broken, 3],
          [['rerun'], broken, 3],
        ] as const) {
          const [name, ...more] = args;
          const { code, err } = await isolde(name, id, ...more, '--store', partly);
          expect(code, err).toBe(exitCode);
          if (id === broken) expect(err).toContain(join(broken, file));
        }
      });

      it('list and ignore tell of it when its record is what is broken', async () => {
        const inRecord = file === 'bug.json';
        for (const [args, exitCode] of [
          [['list'], inRecord ? 2 : 0],
          [['ignore', whole], 0],
        ] as const) {
          const { code, out, err } = await isolde(...args, '--store', partly);
          expect({ code, out }).toEqual({ code: exitCode, out: expect.stringContaining(whole) });
          expect(err.includes(join(broken, file))).toBe(inRecord);
        }
      });

      it('matrix and dedupe tell of it and do the others', async () => {
        const tried = await command('matrix', partly, '--targets', 'duckdb:', '-n', '1', '--store', partly);
        expect(tried.err).toContain(join(broken, file));
        expect(tried.out).toContain(whole);
        expect(tried.out).not.toContain(broken);
        const elsewhere = ['-t', 'duckdb:', '--store', partly, '--known', join(root, 'known')];
        expect((await command('dedupe', whole, ...elsewhere)).code).not.toBe(3);
        const one = await command('dedupe', broken, ...elsewhere);
        expect(one).toMatchObject({ code: 3, err: expect.stringContaining(join(broken, file)) });
      });

      it('the studio tells of it and shows the others', async () => {
        const site = join(root, `site-of-${file}`);
        const exported = await command('studio', partly, '--export', site);
        expect(exported.err).toContain(join(broken, file));
        const studio = await startStudio({ store: partly });
        const ask = async (path: string) => (await fetch(new URL(`api/${path}`, studio.url))).text();
        try {
          for (const path of ['bugs', 'histories']) {
            const text = await ask(path);
            expect(text).toContain(whole);
            // `list` reads the record alone.
            expect(text.includes(join(broken, file))).toBe(file === 'bug.json');
          }
          expect(await ask(`bugs/${whole}`)).toContain(whole);
          expect(await ask(`bugs/${broken}`)).toContain(join(broken, file));
        } finally {
          await studio.close();
        }
      });

      it('hunt tells of it and hunts', async () => {
        const copy = join(root, `hunted-${file}`);
        await cp(partly, copy, { recursive: true });
        const url = 'duckdb:?fault=missed-own-write';
        const { code, err } = await command('hunt', url, '--rounds', '2', '--store', copy);
        expect([0, 1], err).toContain(code);
        expect(err).toContain(join(broken, file));
      });
    });
  });

  it('exports and imports', async () => {
    const out = await isolde('export', bug.id, join(root, 'out'));
    expect(out).toMatchObject({ code: 0, out: join(root, 'out', bug.id) });
    const second = join(root, 'second');
    expect((await isolde('import', join(root, 'out'), '--store', second)).out).toBe(`${bug.id}: new`);
    expect((await isolde('import', out.out, '--store', second)).out).toBe(`${bug.id}: known, seen 1 time`);
  });

  it('ignores a bug, a signature never seen, and nothing else', async () => {
    expect((await isolde('ignore', bug.id, '--reason', 'known')).code).toBe(0);
    expect((await isolde('ignore', 'abcdef012345')).code).toBe(0);
    expect((await isolde('list')).out).toContain(', ignored');
    expect((await isolde('unignore', 'abcdef012345')).code).toBe(0);
    expect((await isolde('unignore', 'abcdef012345')).err).toContain('"abcdef012345" is not ignored');
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

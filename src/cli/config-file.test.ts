import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { applyConfig, readConfig } from '../config-file.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-config-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** The place of a configuration with these fields. */
function written(fields: object, named = false): { readonly file: string; readonly named: boolean } {
  const file = join(folder, `config-${count++}.json`);
  writeFileSync(file, JSON.stringify({ format: 'isolde-config', version: 1, ...fields }, null, 1));
  return { file, named };
}

const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** What a command `hunt [url]` gets, with these words on its command line. */
async function got(fields: object, words: readonly string[], named = false) {
  let seen: unknown;
  const program = new Command('isolde').exitOverride();
  program
    .command('hunt')
    .argument('[url]')
    .option('--for <time>')
    .option('--only-new')
    .option('--no-reuse')
    .option('--ignore <bug>', '', collect)
    .option('--store <folder>', '', '.isolde')
    .option('-t, --target <url>')
    .option('--targets <url>', '', collect)
    .addOption(new Option('--fail-on <label>').choices(['theory', 'reported']))
    .action((url: string | undefined, flags: object) => {
      seen = { url, ...flags };
    });
  applyConfig(program, readConfig(written(fields, named)), ['hunt', 'bugs']);
  await program.parseAsync(['hunt', ...words], { from: 'user' });
  return seen;
}

describe('options', () => {
  it('come from the configuration unless the command line has them', async () => {
    const fields = {
      options: {
        '*': { store: 'kept' },
        hunt: { for: '10m', 'only-new': true, reuse: false, ignore: ['a', 'b'], 'fail-on': 'theory' },
        'bugs rerun': { runs: 5 },
      },
    };
    expect(await got(fields, [])).toEqual({
      store: 'kept',
      for: '10m',
      onlyNew: true,
      reuse: false,
      ignore: ['a', 'b'],
      failOn: 'theory',
    });
    expect(await got(fields, ['--for', '5s', '--store', 'x', '--ignore', 'c'])).toMatchObject({
      for: '5s',
      store: 'x',
      ignore: ['a', 'b', 'c'],
    });
  });

  it('that do not exist, or have another kind of value, are refused with their line', async () => {
    await expect(got({ options: { hunt: { speed: 1 } } }, [], true)).rejects.toThrow(
      /config-\d+\.json:6 \(options\.hunt\.speed\): "isolde hunt" has no option --speed/,
    );
    await expect(got({ options: { hutn: { for: '1s' } } }, [])).rejects.toThrow('there is no command "hutn"');
    await expect(got({ options: { hunt: { 'only-new': 'yes' } } }, [])).rejects.toThrow(
      'expected true or false',
    );
    await expect(got({ options: { hunt: { 'fail-on': 'never' } } }, [])).rejects.toThrow(/Allowed choices/);
    await expect(got({ option: {} }, [])).rejects.toThrow('unknown field option');
  });
});

describe('targets', () => {
  const targets = { near: 'postgres:', far: 'postgres://u:secret@db.example/x' };

  it('have names wherever a command takes a URL', async () => {
    expect(await got({ targets }, ['near', '--target', 'far'])).toMatchObject({
      url: 'postgres:',
      target: 'postgres://u:secret@db.example/x',
    });
    expect(await got({ targets }, ['duckdb:'])).toMatchObject({ url: 'duckdb:' });
    expect(await got({ targets }, ['--targets', 'near', '--targets', 'sqlite:'])).toMatchObject({
      targets: ['postgres:', 'sqlite:'],
    });
    await expect(got({ targets: { 'a:b': 'duckdb:' } }, [])).rejects.toThrow('none looks like a URL');
  });

  it('are used by commands, and their passwords are not printed', async () => {
    const config = written({ target: 'far', targets: { far: 'nosuch://u:secret@db.example/x' } });
    const { code, err } = await isolde(['probe'], { config });
    expect(code).toBe(3);
    expect(err).toContain('nosuch');
    expect(err).not.toContain('secret');
  });
});

describe('a file that was merely found', () => {
  const hostile = [
    { target: 'exec:sh -c evil' },
    { targets: { a: 'duckdb:?package=../evil' } },
    { options: { hunt: { target: 'postgres:?binaries=/tmp/evil' } } },
    { options: { hunt: { 'trust-case': true } } },
    { options: { '*': { fetch: true } } },
    { options: { 'fleet work': { db: 'postgres://evil.example/' } } },
    { options: { hunt: { store: '../../home' } } },
    { options: { hunt: { store: '/etc' } } },
    { options: { hunt: { store: 'postgres://evil.example/' } } },
  ];
  it.each(hostile.map((fields) => [JSON.stringify(fields), fields] as const))(
    'cannot say %s',
    async (_, fields) => {
      await expect(got(fields, [])).rejects.toThrow('merely found');
    },
  );

  it('may do so once it is named', async () => {
    expect(await got({ options: { hunt: { store: '../shared' } } }, [], true)).toMatchObject({
      store: '../shared',
    });
    expect(readConfig(written({ target: 'exec:node adapter.mjs' }, true)).target).toBe(
      'exec:node adapter.mjs',
    );
  });

  it('that is broken is an error of every command, and of none that needs nothing', async () => {
    const file = join(folder, 'broken.json');
    writeFileSync(file, '{ "format": "isolde-config", ');
    const config = { file, named: false };
    const { code, err } = await isolde(['check', 'x'], { config });
    expect([code, err]).toEqual([3, expect.stringContaining('broken.json:1')]);
    expect((await isolde(['--version'], { config })).code).toBe(0);
  });
});

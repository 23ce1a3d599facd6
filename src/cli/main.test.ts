/** What the command line says of wrong arguments, without any database: exit code 3, and what was wrong. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-main-'));
  writeFileSync(
    join(folder, 'list.edn'),
    '{:type :ok, :f :txn, :value [[:append 1 1] [:r 1 [1]]], :process 0}\n',
  );
  writeFileSync(join(folder, 'broken.edn'), '{:type :ok, :f :txn, :value [[:append 1\n');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const at = (name: string) => join(folder, name);

describe('isolde', () => {
  it('prints its version, and nothing else', async () => {
    expect(await isolde(['--version'])).toEqual({ code: 0, out: '0.1.0', err: '' });
  });

  it('says what it is for when it is asked', async () => {
    const { code, out } = await isolde(['--help']);
    expect(code).toBe(0);
    for (const command of ['hunt', 'check', 'reduce', 'reproduce', 'studio'])
      expect(out).toContain(`  ${command} `);
  });

  it.each<[string[], RegExp]>([
    [['hnut'], /unknown command 'hnut'/],
    [['__proto__'], /unknown command '__proto__'/],
    [['constructor'], /unknown command 'constructor'/],
    [['--nonsense'], /unknown option '--nonsense'/],
    [['check', '--nonsense', 'x'], /unknown option '--nonsense'/],
    [['convert', 'only-one'], /missing required argument 'out'/],
    [['convert', 'a', 'b', 'c'], /too many arguments/],
    [['verify-certificate'], /missing required argument 'history'/],
    [['clean'], /missing required argument 'url'/],
    [['generate', '--seed'], /option '-s, --seed <seed>' argument missing/],
  ])('%j: %s', async (args, message) => {
    const { code, out, err } = await isolde(args);
    expect(code).toBe(3);
    expect(out).toBe('');
    expect(err).toMatch(message);
    expect(err).toContain('(add --help for usage)');
  });

  it.each<[string[], RegExp]>([
    [['generate', '--sessions', '0'], /--sessions takes a whole number from 1/],
    [['generate', '--statements', '1e9'], /--statements takes a whole number from 1/],
    [['generate', '--interleaving', 'odd'], /free, random or conflict, not "odd"/],
    [['generate', '--dialect', 'basic'], /nothing is known about "basic"/],
    [['generate', '--dialect', 'duckdb', '--target', 'duckdb:'], /say the same thing/],
    [['generate', '--profile', 'none'], /there is no profile "none"/],
    [['generate', '--profile', './none.json'], /cannot read \.\/none\.json/],
    [['generate', '--level', 'loose'], /loose/],
    [['clean', 'duckdb:', '--older-than', 'long'], /--older-than .*long/],
    [['convert', 'nowhere.edn', 'out.jsonl'], /nowhere\.edn/],
    [
      ['convert', 'a', 'b', '--to', 'plume'],
      /"plume" cannot be written; there are isolde, jepsen, elle-json/,
    ],
    [['convert', 'a', 'b', '--from', 'word'], /word/],
    [['verify-certificate', 'a.edn', 'nowhere.json'], /cannot read nowhere\.json/],
    [['studio', '--port', 'x'], /--port/],
  ])('%j is refused: %s', async (args, message) => {
    const { code, out, err } = await isolde(args);
    expect(code).toBe(3);
    expect(out).toBe('');
    expect(err).toMatch(message);
    expect(err).toMatch(/^isolde: /);
    expect(err).not.toContain('unexpected failure');
  });

  it('shows no password of a URL that it cannot use', async () => {
    const { err } = await isolde(['generate', '--target', 'nosql://me:s3cret@host/db']);
    expect(err).toContain('nosql');
    expect(err).not.toContain('s3cret');
  });
});

describe('isolde convert', () => {
  it('prints what it wrote as one line of JSON', async () => {
    const file = at('list.history.jsonl');
    const { code, out, err } = await isolde(['convert', at('list.edn'), file, '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).not.toContain('\n');
    expect(JSON.parse(out)).toMatchObject({
      file,
      format: 'isolde',
      transactions: 1,
      operations: 2,
      omitted: [],
    });
    expect(readFileSync(file, 'utf8')).toContain('isolde-history');
  });

  it('says it to people on standard error', async () => {
    const { code, out, err } = await isolde(['convert', at('list.edn'), at('list.jsonl')]);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('1 transactions, 2 operations as elle-json');
  });

  it('writes nothing where the input breaks off', async () => {
    const { code, err } = await isolde(['convert', at('broken.edn'), at('none.jsonl')]);
    expect(code).toBe(3);
    expect(err).toContain('broken.edn');
    expect(() => readFileSync(at('none.jsonl'))).toThrow('ENOENT');
  });
});

describe('isolde verify-certificate', () => {
  it.each([
    ['no JSON', 'not json'],
    ['another file', '{"format":"something else"}'],
    ['an empty file', ''],
    ['a list', '[]'],
  ])('refuses %s as an error, not as a proof that failed', async (_, text) => {
    writeFileSync(at('certificate.json'), text);
    const { code, out, err } = await isolde(['verify-certificate', at('list.edn'), at('certificate.json')]);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('certificate.json');
  });
});

describe('isolde generate', () => {
  it('prints the same case for the same seed, and another for another', async () => {
    const [one, again, other] = await Promise.all(
      ['1', '1', '2'].map((seed) => isolde(['generate', '--seed', seed, '--json'])),
    );
    expect(one!.code).toBe(0);
    expect(again!.out).toBe(one!.out);
    expect(other!.out).not.toBe(one!.out);
    expect(JSON.parse(one!.out)).toHaveProperty('sessions');
  });

  it('says that it cannot write, and where', async () => {
    const { code, err } = await isolde(['generate', '--out', at('no/such/folder.sql')]);
    expect(code).toBe(3);
    expect(err).toMatch(/^isolde: cannot write .*folder\.sql/);
  });
});

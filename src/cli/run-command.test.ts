import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from './main.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-run-command-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function isolde(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(['run', ...args], {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const broken = 'examples/scripts/duckdb-17223.sql';

async function script(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

describe('isolde run', () => {
  it('is an error where no statement could be run, and undecided if it is to be judged', async () => {
    const file = await script(
      'bad.sql',
      'CREATE TABLE t (a INT);\nT1: SELEC 1\nT2: UPDATE nosuch SET a = 1\n',
    );
    const plain = await isolde(file);
    expect([plain.code, plain.err]).toEqual([3, 'isolde: no statement of the case could be run']);
    const { code, out, err } = await isolde(file, '--check');
    expect(code).toBe(2);
    expect(out).toMatch(/: undecided$/);
    expect(err).toContain('not decided: no statement could be run');
  });

  it('runs a spec in all its permutations', async () => {
    const steps = 'session s1\nstep r1 { SELECT a FROM t; }\nsession s2\nstep w2 { UPDATE t SET a = 2; }\n';
    const text = `setup { CREATE TABLE t (a int); INSERT INTO t VALUES (0); }\n${steps}`;
    const { code, out } = await isolde(
      await script('two.spec', `${text}permutation w2 r1\npermutation r1 w2\n`),
    );
    expect(code).toBe(0);
    expect(out.match(/permutation .*|→ \(\d\)/g)).toEqual([
      'permutation w2 r1',
      '→ (2)',
      'permutation r1 w2',
      '→ (0)',
    ]);
  });

  it('says which command takes a file of another kind', async () => {
    const { code, err } = await isolde('examples/histories/write-skew.edn');
    expect([code, err]).toEqual([3, expect.stringContaining('isolde check')]);
    expect((await isolde('examples/histories/duckdb-17223.history.jsonl')).err).toContain('is a history');
    expect((await isolde('examples')).err).toContain('is a folder');
  });
});

describe('isolde run --check', () => {
  it('ends with 1 and the argument where the contract is broken', async () => {
    const { code, out } = await isolde(broken, '--check', '--runs', '2');
    expect(code).toBe(1);
    expect(out).toContain('(update-of-changed-row)\nbreaks the manual: DuckDB');
    expect(out).not.toContain('firstUpdaterWins');
    expect(out).toContain('duckdb:snapshot: broken in 2 of 2 runs');
  });

  it('ends with 0 where it is kept, and without --check says nothing of verdicts', async () => {
    const file = await script(
      'fine.sql',
      'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (1);\nT2: SELECT a FROM t;\n',
    );
    expect(await isolde(file, '--check')).toMatchObject({
      code: 0,
      out: expect.stringContaining('duckdb:snapshot: kept'),
    });
    const { code, out } = await isolde(broken);
    expect(code).toBe(0);
    expect(out).not.toContain('duckdb:snapshot');
  });

  it('ends with 2 and the reasons where something could not be judged', async () => {
    const file = await script(
      'random.sql',
      'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (1);\nT2: SELECT random() FROM t;\n',
    );
    const { code, out, err } = await isolde(file, '--check');
    expect(code).toBe(2);
    expect(out).toContain('undecided');
    expect(err).toMatch(/^not decided: /m);
  });

  it('has another oracle judge when asked, and prints the verdict as JSON', async () => {
    const { code, out } = await isolde(broken, '--check', '--json', '--oracle', 'dependency-graph');
    const result = JSON.parse(out);
    expect(result).toMatchObject({ oracle: 'dependency-graph', contract: 'duckdb:snapshot' });
    expect(code).toBe(result.valid === false ? 1 : result.valid === true ? 0 : 2);
    expect(result.history.operations.length).toBeGreaterThan(0);
  });

  it('says when the oracle asked for cannot judge by the contract', async () => {
    const { code, err } = await isolde(broken, '--check', '--contract', 'adya:PL-3', '--oracle', 'mechanism');
    expect(code).toBe(3);
    expect(err).toContain('does not say how an engine works');
  });
});

describe('isolde run -n', () => {
  it('lists each distinct outcome with its count and what differs', async () => {
    // A random number differs from run to run: no two outcomes are the same.
    const file = await script(
      'random.sql',
      'CREATE TABLE t (a DOUBLE);\nT1: INSERT INTO t VALUES (1);\nT1: SELECT random() AS r FROM t;\n',
    );
    const { out } = await isolde(file, '-n', '3');
    expect(out).toContain('1 of 3 runs gave these results');
    expect(out.match(/1 of 3 runs:/g)).toHaveLength(2);
    expect(out).toMatch(/1 of 3 runs:\n {2}T1: SELECT random\(\) AS r FROM t → \([\d.e-]+\)/);
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';
import { opinion, playExperts } from '../experts/protocol-server.case.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-dedupe-command-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = ['--known', join(folder, 'known'), '--store', join(folder, 'store'), '-t', 'duckdb:'];

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const setup = 'CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n';
/** DuckDB #17223, and the same with another table and another order of statements. */
const deleted = write(
  'deleted.sql',
  `${setup}T1: BEGIN;\nT1: SELECT id, v FROM t;\nT2: DELETE FROM t WHERE id = 1;\nT1: UPDATE t SET v = 55 WHERE id = 1;\nT1: COMMIT;\n`,
);
const likewise = write(
  'likewise.sql',
  `CREATE TABLE people (n INT, age INT);\nINSERT INTO people VALUES (7, 1);\nA: BEGIN;\nA: SELECT n, age FROM people;\nB: BEGIN;\nB: DELETE FROM people WHERE n = 7;\nB: COMMIT;\nA: UPDATE people SET age = 2 WHERE n = 7;\nA: COMMIT;\n`,
);
const columns = write(
  'columns.sql',
  'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT);\nINSERT INTO t VALUES (1, 10, 10);\nT1: BEGIN;\nT1: SELECT id, v, w FROM t;\nT2: UPDATE t SET w = 1 WHERE id = 1;\nT1: UPDATE t SET v = 55 WHERE id = 1;\nT1: COMMIT;\n',
);
const fine = write('fine.sql', `${setup}T1: SELECT id, v FROM t;\nT2: UPDATE t SET v = 1 WHERE id = 2;\n`);

describe('isolde dedupe of two', () => {
  it('says that they are one bug, or two, and why', async () => {
    const same = await isolde(['dedupe', deleted, likewise, ...own]);
    expect(same).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^one bug\n {2}the second case shows the same behaviour here/),
    });
    const other = await isolde(['dedupe', deleted, columns, '--json', ...own]);
    expect(other.code).toBe(0);
    expect(JSON.parse(other.out)).toMatchObject({
      verdict: 'different',
      why: expect.stringContaining('the second case shows here, and is another behaviour'),
    });
  });

  it('needs a finding of each', async () => {
    const { code, err } = await isolde(['dedupe', deleted, fine, ...own]);
    expect(code).toBe(3);
    expect(err).toContain('fine.sql shows nothing that could be compared');
  });
});

describe('isolde dedupe with other builds', () => {
  it('leaves out a version that is not here, says so, and answers by the rest', async () => {
    const { code, out, err } = await isolde(['dedupe', likewise, '--versions', '0.0.1', ...own]);
    expect(err).toMatch(/isolde: duckdb 0\.0\.1 is left out: .*--fetch/);
    expect(out).toMatch(/^duplicate of DuckDB #17223/);
    expect(code).toBe(1);
  });
});

describe('isolde dedupe of a history', () => {
  it('brings it back, reduces it and knows it', async () => {
    const file = join(folder, 'run.history.jsonl');
    const long = write(
      'long.sql',
      `${setup}T1: BEGIN;\nT1: SELECT id, v FROM t;\nT3: INSERT INTO t VALUES (3, 30);\nT3: SELECT id, v FROM t WHERE id = 3;\nT2: DELETE FROM t WHERE id = 1;\nT1: UPDATE t SET v = 55 WHERE id = 1;\nT1: COMMIT;\nT3: UPDATE t SET v = 31 WHERE id = 3;\n`,
    );
    expect((await isolde(['run', long, '-t', 'duckdb:', '--out', file])).code).toBe(0);
    const { code, out, err } = await isolde(['dedupe', file, ...own]);
    expect(err).toContain('reducing it on duckdb');
    expect(out).toContain('duplicate of DuckDB #17223');
    expect(code).toBe(1);
  }, 120_000);
});

describe('isolde dedupe with experts', () => {
  const vague = write('vague.md', '# DuckDB: rows go\nSELECT and UPDATE disagree sometimes\n');

  it('asks them only about what running leaves open, and writes down what they said', async () => {
    const server = await playExperts('nothing says this', ({ truth }) => opinion(truth));
    try {
      const args = [
        'dedupe',
        columns,
        '--llm',
        server.url,
        '--model',
        'played',
        '--json',
        '--price',
        '1,2',
        ...own,
      ];
      const env = { ISOLDE_LLM_KEY: 'the-key' };
      const { code, out, err } = await isolde(args, { env });
      expect(code).not.toBe(3);
      const answer = JSON.parse(out) as { verdict: string; experts: { counts: { calls: number } } };
      expect(answer.experts.counts.calls).toBe(server.heard.length);
      expect(answer.experts.counts.calls).toBeLessThanOrEqual(30);
      if (server.heard.length === 0) return;
      expect(server.heard[0]!.key).toBe('Bearer the-key');
      expect(err).toContain('by --price');
      const files = readdirSync(join(folder, 'store', 'experts')).filter((name) => name.endsWith('.json'));
      expect(readFileSync(join(folder, 'store', 'experts', files[0]!), 'utf8')).not.toContain('the-key');
    } finally {
      await server.close();
    }
  });

  it('still answers when the endpoint is dead, and says so', async () => {
    const server = await playExperts('', () => undefined);
    await server.close();
    const { code, out } = await isolde(['dedupe', deleted, '--llm', server.url, '--model', 'm', ...own]);
    expect(code).toBe(1);
    expect(out).toContain('duplicate of DuckDB #17223');
  });

  it.each([
    [['--llm', 'http://127.0.0.1:1/v1'], 'needs the name of a model'],
    [['--llm', 'ftp://host', '--model', 'm'], 'by http or https'],
    [['--llm', 'http://127.0.0.1:1/v1', '--model', 'm', '--max-calls', 'many'], '--max-calls'],
    [['--llm', 'http://127.0.0.1:1/v1', '--model', 'm', '--price', 'cheap'], '--price cheap'],
  ])('refuses %j before anything is run', async (args, message) => {
    const { code, err } = await isolde(['dedupe', deleted, ...args, ...own]);
    expect(code).toBe(3);
    expect(err).toContain(message);
  });

  it('has nothing to ask about a text without a finding', async () => {
    const { err } = await isolde(['dedupe', vague, '--llm', 'http://127.0.0.1:1/v1', '--model', 'm', ...own]);
    expect(err).toContain('there is none here');
  });
});

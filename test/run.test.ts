import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readWholeHistory } from '../src/histories/index.js';
import { isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-run-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('isolde run', () => {
  it("draws DuckDB's lost update of a deleted row, the same in 50 of 50 runs", async () => {
    const { code, out } = await isolde(['run', 'examples/scripts/duckdb-17223.sql', '--runs', '50']);
    expect(code).toBe(0);
    expect(out.replace(/duckdb \S+,/, 'duckdb VERSION,')).toMatchInlineSnapshot(`
      "update of a row that another transaction deleted on duckdb VERSION, snapshot

      T2                               │ T1
      ─────────────────────────────────┼───────────────────────────
      BEGIN                            │
      SELECT * FROM t                  │
      → (1, 10) (2, 20)                │
                                       │ DELETE FROM t WHERE id = 1
                                       │ → 1 matched
      UPDATE t SET v = 55 WHERE id = 1 │
      → 1 matched                      │
      COMMIT                           │
                                       │ T1#2: SELECT * FROM t
                                       │ → (2, 20)

      50 of 50 runs gave these results"
    `);
  });

  it('writes a history that reads back', async () => {
    const path = join(folder, 'kept.history.jsonl.gz');
    await isolde(['run', 'examples/scripts/duckdb-17223.sql', '--target', 'duckdb:', '--out', path]);
    const history = await readWholeHistory(path);
    expect(history.header.sessions).toEqual(['T2', 'T1']);
    expect(history.operations.map((op) => op.kind)).toEqual([
      'begin',
      'select',
      'delete',
      'update',
      'commit',
      'select',
    ]);
  });

  it('prints the history as clean JSON', async () => {
    const { out, err } = await isolde(['run', 'examples/scripts/duckdb-17223.sql', '--json']);
    expect(JSON.parse(out).operations).toHaveLength(6);
    expect(err).toBe('');
  });

  it('lists what was not sent after a rollback by the database', async () => {
    const path = file(
      'conflict.sql',
      `CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10);
T1: BEGIN; UPDATE t SET v = 11 WHERE id = 1;
T2: BEGIN; UPDATE t SET v = 12 WHERE id = 1; UPDATE t SET v = 13 WHERE id = 1; COMMIT;
T1: COMMIT; SELECT * FROM t;`,
    );
    const { out } = await isolde(['run', path]);
    expect(out).toContain('✗ serialization: TransactionContext Error: Conflict on');
    expect(out).toContain('not sent');
    expect(out).toContain('T2: UPDATE t SET v = 13 WHERE id = 1');
    expect(out).toContain('→ (1, 11)');
  });

  it.each([
    ['a missing file', ['run', 'no-such-file.sql'], /cannot read no-such-file\.sql/],
    ['no sessions', ['run', 'EMPTY'], /EMPTY/],
    [
      'a level nobody knows',
      ['run', 'examples/scripts/duckdb-17223.sql', '--level', 'perfect'],
      /"perfect" is no isolation level/,
    ],
    [
      'a level the target lacks',
      ['run', 'examples/scripts/duckdb-17223.sql', '--level', 'RC'],
      /duckdb has no level "read committed".*snapshot/,
    ],
    [
      'a target nobody knows',
      ['run', 'examples/scripts/duckdb-17223.sql', '--target', 'oracle:'],
      /No database is known by the URL "oracle:"/,
    ],
    [
      'a number that is none',
      ['run', 'examples/scripts/duckdb-17223.sql', '--runs', 'many'],
      /--runs takes a whole number above 0, not "many"/,
    ],
    ['an unknown command', ['fly'], /unknown command 'fly'/],
    ['an unknown option', ['run', '--fly'], /unknown option '--fly'/],
  ])('ends with 3 and says what is wrong: %s', async (_, args, message) => {
    const empty = file('empty.sql', 'CREATE TABLE t (id INT);');
    const { code, err, out } = await isolde(args.map((arg) => (arg === 'EMPTY' ? empty : arg)));
    expect(code).toBe(3);
    expect(err.replaceAll(empty, 'EMPTY')).toMatch(message);
    expect(err).not.toMatch(/ at .*\.[jt]s/);
    expect(out).toBe('');
  });

  it('names the set-up statement that fails', async () => {
    const path = file('bad-setup.sql', 'CREATE TABEL t (id INT);\nT1: SELECT 1;\nT2: SELECT 2;');
    const { code, err } = await isolde(['run', path]);
    expect(code).toBe(3);
    expect(err).toContain('CREATE TABEL t (id INT)');
  });

  it("records a case's own syntax error as data", async () => {
    const path = file('bad.sql', 'CREATE TABLE t (id INT);\nT1: SELEC 1;\nT2: SELECT 2;');
    const { code, out } = await isolde(['run', path]);
    expect(code).toBe(0);
    expect(out).toContain('✗ syntax');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isolde } from '../../test/isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-known-command-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = ['--known', join(folder, 'known')];

describe('isolde known', () => {
  it('lists and shows, for people and for programs', async () => {
    const listed = await isolde(['known', 'list', '--engine', 'duckdb', '--json', ...own]);
    const ids = (JSON.parse(listed.out) as { id: string }[]).map(({ id }) => id);
    expect(ids).toContain('duckdb-17223');
    const shown = await isolde(['known', 'show', 'DuckDB #17223', ...own]);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain('T2: UPDATE t SET v = 55 WHERE id = 1;');
    expect(shown.out).toContain('wrong: T1.2 rows (2, 20)');
    expect(shown.out).toContain('case written from: facts');
    expect((await isolde(['known', 'show', 'nothing', ...own])).err).toContain(
      'no known bug is called "nothing"',
    );
  });

  it('runs cases: 1 when one shows, 2 when none could be run', async () => {
    const run = await isolde(['known', 'run', 'duckdb-17223', '-t', 'duckdb:', ...own]);
    expect(run.code).toBe(1);
    expect(run.out).toContain('1 of 1 show on duckdb');
    const other = await isolde(['known', 'run', 'mysql-104833', '-t', 'duckdb:', '--json', ...own]);
    expect(other.code).toBe(2);
    expect(JSON.parse(other.out)).toMatchObject({ results: [{ id: 'mysql-104833', outcome: 'not-run' }] });
  });

  it('imports a pasted report, which then is listed and run behind the fence', async () => {
    const file = join(folder, 'report.md');
    writeFileSync(
      file,
      '# Gone\nhttps://github.com/duckdb/duckdb/issues/99999\n/* init */ CREATE TABLE t (a INT);\n/* s1 */ BEGIN;\n/* s1 */ SELECT a FROM t;\n/* s2 */ DELETE FROM t;\n/* s1 */ COMMIT;\n',
    );
    const imported = await isolde(['known', 'import', file, ...own]);
    expect(imported.out).toContain('duckdb-99999, with its case');
    const listed = await isolde(['known', 'list', '--engine', 'duckdb', ...own]);
    expect(listed.out).toContain('DuckDB #99999');
    const run = await isolde(['known', 'run', 'duckdb-99999', '-t', 'duckdb:', '--json', ...own]);
    expect(JSON.parse(run.out)).toMatchObject({ results: [{ outcome: 'ran', findings: [] }] });
  });

  it('keeps a report in no known notation as text, and shows it without what steers a terminal', async () => {
    const file = join(folder, 'prose.md');
    writeFileSync(file, '# Odd rows\nAfter the update two rows were there.\u001b[2J\nNobody knows why.\n');
    await isolde(['known', 'import', file, '--engine', 'mysql', '--id', 'odd-rows', ...own]);
    const shown = await isolde(['known', 'show', 'odd-rows', ...own]);
    expect(shown.out).toContain('two rows were there.\\x1b[2J\nNobody knows why.');
    const json = JSON.parse((await isolde(['known', 'show', 'odd-rows', '--json', ...own])).out);
    expect(json).toMatchObject({ id: 'odd-rows', text: expect.stringContaining('Nobody knows why.') });
  });

  it('refuses what is no file, no table and no id', async () => {
    expect((await isolde(['known', 'import', folder, ...own])).err).toContain('is not a plain file');
    const csv = join(folder, 'x.csv');
    writeFileSync(csv, 'a,b\n1,"2');
    expect((await isolde(['known', 'import', csv, ...own])).err).toContain(
      'the quote that begins here never ends',
    );
    expect((await isolde(['known', 'import', csv, '--id', '../up', ...own])).code).toBe(3);
  });
});

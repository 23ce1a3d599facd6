import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parseScript, scheduleProblem } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import type { History, Operation } from '../histories/index.js';
import { caseFeatures } from './case-features.js';
import { parseCsv } from './csv.js';
import { idOfName, parseEntries, printEntry } from './entry.js';
import { encode, flags } from './features.js';
import { importReports, mostTextChars } from './import-report.js';
import { parseKnownCase, showsBug, wrongLines } from './known-case.js';
import { addToFolder } from './own-folder.js';
import { openKnown } from './repository.js';
import { textFeatures } from './text-features.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-known-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whatever comes in, what comes out is a result or an error with a message. */
function survives(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
  }
}

describe('the repository that ships', async () => {
  const { bugs, weights } = await openKnown();
  const cases = bugs.filter((bug) => bug.case !== undefined);

  it('has the reports of the study and more than 50 cases with several sessions', () => {
    expect(bugs.length).toBeGreaterThan(220);
    expect(cases.filter((bug) => bug.case!.case.sessions.length > 1).length).toBeGreaterThan(50);
  });

  it.each(cases)('$id: its case can be scheduled, says what is wrong, and fits its entry', (bug) => {
    const { case: program, schedule, wrong } = bug.case!;
    expect(scheduleProblem(program, schedule)).toBeUndefined();
    expect(program.name).toBe(bug.id);
    expect(program.level).toBeDefined();
    expect(wrong.length).toBeGreaterThan(0);
    expect(bug.about.length).toBeGreaterThan(20);
  });

  it('weighs every component that occurs, and none by a label', () => {
    for (const { vector } of bugs)
      for (const name of vector.keys()) expect(weights.get(name)).toBeGreaterThan(0);
    const names = [...weights.keys()];
    expect(names.filter((name) => /\d{3,}/.test(name))).toEqual([]);
    expect(flags).toHaveLength(29);
    expect(
      names.every(
        (name) =>
          /^(engine|mode|level)=|^transactions$/.test(name) || (flags as readonly string[]).includes(name),
      ),
    ).toBe(true);
  });

  it('is printed and read back as it was', () => {
    const text = readFileSync('known/study.jsonl', 'utf8');
    expect(parseEntries(text, 'study.jsonl').map(printEntry).join('')).toBe(text);
  });
});

describe('CSV', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é') });
  it('reads back what was written, whatever is in the fields', () => {
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, (table) => {
        const quoted = table.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(','));
        expect(parseCsv(quoted.join('\r\n'), 'x.csv').map(({ fields }) => fields)).toEqual(table);
      }),
    );
  });

  it('names the line of a quote that never ends', () => {
    expect(() => parseCsv('a,b\n1,"2\n3,4', 'x.csv')).toThrow(
      'x.csv:2: the quote that begins here never ends',
    );
  });
});

describe('features', () => {
  const program = parseScript(
    'CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL);\nT1: BEGIN;\nT1: SELECT v FROM t FOR UPDATE;\nT2: UPDATE t SET v = 1;\nT1: ROLLBACK;',
    { file: 'x.sql' },
  ).case;

  it('are those of the sessions’ statements and of the tables', () => {
    const features = caseFeatures(program, { engine: 'mysql', level: 'repeatable read' });
    expect(features).toEqual({
      levels: ['repeatable read'],
      mode: 'pessimistic',
      transactions: 2,
      has: ['begin', 'constraint', 'key', 'rollback', 'select-for-update', 'update'],
    });
    expect(encode('mysql', features).get('transactions')).toBe(0.25);
  });

  it('of a report are those of the case in it, whatever its notation', () => {
    const pasted =
      'Something is odd.\n/* init */ CREATE TABLE t (a INT);\n/* s1 */ BEGIN;\n/* s1 */ SELECT a FROM t;\n/* s2 */ DELETE FROM t;\n/* s1 */ COMMIT;';
    expect(textFeatures(pasted)).toMatchObject({
      transactions: 2,
      has: ['begin', 'commit', 'delete', 'select'],
    });
    expect(textFeatures('mysql> begin;\nmysql> insert into t values (1);\nREPEATABLE-READ')).toEqual({
      levels: ['repeatable read'],
      mode: 'unspecified',
      has: ['begin', 'insert'],
    });
  });
});

describe('what is wrong', () => {
  const known = parseKnownCase(
    "-- isolde script\n-- wrong: T1.1 rows (1, 'a') (2, NULL)\n-- wrong: T2.1 at once\nCREATE TABLE t (a INT);\nT1: SELECT a, b FROM t;\nT2: DELETE FROM t;",
    'x.sql',
  );
  const operation = (s: number, more: Partial<Operation>): Operation =>
    ({
      index: s,
      session: s,
      transaction: s,
      kind: s === 0 ? 'select' : 'delete',
      statement: [s, 0],
      start: 0,
      end: 1,
      outcome: 'ok',
      ...more,
    }) as Operation;
  const history = (...operations: Operation[]): History => ({
    header: { sessions: ['T1', 'T2'] },
    operations,
  });
  const rows = [
    [2, null],
    [1, 'a'],
  ];

  it('is compared as a bag, with waiting and errors', () => {
    expect(showsBug(known, history(operation(0, { rows }), operation(1, {})))).toEqual({ shows: true });
    expect(showsBug(known, history(operation(0, { rows }), operation(1, { blocked: true })))).toEqual({
      shows: false,
    });
    expect(showsBug(known, history(operation(0, { rows: [[1, 'a']] }), operation(1, {})))).toEqual({
      shows: false,
    });
    const failed = operation(1, { outcome: 'error', error: { class: 'syntax', message: 'near DELETE' } });
    expect(showsBug(known, history(operation(0, { rows }), failed)).shows).toBe('unknown');
  });

  it('may be that the database goes away', () => {
    const crash = operation(1, { outcome: 'unknown', error: { class: 'crash', message: 'FATAL' } });
    const ran = operation(0, { rows });
    expect(showsBug(known, history(ran, crash)).shows).toBe('unknown');
    const fatal = parseKnownCase(
      '-- isolde script\n-- wrong: T2.1 error crash\nCREATE TABLE t (a INT);\nT1: SELECT a FROM t;\nT2: DELETE FROM t;',
      'x.sql',
    );
    expect(showsBug(fatal, history(ran, crash))).toEqual({ shows: true });
    expect(showsBug(fatal, history(ran, operation(1, {})))).toEqual({ shows: false });
    const lost = operation(1, { outcome: 'unknown', error: { class: 'connection-lost', message: 'gone' } });
    expect(showsBug(fatal, history(ran, lost)).shows).toBe('unknown');
  });

  it('is not decided by a count that the driver does not tell, unless something else decides', () => {
    const counted = parseKnownCase(
      '-- isolde script\n-- wrong: T2.1 count 1\n-- wrong: T1.1 rows (1)\nCREATE TABLE t (a INT);\nT1: SELECT a FROM t;\nT2: DELETE FROM t;',
      'x.sql',
    );
    const run = (seen: number, more: Partial<Operation>) =>
      showsBug(counted, history(operation(0, { rows: [[seen]] }), operation(1, more))).shows;
    expect(run(1, { matched: 1 })).toBe(true);
    expect(run(1, { matched: 0 })).toBe(false);
    expect(run(1, {})).toBe('unknown');
    expect(run(2, {})).toBe(false);
  });

  it('is printed as it is read', () => {
    expect(wrongLines(known)).toEqual(['T1.1 rows (1, a) (2, NULL)', 'T2.1 at once']);
  });

  it('names a statement that exists', () => {
    expect(() => parseKnownCase('-- isolde script\n-- wrong: T1.9 ok\nT1: SELECT 1;', 'x.sql')).toThrow(
      'x.sql:2 (wrong): there is no statement T1.9',
    );
  });
});

describe('imported reports', () => {
  const body =
    'Lost.\n\n/* init */ CREATE TABLE t (a INT);\n/* s1 */ BEGIN;\n/* s1 */ SELECT a FROM t;\n/* s2 */ DELETE FROM t;\n/* s1 */ COMMIT;';

  it('of an issue as JSON have id, link, status, features and case', () => {
    const issue = {
      title: 'Rows vanish',
      html_url: 'https://github.com/duckdb/duckdb/issues/4711',
      state: 'closed',
      body,
    };
    const [report] = importReports(JSON.stringify(issue), { file: 'issue.json' });
    expect(report!.entry).toMatchObject({
      id: 'duckdb-4711',
      name: 'DuckDB #4711',
      engine: 'duckdb',
      status: 'closed',
    });
    expect(report!.case?.case.sessions.length).toBe(2);
  });

  it('keep a report in no known notation by its features, and leave out SQL that is not allowed', () => {
    const [prose] = importReports('# It is slow\nselect x from y\n', { file: 'r.md', engine: 'mysql' });
    expect(prose).toMatchObject({
      note: expect.stringContaining('as text'),
      text: '# It is slow\nselect x from y\n',
      entry: { features: { has: ['select'] } },
    });
    const bad = body.replace('DELETE FROM t', 'DELETE FROM shop.users');
    const [refused] = importReports(bad, { file: 'r.md', engine: 'duckdb' });
    expect(refused!.case).toBeUndefined();
    expect(refused!.note).toContain('its case is left out');
    expect(refused!.text).toBe(bad);
  });

  it('cut off a text that is too long, and say so', () => {
    const [long] = importReports(`# Odd\n${'x'.repeat(2 * mostTextChars)}`, {
      file: 'r.md',
      engine: 'mysql',
    });
    expect(long!.text!.length).toBeLessThan(mostTextChars + 100);
    expect(long!.text).toContain(`[${mostTextChars + 6} further characters are left out]`);
  });

  it('refuse a case that names an unknown source', () => {
    const script = (source: string) =>
      `-- isolde script\n-- source: ${source}\n\nCREATE TABLE t (a INT);\n\nT1: SELECT a FROM t;\n`;
    expect(parseKnownCase(script('title'), 'x.sql').source).toBe('title');
    expect(() => parseKnownCase(script('hearsay'), 'x.sql')).toThrow('expected hunt, facts, text, title');
  });

  it('say which engine is meant, or ask', () => {
    expect(() => importReports('Something is odd', { file: 'r.md' })).toThrow('name it with --engine');
  });

  it('go into a folder and come back from it; what is broken there does not hide the rest', async () => {
    const reports = importReports(body, { file: 'r.md', engine: 'sqlite', id: 'mine' });
    await addToFolder(folder, reports);
    await addToFolder(folder, reports);
    const { bugs, problems } = await openKnown({ own: folder });
    expect(problems).toEqual([]);
    expect(
      bugs.filter(({ from }) => from === 'own').map(({ id, case: found }) => [id, found !== undefined]),
    ).toEqual([['mine', true]]);
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(folder, 'bad.jsonl'), '{"id": "x"');
    expect((await openKnown({ own: folder })).problems).toEqual([expect.stringContaining('bad.jsonl:1')]);
  });

  it('survive any text', () => {
    const piece = fc.constantFrom(
      'T1: ',
      'select',
      '"',
      '\n',
      '{',
      '[',
      '# ',
      '/* s1 */',
      '-- wrong: T1.1 rows (',
      ',',
      ')',
      ';',
      '\0',
      '💥',
      'CREATE TABLE',
      "'",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom('x.csv', 'x.json', 'x.md', 'x.sql'),
        (pieces, file) => {
          const text = pieces.join('');
          survives(() => importReports(text, { file, engine: 'mysql' }));
          survives(() => parseKnownCase(text, file));
          survives(() => parseEntries(text, file));
          expect(idOfName(text)).toMatch(/^[a-z0-9][a-z0-9.-]{0,79}$/);
        },
      ),
    );
  });
});

/** Reports in the forms people have them: JSON of a tracker, tables, Markdown, pasted text. */
import { describe, expect, it } from 'vitest';
import { importReports } from './import-report.js';
import { readReportTexts } from './report-text.js';

describe('an issue as JSON', () => {
  const read = (issue: unknown, file = 'issue.json') => readReportTexts(JSON.stringify(issue), file);

  it.each<[issue: object, report: object]>([
    [
      { title: 'T', body: 'B', html_url: 'https://github.com/duckdb/duckdb/issues/4711', state: 'open' },
      {
        title: 'T',
        text: 'B',
        state: 'open',
        url: 'https://github.com/duckdb/duckdb/issues/4711',
        engine: 'duckdb',
        name: 'DuckDB #4711',
      },
    ],
    [
      { summary: 'S', description: 'D', status: 'Closed' },
      { title: 'S', text: 'D', state: 'Closed' },
    ],
    [
      { title: 'T', body: null, state: null },
      { title: 'T', text: '', state: '' },
    ],
    // The number of a comment is not that of the issue.
    [
      { title: 'T', url: 'https://github.com/duckdb/duckdb/issues/4711#issuecomment-99' },
      { url: 'https://github.com/duckdb/duckdb/issues/4711', name: 'DuckDB #4711' },
    ],
    [
      { title: 'T', url: 'https://jira.mariadb.org/browse/MDEV-32898?focusedId=7' },
      { url: 'https://jira.mariadb.org/browse/MDEV-32898', engine: 'mariadb', name: 'MDEV-32898' },
    ],
    [
      { title: 'T', url: 'https://bugs.mysql.com/bug.php?id=113228' },
      { engine: 'mysql', name: 'MySQL #113228' },
    ],
  ])('%j', (issue, report) => {
    expect(read(issue)).toEqual([expect.objectContaining(report)]);
  });

  it('that names no tracker we know has no address, engine or name', () => {
    const [report] = read({ title: 'T', url: 'https://example.org/issues/1' });
    expect(report).toEqual({ title: 'T', text: '', state: '' });
    const [other] = read({ title: 'T', url: 'https://github.com/somebody/else/issues/1' });
    expect(other).not.toHaveProperty('engine');
    expect(other).not.toHaveProperty('name');
  });

  it('may be one of a list', () => {
    expect(read([{ title: 'A' }, { title: 'B' }]).map(({ title }) => title)).toEqual(['A', 'B']);
    expect(read([])).toEqual([]);
  });

  it.each<[text: string, message: string]>([
    ['{"body": "no title"}', 'an issue has a title'],
    ['{"title": 5}', 'title'],
    ['[1]', 'issue.json:1'],
    ['{"title": "x"', 'issue.json:1'],
  ])('%s is refused', (text, message) => {
    expect(() => readReportTexts(text, 'issue.json')).toThrow(message);
  });
});

describe('a table of issues', () => {
  const read = (text: string) => readReportTexts(text, 'issues.csv');

  it('is read by the names of its columns, in any order', () => {
    const csv =
      'Status,Issue Title,Link,Details,Database\r\nOpen,"Rows, lost",https://bugs.mysql.com/bug.php?id=7,"two\nlines",MariaDB\r\n';
    expect(read(csv)).toEqual([
      {
        title: 'Rows, lost',
        text: 'two\nlines',
        state: 'Open',
        url: 'https://bugs.mysql.com/bug.php?id=7',
        name: 'MySQL #7',
        // Its address knows better than its column.
        engine: 'mysql',
      },
    ]);
  });

  it('says the engine where no address does, by any name of it', () => {
    const engines = read('summary,product\na,PostgreSQL\nb,postgres\nc,SQLITE\nd,Nothing\n').map(
      ({ engine }) => engine,
    );
    expect(engines).toEqual(['postgres', 'postgres', 'sqlite', undefined]);
  });

  it('gives a row without a title the first line of its text', () => {
    expect(read('title,body\n,"# Heading\nmore"\n')[0]!.title).toBe('Heading');
  });

  it('needs a column that says something', () => {
    expect(() => read('id,when\n1,2\n')).toThrow(
      'issues.csv:1: no column is called title, summary, body or description',
    );
  });
});

describe('pasted text', () => {
  it.each<[text: string, title: string]>([
    ['# Lost update\nmore', 'Lost update'],
    ['\n\n  ## Odd  \n', 'Odd'],
    ['-- name: phantom', 'name: phantom'],
    ['-- isolde script\n-- A story\nT1: SELECT 1', 'A story'],
    ['plain words', 'plain words'],
    ['', ''],
  ])('%j is called %j', (text, title) => {
    expect(readReportTexts(text, 'r.md')[0]!.title).toBe(title);
  });

  it('has the first address of a tracker in it', () => {
    const text = 'See https://example.org and (https://jira.mariadb.org/browse/MDEV-1) and MDEV-2.';
    expect(readReportTexts(text, 'r.txt')[0]).toMatchObject({ name: 'MDEV-1', engine: 'mariadb' });
  });

  it('that begins with a bracket is JSON only if its name does not say otherwise', () => {
    expect(readReportTexts('[1] SELECT', 'r.sql')[0]!.title).toBe('[1] SELECT');
    expect(() => readReportTexts('[1] SELECT', 'r.json')).toThrow('r.json:1');
  });

  it('longer than anybody writes is refused', () => {
    expect(() => readReportTexts('x'.repeat(8 * 1024 * 1024 + 1), 'r.md')).toThrow(
      'r.md: it is longer than 8388608 characters',
    );
  });
});

describe('the state of a report', () => {
  it.each<[state: string, status: string]>([
    ['open', 'open'],
    ['', 'open'],
    ['Unresolved', 'open'],
    ['Unconfirmed', 'open'],
    ['Reopened', 'open'],
    ['Verified', 'confirmed'],
    ['CONFIRMED', 'confirmed'],
    ['closed', 'closed'],
    ['Closed (fixed in 8.0.36)', 'fixed'],
    ['Resolved', 'fixed'],
    ['Fixed', 'fixed'],
  ])('%j is %s', (state, status) => {
    const [report] = importReports(JSON.stringify({ title: 'T', state }), {
      file: 'i.json',
      engine: 'mysql',
    });
    expect(report!.entry.status).toBe(status);
  });
});

it('several issues cannot have one id', () => {
  expect(() =>
    importReports('[{"title":"A"},{"title":"B"}]', { file: 'i.json', engine: 'mysql', id: 'x' }),
  ).toThrow('it has several issues: an id can be given to one only');
});

import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { probeCases } from '../probe/index.js';
import { openTarget } from '../targets/index.js';
import type { Bug } from './bug.js';
import { exportFiles } from './exports/index.js';
import { findBug } from './found-bug.case.js';
import { reportHtml } from './html.js';
import { reportMarkdown } from './markdown.js';

let bug: Bug;

beforeAll(async () => {
  const target = await openTarget('duckdb:');
  const scratch = await target.createScratch();
  const scheduled = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
  bug = await findBug({ target, scratch, scheduled, kind: 'update-of-changed-row' });
  await target.close();
});

const nasty = [
  '<script>alert(1)</script>',
  '</script><script>alert(2)</script>',
  '<img src=x onerror=alert(3)>',
  '"><svg onload=alert(4)>',
  "' onmouseover='alert(5)",
  '--> <b>out of the comment</b> <!--',
  '</style></title></textarea></pre></code>',
  '```\n# heading\n[x](javascript:alert(6))',
  '| cell | cell |',
  '\u0000\u001b[31m\u202e\ud800',
  'line one\nline two\r\n\ttabbed',
  '🦆 \u{1f1e9}\u{1f1ea} ünïcödé',
  '&lt;script&gt; &#60;',
];

/** The same bug with this text wherever a case, a database or a file could have put it. */
function poisoned(text: string): Bug {
  const { finding, history, target } = bug;
  return {
    ...bug,
    title: text,
    clause: text,
    replay: text,
    seed: text,
    behaviour: text,
    target: { ...target, version: text, settings: { [text]: text } },
    sources: [{ clause: text, title: text, url: text }, ...bug.sources],
    versions: [{ target: { name: text, version: text }, outcome: 'alive', shown: 1, runs: 2, at: text }],
    case: {
      ...bug.case,
      name: text,
      description: text,
      setup: [`INSERT INTO t VALUES ('${text}')`],
      sessions: bug.case.sessions.map((session, i) => ({ ...session, name: `${text}${i}` })),
    },
    finding: {
      ...finding,
      assumes: [text],
      explanation: [
        { reason: 'fact', says: [text, { data: text }, { row: text }, { operation: 3, sql: text }] },
        {
          reason: 'fact',
          says: [
            { transaction: 0, name: text },
            { version: text, writer: { transaction: 1, name: text, fate: 'committed' } },
            { source: { title: text, url: text } },
          ],
        },
      ],
      transactions: finding.transactions.map((tx) => ({ ...tx, name: text, session: text })),
      operations: finding.operations.map((operation) => ({ ...operation, text })),
      versions: finding.versions!.map((version) => ({
        ...version,
        object: text,
        seen: { as: 'values', text },
        allowed: [{ as: 'after-commit', transaction: 0, name: text }],
      })),
    },
    history: {
      header: { ...history.header, sessions: history.header.sessions.map(() => text) },
      operations: history.operations.map((operation) => ({
        ...operation,
        // Quotes are doubled: what a statement means, and with it the table of access, is the same for all texts.
        sql: `SELECT '${text.replaceAll("'", "''")}'`,
        columns: [text],
        rows: [[text, { bytes: '00ff3c' }, null]],
      })),
    },
  };
}

/** Every tag with the names of its attributes, from a scan that knows no mercy: each `<` must begin one of ours. */
function skeleton(html: string): string[] {
  const tags: string[] = [];
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    const tag = /<(?:!doctype html|\/?[a-zA-Z][a-zA-Z0-9]*(?:\s+[a-zA-Z][\w:-]*="[^"<>]*")*\s*\/?)>/y;
    tag.lastIndex = at;
    const match = tag.exec(html)?.[0];
    if (match === undefined) throw new Error(`a "<" that begins no tag: ${html.slice(at, at + 60)}`);
    const name = /^<\/?[!\w]+/.exec(match)![0];
    tags.push(
      [name, ...[...match.matchAll(/\s([a-zA-Z][\w:-]*)="/g)].map(([, attribute]) => attribute)].join(' '),
    );
    at += match.length - 1;
  }
  return tags;
}

/** What a page is made of besides the bug. */
const parts = { script: 'start();', style: 'p{margin:0}' };

function unescaped(html: string): string {
  return html
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>');
}

describe('a report', () => {
  it('says everything a maintainer asks for, in Markdown and in HTML', () => {
    // With its script the page holds the report as data, without it as text.
    for (const text of [reportMarkdown(bug), reportHtml(bug, parts), unescaped(reportHtml(bug, null))]) {
      for (const part of [
        'Concurrent DELETE and UPDATE of one row do not conflict',
        'A row that changed after the snapshot was written without an error.',
        'breaks the manual',
        'DuckDB',
        bug.target.version,
        'SNAPSHOT',
        'firstUpdaterWins',
        'https://',
        'UPDATE test SET value = 55 WHERE id = 1',
        '1 matched',
        'a serialization error',
        '20 of 20 runs',
        '1543 operations',
        'npx isolde-db run repro.sql --check --target duckdb: --contract duckdb:snapshot',
        'node repro.mjs',
        'However,',
      ]) {
        expect(text).toContain(part);
      }
    }
  });

  it('reads well from top to bottom', async () => {
    const { version } = bug.target;
    const text = reportMarkdown(bug).replaceAll(version, 'VERSION');
    await expect(text).toMatchFileSnapshot('__snapshots__/report.md');
  });

  it('names nothing that only this machine has', () => {
    const replay = 'npx isolde hunt duckdb: --seed 1 --rounds 7..7';
    expect(reportMarkdown({ ...bug, replay })).toContain('npx isolde-db hunt duckdb: --seed 1 --rounds 7..7');
    for (const local of [
      'npx isolde bugs rerun x',
      `${replay} --reuse 0123456789ab`,
      `${replay} --template mine.sql`,
    ])
      expect(reportMarkdown({ ...bug, replay: local })).not.toMatch(/Found by|npx isolde /);
  });

  it('is one page that allows its own script and style, and no request', () => {
    const html = reportHtml(bug, parts);
    expect(html).not.toMatch(/<link|<img|<iframe|@import|\son\w+=/i);
    const policy = /content="(default-src [^"]*)"/.exec(html)![1]!;
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(parts.script)}; style-src ${hash(parts.style)}; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html.match(/<script>/g)).toHaveLength(1);
    expect(reportHtml(bug, null)).not.toMatch(/<script|script-src/);
  });

  it.each(nasty)(
    'keeps %j inert: the page has the same elements and attributes as with a harmless text',
    (text) => {
      for (const given of [parts, null]) {
        const calm = skeleton(reportHtml(poisoned('calm'), given));
        expect(skeleton(reportHtml(poisoned(text), given))).toEqual(calm);
      }
    },
  );

  it.each(nasty)('keeps %j inside code and escapes in Markdown', (text) => {
    const outside = reportMarkdown(poisoned(text))
      .replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, '')
      .replaceAll(/\\.|(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
      .replaceAll(/<https:[^\s<>]*>/g, '');
    expect(outside).not.toMatch(/[<`]|\]\(/);
    const heads = (markdown: string) => markdown.match(/^#+ /gm)?.length;
    expect(heads(outside)).toBe(heads(reportMarkdown(bug).replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, '')));
  });

  it.each(nasty)('exports of a bug with %j hold it as data only', async (text) => {
    const files = exportFiles(poisoned(text));
    expect(files.map(({ name }) => name)).toContain('repro.mjs');
    for (const { name, text: content } of files) {
      if (name !== 'repro.sql')
        expect(content.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    }
  });
});

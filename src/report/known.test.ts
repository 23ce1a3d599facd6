import { beforeAll, expect, it } from 'vitest';
import type { KnownVerdict } from '../known/index.js';
import { probeCases } from '../probe/index.js';
import { openTarget } from '../targets/index.js';
import type { Bug } from './bug.js';
import { findBug } from './found-bug.case.js';
import { reportHtml } from './html.js';
import { knownLine } from './known.js';
import { reportMarkdown } from './markdown.js';
import { reportTerminal } from './terminal.js';

let found: Bug;
beforeAll(async () => {
  const target = await openTarget('duckdb:');
  const scheduled = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
  found = await findBug({ target, scratch: await target.createScratch(), scheduled });
  await target.close();
});

const verdict = (more: Partial<KnownVerdict>): KnownVerdict => ({
  verdict: 'duplicate',
  reports: [{ id: 'x', name: 'X <script>#1', url: 'https://example.org/1', why: 'it shows' }],
  why: 'its case shows here',
  ...more,
});

it('says who has reported a bug, in every form, and never as markup', () => {
  const bug = { ...found, known: verdict({}) };
  expect(reportMarkdown(bug)).toContain('Known as X \\<script\\>\\#1 <https://example.org/1> (its');
  expect(reportHtml(bug, { script: 'x', style: '' })).toContain('"name":"X \\u003cscript>#1"');
  const style = { width: 100, heading: String, result: String, error: String };
  expect(reportTerminal(bug, style)).toContain(
    'Known as X <script>#1 <https://example.org/1> (its case shows here)',
  );
  const bad = verdict({ reports: [{ id: 'x', name: 'X', url: 'javascript:alert(1)', why: '' }] });
  expect(reportMarkdown({ ...bug, known: bad })).not.toContain('javascript:');
});

it('says that nobody has, or that it is open', () => {
  expect(knownLine(verdict({ verdict: 'unique', reports: [], why: 'compared with 16' }))).toBe(
    'Not known (compared with 16)',
  );
  expect(knownLine(verdict({ verdict: 'undecided' }))).toContain('Perhaps known as X');
});

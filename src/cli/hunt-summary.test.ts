import { expect, it } from 'vitest';
import type { HuntResult, Shelved } from '../hunt/index.js';
import { printHuntJunit, printHuntSummary } from './hunt-summary.js';

function shelved(title: string, isNew: boolean, known?: string): Shelved {
  const reports = known === undefined ? [] : [{ id: known, name: known, why: '' }];
  const bug = {
    id: `id-${title.length}`,
    title,
    behaviour: 'what <it> does',
    replay: 'npx isolde hunt duckdb: --rounds 7..7',
    finding: { kind: 'lost-update' },
    ...(known !== undefined && { known: { verdict: 'duplicate', reports, why: '' } }),
  };
  return { bug: bug as unknown as Shelved['bug'], isNew, files: [] };
}

const result = {
  bugs: [
    shelved('Lost | <b>update</b>', true),
    shelved('An old one', false),
    shelved('Filed', true, 'DuckDB #17223'),
  ],
  counters: { rounds: 9, transactions: 40, seconds: 1.5 },
} as unknown as HuntResult;
const counts = ({ bug, isNew }: Shelved) => isNew && bug.known === undefined;

it('counts what the hunt fails on as failures, in JUnit and in a summary, and says why the rest is not', () => {
  const junit = printHuntJunit({ result, target: 'duckdb:', counts });
  expect(junit).toContain('tests="4" failures="1" errors="0" skipped="2"');
  expect(junit).toContain('what &lt;it&gt; does');
  expect(junit).toContain('known as DuckDB #17223');
  const summary = printHuntSummary({ result, target: 'duckdb:', counts });
  expect(summary).toContain('9 rounds, 40 transactions: 1 new bug.');
  expect(summary).toContain('npx isolde hunt duckdb: --rounds 7..7');
  expect(summary).not.toContain('<b>');
  expect(summary).toMatch(/An old one \(in the store before\)/);
});

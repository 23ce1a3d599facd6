import { expect, it } from 'vitest';
import type { HuntResult, Shelved, ShelvedBurst } from '../hunt/index.js';
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

function burst(program: string, isNew: boolean): ShelvedBurst {
  const reduced = { sessions: 4, repeats: 50 };
  const finding = { program, form: 'block', fact: `the fact of ${program}`, level: 'serializable', reduced };
  return { id: `burst-${program}`, isNew, folder: '', finding: finding as never };
}

const result = {
  bugs: [
    shelved('Lost | <b>update</b>', true),
    shelved('An old one', false),
    shelved('Filed', true, 'DuckDB #17223'),
  ],
  bursts: [burst('pairs', true), burst('keys', false)],
  counters: { rounds: 9, transactions: 40, seconds: 1.5 },
} as unknown as HuntResult;
const counts = ({ bug, isNew }: Shelved) => isNew && bug.known === undefined;

it('counts what the hunt fails on as failures, in JUnit and in a summary, and says why the rest is not', () => {
  const summarised = { result, target: 'duckdb:', counts, countsBurst: (each: ShelvedBurst) => each.isNew };
  const junit = printHuntJunit(summarised);
  expect(junit).toContain('tests="6" failures="2" errors="0" skipped="3"');
  expect(junit).toContain('broken: the fact of pairs');
  expect(junit).toContain('what &lt;it&gt; does');
  expect(junit).toContain('known as DuckDB #17223');
  const summary = printHuntSummary(summarised);
  expect(summary).toContain('9 rounds, 40 transactions: 2 new bugs.');
  expect(summary).toContain('--level SER --program pairs --form block --sessions 4 --repeats 50');
  expect(summary).toContain('npx isolde hunt duckdb: --rounds 7..7');
  expect(summary).not.toContain('<b>');
  expect(summary).toMatch(/An old one \(in the store before\)/);
});

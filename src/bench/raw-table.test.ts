import { expect, it } from 'vitest';
import { benchRaw } from './raw-bench.js';
import { rawBugs } from './raw-bugs.js';
import type { RawRunResult } from './raw-run.js';
import { missedTargets, renderRow, renderTable } from './raw-table.js';

const good: RawRunResult = {
  ...{ bug: rawBugs[0]!, asked: 5_000, seed: 1, operations: 5_001, transactions: 1_002, findings: 6 },
  kind: 'own-write-missed',
  batch: { shown: 20, inPlace: 20, identical: 18, runs: 20, seconds: 30 },
  random: { shown: 7, inPlace: 0, identical: 0, runs: 20, seconds: 20 },
  minimal: {
    ...{ operations: 6, transactions: 2, rows: 1, trials: 60, seconds: 1.25 },
    ...{ isMinimal: true, shown: 20, runs: 20 },
  },
};

it('a row tells what was measured, and a finding that replays show more sharply with both kinds', () => {
  expect(renderRow(good)).toBe(
    '| no-op-update | 5001 | 1002 | own-write-missed × 6 | 20/20 (20, 18) | 7/20 (0, 0) | 6 operations, 2 transactions, 1 row | 60 | 1.3 | yes | 20/20 |',
  );
  expect(renderRow({ ...good, kind: 'lost-write' })).toContain('own-write-missed (replayed: lost-write) × 6');
});

it.each<[string, RawRunResult, string]>([
  ['a replay by batch', { ...good, batch: { ...good.batch!, shown: 19 } }, 'by batch 19 of 20'],
  [
    'too many operations',
    { ...good, minimal: { ...good.minimal!, operations: 11 } },
    '11 operations, at most 10',
  ],
  [
    'too many transactions',
    { ...good, minimal: { ...good.minimal!, transactions: 4 } },
    '4 transactions, at most 3',
  ],
  ['minimality', { ...good, minimal: { ...good.minimal!, isMinimal: false } }, 'not 1-minimal'],
  [
    'a run of the minimal case',
    { ...good, minimal: { ...good.minimal!, shown: 19 } },
    'shown again 19 of 20',
  ],
  ['the finding', { bug: good.bug, asked: 5_000, problem: 'no free run shows it' }, 'no free run shows it'],
])('a row that lacks %s says so, in the page too', (_, result, missed) => {
  expect(missedTargets(good)).toEqual([]);
  expect(missedTargets(result)).toEqual([missed]);
  expect(renderTable([good, result], { mariadb: '10.11' })).toContain(
    `- no-op-update, 5000 operations: ${missed}`,
  );
});

it('chance may miss the finding: only replays by batch are held to it', () => {
  expect(missedTargets({ ...good, random: { ...good.random!, shown: 0 } })).toEqual([]);
  expect(renderTable([good], { mariadb: '10.11' })).toContain('Every row shows what it must');
});

it.each([
  [['--size', '5000'], /does not know "--size 5000".*--sizes N,N/],
  [['--sizes'], /does not know "--sizes"/],
  [['--sizes', 'many'], /--sizes many is not a whole number/],
  [['--bugs', 'heisenbug'], /no bug is called heisenbug; there are no-op-update, /],
  [['--results', '/'], /\/ cannot be read/],
])('options %j are refused before anything runs', async (args, message) => {
  await expect(benchRaw(args)).rejects.toThrow(message);
});

it('the faults show six different kinds of finding', () => {
  const planted = rawBugs.filter(({ fault }) => fault !== undefined);
  expect(planted).toHaveLength(6);
  expect(new Set(planted.map(({ kind }) => kind)).size).toBe(6);
});

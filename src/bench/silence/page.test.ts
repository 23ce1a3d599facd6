import { expect, it } from 'vitest';
import {
  latestOf,
  parseRuns,
  renderAlarmed,
  renderRuns,
  renderSources,
  type SilenceRun,
  withRun,
} from './page.js';

const run: SilenceRun = {
  ...{ url: 'postgres:', level: 'serializable', seed: '1', version: 'postgres 18.4', alarms: 0 },
  ...{ transactions: 4000, rounds: 300, notRun: 1, statements: 16_000, failed: 100 },
  ...{ readsJudged: 2000, readsSkipped: 10 },
  bySource: { templates: 1000, 'profile races': 3000 },
  known: { 'MDEV-1: a bug': 2 },
  commit: 'aaaaaaaaaa',
};

const alarmed: SilenceRun = { ...run, seed: '2', alarms: 1, raised: ['stale-read (7)'] };
const { raised: _raised, ...again } = { ...alarmed, alarms: 0, commit: 'bbbbbbbbbb' };

it('runs of several seeds and places add up; of one place and seed the last one counts', () => {
  const fixed = { ...again, fixed: 'the snapshot of a locking read' };
  const elsewhere = { ...run, level: 'read committed' as const, known: {} };
  const all = [run, alarmed, elsewhere, fixed].reduce<readonly SilenceRun[]>(withRun, []);
  expect(all).toEqual([run, alarmed, elsewhere, fixed]);
  expect(parseRuns(all.map((each) => `${JSON.stringify(each)}\n`).join(''))).toEqual(all);
  expect(renderRuns(all)).toMatchInlineSnapshot(`
    "| database | level | seeds | transactions | rounds | statements | reads judged | not judged | false alarms | known bugs met |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | \`postgres:\` (postgres 18.4) | serializable | 1, 2 | 8,000 | 600 | 32,000 | 4,000 | 20 | 0 | 4 × MDEV-1: a bug |
    | \`postgres:\` (postgres 18.4) | read committed | 1 | 4,000 | 300 | 16,000 | 2,000 | 10 | 0 |  |
    | all |  |  | **12,000** | **900** | **48,000** | **6,000** | **30** | **0** |  |"
  `);
  expect(renderSources(all)).toBe('9,000 × profile races, 3,000 × templates');
});

it('a run with alarms is not replaced by another try, and the page shows it', () => {
  const all = withRun([], alarmed);
  expect(() => withRun(all, again)).toThrow('reported 1 alarm at aaaaaaaaaa');
  expect(() => withRun(all, { ...again, fixed: 'x', commit: alarmed.commit })).toThrow('a later commit');
  expect(renderRuns(all)).toContain('| **1** |');
  expect(renderAlarmed(all)).toContain('| 1: stale-read (7) | **nothing yet** |');
  const both = withRun(all, { ...again, fixed: 'the snapshot of a locking read' });
  expect(latestOf(both, run)).toBeUndefined();
  expect(renderRuns(both)).toContain('| **0** |');
  expect(renderAlarmed(both)).toMatchInlineSnapshot(`
    "| database | level | seed | at commit | alarms | fixed | run again at | alarms then |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    | \`postgres:\` | serializable | 2 | aaaaaaaaaa | 1: stale-read (7) | the snapshot of a locking read | bbbbbbbbbb | 0 |"
  `);
  expect(renderAlarmed([run])).toBe('No run has reported an alarm.');
});

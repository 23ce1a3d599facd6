import { describe, expect, it } from 'vitest';
import { withSection } from './page-section.js';
import { isSameHunt, parseResults, type ReleaseResult, renderResults, withResult } from './releases-page.js';

const counters = {
  ...{ rounds: 300, roundsNotRun: 2, transactions: 900, raw: 5, confirmed: 4, unconfirmed: 1 },
  seconds: 60,
};
const found: ReleaseResult = {
  ...{ group: 'Older releases', url: 'duckdb@1.2.2:', seed: '1', minutes: 5, date: '2026-11-17' },
  commit: 'abcdef0123',
  target: { name: 'duckdb', version: '1.2.2' },
  levels: ['snapshot'],
  counters,
  bugs: [
    {
      title: 'A read | misses a row',
      signature: '0123456789abcdef',
      clause: 'rows hold what was written to them',
      notIsolation: true,
      known: { verdict: 'duplicate', reports: [{ name: 'DuckDB #1' }] },
      secondLook: [{ by: 'serial control', says: 'not isolation', note: '1 of 1 order shows it too' }],
    },
  ],
  bursts: [
    {
      ...{ id: 'fedcba9876543210', program: 'keys', form: 'statements', fact: 'each key is there once' },
      ...{ verdict: 'confirmed', rate: { runs: 8, broken: 3 }, serial: { runs: 3, broken: 0 } },
    },
  ],
};
const { bursts: _, ...older } = found;
const silent: ReleaseResult = {
  ...older,
  ...{ group: 'Current releases', url: 'postgres:', level: 'serializable' },
  ...{ target: { name: 'postgres', version: '18.4' }, levels: ['serializable'], bugs: [] },
};

describe('results of hunts in releases', () => {
  it('add up: a later hunt takes the place of an earlier one of the same name', () => {
    const again = { ...found, seed: '2' };
    const all = [found, silent, again].reduce<readonly ReleaseResult[]>(
      (results, result) => withResult(results, result, [found, silent]),
      [],
    );
    expect(all.map(({ url, seed }) => [url, seed])).toEqual([
      ['duckdb@1.2.2:', '2'],
      ['postgres:', '1'],
    ]);
    expect(parseResults(all.map((each) => `${JSON.stringify(each)}\n`).join(''))).toEqual(all);
  });

  it('know a hunt again by its name, seed and length', () => {
    expect(isSameHunt({ ...found, commit: 'another' }, found)).toBe(true);
    expect(isSameHunt(found, { ...found, seed: '2' })).toBe(false);
    expect(isSameHunt(found, { ...found, minutes: 1 })).toBe(false);
    expect(isSameHunt(found, silent)).toBe(false);
  });

  it('are tables, for each group the hunts and what they found', () => {
    expect(renderResults([found, silent])).toMatchInlineSnapshot(`
      "## Older releases

      | hunt | version | level | minutes, seed, day, commit | rounds | a minute | not run | raw findings | confirmed | unconfirmed | bugs after grouping | of these not isolation | broken bursts |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      | \`duckdb@1.2.2:\` | duckdb 1.2.2 | snapshot | 5, 1, 2026-11-17, abcdef0123 | 300 | 300 | 2 | 5 | 4 | 1 | 1 | 1 | 1 |

      | bug | hunt | signature | claim | known as | second look |
      | --- | --- | --- | --- | --- | --- |
      | A read \\| misses a row | \`duckdb@1.2.2:\`, snapshot | 0123456789ab | not isolation | DuckDB #1 | serial control: not isolation, 1 of 1 order shows it too |
      | burst \`keys\` (statements): not so that each key is there once | \`duckdb@1.2.2:\`, snapshot | fedcba987654 | breaks the manual | not asked | 3 of 8 bursts, one session alone 0 of 3 |

      ## Current releases

      | hunt | version | level | minutes, seed, day, commit | rounds | a minute | not run | raw findings | confirmed | unconfirmed | bugs after grouping | of these not isolation | broken bursts |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      | \`postgres:\` | postgres 18.4 | serializable | 5, 1, 2026-11-17, abcdef0123 | 300 | 300 | 2 | 5 | 4 | 1 | 0 | 0 | not kept |"
    `);
  });
});

describe('a section of a page', () => {
  it('is replaced, and nothing else is', () => {
    const page = 'before\n<!-- hunts -->\nold\n<!-- end of hunts -->\nafter\n';
    expect(withSection(page, 'hunts', 'new $1\n')).toBe(
      'before\n<!-- hunts -->\nnew $1\n<!-- end of hunts -->\nafter\n',
    );
    expect(() => withSection(page, 'figures', '')).toThrow('no section "figures"');
  });
});

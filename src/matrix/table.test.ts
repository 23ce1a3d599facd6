import { describe, expect, it } from 'vitest';
import { affectedBy } from './affected.js';
import { type Cell, type CellOutcome, versionTried } from './cell.js';
import { affectedTable, inOrderOf, matrixTable } from './table.js';

function cell(
  subject: string,
  version: string | undefined,
  outcome: CellOutcome,
  more: Partial<Cell> = {},
): Cell {
  const place = { url: 'made:', engine: 'made', settings: '', ...(version !== undefined && { version }) };
  const shown = outcome === 'shows' ? 3 : 0;
  return { subject, place, result: { outcome, why: '', shown, runs: 3 }, ...more };
}

describe('the table of a matrix', () => {
  it('has its rows from the oldest version on, in whatever order a bisection tried them', () => {
    const place = (version: string) => ({
      ...{ url: `made@${version}:`, engine: 'made', settings: '' },
      version,
    });
    const cells = ['1.5', '1.0', '1.10'].map((version) =>
      cell('a', version, 'shows', { place: place(version) }),
    );
    const places = ['1.0', '1.5', '1.9', '1.10'].map(place);
    expect(matrixTable(inOrderOf(places, cells)).map(([row]) => row)).toEqual([
      ...['', 'made 1.0', 'made 1.5', 'made 1.10'],
    ]);
  });

  it('has a row for each place while there are no more cases than places', () => {
    const cells = [
      cell('a', '1.0', 'shows'),
      cell('a', '2.0', 'does-not-show'),
      cell('b', '1.0', 'undecided'),
    ];
    expect(matrixTable(cells)).toEqual([
      ['', 'a', 'b'],
      ['made 1.0', '3/3', '?'],
      ['made 2.0', 'no', ''],
    ]);
  });

  it('is turned round where there are more cases', () => {
    const cells = ['a', 'b', 'c'].map((subject) => cell(subject, '1.0', 'cannot-run'));
    expect(matrixTable(cells)).toEqual([
      ['', 'made 1.0'],
      ['a', '–'],
      ['b', '–'],
      ['c', '–'],
    ]);
  });

  it('tells places apart by version, settings and level', () => {
    const cells = [
      cell('a', undefined, 'shows'),
      cell('a', '1.0', 'shows', { level: 'serializable' }),
      cell('a', '1.0', 'does-not-show', {
        place: { url: 'made:', engine: 'made', version: '1.0', settings: 'mode=mvcc' },
      }),
    ];
    expect(matrixTable(cells).map(([name]) => name)).toEqual([
      '',
      'made',
      'made 1.0, serializable',
      'made 1.0, mode=mvcc',
    ]);
  });

  it('is empty where nothing ran', () => {
    expect(matrixTable([])).toEqual([['']]);
  });
});

describe('affected versions', () => {
  const line = (outcomes: Readonly<Record<string, CellOutcome>>) =>
    affectedBy(Object.entries(outcomes).map(([version, outcome]) => cell('a', version, outcome)));

  it('are sorted as versions, not as texts', () => {
    const [affected] = line({
      '1.10.0': 'shows',
      '1.9.0': 'does-not-show',
      '1.2.0': 'does-not-show',
      '1.11.0': 'does-not-show',
    });
    expect(affected).toMatchObject({
      tried: 4,
      intervals: [{ firstBad: '1.10.0', lastBad: '1.10.0', goodBefore: '1.9.0', firstGood: '1.11.0' }],
    });
  });

  it.each<[string, Readonly<Record<string, CellOutcome>>, unknown]>([
    ['none', { '1.0': 'does-not-show', '2.0': 'does-not-show' }, []],
    ['all', { '1.0': 'shows', '2.0': 'shows' }, [{ firstBad: '1.0', lastBad: '2.0' }]],
    [
      'two intervals',
      { '1.0': 'shows', '2.0': 'does-not-show', '3.0': 'shows' },
      [
        { firstBad: '1.0', lastBad: '1.0', firstGood: '2.0' },
        { firstBad: '3.0', lastBad: '3.0', goodBefore: '2.0' },
      ],
    ],
    [
      'with one between that cannot run',
      {
        '1.0': 'does-not-show',
        '2.0': 'cannot-run',
        '3.0': 'shows',
        '4.0': 'undecided',
        '5.0': 'does-not-show',
      },
      [{ firstBad: '3.0', lastBad: '3.0', goodBefore: '1.0', firstGood: '5.0' }],
    ],
  ])('are %s', (_, outcomes, intervals) => {
    expect(line(outcomes)[0]!.intervals).toEqual(intervals);
  });

  it('are those of one case, engine, setting and level at a time', () => {
    const cells = [
      cell('a', '1.0', 'shows'),
      cell('b', '1.0', 'shows'),
      cell('a', '1.0', 'shows', { level: 'snapshot' }),
      cell('a', undefined, 'shows'),
    ];
    expect(affectedBy(cells)).toHaveLength(3);
  });

  it('are listed where something could be decided', () => {
    const undecided = line({ '1.0': 'cannot-run', '2.0': 'undecided' });
    expect(affectedTable(undecided)).toEqual([['case', 'on', 'affected versions']]);
    expect(affectedTable(line({ '1.0': 'does-not-show' }))[1]).toEqual([
      'a',
      'made',
      'does not show in any of 1',
    ]);
    expect(affectedTable(line({ '1.0': 'shows', '2.0': 'does-not-show' }))[1]![2]).toContain('2.0');
  });
});

describe('what a cell adds to a stored bug', () => {
  const at = new Date('2026-01-31T12:00:00.000Z');
  const target = { name: 'made', version: '1.0' };
  const withTarget = (outcome: CellOutcome): Cell => {
    const made = cell('a', '1.0', outcome);
    return { ...made, result: { ...made.result, target } };
  };

  it.each([
    ['shows', 'alive'],
    ['does-not-show', 'fixed'],
    ['undecided', 'changed'],
    ['cannot-run', 'not-run'],
  ] as const)('%s: %s', (outcome, expected) => {
    expect(versionTried(withTarget(outcome), at)).toMatchObject({
      outcome: expected,
      target,
      at: at.toISOString(),
    });
  });

  it('is nothing at another level, without a database, or without a run', () => {
    expect(versionTried({ ...withTarget('shows'), level: 'snapshot' }, at)).toBeUndefined();
    expect(versionTried(cell('a', '1.0', 'shows'), at)).toBeUndefined();
    const none = withTarget('shows');
    expect(versionTried({ ...none, result: { ...none.result, runs: 0 } }, at)).toBeUndefined();
  });
});

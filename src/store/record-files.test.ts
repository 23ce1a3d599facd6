/** `bug.json`, `runs.jsonl` and `ignore.json`, as strangers and cut disks leave them. */
import { describe, expect, it } from 'vitest';
import {
  type BugRecord,
  parseRecord,
  parseRuns,
  parseSignedRecord,
  printRecord,
  printRun,
  type RunLine,
} from './bug-file.js';
import { type Ignored, parseIgnored, printIgnored, withIgnored } from './ignore-file.js';

const record: BugRecord = {
  ...{
    id: 'duckdb-lost-update-1',
    title: 'An update is lost',
    level: 'snapshot',
    clause: 'firstUpdaterWins true',
  },
  target: { name: 'duckdb', version: '1.5.5', settings: { threads: '2' } },
  sources: [{ clause: 'pivot', title: 'Manual', url: 'https://example.org' }],
  ...{ signature: 'abc', behaviour: 'line one\nline two', reproduced: { shown: 3, runs: 3 } },
  ...{
    replay: 'npx isolde hunt',
    count: 7,
    firstSeen: '2026-01-01T00:00:00.000Z',
    lastSeen: '2026-01-02T00:00:00Z',
  },
};

describe('bug.json', () => {
  it('comes back as it was, with and without what may be left out', () => {
    const whole: BugRecord = {
      ...record,
      ...{ contract: 'duckdb:snapshot', seed: '7', environment: 'ci', notIsolation: true },
      raw: { sessions: 2, transactions: 3, operations: 9 },
      variants: [{ variant: 'v', kind: 'lost-update', count: 2 }],
      secondLook: [{ by: 'x', says: 'agrees', note: '' }],
      known: { verdict: 'duplicate', reports: [{ id: '1', name: 'n', why: 'w' }], why: 'same' },
    };
    for (const each of [record, whole]) expect(parseRecord(printRecord(each), 'bug.json')).toEqual(each);
    expect(parseSignedRecord(printRecord(record, 4), 'bug.json').signedBy).toBe(4);
    expect(parseSignedRecord(printRecord(record), 'bug.json').signedBy).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>]>([
    ['a level nobody has', { level: 'chaos' }],
    ['a count that is no number', { count: '7' }],
    ['a negative count', { reproduced: { shown: -1, runs: 3 } }],
    ['half a count', { count: 1.5 }],
    ['a time that is none', { firstSeen: 'yesterday' }],
    ['a time of another form', { lastSeen: '2026-01-02 00:00:00' }],
    ['a field of its own', { command: 'rm' }],
    ['behaviour as one text', { behaviour: 'x' }],
    ['a verdict nobody gives', { known: { verdict: 'perhaps', reports: [], why: '' } }],
    ['settings that are no texts', { target: { name: 'a', version: '1', settings: { x: 1 } } }],
    ['a target with more', { target: { name: 'a', version: '1', password: 'x' } }],
    ['sources that are no list', { sources: {} }],
    ['a doubtful flag', { notIsolation: 'yes' }],
    ['another format', { format: 'isolde-case' }],
    ['a later version', { version: 99 }],
  ])('with %s is refused, by the name of the file', (_, change) => {
    const fields = { ...(JSON.parse(printRecord(record)) as object), ...change };
    expect(() => parseRecord(JSON.stringify(fields, null, 2), 'x/bug.json')).toThrow(/bug\.json/);
  });

  it.each(Object.keys(record).filter((key) => key !== 'contract'))('without %s is refused', (field) => {
    const { [field]: _, ...fields } = JSON.parse(printRecord(record)) as Record<string, unknown>;
    expect(() => parseRecord(JSON.stringify(fields), 'bug.json')).toThrow(/bug\.json/);
  });
});

describe('runs.jsonl', () => {
  const target = { name: 'duckdb', version: '1' };
  const found: RunLine = { kind: 'found', at: '2026-01-01T00:00:00.000Z', target, seed: '7' };
  const rerun: RunLine = {
    kind: 'rerun',
    at: '2026-01-01T00:00:00Z',
    target,
    outcome: 'fixed',
    shown: 0,
    runs: 3,
  };
  const text = printRun(found) + printRun(rerun);

  it('comes back, line by line', () => {
    expect(parseRuns(text, 'runs.jsonl')).toEqual([found, rerun]);
    expect(parseRuns(`\n${text}\n\n`, 'runs.jsonl')).toEqual([found, rerun]);
    expect(parseRuns('', 'runs.jsonl')).toEqual([]);
  });

  it('cut anywhere loses the last line and nothing else', () => {
    for (let length = 0; length <= text.length; length++) {
      const kept = parseRuns(text.slice(0, length), 'runs.jsonl');
      const whole = text.slice(0, length + 1).split('\n').length - 1;
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(whole, 2) - 1);
      expect([found, rerun].slice(0, kept.length)).toEqual(kept);
    }
  });

  it('goes on behind a line that was cut', () => {
    expect(parseRuns(`${printRun(found).slice(0, 30)}\n${printRun(rerun)}`, 'runs.jsonl')).toEqual([rerun]);
  });

  it.each([
    ['{"kind":"found"}', 'at'],
    [JSON.stringify({ ...rerun, outcome: 'maybe' }), 'outcome'],
    [JSON.stringify({ ...found, shown: 1 }), 'shown'],
    ['[]', 'runs.jsonl:1'],
    ['7', 'runs.jsonl:1'],
  ])('with %s says where', (line, where) => {
    expect(() => parseRuns(line, 'runs.jsonl')).toThrow(where);
  });
});

describe('ignore.json', () => {
  const list: readonly Ignored[] = [
    { what: 'b', since: '2026-01-01', reason: 'a "quoted"\nreason' },
    { what: 'a', since: '2026-01-02' },
  ];

  it('comes back, sorted, one entry a line', () => {
    const text = printIgnored(list);
    expect(parseIgnored(text, 'ignore.json')).toEqual([list[1], list[0]]);
    expect(text.split('\n').filter((line) => line.includes('"what"'))).toHaveLength(2);
    expect(parseIgnored(printIgnored([]), 'ignore.json')).toEqual([]);
  });

  it('has one entry for each bug, the last', () => {
    const again = withIgnored(list, { what: 'b', since: '2026-02-01' });
    expect(again).toHaveLength(2);
    expect(again.find(({ what }) => what === 'b')).toEqual({ what: 'b', since: '2026-02-01' });
    expect(list[0]!.since).toBe('2026-01-01');
  });

  it.each([
    '{}',
    '[]',
    printIgnored(list).replace('"what"', '"who"'),
    printIgnored(list).replace('"version": 1', '"version": 2'),
  ])('that is another file is refused', (text) => {
    expect(() => parseIgnored(text, 'ignore.json')).toThrow(/ignore\.json/);
  });
});

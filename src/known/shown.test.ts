/** What a run of all cases is kept as, which engines share reports, and the published table of features. */
import { describe, expect, it } from 'vitest';
import { readFeatureTable } from './feature-table.js';
import { encode, type Features, flags } from './features.js';
import type { KnownBug } from './repository.js';
import type { KnownFinding, KnownRun } from './run-known.js';
import { recordName, type Shown, shownMarkdown, shownOf } from './shown.js';
import { isSameStorage, unmetSetting } from './storage.js';

const run = (outcome: KnownRun['outcome'], ...signatures: readonly string[]): KnownRun => ({
  ...{ outcome, why: '' },
  findings: signatures.map(
    (signature): KnownFinding => ({ kind: 'G1a', signature, variant: '', trigger: '' }),
  ),
});

describe('a record', () => {
  it.each([
    [{ name: 'mariadb', version: '10.11.19-MariaDB-0+deb12u1' }, 'mariadb-10.11'],
    [{ name: 'tidb', version: '8.0.11-TiDB-v8.5.1' }, 'tidb-8.5'],
    [{ name: 'postgres', version: '18' }, 'postgres-18'],
    [{ name: 'turso', version: 'nightly' }, 'turso-nightly'],
    [{ name: 'turso', version: '0.2.1', settings: { journal_mode: 'mvcc' } }, 'turso-0.2-mvcc'],
    [{ name: 'turso', version: '0.2.1', settings: { journal_mode: 'wal' } }, 'turso-0.2'],
    [
      { name: 'mariadb', version: '11.8.2', settings: { default_storage_engine: 'ROCKSDB' } },
      'mariadb-11.8-rocksdb',
    ],
  ])('of %j is called %s', (stamp, name) => {
    expect(recordName(shownOf(stamp, []))).toBe(name);
  });

  it('puts every case where its run belongs, with signatures once each', () => {
    const runs = [
      { id: 'a', run: run('shows', 's2', 's1', 's2') },
      { id: 'b', run: run('does-not-show', 's3') },
      { id: 'c', run: run('not-run') },
      { id: 'd', run: run('ran', 's4') },
      { id: 'e', run: run('shows') },
    ];
    expect(shownOf({ name: 'duckdb', version: '1.5.0' }, runs)).toEqual({
      ...{ engine: 'duckdb', version: '1.5', shows: { a: ['s1', 's2'], e: [] } },
      ...{ doesNotShow: ['b'], notRun: ['c', 'd'] },
    });
  });

  it('is a row of a table, with a star where no oracle found anything wrong', () => {
    const at = (version: string, more: Partial<Shown>): Shown => ({
      ...{ engine: 'duckdb', version, shows: {}, doesNotShow: [], notRun: [], ...more },
    });
    const bug = (id: string, more: object) => ({ id, name: `Bug ${id}`, ...more }) as unknown as KnownBug;
    const all = [
      at('1.4', { shows: { a: [] } }),
      at('1.5', { shows: { a: ['s'] } }),
      at('1.6', { doesNotShow: ['a'] }),
    ];
    const text = shownMarkdown(
      [bug('a', { case: { source: 'title' }, url: 'https://x/1' }), bug('b', {})],
      all,
    );
    expect(text.split('\n').slice(2)).toEqual([
      '| `a` | [Bug a](https://x/1) | title | duckdb 1.4\\*, duckdb 1.5 | duckdb 1.6 |',
      '',
    ]);
  });
});

describe('storage engines', () => {
  const rocks = { settings: { default_storage_engine: 'RocksDB' } };

  it.each([
    [{ name: 'mysql' }, { name: 'mariadb' }, true],
    [{ name: 'mariadb', ...rocks }, { name: 'mysql' }, false],
    [{ name: 'mariadb', ...rocks }, { name: 'mysql', settings: { default_storage_engine: 'ROCKSDB' } }, true],
    [{ name: 'mysql', settings: { default_storage_engine: 'innodb' } }, { name: 'mariadb' }, true],
    [{ name: 'postgres' }, { name: 'postgres', ...rocks }, true],
    [{ name: 'postgres' }, { name: 'cockroach' }, false],
  ])('%j and %j are one: %j', (one, other, same) => {
    expect([isSameStorage(one, other), isSameStorage(other, one)]).toEqual([same, same]);
  });

  it.each([
    [{}, {}, undefined],
    [{ settings: { a: 'ON' } }, { settings: { a: 'on' } }, undefined],
    [{ settings: { a: 'ON' } }, { settings: { a: 'off' } }, 'a=ON'],
    [{ settings: { a: 'ON', b: '1' } }, { settings: { a: 'ON' } }, 'b=1'],
    [{ settings: { a: 'ON' } }, {}, 'a=ON'],
  ])('what %j needs of %j: %j', (report, database, unmet) => {
    expect(unmetSetting(report, database)).toBe(unmet);
  });
});

describe('the table of features', () => {
  const head = `Database,Duplicate ID,Isolation Level,Transaction Mode,# Transaction,${flags.join(',')},Deterministic,id`;
  /** A row with these flags. */
  const row = (
    has: readonly string[],
    id: string,
    [level, mode, count]: readonly string[] = ['RR', '-', '2'],
  ) =>
    [
      'MySQL',
      '1',
      level,
      mode,
      count,
      ...flags.map((flag) => (has.includes(flag) ? 'Yes' : 'No')),
      'Yes',
      id,
    ].join(',');

  it('is read column by column, and rows of one report are one entry', () => {
    const text = [head, row(['update'], 'MySQL_113228'), row(['select', 'index'], 'MySQL_113228')].join('\n');
    const [entry, ...more] = readFeatureTable(text, 'f.csv');
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      id: 'mysql-113228',
      name: 'MySQL #113228',
      engine: 'mysql',
      status: 'open',
    });
    expect(entry!.features).toMatchObject({ transactions: 2, has: ['index', 'select', 'update'] });
  });

  it.each([
    [[head, 'MySQL,1,RR'].join('\n'), /f\.csv:2: expected \d+ columns, found 3/],
    [[head, row([], 'nobody')].join('\n'), /"nobody" names no report/],
    [[head, row([], 'Access_7')].join('\n'), /"Access_7" names no report/],
  ])('is refused where it is wrong: %#', (text, why) => {
    expect(() => readFeatureTable(text, 'f.csv')).toThrow(why);
  });

  it.each(['', '-', 'x', '0', '-3', '2.5'])('takes %j for no number of transactions', (count) => {
    const [entry] = readFeatureTable([head, row([], 'MySQL_1', ['RR', '-', count])].join('\n'), 'f.csv');
    expect(entry!.features.transactions).toBeUndefined();
  });
});

describe('a vector', () => {
  const plain: Features = { levels: [], mode: 'unspecified', has: [] };

  it.each<[Partial<Features>, Record<string, number>]>([
    [{}, { 'level=any': 1 }],
    [{ levels: ['serializable', 'read committed'] }, { 'level=serializable': 1, 'level=read committed': 1 }],
    [{ transactions: 2 }, { 'level=any': 1, transactions: 0.25 }],
    [{ transactions: 1000 }, { 'level=any': 1, transactions: 1 }],
    [{ has: ['key', 'begin'] }, { 'level=any': 1, key: 1, begin: 1 }],
  ])('of %j has %j', (features, components) => {
    expect(Object.fromEntries(encode('mysql', { ...plain, ...features }))).toEqual({
      ...{ 'engine=mysql': 1, 'mode=unspecified': 1, ...components },
    });
  });
});

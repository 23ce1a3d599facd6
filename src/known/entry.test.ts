/** Entries of the repository as lines: what is read, and what is refused, with its place. */
import { describe, expect, it } from 'vitest';
import { FileError } from '../errors.js';
import { parseCsv } from './csv.js';
import { idOfName, parseEntries, printEntry } from './entry.js';
import { isFeatureTable, readFeatureTable } from './feature-table.js';
import { flags } from './features.js';

const entry = {
  id: 'mysql-1',
  name: 'MySQL #1',
  engine: 'mysql',
  status: 'open',
  symptom: 'wrong-read',
  about: 'Rows are lost.',
  affected: ['8.0.36'],
  fixed: [],
  features: { levels: ['repeatable read'], mode: 'pessimistic', transactions: 2, has: ['begin', 'select'] },
};

const read = (change: object) => parseEntries(JSON.stringify({ ...entry, ...change }), 'f.jsonl');

describe('an entry', () => {
  it('comes back from its line', () => {
    const [parsed] = read({ url: 'https://bugs.mysql.com/bug.php?id=1', bug: 'one', settings: { a: 'b' } });
    expect(parseEntries(printEntry(parsed!), 'f')).toEqual([parsed]);
    expect(parsed).toEqual({
      ...entry,
      url: 'https://bugs.mysql.com/bug.php?id=1',
      bug: 'one',
      settings: { a: 'b' },
    });
  });

  it('stands on a line of its own; empty lines do not count', () => {
    const line = JSON.stringify(entry);
    expect(
      parseEntries(`\n${line}\n\n${line.replace('mysql-1', 'mysql-2')}\n`, 'f').map(({ id }) => id),
    ).toEqual(['mysql-1', 'mysql-2']);
    expect(parseEntries('', 'f')).toEqual([]);
  });

  it.each<[change: object, field: string, problem: string]>([
    [{ id: 'With Blanks' }, 'id', 'expected small letters, digits, dots and hyphens'],
    [{ id: '../evil' }, 'id', 'expected small letters'],
    [{ id: '' }, 'id', 'expected small letters'],
    [{ id: 'a'.repeat(81) }, 'id', 'at most 80'],
    [{ engine: 'My SQL' }, 'engine', 'expected small letters'],
    [{ name: 5 }, 'name', 'text'],
    [{ name: undefined }, 'name', ''],
    [{ url: 'javascript:alert(1)' }, 'url', 'expected an address with http or https'],
    [{ url: 'https://x.org/"onclick' }, 'url', 'expected an address with http or https'],
    [{ url: 'https://x.org/a b' }, 'url', 'expected an address with http or https'],
    [{ status: 'done' }, 'status', 'open'],
    [{ symptom: 'odd' }, 'symptom', 'wrong-read'],
    [{ about: 'x'.repeat(2001) }, 'about', 'it is longer than 2000 characters'],
    [{ affected: '8.0' }, 'affected', 'list'],
    [{ fixed: Array(101).fill('1') }, 'fixed', 'it has more than 100 items'],
    [{ features: { ...entry.features, levels: ['chaos'] } }, 'features.levels[0]', 'serializable'],
    [{ features: { ...entry.features, has: ['begin', 'fly'] } }, 'features.has[1]', 'begin'],
    [{ features: { ...entry.features, transactions: -1 } }, 'features.transactions', ''],
    [{ features: { ...entry.features, more: 1 } }, 'features', 'more'],
    [{ extra: 1 }, '', 'unknown field extra'],
  ])('%j is refused', (change, field, problem) => {
    const thrown = (() => {
      try {
        return read(change);
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(FileError);
    const { place, message } = thrown as FileError;
    expect(place).toMatchObject({ file: 'f.jsonl', line: 1 });
    expect(place.field ?? '').toContain(field);
    expect(message).toContain(problem);
  });

  it('names the line of the one that is wrong', () => {
    const good = JSON.stringify(entry);
    expect(() => parseEntries(`${good}\n\n{"id"\n`, 'f.jsonl')).toThrow('f.jsonl:3');
  });
});

describe('an id', () => {
  it.each<[name: string, id: string]>([
    ['MySQL #113228', 'mysql-113228'],
    ['MDEV-26642', 'mdev-26642'],
    ['  Rows vanish!  ', 'rows-vanish'],
    ['v1.5: odd', 'v1.5-odd'],
    ['...', 'report'],
    ['日本', 'report'],
    ['', 'report'],
  ])('of %j is %s', (name, id) => {
    expect(idOfName(name)).toBe(id);
  });
});

describe('comma-separated values', () => {
  const fields = (text: string) => parseCsv(text, 'f.csv').map((row) => row.fields);

  it.each<[text: string, rows: readonly (readonly string[])[]]>([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a,b\r\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['\ufeffa\n', [['a']]],
    [',\n', [['', '']]],
    ['a\n\n\nb\n', [['a'], ['b']]],
    ['"a,b",c\n', [['a,b', 'c']]],
    ['"two\nlines",c\n', [['two\nlines', 'c']]],
    ['"say ""hi""",c', [['say "hi"', 'c']]],
    ['"",""\n', [['', '']]],
    ['a,\n', [['a', '']]],
    [' "a"\n', [[' "a"']]],
    ['', []],
  ])('%j', (text, rows) => {
    expect(fields(text)).toEqual(rows);
  });

  it('say at which line of the file a row begins, though rows have several', () => {
    expect(parseCsv('h\n"a\nb\nc"\nd\n', 'f').map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  it('are refused where a row or a quote has no end', () => {
    expect(() => parseCsv('a\n"b', 'f.csv')).toThrow('f.csv:2: the quote that begins here never ends');
    expect(() => parseCsv(','.repeat(1001), 'f.csv')).toThrow('f.csv:1: the row has more than 1000 fields');
  });
});

describe('the table of features', () => {
  const head = `Database,Duplicate ID,Isolation Level,Transaction Mode,# Transaction,${flags.join(',')},Deterministic,ID`;
  const row = (
    id: string,
    has: readonly string[],
    more: Partial<Record<'level' | 'transactions', string>> = {},
  ) =>
    [
      'x',
      '7',
      more.level ?? 'REPEATABLE READ',
      'Pessimistic',
      more.transactions ?? '2',
      ...flags.map((flag) => (has.includes(flag) ? 'Yes' : 'No')),
      'Yes',
      id,
    ].join(',');
  const table = (...rows: string[]) => readFeatureTable([head, ...rows].join('\n'), 't.csv');

  it('is known by its first columns', () => {
    expect(isFeatureTable(head)).toBe(true);
    expect(isFeatureTable(`\ufeff${head}`)).toBe(true);
    expect(isFeatureTable('Database,Something')).toBe(false);
  });

  it('gives one entry per report, with what its rows have together', () => {
    const entries = table(row('MySQL_2', ['begin']), row('MySQL_1', ['select']), row('MySQL_2', ['commit']));
    expect(entries.map(({ id, name, features }) => [id, name, features.has])).toEqual([
      ['mysql-1', 'MySQL #1', ['select']],
      ['mysql-2', 'MySQL #2', ['begin', 'commit']],
    ]);
  });

  it('reads levels and numbers, and leaves out what is none', () => {
    const [one] = table(row('MySQL_1', [], { level: 'READ COMMITTED', transactions: '3' }));
    expect(one!.features).toMatchObject({ levels: ['read committed'], transactions: 3, mode: 'pessimistic' });
    const [none] = table(row('MySQL_1', [], { level: '-', transactions: '-' }));
    expect(none!.features).not.toHaveProperty('transactions');
    expect(none!.features.levels).toEqual([]);
  });

  it.each<[line: string, message: string]>([
    ['a,b', 't.csv:2: expected 36 columns, found 2'],
    [row('Nobody_1', []), '"Nobody_1" names no report'],
    [row('113228', []), '"113228" names no report'],
  ])('refuses %s', (line, message) => {
    expect(() => table(line)).toThrow(message);
  });
});

/** What statements answer: values as canonical data, columns, row counts, error classes. */
import { expect } from 'vitest';
import { type Dialect, isValue, quoteText, type Value } from '../../sql/index.js';
import { type Behaviour, type Lab, ok, rowsOf, simpleSetup } from './lab.case.js';

type Expected = readonly (readonly [sql: string, value: Value])[];

const booleans: Readonly<Record<Dialect, Expected>> = {
  postgres: [
    ['true', true],
    ['false', false],
  ],
  duckdb: [
    ['true', true],
    ['false', false],
  ],
  mysql: [
    ['true', 1],
    ['false', 0],
  ],
  sqlite: [
    ['1 = 1', 1],
    ['1 = 2', 0],
  ],
};

const bigType: Readonly<Record<Dialect, string>> = {
  postgres: 'BIGINT',
  duckdb: 'BIGINT',
  mysql: 'SIGNED',
  sqlite: 'INTEGER',
};

const decimals: Readonly<Record<Dialect, Expected>> = {
  postgres: [
    ["CAST('1.10' AS DECIMAL(10, 2))", { decimal: '1.10' }],
    ["CAST('-12345678901234567890.5' AS DECIMAL(30, 1))", { decimal: '-12345678901234567890.5' }],
  ],
  duckdb: [
    ["CAST('1.10' AS DECIMAL(10, 2))", { decimal: '1.10' }],
    ["CAST('-12345678901234567890.5' AS DECIMAL(30, 1))", { decimal: '-12345678901234567890.5' }],
  ],
  mysql: [
    ["CAST('1.10' AS DECIMAL(10, 2))", { decimal: '1.10' }],
    ["CAST('-12345678901234567890.5' AS DECIMAL(30, 1))", { decimal: '-12345678901234567890.5' }],
  ],
  // SQLite has no exact numerics: what looks like one is a double.
  sqlite: [['1.10', 1.1]],
};

const doubles: Readonly<Record<Dialect, Expected>> = {
  postgres: ieee('DOUBLE PRECISION'),
  duckdb: ieee('DOUBLE'),
  // No MySQL expression yields NaN or an infinity.
  mysql: [
    ['0.5e0', 0.5],
    ['-1e300', -1e300],
  ],
  sqlite: [
    ['0.5', 0.5],
    ['-1e300', -1e300],
    ['9e999', { double: 'Infinity' }],
    ['-9e999', { double: '-Infinity' }],
  ],
};

const binary: Readonly<Record<Dialect, readonly [type: string, literal: string]>> = {
  postgres: ['BYTEA', "decode('00ff10', 'hex')"],
  duckdb: ['BLOB', "unhex('00ff10')"],
  mysql: ['BLOB', "x'00ff10'"],
  sqlite: ['BLOB', "x'00ff10'"],
};

const instants: Readonly<Record<Dialect, readonly (readonly [type: string, text: string, value: Value])[]>> =
  {
    postgres: temporal('TIME', 'TIMESTAMP'),
    duckdb: temporal('TIME', 'TIMESTAMP'),
    mysql: temporal('TIME(1)', 'DATETIME(1)'),
    // SQLite stores dates as the text they were given.
    sqlite: [['DATE', '2024-02-29', '2024-02-29']],
  };

export const valueBehaviours: readonly Behaviour[] = [
  {
    name: 'a session answers a SELECT with columns and rows',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const answer = await ok(await lab.session(), 'SELECT id, v FROM t ORDER BY id');
      expect(answer.columns).toEqual(['id', 'v']);
      expect(answer.rows).toEqual([
        [1, 10],
        [2, 20],
      ]);
      expect(answer.transaction).toBe('none');
    },
  },
  { name: 'NULL is null', run: (lab) => expectValues(lab, [['NULL', null]]) },
  {
    name: 'booleans are booleans where the engine has them',
    run: (lab) => expectValues(lab, booleans[lab.target.dialect]),
  },
  {
    name: 'integers are numbers up to 2^53 − 1 and exact beyond',
    run: (lab) => {
      const big = (digits: string) => `CAST('${digits}' AS ${bigType[lab.target.dialect]})`;
      return expectValues(lab, [
        ['42', 42],
        ['-1', -1],
        [big('9007199254740991'), 9007199254740991],
        [big('9007199254740993'), { int: '9007199254740993' }],
        [big('9223372036854775807'), { int: '9223372036854775807' }],
        [big('-9223372036854775808'), { int: '-9223372036854775808' }],
      ]);
    },
  },
  {
    name: 'decimals keep their digits and scale',
    run: (lab) => expectValues(lab, decimals[lab.target.dialect]),
  },
  {
    name: 'doubles come back exactly, with NaN and the infinities where the engine has them',
    run: (lab) => expectValues(lab, doubles[lab.target.dialect]),
  },
  {
    name: 'text survives with quotes, backslashes, line breaks, accents and emoji',
    run: async (lab) => {
      const texts = [
        '',
        "it's",
        'back\\slash',
        'two\nlines\ttab',
        '"double"',
        'Ünïcödé 漢字',
        '🦆🏳️‍🌈',
        '10',
        'null',
      ];
      await lab.scratch.reset([`CREATE TABLE x (id INT, s ${lab.spelling.text ?? 'TEXT'})`]);
      const session = await lab.session();
      for (const [i, text] of texts.entries()) {
        await ok(session, `INSERT INTO x VALUES (${i}, ${quoteText(text, lab.target.dialect)})`);
      }
      const { rows } = await ok(session, 'SELECT s FROM x ORDER BY id');
      expect(rows).toEqual(texts.map((text) => [text]));
    },
  },
  {
    name: 'binary data is hex',
    run: async (lab) => {
      const [type, literal] = lab.spelling.binary ?? binary[lab.target.dialect];
      await expectStored(lab, type, literal, { bytes: '00ff10' });
    },
  },
  {
    name: 'dates and times are ISO texts of their own kind',
    run: async (lab) => {
      for (const [type, text, value] of instants[lab.target.dialect]) {
        const spelt = { TIME: lab.spelling.time, TIMESTAMP: lab.spelling.timestamp }[type] ?? type;
        await expectStored(lab, spelt, `'${text}'`, value);
      }
    },
  },
  {
    name: 'column names come in order, duplicates included',
    run: async (lab) => {
      const answer = await ok(await lab.session(), 'SELECT 1 AS a, 2 AS b, 3 AS a');
      expect(answer.columns).toEqual(['a', 'b', 'a']);
      expect(answer.rows).toEqual([[1, 2, 3]]);
    },
  },
  {
    name: 'an empty result still has its columns',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const answer = await ok(await lab.session(), 'SELECT id, v FROM t WHERE id = 99');
      expect(answer.columns).toEqual(['id', 'v']);
      expect(answer.rows).toEqual([]);
    },
  },
  {
    name: 'row counts say matched or changed as declared',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const session = await lab.session();
      const counts = async (sql: string) => {
        const { matched, changed } = await ok(session, sql);
        return { matched, changed };
      };
      const noop = await counts('UPDATE t SET v = 10 WHERE id = 1');
      const real = await counts('UPDATE t SET v = v + 1');
      const none = await counts('UPDATE t SET v = 0 WHERE id = 99');
      const { counts: declared } = lab.target.features;
      if (declared !== 'changed') expect([noop.matched, real.matched, none.matched]).toEqual([1, 2, 0]);
      if (declared !== 'matched') expect([noop.changed, real.changed, none.changed]).toEqual([0, 2, 0]);
      if (declared === 'matched') expect(noop.changed).toBeUndefined();
      if (declared === 'changed') expect(noop.matched).toBeUndefined();
      const inserted = await counts('INSERT INTO t VALUES (3, 30), (4, 40)');
      expect(inserted.changed ?? inserted.matched).toBe(2);
      const deleted = await counts('DELETE FROM t WHERE id > 2');
      expect(deleted.changed ?? deleted.matched).toBe(2);
    },
  },
  {
    name: 'a result of 10,000 rows arrives whole',
    run: async (lab) => {
      const numbers = Array.from({ length: 100 }, (_, i) => `(${i})`).join(', ');
      await lab.scratch.reset(['CREATE TABLE n (i INT)', `INSERT INTO n VALUES ${numbers}`]);
      const { rows } = await ok(await lab.session(), 'SELECT a.i * 100 + b.i FROM n a, n b');
      expect(new Set(rows!.map((row) => row[0])).size).toBe(10_000);
    },
  },
  {
    name: 'a syntax error has class syntax and the engine’s message',
    run: async (lab) => {
      const { error, transaction } = await (await lab.session()).execute('SELEC 1');
      expect(error?.class).toBe('syntax');
      expect(error?.message).not.toBe('');
      expect(transaction).toBe('none');
    },
  },
  {
    name: 'a duplicate key has class duplicate-key',
    run: async (lab) => {
      await lab.scratch.reset(simpleSetup);
      const { error } = await (await lab.session()).execute('INSERT INTO t VALUES (1, 11)');
      expect(error?.class).toBe('duplicate-key');
    },
  },
  {
    name: 'other constraints have class constraint',
    run: async (lab) => {
      await lab.scratch.reset(['CREATE TABLE k (id INT NOT NULL, v INT, CHECK (v > 0))']);
      const session = await lab.session();
      expect((await session.execute('INSERT INTO k VALUES (NULL, 1)')).error?.class).toBe('constraint');
      expect((await session.execute('INSERT INTO k VALUES (1, -1)')).error?.class).toBe('constraint');
    },
  },
  {
    name: 'an unknown table is an error that names it, and the session goes on',
    run: async (lab) => {
      const session = await lab.session();
      const { error } = await session.execute('SELECT * FROM no_such_table');
      expect(['other', 'syntax']).toContain(error?.class);
      expect(error?.message.toLowerCase()).toContain('no_such_table');
      expect(await rowsOf(session, 'SELECT 1')).toEqual([[1]]);
    },
  },
  {
    name: 'division by zero is an answer, and the session goes on',
    run: async (lab) => {
      const session = await lab.session();
      const answer = await session.execute('SELECT 1 / 0');
      if (answer.error !== undefined) expect(answer.error.class).toBe('data');
      else expect(isValue(answer.rows?.[0]?.[0])).toBe(true);
      expect(await rowsOf(session, 'SELECT 1')).toEqual([[1]]);
    },
  },
];

async function expectValues(lab: Lab, expected: Expected): Promise<void> {
  const session = await lab.session();
  const sql = `SELECT ${expected.map(([text], i) => `${text} AS c${i}`).join(', ')}`;
  const { rows } = await ok(session, sql);
  expect(rows).toEqual([expected.map(([, value]) => value)]);
  for (const value of rows![0]!) expect(isValue(value)).toBe(true);
}

async function expectStored(lab: Lab, type: string, literal: string, value: Value): Promise<void> {
  await lab.scratch.reset([`CREATE TABLE x (c ${type})`]);
  const session = await lab.session();
  await ok(session, `INSERT INTO x VALUES (${literal})`);
  expect(await rowsOf(session, 'SELECT c FROM x')).toEqual([[value]]);
}

function ieee(type: string): Expected {
  return [
    [`CAST('0.5' AS ${type})`, 0.5],
    [`CAST('-1e300' AS ${type})`, -1e300],
    [`CAST('NaN' AS ${type})`, { double: 'NaN' }],
    [`CAST('Infinity' AS ${type})`, { double: 'Infinity' }],
    [`CAST('-Infinity' AS ${type})`, { double: '-Infinity' }],
  ];
}

function temporal(time: string, timestamp: string): (readonly [string, string, Value])[] {
  return [
    ['DATE', '2024-02-29', { date: '2024-02-29' }],
    [time, '13:45:00.5', { time: '13:45:00.5' }],
    [timestamp, '2024-02-29 13:45:00.5', { timestamp: '2024-02-29 13:45:00.5' }],
  ];
}

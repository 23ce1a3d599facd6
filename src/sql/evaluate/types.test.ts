/** Declared types as the evaluator knows them: families, widths, lengths, and SQLite's affinities. */
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../dialect.js';
import type { Value } from '../value.js';
import { literalType, sqlType, truthType } from './types.js';

/** `int32`, `text(5)`, `decimal(6,2)`. */
function shown(declared: string | undefined, dialect: Dialect): string {
  const { family, bits, unsigned, scale, precision, length } = sqlType(declared, dialect);
  const detail = bits ?? (length === undefined ? '' : `(${length})`);
  const digits = precision === undefined ? '' : `(${precision},${scale})`;
  return `${unsigned === true ? 'unsigned ' : ''}${family}${detail}${digits}`;
}

describe('a declared type', () => {
  it.each<[declared: string, postgres: string, mysql: string, duckdb: string]>([
    ['INT', 'int32', 'int32', 'int32'],
    ['integer', 'int32', 'int32', 'int32'],
    ['BIGINT', 'int64', 'int64', 'int64'],
    ['INT8', 'int64', 'int64', 'int64'],
    ['SMALLINT', 'int16', 'int16', 'int16'],
    ['TINYINT', 'int8', 'int8', 'int8'],
    ['MEDIUMINT', 'int24', 'int24', 'int24'],
    ['INT(11)', 'int32', 'int32', 'int32'],
    ['INT UNSIGNED', 'unsigned int32', 'unsigned int32', 'unsigned int32'],
    ['BIGINT(20) UNSIGNED', 'unsigned int64', 'unsigned int64', 'unsigned int64'],
    ['INT ZEROFILL', 'int32', 'int32', 'int32'],
    ['SERIAL', 'int32', 'int32', 'int32'],
    ['BIGSERIAL', 'int64', 'int64', 'int64'],
    ['SIGNED', 'int64', 'int64', 'int32'],
    ['SIGNED INTEGER', 'int64', 'int64', 'int32'],
    ['DECIMAL(6, 2)', 'decimal(6,2)', 'decimal(6,2)', 'decimal(6,2)'],
    ['NUMERIC(6,2)', 'decimal(6,2)', 'decimal(6,2)', 'decimal(6,2)'],
    ['DECIMAL(6)', 'decimal(6,0)', 'decimal(6,0)', 'decimal(6,0)'],
    ['DECIMAL', 'decimal', 'decimal(10,0)', 'decimal(18,3)'],
    ['DOUBLE', 'double', 'double', 'double'],
    ['DOUBLE PRECISION', 'double', 'double', 'double'],
    ['DOUBLE UNSIGNED', 'unknown', 'unknown', 'unknown'],
    // Four bytes: sums and comparisons round otherwise.
    ['FLOAT', 'unknown', 'unknown', 'unknown'],
    ['REAL', 'unknown', 'unknown', 'unknown'],
    ['BOOLEAN', 'bool', 'int8', 'bool'],
    ['VARCHAR(5)', 'text(5)', 'text(5)', 'text'],
    ['CHARACTER VARYING(5)', 'text(5)', 'text(5)', 'text'],
    ['char varying(5)', 'text(5)', 'text(5)', 'text'],
    ['CHARACTER VARYING', 'text', 'text', 'text'],
    ['TEXT', 'text', 'text', 'text'],
    // Padded with blanks, which comparisons may ignore.
    ['CHAR(5)', 'unknown', 'unknown', 'unknown'],
    ['CHARACTER(5)', 'unknown', 'unknown', 'unknown'],
    ['VARCHAR(5) CHARACTER SET latin1', 'text(5)', 'text(5)', 'text'],
    ['DATE', 'date', 'date', 'date'],
    ['TIME', 'time', 'time', 'time'],
    ['TIMESTAMP', 'timestamp', 'timestamp', 'timestamp'],
    ['TIMESTAMP(3)', 'timestamp', 'timestamp', 'timestamp'],
    ['TIMESTAMP WITHOUT TIME ZONE', 'timestamp', 'timestamp', 'timestamp'],
    ['TIMESTAMP WITH TIME ZONE', 'instant', 'instant', 'instant'],
    ['TIMESTAMP(3) WITH TIME ZONE', 'instant', 'instant', 'instant'],
    ['TIMESTAMPTZ', 'instant', 'instant', 'instant'],
    ['TIME WITH TIME ZONE', 'unknown', 'unknown', 'unknown'],
    ['DATETIME', 'timestamp', 'timestamp', 'timestamp'],
    ['BYTEA', 'bytes', 'bytes', 'bytes'],
    ['VARBINARY(8)', 'bytes', 'bytes', 'bytes'],
    ['INT[]', 'unknown', 'unknown', 'unknown'],
    ['TEXT[]', 'unknown', 'unknown', 'unknown'],
    ["ENUM('a', 'b')", 'unknown', 'unknown', 'unknown'],
    ['JSON', 'unknown', 'unknown', 'unknown'],
    ['CITEXT', 'unknown', 'unknown', 'unknown'],
    ['UUID', 'unknown', 'unknown', 'unknown'],
    ['INTERVAL', 'unknown', 'unknown', 'unknown'],
    ['constructor', 'unknown', 'unknown', 'unknown'],
    ['', 'unknown', 'unknown', 'unknown'],
  ])('%s', (declared, ...families) => {
    expect((['postgres', 'mysql', 'duckdb'] as const).map((dialect) => shown(declared, dialect))).toEqual(
      families,
    );
  });

  it.each<[declared: string | undefined, affinity: string]>([
    ['INTEGER', 'int64'],
    ['TINYINT(1)', 'int64'],
    ['UNSIGNED BIG INT', 'int64'],
    // INT is looked for first, anywhere.
    ['FLOATING POINT', 'int64'],
    ['CHARINT', 'int64'],
    ['VARCHAR(5)', 'text'],
    ['NATIVE CHARACTER(70)', 'text'],
    ['CLOB', 'text'],
    ['text', 'text'],
    ['BLOB', 'unknown'],
    [undefined, 'unknown'],
    ['REAL', 'double'],
    ['DOUBLE PRECISION', 'double'],
    ['FLOAT', 'double'],
    // Everything else is NUMERIC, whose whole values are integers.
    ['DECIMAL(10, 5)', 'int64'],
    ['BOOLEAN', 'int64'],
    ['DATE', 'int64'],
    ['STRING', 'int64'],
  ])('%s in SQLite has the affinity %s', (declared, affinity) => {
    expect(shown(declared, 'sqlite')).toBe(affinity);
  });
});

describe('a constant', () => {
  const widths = (value: Value) =>
    (['postgres', 'mysql', 'sqlite', 'duckdb'] as const).map((dialect) => {
      const { family, bits } = literalType(value, dialect);
      return `${family}${bits ?? ''}`;
    });

  it.each<[value: Value, families: readonly string[]]>([
    [null, ['null', 'null', 'null', 'null']],
    [true, ['bool', 'int64', 'int64', 'bool']],
    [0, ['int32', 'int64', 'int64', 'int8']],
    [127, ['int32', 'int64', 'int64', 'int8']],
    [128, ['int32', 'int64', 'int64', 'int16']],
    [32768, ['int32', 'int64', 'int64', 'int32']],
    [2147483647, ['int32', 'int64', 'int64', 'int32']],
    [2147483648, ['int64', 'int64', 'int64', 'int64']],
    [0.5, ['double', 'double', 'double', 'double']],
    [{ int: '9223372036854775807' }, ['int64', 'int64', 'int64', 'int64']],
    [{ int: '-9223372036854775808' }, ['int64', 'int64', 'int64', 'int64']],
    [{ int: '9223372036854775808' }, ['unknown', 'unknown', 'unknown', 'unknown']],
    [{ decimal: '1.50' }, ['decimal', 'decimal', 'double', 'decimal']],
    ['x', ['text', 'text', 'text', 'text']],
    [{ bytes: '00' }, ['bytes', 'bytes', 'bytes', 'bytes']],
    [{ date: '2024-02-29' }, ['date', 'date', 'date', 'date']],
    [{ timestamp: '2024-02-29 10:00:00' }, ['timestamp', 'timestamp', 'timestamp', 'timestamp']],
    [{ timestamp: '2024-02-29 10:00:00+00' }, ['instant', 'instant', 'instant', 'instant']],
    [{ timestamp: '2024-02-29 10:00:00-05:30' }, ['instant', 'instant', 'instant', 'instant']],
    [{ double: 'NaN' }, ['double', 'double', 'double', 'double']],
    [{ other: '[1]' }, ['unknown', 'unknown', 'unknown', 'unknown']],
  ])('%j', (value, families) => {
    expect(widths(value)).toEqual(families);
  });

  it('has as many digits behind the point as it is written with', () => {
    expect(literalType({ decimal: '1.500' }, 'postgres')).toEqual({ family: 'decimal', scale: 3 });
  });
});

it('conditions have a type of their own where the dialect has one', () => {
  expect(truthType('postgres').family).toBe('bool');
  expect(truthType('duckdb').family).toBe('bool');
  expect(truthType('mysql').family).toBe('int');
  expect(truthType('sqlite').family).toBe('int');
});

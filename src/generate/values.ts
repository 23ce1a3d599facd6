/**
 * Column types and their values. Domains are small and skewed, so that equal values, no-op updates and collisions are
 * common; a column marked for it also holds the ends of its type's range.
 */
import type { Dialect, Value } from '../sql/index.js';
import type { OptionOf } from './features.js';

export type ColumnKind = OptionOf<'type'>;

const typeNames: Readonly<Record<ColumnKind, Readonly<Record<Dialect, string>>>> = {
  int: same('INT'),
  bigint: same('BIGINT'),
  decimal: same('DECIMAL(10, 2)'),
  double: { postgres: 'DOUBLE PRECISION', mysql: 'DOUBLE', sqlite: 'REAL', duckdb: 'DOUBLE' },
  // An indexed text needs a length in MySQL.
  text: { ...same('TEXT'), mysql: 'VARCHAR(40)' },
  boolean: same('BOOLEAN'),
  date: same('DATE'),
  timestamp: { ...same('TIMESTAMP'), mysql: 'DATETIME' },
  time: same('TIME'),
  binary: { postgres: 'BYTEA', mysql: 'VARBINARY(16)', sqlite: 'BLOB', duckdb: 'BLOB' },
};

function same(name: string): Readonly<Record<Dialect, string>> {
  return { postgres: name, mysql: name, sqlite: name, duckdb: name };
}

export function typeName(kind: ColumnKind, dialect: Dialect): string {
  return typeNames[kind][dialect];
}

/** The kind behind a type's name; undefined for types the generator does not use. */
export function kindOfType(name: string, dialect: Dialect): ColumnKind | undefined {
  return (Object.keys(typeNames) as ColumnKind[]).find((kind) => typeNames[kind][dialect] === name);
}

/** Texts differ in more than case and accents: MySQL's collations would take them for the same otherwise. */
const domains: Readonly<Record<ColumnKind, readonly Value[]>> = {
  int: [1, 2, 3, 0, 5, -1, 10, 100],
  bigint: [1, 2, 0, 7, -5, 1000],
  decimal: [
    { decimal: '1.00' },
    { decimal: '1.50' },
    { decimal: '0.00' },
    { decimal: '-2.25' },
    { decimal: '10.10' },
  ],
  double: [1, 0.5, 0, -2.25, 1e-7],
  text: ['a', 'b', 'ab', '', "o'k", 'abc', 'x%y', 'z_1'],
  boolean: [true, false],
  date: [{ date: '2024-01-01' }, { date: '2024-02-29' }, { date: '1999-12-31' }],
  timestamp: [{ timestamp: '2024-01-01 00:00:00' }, { timestamp: '2024-02-29 23:59:59' }],
  time: [{ time: '00:00:00' }, { time: '12:30:00' }, { time: '23:59:59' }],
  binary: [{ bytes: '00' }, { bytes: '616263' }, { bytes: '' }, { bytes: 'ff00' }],
};

const boundaries: Partial<Readonly<Record<ColumnKind, readonly Value[]>>> = {
  int: [2147483647, -2147483648],
  bigint: [{ int: '9223372036854775807' }, { int: '-9007199254740993' }],
  decimal: [{ decimal: '99999999.99' }, { decimal: '-99999999.99' }],
  double: [1e300, -1e300],
  text: ['q'.repeat(40), "'; --", 'a\\b'],
  date: [{ date: '9999-12-31' }],
  timestamp: [{ timestamp: '9999-12-31 23:59:59' }],
};

/** The values of a column, most frequent first. */
export function domainOf(kind: ColumnKind, withBoundaries: boolean): readonly Value[] {
  return withBoundaries ? [...domains[kind], ...(boundaries[kind] ?? [])] : domains[kind];
}

/** Kinds with exact whole-number arithmetic in every engine. */
export function isWhole(kind: ColumnKind): boolean {
  return kind === 'int' || kind === 'bigint';
}

/** The n-th value of an endless supply, for keys and unique columns. */
export function freshValue(kind: ColumnKind, n: number): Value {
  return kind === 'text' ? `k${n}` : n;
}

/** The types an expression can have, as far as results depend on them. */
import type { Dialect } from '../dialect.js';
import { remember } from '../remember.js';
import type { Value } from '../value.js';

export type Family =
  | 'int'
  | 'decimal'
  | 'double'
  | 'text'
  | 'bool'
  | 'date'
  | 'time'
  | 'timestamp'
  /** A timestamp with time zone. */
  | 'instant'
  | 'bytes'
  /** The type of a bare NULL. */
  | 'null'
  /** Not known, or one whose rules are not built in. */
  | 'unknown';

export interface SqlType {
  readonly family: Family;
  /** Of `int`: its width, so that overflow is noticed. */
  readonly bits?: number;
  readonly unsigned?: true;
  /** Of `decimal`: digits after the point, where the type fixes them; and digits in all. */
  readonly scale?: number;
  readonly precision?: number;
  /** Of `text`: the longest text a column takes. */
  readonly length?: number;
}

export const types = {
  null: { family: 'null' },
  unknown: { family: 'unknown' },
  text: { family: 'text' },
  double: { family: 'double' },
  bool: { family: 'bool' },
  tinyint: { family: 'int', bits: 8 },
  smallint: { family: 'int', bits: 16 },
  int: { family: 'int', bits: 32 },
  bigint: { family: 'int', bits: 64 },
} as const satisfies Record<string, SqlType>;

/** What comparisons and AND, OR, NOT give: a type of its own, or 0 and 1. */
export function truthType(dialect: Dialect): SqlType {
  return dialect === 'mysql' || dialect === 'sqlite' ? types.bigint : types.bool;
}

/** How many bits the integers of a declared type have. */
const integerBits: Readonly<Record<string, number>> = {
  ...{ TINYINT: 8, INT1: 8 },
  ...{ SMALLINT: 16, INT2: 16, SMALLSERIAL: 16, SHORT: 16 },
  MEDIUMINT: 24,
  ...{ INT: 32, INTEGER: 32, INT4: 32, SERIAL: 32 },
  ...{ BIGINT: 64, INT8: 64, BIGSERIAL: 64, LONG: 64 },
};

/** A declared type, by its name. */
export function sqlType(declared: string | undefined, dialect: Dialect): SqlType {
  return readType(declared ?? '', dialect);
}

const readType = remember((declared: string, dialect: Dialect): SqlType => {
  if (dialect === 'sqlite') return sqliteAffinity(declared.toUpperCase());
  const text = declared.toUpperCase().replace(/^CHAR(ACTER)? VARYING/, 'VARCHAR');
  const [, base = '', first, second] =
    /^([A-Z0-9 ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?(?:\s.*)?$/.exec(text) ?? [];
  const unsigned = text.includes('UNSIGNED') ? { unsigned: true as const } : {};
  if (text.includes('[')) return types.unknown;
  if (text.includes('WITH TIME ZONE'))
    return text.startsWith('TIMESTAMP') ? { family: 'instant' } : types.unknown;
  const name = base.replace(/ (UNSIGNED|SIGNED|ZEROFILL|WITHOUT TIME ZONE)$/, '');
  // What MySQL casts to; DuckDB's other name of INTEGER.
  if (name === 'SIGNED') return dialect === 'duckdb' ? types.int : types.bigint;
  if (Object.hasOwn(integerBits, name)) return { family: 'int', bits: integerBits[name]!, ...unsigned };
  switch (name) {
    case 'DECIMAL':
    case 'NUMERIC':
    case 'DEC':
      return decimalType(first, second, dialect);
    case 'DOUBLE':
    case 'DOUBLE PRECISION':
    case 'FLOAT8':
      return unsigned.unsigned ? types.unknown : types.double;
    case 'BOOL':
    case 'BOOLEAN':
    case 'LOGICAL':
      return dialect === 'mysql' ? { family: 'int', bits: 8 } : types.bool;
    case 'TEXT':
    case 'VARCHAR':
    case 'STRING':
    case 'LONGTEXT':
    case 'MEDIUMTEXT':
      return first === undefined || dialect === 'duckdb'
        ? types.text
        : { family: 'text', length: Number(first) };
    case 'DATE':
      return { family: 'date' };
    case 'TIME':
      return { family: 'time' };
    case 'TIMESTAMP':
    case 'DATETIME':
      return { family: 'timestamp' };
    case 'TIMESTAMPTZ':
      return { family: 'instant' };
    case 'BYTEA':
    case 'BLOB':
    case 'VARBINARY':
    case 'LONGBLOB':
      return { family: 'bytes' };
    default:
      return types.unknown;
  }
});

function decimalType(precision: string | undefined, scale: string | undefined, dialect: Dialect): SqlType {
  if (precision !== undefined)
    return { family: 'decimal', precision: Number(precision), scale: Number(scale ?? 0) };
  if (dialect === 'duckdb') return { family: 'decimal', precision: 18, scale: 3 };
  return dialect === 'mysql' ? { family: 'decimal', precision: 10, scale: 0 } : { family: 'decimal' };
}

/** SQLite's five affinities. Values of INTEGER and NUMERIC columns that are whole are integers. */
function sqliteAffinity(text: string): SqlType {
  if (text.includes('INT')) return types.bigint;
  if (/CHAR|CLOB|TEXT/.test(text)) return types.text;
  if (text === '' || text.includes('BLOB')) return types.unknown;
  return /REAL|FLOA|DOUB/.test(text) ? types.double : types.bigint;
}

/** The type of a constant. */
export function literalType(value: Value, dialect: Dialect): SqlType {
  if (value === null) return types.null;
  if (typeof value === 'boolean')
    return dialect === 'mysql' || dialect === 'sqlite' ? types.bigint : types.bool;
  if (typeof value === 'number')
    return Number.isInteger(value) ? integerLiteralType(value, dialect) : types.double;
  if (typeof value === 'string') return types.text;
  if ('int' in value) {
    const fits = BigInt.asIntN(64, BigInt(value.int)) === BigInt(value.int);
    return fits ? types.bigint : types.unknown;
  }
  if ('decimal' in value) {
    if (dialect === 'sqlite') return types.double;
    return { family: 'decimal', scale: (value.decimal.split('.')[1] ?? '').length };
  }
  if ('bytes' in value) return { family: 'bytes' };
  if ('date' in value) return { family: 'date' };
  if ('time' in value) return { family: 'time' };
  if ('timestamp' in value)
    return { family: /[+-]\d\d(:\d\d)?$/.test(value.timestamp.slice(10)) ? 'instant' : 'timestamp' };
  return 'double' in value ? types.double : types.unknown;
}

/** DuckDB fits a constant to its neighbour, so its own width is the smallest that holds it. */
function integerLiteralType(value: number, dialect: Dialect): SqlType {
  if (dialect === 'mysql' || dialect === 'sqlite') return types.bigint;
  if (dialect === 'duckdb' && Math.abs(value) < 128) return types.tinyint;
  if (dialect === 'duckdb' && Math.abs(value) < 32768) return types.smallint;
  return Math.abs(value) < 2 ** 31 ? types.int : types.bigint;
}

export function isNumeric(type: SqlType): boolean {
  return type.family === 'int' || type.family === 'decimal' || type.family === 'double';
}

/**
 * DuckDB's results as canonical values. Reads the driver's column vectors directly and picks one converter per
 * column: the driver's own row objects would be built only to be thrown away.
 */

import type { DuckDBDateValue, DuckDBMaterializedResult } from '@duckdb/node-api';
import { IsoldeError } from '../../errors.js';
import { bytesValue, doubleValue, integerValue, type Row, type Value } from '../../sql/index.js';

type Converter = (value: unknown) => Value;

const plain: Converter = (value) => value as Value;
const big: Converter = (value) => integerValue(value as bigint);
const double: Converter = (value) => doubleValue(value as number);
const timestamp: Converter = (value) => ({ timestamp: String(value) });
const other: Converter = (value) => ({ other: String(value) });

/** By the driver's DuckDBTypeId. What is not listed (lists, structs, intervals, UUIDs, …) is `other`. */
const converters: Readonly<Record<number, Converter>> = {
  1: plain, // BOOLEAN
  2: plain, // TINYINT, SMALLINT, INTEGER, and their unsigned twins
  3: plain,
  4: plain,
  6: plain,
  7: plain,
  8: plain,
  5: big, // BIGINT, UBIGINT, HUGEINT, UHUGEINT
  9: big,
  16: big,
  32: big,
  10: double, // FLOAT, DOUBLE
  11: double,
  12: timestamp, // TIMESTAMP, _S, _MS, _NS
  20: timestamp,
  21: timestamp,
  22: timestamp,
  31: (value) => ({ timestamp: inUtc(value as object) }), // TIMESTAMP WITH TIME ZONE
  13: (value) => ({ date: dateText(value as DuckDBDateValue) }),
  14: (value) => ({ time: String(value) }),
  30: (value) => ({ time: String(value) }), // TIME WITH TIME ZONE
  17: plain, // VARCHAR
  18: (value) => bytesValue((value as { readonly bytes: Uint8Array }).bytes),
  19: (value) => ({ decimal: String(value) }),
  23: plain, // ENUM: its label
};

const varchar = 17;
const furthestDay = 2147483647;

/** The driver prints these in the zone of its process; a value must not depend on that. */
function inUtc(value: object): string {
  const type = value.constructor as { timezoneOffsetInMinutes?: number };
  const local = type.timezoneOffsetInMinutes;
  if (local === undefined) return String(value);
  type.timezoneOffsetInMinutes = 0;
  try {
    return String(value);
  } finally {
    type.timezoneOffsetInMinutes = local;
  }
}

/** The driver prints the two infinite dates as days far away; DuckDB itself says `infinity`. */
function dateText(date: DuckDBDateValue): string {
  if (date.days === furthestDay) return 'infinity';
  return date.days === -furthestDay ? '-infinity' : String(date);
}

/** All rows of a result. */
export function duckdbRows(result: DuckDBMaterializedResult): Row[] {
  const rows: Value[][] = [];
  const columnCount = result.columnCount;
  const chunkCount: unknown = result.chunkCount;
  // The first driver, 1.1.2, reads results in another way: without this its results would all look empty.
  if (typeof chunkCount !== 'number')
    throw new IsoldeError(
      'target',
      'This version of the DuckDB driver gives results that Isolde cannot read',
    );
  for (let chunkIndex = 0; chunkIndex < chunkCount; chunkIndex++) {
    const chunk = result.getChunk(chunkIndex);
    const first = rows.length;
    const rowCount = chunk.rowCount;
    for (let row = 0; row < rowCount; row++) rows.push(new Array<Value>(columnCount));
    for (let column = 0; column < columnCount; column++) {
      const vector = chunk.getColumnVector(column);
      const convert = converterOf(result, column, vector.type.typeId);
      for (let row = 0; row < rowCount; row++) {
        const value = vector.getItem(row);
        rows[first + row]![column] = value === null ? null : convert(value);
      }
    }
  }
  return rows;
}

function converterOf(result: DuckDBMaterializedResult, column: number, typeId: number): Converter {
  // JSON is text to the driver; only the alias of its type tells them apart.
  if (typeId === varchar && result.columnLogicalType(column).alias === 'JSON') return other;
  return converters[typeId] ?? other;
}

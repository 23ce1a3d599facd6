/**
 * From the text protocol's bytes to values.
 *
 * The driver's own conversion is switched off: it rounds big integers, re-parses doubles digit by digit and
 * turns dates into local time. Here every column gets one reader, chosen once per result from the column's
 * wire type:
 *
 * | column | value |
 * |---|---|
 * | integers, YEAR | number, `{int}` beyond 2^53 |
 * | DECIMAL | `{decimal}` with its digits |
 * | FLOAT, DOUBLE | number |
 * | DATE, TIME, DATETIME | `{date}`, `{time}`, `{timestamp}` |
 * | TIMESTAMP | `{timestamp}` with `+00`: it is an instant, and sessions run in UTC |
 * | BINARY, BLOB, BIT, GEOMETRY | `{bytes}` |
 * | JSON (MariaDB: columns it knows to be JSON) | `{other}` |
 * | everything else (CHAR, TEXT, ENUM, SET, UUID, …) | text |
 */
import { bytesValue, doubleValue, integerValue, type Row, type Value } from '../../sql/index.js';

/** What the driver says about a result column. */
export interface WireField {
  readonly name: string;
  readonly columnType: number;
  /** 63 is "binary": numbers, dates and real binary data. */
  readonly characterSet: number;
  /** Node's name of the character set the bytes are in. */
  readonly encoding?: string;
  /** MariaDB's extra type information. */
  readonly extendedFormat?: string;
}

type Reader = (bytes: Buffer) => Value;

const binaryCharacterSet = 63;

const integer: Reader = (bytes) => {
  const text = bytes.toString('latin1');
  return text.length < 16 ? Number(text) : integerValue(BigInt(text));
};
const decimal: Reader = (bytes) => ({ decimal: bytes.toString('latin1') });
const double: Reader = (bytes) => doubleValue(Number(bytes.toString('latin1')));
const date: Reader = (bytes) => ({ date: bytes.toString('latin1') });
const time: Reader = (bytes) => ({ time: bytes.toString('latin1') });
const datetime: Reader = (bytes) => ({ timestamp: bytes.toString('latin1') });
const instant: Reader = (bytes) => ({ timestamp: `${bytes.toString('latin1')}+00` });
const json: Reader = (bytes) => ({ other: bytes.toString('utf8') });
const text: Reader = (bytes) => bytes.toString('utf8');

/** By the protocol's type number; what is missing is text or bytes, by character set. */
const readers: Readonly<Record<number, Reader>> = {
  0: decimal,
  1: integer,
  2: integer,
  3: integer,
  4: double,
  5: double,
  7: instant,
  8: integer,
  9: integer,
  10: date,
  11: time,
  12: datetime,
  13: integer,
  16: bytesValue,
  245: json,
  246: decimal,
  255: bytesValue,
};

/** The rows of a result as values. */
export function readRows(
  fields: readonly WireField[],
  rows: readonly (readonly (Buffer | null)[])[],
): readonly Row[] {
  const columns = fields.map(readerOf);
  return rows.map((row) =>
    columns.map((read, index) => {
      const bytes = row[index];
      return bytes === null || bytes === undefined ? null : read(bytes);
    }),
  );
}

function readerOf(field: WireField): Reader {
  const reader = readers[field.columnType];
  if (reader !== undefined) return reader;
  if (field.extendedFormat === 'json') return json;
  if (field.characterSet === binaryCharacterSet) return bytesValue;
  const encoding = field.encoding;
  if (encoding === undefined || !Buffer.isEncoding(encoding)) return text;
  return encoding === 'utf8' ? text : (bytes) => bytes.toString(encoding);
}

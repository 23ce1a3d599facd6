/**
 * From the text format of PostgreSQL's wire protocol to canonical values, by type number.
 *
 * The text format is what `psql` shows, and with the settings every session of ours starts with (`TimeZone`,
 * `DateStyle`, `bytea_output`, `extra_float_digits`) it is exact and the same on every server.
 */
import { doubleValue, integerValue, type Value } from '../../sql/index.js';

/** Turns the text of one column into a value. */
export type Decoder = (text: string) => Value;

const asNumber: Decoder = (text) => Number(text);
const asText: Decoder = (text) => text;
const asOther: Decoder = (text) => ({ other: text });

/** Fifteen digits always fit a double exactly, and most numbers are short. */
const asInteger: Decoder = (text) => (text.length <= 15 ? Number(text) : integerValue(BigInt(text)));

/** Type numbers are fixed in PostgreSQL's catalogue (`pg_type.dat`); CockroachDB reports the same ones. */
const decoders: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [16, (text) => text === 't'], // bool
  [17, (text) => ({ bytes: text.slice(2) })], // bytea, `\x…`
  [18, asText], // "char"
  [19, asText], // name
  [20, asInteger], // int8
  [21, asNumber], // int2
  [23, asNumber], // int4
  [25, asText], // text
  [26, asNumber], // oid
  [700, (text) => doubleValue(Number(text))], // float4
  [701, (text) => doubleValue(Number(text))], // float8
  [705, asText], // unknown
  [1042, asText], // bpchar
  [1043, asText], // varchar
  [1082, (text) => ({ date: text })],
  [1083, (text) => ({ time: text })],
  [1114, (text) => ({ timestamp: text })],
  [1184, (text) => ({ timestamp: text })], // timestamptz, `…+00`
  [1266, (text) => ({ time: text })], // timetz
  [1700, (text) => ({ decimal: text })], // numeric
]);

/** The decoder of a column of this type. */
export function decoderOf(typeNumber: number): Decoder {
  return decoders.get(typeNumber) ?? asOther;
}

/** Settings under which the text format is exact, for the start-up packet. */
export const valueSettings: Readonly<Record<string, string>> = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '3',
};

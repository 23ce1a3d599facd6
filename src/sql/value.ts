/**
 * A value a database returned or a case contains, as data that survives JSON unchanged.
 *
 * Plain JSON covers NULL, booleans, text and every number a double holds exactly. The rest is tagged, so that
 * `9007199254740993`, `1.10`, a BLOB and a date are never rounded, re-scaled or mistaken for text. Two values
 * that an engine considers the same storage value have the same JSON text; `valueKey` relies on it.
 */
export type Value =
  | null
  | boolean
  | number
  | string
  /** An integer outside ±(2^53 − 1), in decimal digits. */
  | { readonly int: string }
  /** An exact numeric, digits and scale as the engine prints them. */
  | { readonly decimal: string }
  /** A float that JSON has no number for. */
  | { readonly double: 'NaN' | 'Infinity' | '-Infinity' }
  /** Binary data, lower-case hex. */
  | { readonly bytes: string }
  /** ISO 8601 texts: `2024-02-29`, `13:45:00.5`, `2024-02-29 13:45:00.5` (with `+00` when it is an instant). */
  | { readonly date: string }
  | { readonly time: string }
  | { readonly timestamp: string }
  /** Anything else (intervals, arrays, JSON, ranges): the engine's own text. */
  | { readonly other: string };

/** A row as its engine returned it, in column order. */
export type Row = readonly Value[];

/** Text that is equal exactly when two values are the same. */
export function valueKey(value: Value): string {
  return JSON.stringify(value);
}

/** Whether two values are the same (NULL equals NULL: this is identity of results, not SQL's `=`). */
export function sameValue(a: Value, b: Value): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && valueKey(a) === valueKey(b));
}

/** An integer of any size as a value: a plain number where a double holds it exactly. */
export function integerValue(integer: bigint): Value {
  const small = Number(integer);
  return Number.isSafeInteger(small) ? small : { int: integer.toString() };
}

/** A double as a value; −0 becomes 0, for JSON cannot tell them apart. */
export function doubleValue(double: number): Value {
  if (Number.isFinite(double)) return double === 0 ? 0 : double;
  return { double: Number.isNaN(double) ? 'NaN' : double > 0 ? 'Infinity' : '-Infinity' };
}

/** Binary data as a value. */
export function bytesValue(bytes: Uint8Array): Value {
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex') };
}

const tags: Readonly<Record<string, RegExp>> = {
  int: /^-?\d+$/,
  decimal: /^-?\d+(\.\d+)?([eE][+-]?\d+)?$|^NaN$|^-?Infinity$/,
  double: /^(NaN|-?Infinity)$/,
  bytes: /^([0-9a-f]{2})*$/,
  date: /^/,
  time: /^/,
  timestamp: /^/,
  other: /^/,
};

/** Whether anything is a value: the test at every door hostile JSON can come through. */
export function isValue(thing: unknown): thing is Value {
  if (thing === null) return true;
  if (typeof thing === 'string' || typeof thing === 'boolean') return true;
  if (typeof thing === 'number') return Number.isFinite(thing);
  if (typeof thing !== 'object' || Array.isArray(thing)) return false;
  const entries = Object.entries(thing);
  if (entries.length !== 1) return false;
  const [tag, text] = entries[0]!;
  return typeof text === 'string' && Object.hasOwn(tags, tag) && tags[tag]!.test(text);
}

/** How a person sees a value in a result table. */
export function showValue(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'object') return String(value);
  if ('bytes' in value) return `0x${value.bytes}`;
  return Object.values(value)[0] as string;
}

/** Comparing values: exact numbers, texts by collation, moments by text, and what must stay open. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../dialect.js';
import type { Value } from '../value.js';
import { comparison, defaultTextOrder, type TextOrder } from './compare.js';
import { type SqlType, types } from './types.js';
import { isUndecidable } from './undecidable.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

interface Sides {
  readonly dialect?: Dialect;
  readonly types?: readonly [SqlType, SqlType];
  readonly textOrder?: TextOrder;
  readonly equality?: boolean;
}

/** `<`, `=` or `>`, `≠` where only equality was asked, or `?`. */
function compared(a: Value, b: Value, sides: Sides = {}): string {
  const dialect = sides.dialect ?? 'postgres';
  const [left, right] = sides.types ?? [types.text, types.text];
  const ctx = { dialect, textOrder: sides.textOrder ?? defaultTextOrder(dialect) };
  const sign = comparison(left, right, ctx, sides.equality === true)(a, b);
  if (isUndecidable(sign)) return '?';
  if (sign === 0) return '=';
  return sides.equality === true ? '≠' : sign < 0 ? '<' : '>';
}

const decimal: SqlType = { family: 'decimal' };

describe('numbers', () => {
  it.each<[a: Value, b: Value, sides: readonly [SqlType, SqlType], sign: string]>([
    [1, 2, [types.int, types.int], '<'],
    [-1, -2, [types.int, types.int], '>'],
    [1, { decimal: '1.00' }, [types.int, decimal], '='],
    [{ decimal: '1.10' }, { decimal: '1.1' }, [decimal, decimal], '='],
    [{ decimal: '-0.00' }, 0, [decimal, types.int], '='],
    [{ decimal: '0.10' }, { decimal: '0.09' }, [decimal, decimal], '>'],
    [{ decimal: '99999999999999999999.1' }, { decimal: '99999999999999999999.2' }, [decimal, decimal], '<'],
    [{ int: '9007199254740993' }, { int: '9007199254740992' }, [types.bigint, types.bigint], '>'],
    [{ int: '-9223372036854775808' }, 0, [types.bigint, types.bigint], '<'],
    [{ int: '9007199254740993' }, { decimal: '9007199254740993.0' }, [types.bigint, decimal], '='],
    [0.5, { decimal: '0.5' }, [types.double, decimal], '='],
    [2.5, 2, [types.double, types.int], '>'],
  ])('%j and %j', (a, b, sides, sign) => {
    for (const dialect of dialects) expect(compared(a, b, { dialect, types: sides })).toBe(sign);
  });

  it('beside a float, a large integer is exact in SQLite and a float elsewhere', () => {
    const large = { int: '9007199254740993' };
    const near = 9007199254740992;
    for (const dialect of dialects) {
      const exact = dialect === 'sqlite';
      expect(compared(large, near, { dialect, types: [types.bigint, types.double] })).toBe(exact ? '>' : '=');
      expect(compared(near, large, { dialect, types: [types.double, types.bigint] })).toBe(exact ? '<' : '=');
    }
  });

  it('of a type that is not known may be floats of four bytes', () => {
    expect(compared(0.1, 0.1, { types: [types.unknown, types.double] })).toBe('?');
    expect(compared(3, 3, { types: [types.unknown, types.int] })).toBe('=');
  });

  it('compare like the rationals they are', () => {
    const number = fc.tuple(fc.bigInt(-10_000n, 10_000n), fc.nat(4));
    const text = ([digits, scale]: [bigint, number]) => {
      const negative = digits < 0n;
      const padded = (negative ? -digits : digits).toString().padStart(scale + 1, '0');
      const cut = padded.length - scale;
      return `${negative ? '-' : ''}${padded.slice(0, cut)}${scale === 0 ? '' : `.${padded.slice(cut)}`}`;
    };
    fc.assert(
      fc.property(number, number, (a, b) => {
        const left = a[0] * 10n ** BigInt(b[1]);
        const right = b[0] * 10n ** BigInt(a[1]);
        const sign = left < right ? '<' : left > right ? '>' : '=';
        const given = { types: [decimal, decimal] as const };
        expect(compared({ decimal: text(a) }, { decimal: text(b) }, given)).toBe(sign);
      }),
    );
  });
});

describe('texts', () => {
  it.each<[a: string, b: string, equal: readonly [string, string, string, string]]>([
    ['a', 'a', ['=', '=', '=', '=']],
    ['a', 'b', ['≠', '≠', '≠', '≠']],
    ['a', 'A', ['≠', '?', '≠', '≠']],
    ['a', 'a ', ['≠', '?', '≠', '≠']],
    ['A ', 'a', ['≠', '?', '≠', '≠']],
    ['', ' ', ['≠', '?', '≠', '≠']],
    ['e', 'é', ['≠', '?', '≠', '≠']],
    ['ß', 'ss', ['≠', '?', '≠', '≠']],
    ['10', '9', ['≠', '≠', '≠', '≠']],
  ])('%j = %j', (a, b, equal) => {
    expect(dialects.map((dialect) => compared(a, b, { dialect, equality: true }))).toEqual(equal);
  });

  it.each<[a: string, b: string, order: readonly [string, string, string, string]]>([
    ['a', 'b', ['<', '<', '<', '<']],
    ['a', 'ab', ['<', '<', '<', '<']],
    ['9', 'a', ['<', '<', '<', '<']],
    ['10', '9', ['<', '<', '<', '<']],
    // Linguistic collations put a before B, C the other way round.
    ['a', 'B', ['?', '<', '>', '>']],
    ['a', 'A', ['?', '?', '>', '>']],
    ['a b', 'ab', ['?', '?', '<', '<']],
    ['a-b', 'ab', ['?', '?', '<', '<']],
    ['é', 'f', ['?', '?', '>', '>']],
  ])('the order of %j and %j', (a, b, order) => {
    expect(dialects.map((dialect) => compared(a, b, { dialect }))).toEqual(order);
  });

  it('order by code point where the order is binary, not by UTF-16 unit', () => {
    // U+FF5E is below U+1F600, but its unit is above the first half of the pair.
    expect(compared('～', '😀', { dialect: 'sqlite' })).toBe('<');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(compared(a, b, { dialect: 'duckdb' })).toBe(bytes < 0 ? '<' : bytes > 0 ? '>' : '=');
      }),
    );
  });

  it('are equal or not, but have no order, in a database of unknown collation', () => {
    expect(compared('a', 'b', { textOrder: 'unknown' })).toBe('?');
    expect(compared('a', 'b', { textOrder: 'unknown', equality: true })).toBe('≠');
  });

  it('of a column of unknown type may ignore case', () => {
    const unknown = { types: [types.unknown, types.text] as const, equality: true };
    expect(compared('a', 'A', unknown)).toBe('?');
    expect(compared('a', 'b', unknown)).toBe('≠');
  });

  it('beside a column of numbers are read as numbers where they look like them', () => {
    const numeric = { dialect: 'sqlite' as const, types: [types.bigint, types.text] as const };
    expect(compared('5', '05', numeric)).toBe('?');
    expect(compared('x', 'y', numeric)).toBe('<');
  });

  it('are never compared with numbers', () => {
    for (const dialect of dialects)
      expect(compared(1, '1', { dialect, types: [types.int, types.text] })).toBe('?');
  });
});

describe('truth values', () => {
  it('order FALSE before TRUE', () => {
    for (const dialect of dialects)
      expect(compared(false, true, { dialect, types: [types.bool, types.bool] })).toBe('<');
  });

  it('are numbers where the dialect has no type for them', () => {
    const sides = [types.bool, types.int] as const;
    expect(dialects.map((dialect) => compared(true, 1, { dialect, types: sides }))).toEqual([
      '?',
      '=',
      '=',
      '?',
    ]);
  });
});

describe('moments', () => {
  const date: SqlType = { family: 'date' };
  const stamp: SqlType = { family: 'timestamp' };
  it.each<[a: Value, b: Value, sign: string]>([
    [{ date: '2024-02-29' }, { date: '2024-03-01' }, '<'],
    [{ date: '2024-02-29' }, { timestamp: '2024-02-29 00:00:00' }, '='],
    [{ date: '2024-02-29' }, { timestamp: '2024-02-29 00:00:01' }, '<'],
    [{ timestamp: '2024-02-29 10:00:00.50' }, { timestamp: '2024-02-29 10:00:00.5' }, '='],
    [{ timestamp: '2024-02-29 10:00:00.000' }, { timestamp: '2024-02-29 10:00:00' }, '='],
    [{ timestamp: '2024-02-29 10:00:00.09' }, { timestamp: '2024-02-29 10:00:00.1' }, '<'],
    [{ timestamp: '2024-02-29 10:00:10' }, { timestamp: '2024-02-29 10:00:01' }, '>'],
    [{ time: '09:00:00' }, { time: '10:00:00' }, '<'],
    [{ time: '10:00:00' }, { time: '10:00:00.0' }, '='],
    [{ timestamp: '2024-02-29 10:00:00+00' }, { timestamp: '2024-02-29 11:00:00+00' }, '<'],
    // An instant beside another zone, or beside none, depends on the session.
    [{ timestamp: '2024-02-29 10:00:00+00' }, { timestamp: '2024-02-29 10:00:00+01' }, '?'],
    [{ timestamp: '2024-02-29 10:00:00+00' }, { timestamp: '2024-02-29 10:00:00' }, '?'],
    [{ date: '0044-03-15 BC' }, { date: '2024-01-01' }, '?'],
    [{ date: 'infinity' }, { date: '2024-01-01' }, '?'],
    [{ date: '2024-01-01' }, { time: '10:00:00' }, '?'],
  ])('%j and %j', (a, b, sign) => {
    expect(compared(a, b, { types: [date, stamp] })).toBe(sign);
    const mirrored = { '<': '>', '>': '<', '=': '=', '?': '?' }[sign];
    expect(compared(b, a, { types: [stamp, date] })).toBe(mirrored);
  });
});

describe('bytes', () => {
  const bytes: SqlType = { family: 'bytes' };
  it('order by byte', () => {
    expect(compared({ bytes: '00ff' }, { bytes: '0100' }, { types: [bytes, bytes] })).toBe('<');
    expect(compared({ bytes: '00' }, { bytes: '0000' }, { types: [bytes, bytes] })).toBe('<');
    expect(compared({ bytes: '' }, { bytes: '' }, { types: [bytes, bytes] })).toBe('=');
  });

  it('are not compared with what is no bytes', () => {
    expect(compared({ bytes: '00' }, { date: '2024-01-01' }, { types: [bytes, bytes] })).toBe('?');
    expect(compared({ other: '[1]' }, { other: '[1]' }, { types: [types.unknown, types.unknown] })).toBe('?');
  });
});

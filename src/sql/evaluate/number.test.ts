import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalText,
  divideAsPostgres,
  divideRounding,
  expandExponent,
  multiplyDecimals,
  numericKey,
  parseDecimal,
  rescale,
} from './number.js';

const decimal: fc.Arbitrary<Decimal> = fc.record({
  digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
  scale: fc.integer({ min: 0, max: 12 }),
});

/** As a whole number of 10^-40. */
const scaled = ({ digits, scale }: Decimal): bigint => digits * 10n ** BigInt(40 - scale);

describe('decimals', () => {
  it('are printed as they are read', () => {
    fc.assert(
      fc.property(decimal, (d) => {
        expect(parseDecimal(decimalText(d))).toEqual(d);
      }),
    );
  });

  it('add, subtract, multiply and compare as fractions do', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(scaled(addDecimals(a, b, 1n))).toBe(scaled(a) + scaled(b));
        expect(scaled(addDecimals(a, b, -1n))).toBe(scaled(a) - scaled(b));
        const product = multiplyDecimals(a, b);
        expect(product.digits * 10n ** BigInt(80 - product.scale)).toBe(scaled(a) * scaled(b));
        expect(Math.sign(compareDecimals(a, b))).toBe(
          scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0,
        );
      }),
    );
  });

  it('change their scale only without loss', () => {
    fc.assert(
      fc.property(decimal, fc.integer({ min: 0, max: 14 }), (d, to) => {
        const changed = rescale(d, to);
        if (changed === undefined) expect(scaled(d) % 10n ** BigInt(40 - to)).not.toBe(0n);
        else expect([scaled(changed), changed.scale]).toEqual([scaled(d), to]);
      }),
    );
  });

  it('have one key for all spellings of a number, and different keys for different numbers', () => {
    const key = (d: Decimal) => numericKey({ decimal: decimalText(d) });
    fc.assert(
      fc.property(decimal, decimal, fc.integer({ min: 0, max: 5 }), (a, b, more) => {
        expect(key(rescale(a, a.scale + more)!)).toBe(key(a));
        expect(key(a) === key(b)).toBe(scaled(a) === scaled(b));
      }),
    );
  });
});

describe('division', () => {
  it('is the nearest number of that scale, halves away from zero', () => {
    const divisor = decimal.filter(({ digits }) => digits !== 0n);
    fc.assert(
      fc.property(decimal, divisor, fc.integer({ min: 0, max: 20 }), (a, b, scale) => {
        const quotient = divideRounding(a, b, scale);
        // |a - q·b| ≤ |b| / 2 in units of the scale, and the quotient has the sign of the fraction.
        const [n, d] = [scaled(a) * 10n ** BigInt(scale), scaled(b)];
        const abs = (value: bigint) => (value < 0n ? -value : value);
        expect(2n * abs(n - quotient * d) <= abs(d)).toBe(true);
        if (2n * abs(n - quotient * d) === abs(d)) expect(abs(quotient * d) > abs(n)).toBe(true);
      }),
    );
  });

  // Answers of PostgreSQL 18.
  it.each([
    ['1', '3', '0.33333333333333333333'],
    ['10', '4', '2.5000000000000000'],
    ['100000', '7', '14285.714285714286'],
    ['1.00', '8', '0.12500000000000000000'],
    ['-2', '3', '-0.66666666666666666667'],
  ])('of %s by %s is %s in PostgreSQL', (a, b, expected) => {
    expect(decimalText(divideAsPostgres(parseDecimal(a)!, parseDecimal(b)!))).toBe(expected);
  });
});

it.each([
  ['1.5e3', '1500'],
  ['15e-1', '1.5'],
  ['-2.50e1', '-25.0'],
  ['1e0', '1'],
  ['1e999', undefined],
])('%s with its exponent written out is %s', (text, expected) => {
  const expanded = expandExponent(text);
  expect(expanded && decimalText(expanded)).toBe(expected);
});

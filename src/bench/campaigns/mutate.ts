/**
 * Inputs for fuzzing: a valid one, changed in a few places. Bytes are flipped, cut, doubled and moved; words that have
 * a meaning somewhere (numbers at the limits, names every object has, brackets, quotes, control characters) are put in.
 */
import type { Random } from '../../generate/index.js';

const words: readonly string[] = [
  ...['0', '-1', '1e400', '-0', '9007199254740993', '18446744073709551616', 'NaN', '1e-7', '0x1f'],
  ...['__proto__', 'constructor', 'toString', 'null', 'true', 'nil', '""', "''", '{}', '[]', '()'],
  ...['"', "'", '`', '\\', '/*', '*/', '--', ';', ',', ':', '|', '$$', '#{', '#_', '^', '@', '?'],
  ...['(', ')', '[', ']', '{', '}', '((((((((', '[[[[[[[[', '{"a":{"a":', '\n', '\r\n', '\t', '\u0000'],
  ...[
    '\u001b[2J',
    '\u202e',
    '\ufeff',
    '\u2028',
    '\ud83e\udd86',
    'ı',
    'İ',
    '\u0130',
    'ß',
    'SELECT',
    'NOT',
    'IN',
  ],
  ...['CASE WHEN', 'AS', 'FROM', 'DELIMITER //', 'T1:', '| T2:', '"format"', '"version"', ':ok', ':append'],
];

/** A changed copy of a sample; with `other`, parts of it are spliced in. */
export function mutate(sample: Buffer, random: Random, other: Buffer = sample): Buffer {
  let bytes: Buffer = Buffer.from(sample);
  const changes = 1 + random.below(4);
  for (let i = 0; i < changes; i++) bytes = change(bytes, random, other);
  return bytes.length > maxBytes ? bytes.subarray(0, maxBytes) : bytes;
}

const maxBytes = 64 * 1024;

function change(bytes: Buffer, random: Random, other: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + random.below(random.chance(0.2) ? 200 : 8));
  const spliced = (middle: Buffer, from = at, to = end) =>
    Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(bytes);
      if (flipped.length > 0) flipped[random.below(flipped.length)] = random.below(256);
      return flipped;
    }
    case 1:
      return spliced(Buffer.alloc(0));
    case 2:
      return bytes.subarray(0, at);
    case 3:
      return spliced(
        Buffer.concat(Array.from({ length: 1 + random.below(3) }, () => bytes.subarray(at, end))),
        at,
        at,
      );
    case 4:
      return spliced(Buffer.from(random.pick(words)), at, at);
    case 5:
      return spliced(Buffer.from(random.pick(words)));
    case 6: {
      const from = random.below(other.length + 1);
      return spliced(other.subarray(from, from + random.below(64)), at, at);
    }
    default:
      return swapNumber(bytes, random);
  }
}

/** Puts another number where one stands. */
function swapNumber(bytes: Buffer, random: Random): Buffer {
  const text = bytes.toString('latin1');
  const numbers = [...text.matchAll(/-?\d+/g)];
  if (numbers.length === 0) return bytes;
  const { index, 0: found } = random.pick(numbers);
  const number = random.pick([
    '0',
    '-1',
    '1',
    '2',
    '4294967296',
    '9007199254740993',
    String(random.below(1000)),
  ]);
  return Buffer.from(text.slice(0, index) + number + text.slice(index + found.length), 'latin1');
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readContent, story } from './import.case.js';

const name = fc.oneof(
  fc.nat(3),
  fc.nat(),
  fc.constantFrom(0, 999_999_999_999_999, '007', 'x', '-5', '1234567890123456789'),
);
const operations = fc.array(fc.tuple(fc.constantFrom('r', 'w'), name, name, fc.nat(2), fc.boolean()), {
  maxLength: 12,
});

async function read(text: string, format: 'plume' | 'awdit' | 'viper'): Promise<string[]> {
  const history = await readContent(text, { format });
  return history.kind === 'kv' ? story(history.history) : [];
}

/** The spelling that the scanners of bytes read, and one that only the general way does. */
const spellings = {
  plume: (ops: readonly (readonly [string, unknown, unknown, number, boolean])[], slow: boolean): string => {
    const txns = [0, 1, 2];
    return ops
      .map(([f, key, value, session, ends]) => {
        const line = `${f}(${slow ? ' ' : ''}${key},${value},${session},${txns[session]})\n`;
        if (ends) txns[session] = Math.max(...txns) + 1;
        return line;
      })
      .join('');
  },
  awdit: (ops: readonly (readonly [string, unknown, unknown, number, boolean])[], slow: boolean): string =>
    ops
      .map(([f, key, value, , ends]) => `${f}${slow ? '\t' : ' '}${key} ${value}\n${ends ? '-----\n' : ''}`)
      .join(''),
  viper: (ops: readonly (readonly [string, unknown, unknown, number, boolean])[], slow: boolean): string =>
    ops
      .map(([f, key, value]) => {
        const line = JSON.stringify({ value: [[f, key, value === 0 && f === 'r' ? null : value, true]] });
        return `${slow ? line.replace('value', '\\u0076alue') : line}\n`;
      })
      .join(''),
};

describe('lines', () => {
  it.each(['plume', 'awdit', 'viper'] as const)(
    'of %s read the same from bytes and the general way',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(operations, async (ops) => {
          const quick = await read(spellings[format](ops, false), format);
          expect(await read(spellings[format](ops, true), format)).toEqual(quick);
        }),
        { numRuns: 150, seed: 7 },
      );
    },
  );

  it('are read across the borders of blocks', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `w(${i % 7},${i + 1},${i % 3},${i})\r\n`).join(
      '',
    );
    const history = await readContent(lines);
    expect(history.kind === 'kv' && [history.history.txCount, history.history.opCount]).toEqual([
      100_000, 100_000,
    ]);
    await expect(readContent(`${lines}w(1)\n`)).rejects.toThrow('history:100001: expected r(key,value');
  });
});

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

describe('JSON', () => {
  const value = fc.oneof(fc.nat(9), fc.integer(), fc.constantFrom('a', 'ä', '', 'x y', 1.5, 2 ** 60));
  const micro = fc.oneof(
    fc.tuple(fc.constantFrom('append', 'w'), value, value),
    fc.tuple(fc.constant('r'), value, fc.oneof(fc.constant(null), value, fc.array(value, { maxLength: 4 }))),
  );
  const event = fc.record(
    {
      type: fc.constantFrom('invoke', 'ok', 'fail', 'info'),
      process: fc.nat(3),
      value: fc.array(micro, { maxLength: 3 }),
      f: fc.constant('txn'),
      time: fc.nat(),
      index: fc.nat(),
    },
    { requiredKeys: ['type', 'process', 'value'] },
  );

  it('of Elle reads the same from bytes and the general way', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(undefined, 1),
        async (events, indent) => {
          const text = JSON.stringify(events, null, indent);
          const slow = text.replaceAll('"type"', '"\\u0074ype"');
          const [quick, general] = [
            await readContent(text, { format: 'elle-json' }),
            await readContent(slow, { format: 'elle-json' }),
          ];
          expect(quick).toEqual(general);
        },
      ),
      { numRuns: 200, seed: 7 },
    );
  });

  it('of dbcop reads the same from bytes and the general way', async () => {
    const dbEvent = fc.oneof(
      fc.record({ Write: fc.record({ variable: value, version: value }) }),
      fc.record({ Read: fc.record({ variable: value, version: fc.option(value) }) }),
    );
    const sessions = fc.array(
      fc.array(fc.record({ events: fc.array(dbEvent, { maxLength: 3 }), committed: fc.boolean() }), {
        maxLength: 3,
      }),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(
        sessions,
        fc.boolean(),
        fc.constantFrom(undefined, 1),
        async (data, wrapped, indent) => {
          const text = JSON.stringify(wrapped ? { params: { id: 1 }, data, end: 'x' } : data, null, indent);
          const slow = text.replaceAll('"events"', '"\\u0065vents"');
          const [quick, general] = [
            await readContent(text, { format: 'dbcop-json' }),
            await readContent(slow, { format: 'dbcop-json' }),
          ];
          expect(quick).toEqual(general);
        },
      ),
      { numRuns: 200, seed: 7 },
    );
  });
});

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

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KvBuilder } from '../kv-builder.js';
import type { KvHistory } from '../kv-history.js';
import { microOps } from './edn.js';
import { EventScanner } from './edn-event.js';
import { EdnReader } from './edn-reader.js';
import { MicroOps } from './micro-ops.js';

const space = fc.constantFrom(' ', ' ', ' ', '  ', ', ', '\n');
const gap = fc.constantFrom('', '', '', ' ', ',');
const name = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40 }).map(String) },
  fc.constantFrom('-1', '1073741823', '1073741824', '999999999999999', ':k', '"text"'),
);
const list = fc.tuple(fc.array(name, { maxLength: 5 }), space, gap, gap);
const value = fc.oneof(
  name,
  fc.constant('nil'),
  list.map(([items, between, before, after]) => `[${before}${items.join(between)}${after}]`),
);
const operation = fc
  .tuple(fc.constantFrom('append', 'r', 'w'), name, name, value, space, gap)
  .map(
    ([kind, key, written, read, between, after]) =>
      `[:${kind}${between}${key}${between}${kind === 'r' ? read : written}${after}]`,
  );
const operations = fc
  .tuple(fc.array(operation, { maxLength: 5 }), gap)
  .map(([items, between]) => `[${items.join(between)}]`);

function historyOf(ops: MicroOps): KvHistory {
  const builder = new KvBuilder();
  builder.begin('session');
  ops.sendTo(builder, true);
  builder.end('committed');
  return builder.build();
}

it('operations in any spelling are read as the general reader reads them', () => {
  const ops = new MicroOps();
  const scanner = new EventScanner();
  fc.assert(
    fc.property(operations, (text) => {
      const line = Buffer.from(`{:type :ok, :f :txn, :process 1, :value ${text}} `);
      const wanted = new MicroOps();
      expect(microOps(new EdnReader(Buffer.from(`${text} `), 0, text.length + 1).read(), wanted)).toBe(
        undefined,
      );
      // What the scanner refuses is left to the general reader; it may not read it differently.
      if (scanner.scan(line, 0, line.length, ops) < 0) return;
      expect(ops.shape()).toBe(wanted.shape());
      expect(historyOf(ops)).toEqual(historyOf(wanted));
      expect(historyOf(ops.copy())).toEqual(historyOf(wanted));
    }),
    { numRuns: 2000 },
  );
});

it('Jepsen’s own spelling never needs the general reader', () => {
  const line = Buffer.from(
    '{:type :ok, :f :txn, :value [[:append 2 1] [:r 3 [1 2]] [:r 4 nil] [:w 5 6] [:r 7 8]], :process 0} ',
  );
  const ops = new MicroOps();
  expect(new EventScanner().scan(line, 0, line.length, ops)).toBe(line.length - 1);
  expect(ops.length).toBe(5);
});

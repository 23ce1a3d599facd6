import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyHistory } from './arbitrary.case.js';
import { ByteText } from './byte-text.js';
import type { Operation } from './history.js';
import { operationProblem, writeOperation } from './operation-line.js';
import { QuickLines } from './quick-line.js';

const ordinary: fc.Arbitrary<Operation> = fc
  .record({
    kind: fc.constantFrom('select' as const, 'update' as const, 'commit' as const),
    sql: fc.constantFrom('SELECT 1', '', "UPDATE t SET a = 'x'"),
    start: fc.nat(),
    took: fc.nat(),
    ends: fc.constantFrom(undefined, 'commit' as const, 'rollback' as const),
    columns: fc.constantFrom(undefined, [], ['id', 'v']),
    rows: fc.option(fc.array(fc.array(fc.oneof(fc.integer(), fc.constantFrom(null, true, false, 'a', '')))), {
      nil: undefined,
    }),
    matched: fc.option(fc.nat(), { nil: undefined }),
  })
  .map(({ kind, sql, start, took, ...rest }) => {
    const optional = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const op = {
      index: 3,
      session: 1,
      transaction: 7,
      kind,
      statement: [1, 2] as const,
      sql,
      start,
      end: start + took,
    };
    return { ...op, outcome: 'ok' as const, ...optional };
  });

function lineOf(op: Operation): Buffer {
  const text = new ByteText(8);
  writeOperation(text, op);
  return text.take();
}

it('ordinary lines are read the quick way, and right', () => {
  const quick = new QuickLines(2);
  fc.assert(
    fc.property(ordinary, (op) => {
      const bytes = lineOf(op);
      expect(quick.read(bytes, 0, 3)).toEqual(op);
      expect(quick.next).toBe(bytes.length);
    }),
  );
});

it('a damaged line is never read otherwise than the general way reads it', () => {
  const quick = new QuickLines(2);
  const odd = anyHistory.filter((each) => each.operations.length > 0).map((each) => each.operations[0]!);
  const damage = fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'0-1.e",[]{}:\\ \t\u00e9a'), fc.boolean());
  fc.assert(
    fc.property(fc.oneof(ordinary, odd), damage, (op, [where, width, text, cut]) => {
      const line = lineOf(op).subarray(0, -1);
      const at = where % line.length;
      const bytes = cut
        ? line.subarray(0, at)
        : Buffer.concat([line.subarray(0, at), Buffer.from(text), line.subarray(at + width)]);
      const read = quick.read(bytes, 0, 3);
      if (read === undefined) return;
      const general: unknown = JSON.parse(bytes.toString());
      expect(operationProblem(general, 3, 2)).toBeUndefined();
      expect(read).toEqual(general);
    }),
    { numRuns: 5000 },
  );
});

it('numbers are written as JSON writes them', () => {
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, 999_999_999, 1e9, 1e18, 2 ** 53 - 1),
  );
  fc.assert(
    fc.property(number, (each) => {
      const text = new ByteText(1);
      text.number(each);
      expect(text.take().toString()).toBe(JSON.stringify(each));
    }),
  );
});

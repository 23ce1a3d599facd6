/** Random histories for properties: every kind of value, odd text, every optional field present or absent. */
import fc from 'fast-check';
import { levels } from '../contracts/index.js';
import type { Value } from '../sql/index.js';
import type { History, Operation } from './history.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('a"b\\c', 'x\ny\r\u2028', '\ud800'),
);
const count = fc.oneof(fc.nat(20), fc.maxSafeNat());

export const anyValue: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  text,
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 80n }).map((big) => ({ int: String(-big) })),
  fc.constantFrom<Value>(
    { decimal: '-1.10' },
    { decimal: '1e-7' },
    { double: 'NaN' },
    { double: '-Infinity' },
  ),
  fc.constantFrom<Value>({ bytes: '' }, { bytes: '00ff' }, { date: '2024-02-29' }, { time: '13:45:00.5' }),
  text.map((other) => ({ other })),
  fc.constant({ timestamp: '2024-02-29 13:45:00+00' }),
);

const anyAccess = fc.record(
  {
    mode: fc.constantFrom('read' as const, 'write' as const, 'append' as const, 'delete' as const),
    object: text,
    value: fc.oneof(
      anyValue,
      fc.array(anyValue, { maxLength: 3 }),
      fc.dictionary(fc.string(), anyValue, { maxKeys: 3 }),
    ),
  },
  { requiredKeys: ['mode', 'object'] },
);

const optional = {
  statement: fc.tuple(fc.nat(3), fc.nat(9)),
  sql: text,
  error: fc.record(
    { class: fc.constantFrom('deadlock' as const, 'other' as const), code: text, message: text },
    { requiredKeys: ['class', 'message'] },
  ),
  ends: fc.constantFrom('commit' as const, 'rollback' as const, 'unknown' as const),
  blocked: fc.boolean(),
  columns: fc.array(text, { maxLength: 3 }),
  rows: fc.array(fc.array(anyValue, { maxLength: 3 }), { maxLength: 3 }),
  matched: count,
  changed: count,
  accesses: fc.array(anyAccess, { maxLength: 2 }),
};

function anyOperation(sessionCount: number): fc.Arbitrary<Operation> {
  return fc
    .tuple(
      fc.record({
        session: fc.nat(sessionCount - 1),
        transaction: count,
        kind: fc.constantFrom('begin' as const, 'select' as const, 'rollback-to' as const, 'append' as const),
        times: fc.tuple(count, count, fc.boolean()),
        outcome: fc.constantFrom('ok' as const, 'error' as const, 'unknown' as const),
      }),
      fc.record(optional, { requiredKeys: [] }),
    )
    .map(([{ times, ...fixed }, rest]) => ({
      index: 0,
      ...fixed,
      start: Math.min(times[0], times[1]),
      end: times[2] ? Math.max(times[0], times[1]) : null,
      ...rest,
    }));
}

/** A valid history. */
export const anyHistory: fc.Arbitrary<History> = fc
  .uniqueArray(text, { minLength: 1, maxLength: 3 })
  .chain((sessions) =>
    fc.record({
      header: fc
        .record(
          {
            target: fc.record({
              name: text,
              version: text,
              settings: fc.dictionary(fc.string(), text, { maxKeys: 2 }),
            }),
            level: fc.constantFrom(...levels),
            sessionLevels: fc.constant({ '0': 'snapshot' as const }),
            dialect: fc.constantFrom('mysql' as const, 'duckdb' as const),
            setup: fc.array(text, { maxLength: 2 }),
            case: text,
            replay: text,
            seed: text,
          },
          { requiredKeys: [] },
        )
        .map((rest) => ({ sessions, ...rest })),
      operations: fc.array(anyOperation(sessions.length), { maxLength: 12 }),
    }),
  )
  .map(({ header, operations }) => {
    // A transaction belongs to one session.
    const owners = new Map(operations.map(({ transaction, session }) => [transaction, session]));
    return {
      header,
      operations: operations.map((op, index) => ({ ...op, index, session: owners.get(op.transaction)! })),
    };
  });

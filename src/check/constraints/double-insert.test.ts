/** Keys that are taken and freed again and again: what is found must be what a look at every pair and every write finds, at a price that grows with the history. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { catalogOf, type Interval } from '../../rows/index.js';
import { classifyStatement, type EvaluatedRow } from '../../sql/index.js';
import { judgeInsertedKeys } from './double-insert.js';
import { mayFree } from './freed-keys.js';
import { RunFacts } from './run-facts.js';
import { SpanIndex } from './span-index.js';

const contract = findContract('postgres:read-committed')!;

interface Sent {
  readonly sql: string;
  readonly start: number;
  readonly length: number;
  readonly transaction: number;
  readonly failed?: boolean;
}

/** Every transaction of several statements is left open: its writes count until the end of time. */
function historyOf(setup: readonly string[], sent: readonly Sent[]): History {
  const last = new Map(sent.map(({ transaction }, i) => [transaction, i]));
  const operations = sent.map(
    ({ sql, start, length, transaction, failed }, index): Operation =>
      ({
        ...{ index, session: transaction, transaction, sql, start, end: start + length },
        kind: classifyStatement(sql, 'postgres').kind,
        outcome: failed === true ? 'error' : 'ok',
        ...(failed === true && { error: { class: 'duplicate-key', message: 'no' } }),
        ...(last.get(transaction) === index && { ends: failed === true ? 'rollback' : 'commit' }),
      }) as Operation,
  );
  const sessions = sent.map((_, i) => `T${i}`);
  return { header: { sessions, dialect: 'postgres', setup: [...setup] }, operations };
}

/** Pairs of operations that inserted one key, the earlier one −1 where the row was there from the beginning. */
function pairsFound(history: History): [number, number][] {
  return judgeInsertedKeys(new RunFacts(history, contract, catalogOf(history))).map(({ operations }) => [
    operations[0]!.index,
    operations[1]?.index ?? -1,
  ]);
}

/** The definition: all pairs, and all writes for each. */
function slowPairs(history: History): [number, number][] {
  const facts = new RunFacts(history, contract, catalogOf(history));
  const always = { start: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
  const dirty = new Set(
    history.operations.filter(({ outcome }) => outcome !== 'ok').map(({ transaction }) => transaction),
  );
  return facts.declared.keys.flatMap((key) => {
    const claims: { row: EvaluatedRow; span: Interval; index: number }[] = [
      ...(key.table.initial ?? []).map((row) => ({ row, span: always, index: -1 })),
      ...facts
        .insertsOf(key.table)
        .filter(({ operation }) => !dirty.has(operation.transaction))
        .flatMap(({ rows, span, operation }) => rows.map((row) => ({ row, span, index: operation.index }))),
    ];
    const frees = (row: EvaluatedRow, { start, end }: Interval) =>
      facts.writesOf(key.table).some((write) => {
        const named = mayFree(facts, key, write);
        if (named === undefined || write.span.start > end || write.span.end < start) return false;
        return [...named].every(
          ([at, values]) => !Number.isSafeInteger(row[at]) || values.includes(row[at] as number),
        );
      });
    return claims.flatMap((claim, i): [number, number][] => {
      if (claim.index < 0) return [];
      const text = (row: EvaluatedRow) => JSON.stringify(key.columns.map((at) => row[at]));
      const other = claims.slice(0, i).find((known) => {
        const start = Math.min(known.span.start, claim.span.start);
        const span = { start, end: Math.max(known.span.end, claim.span.end) };
        return text(known.row) === text(claim.row) && !frees(known.row, span) && !frees(claim.row, span);
      });
      return other === undefined ? [] : [[claim.index, other.index]];
    });
  });
}

const number = fc.integer({ min: 1, max: 4 });
const where = fc.oneof(
  number.map((n) => `id = ${n}`),
  number.map((n) => `rid = ${n}`),
  fc.tuple(number, number).map(([a, b]) => `id = ${a} AND rid = ${b}`),
  fc.tuple(number, number).map(([a, b]) => `id IN (${a}, ${b}, ${a})`),
  fc.constant(`rid IN (1, 2, 3, 4, 5, 6, 7, 8, 9) AND id IN (2, 3, 4, 5, 6, 7, 8, 9)`),
  number.map((n) => `id > ${n}`),
  number.map((n) => `id = ${n} AND id = 2`),
);
const sql = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(number, number).map(([rid, id]) => `INSERT INTO t VALUES (${rid}, ${id})`),
  },
  { weight: 1, arbitrary: number.map((id) => `INSERT INTO t VALUES (NULL, ${id})`) },
  { weight: 3, arbitrary: where.map((condition) => `DELETE FROM t WHERE ${condition}`) },
  { weight: 1, arbitrary: where.map((condition) => `UPDATE t SET id = 9 WHERE ${condition}`) },
  { weight: 1, arbitrary: where.map((condition) => `UPDATE t SET rid = 9 WHERE ${condition}`) },
  { weight: 1, arbitrary: fc.constant('INSERT INTO t VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET id = 7') },
);
const sent = fc.record({
  sql,
  start: fc.integer({ min: 0, max: 60 }),
  length: fc.integer({ min: 0, max: 12 }),
  transaction: fc.integer({ min: 0, max: 15 }),
  failed: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

describe('keys that are inserted again', () => {
  it.each([
    ['ordered', true],
    ['unordered', false],
  ])('are found as by a look at every pair and every write, in %s answers', (_, ordered) => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(sent, { minLength: 2, maxLength: 24 }), (drawn) => {
        if (ordered) drawn.sort((a, b) => a.start + a.length - b.start - b.length);
        const setup = ['CREATE TABLE t (rid INT, id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1, 1), (2, 2)'];
        const history = historyOf(setup, drawn);
        const pairs = pairsFound(history);
        found += pairs.length;
        expect(pairs).toEqual(slowPairs(history));
      }),
      { numRuns: 500, seed: 1 },
    );
    expect(found).toBeGreaterThan(200);
  });

  it.each([
    ['its key', (_: number) => 'DELETE FROM t WHERE id = 3'],
    ['its identity', (rid: number) => `DELETE FROM t WHERE rid = ${rid}`],
    ['nothing', (_: number) => 'DELETE FROM t'],
  ])(
    'cost no more where one key is taken and freed again and again by statements that name %s',
    (_, freeing) => {
      const questions = (count: number): number => {
        const pieces = Array.from({ length: count }, (_unused, i) => [
          `INSERT INTO t VALUES (${i}, 3)`,
          freeing(i),
        ]);
        const history = historyOf(
          ['CREATE TABLE t (rid INT, id INT PRIMARY KEY)'],
          pieces.flat().map((text, i) => ({ sql: text, start: 10 * i, length: 5, transaction: i })),
        );
        const spy = vi.spyOn(SpanIndex.prototype, 'meets');
        try {
          expect(pairsFound(history)).toEqual([]);
          return spy.mock.calls.length;
        } finally {
          spy.mockRestore();
        }
      };
      const [few, many] = [questions(100), questions(400)];
      expect(few).toBeGreaterThan(90);
      expect(many).toBeLessThan(5 * few);
    },
  );
});

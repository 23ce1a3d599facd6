/** Windows of a history against a slow look at all of its operations. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { kv } from '../../histories/index.js';
import { ColumnsBuilder, type HistoryColumns } from './history-columns.js';
import { maskOf, nextOperation, tileOf } from './history-window.js';
import { RowNames } from './named-rows.js';
import { columnsOf, sqlColumns } from './read-columns.js';

interface Simple {
  readonly session: number;
  readonly transaction: number;
  readonly start: number;
  readonly length: number;
  readonly failed: boolean;
  readonly object: string;
}

const simple = fc.record({
  session: fc.nat(39),
  transaction: fc.nat(9),
  start: fc.nat(1000),
  length: fc.oneof(fc.nat(20), fc.nat(1000)),
  failed: fc.boolean(),
  object: fc.constantFrom('t/1', 't/2', 'u/1'),
});

function columnsFrom(operations: readonly Simple[]): HistoryColumns {
  const builder = new ColumnsBuilder(Array.from({ length: 40 }, (_, i) => `S${i}`));
  for (const { session, transaction, start, length, failed, object } of operations)
    builder.add({
      ...{ session, transaction, start },
      kind: 'select',
      flags: failed ? 1 : 0,
      end: start + length,
      statement: `SELECT ${object}`,
      result: '',
      objects: [object],
    });
  return builder.build({
    timed: true,
    transactionCount: 10,
    transactionName: (tx) => `T${tx}`,
    notes: [],
  });
}

it('a tile lists the operations that reach into it', () => {
  fc.assert(
    fc.property(
      fc.array(simple, { minLength: 1, maxLength: 60 }),
      fc.nat(6),
      fc.nat(63),
      fc.nat(1),
      (operations, zoom, at, lanes) => {
        const columns = columnsFrom(operations);
        const { from, to } = columns.span;
        const width = (to - from) / 2 ** zoom;
        const tile = at % 2 ** zoom;
        const [left, right] = [from + tile * width, from + (tile + 1) * width];
        const wanted = operations.flatMap(({ session, start, length }, i) =>
          Math.floor(session / 32) === lanes && start <= right && start + length >= left ? [i] : [],
        );
        const drawn = tileOf(columns, { zoom, tile, lanes });
        if (!('operations' in drawn)) throw new Error('few operations are listed');
        expect(drawn.operations.map(([index]) => index).sort((a, b) => a - b)).toEqual(wanted);
      },
    ),
  );
});

it('a tile with many operations counts them for each session and slice', () => {
  const operations = Array.from({ length: 5000 }, (_, i) => ({
    session: i % 3,
    transaction: 0,
    start: i,
    length: i === 0 ? 5000 : 0,
    failed: i === 4000,
    object: 't/1',
  }));
  const tile = tileOf(columnsFrom(operations), { zoom: 0, tile: 0, lanes: 0 });
  if (!('bins' in tile)) throw new Error('many operations are counted');
  const counts = Array.from(tile.bins.subarray(0, 256), (value) => Math.round(2 ** (value / 16) - 1));
  // The operation that lasts for all of it, and six or seven others in each slice; shades round.
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(7);
  expect(Math.max(...counts)).toBeLessThanOrEqual(9);
  expect(tile.failed.indexOf(1)).toBe(256 + Math.floor((4000 / 5000) * 256));
  expect(tile.bins.subarray(3 * 256).every((value) => value === 0)).toBe(true);
});

it('filters and steps agree with a look at everything', () => {
  fc.assert(
    fc.property(fc.array(simple, { minLength: 1, maxLength: 40 }), fc.nat(39), (operations, session) => {
      const columns = columnsFrom(operations);
      const filters = [
        [{ session }, (each: Simple) => each.session === session],
        [{ transaction: 'T3' }, (each: Simple) => each.transaction === 3],
        [{ object: 't/2' }, (each: Simple) => each.object === 't/2'],
        [{ text: 'U/1' }, (each: Simple) => each.object === 'u/1'],
        [{ failed: true, object: 't/1' }, (each: Simple) => each.failed && each.object === 't/1'],
      ] as const;
      for (const [filter, fits] of filters) {
        const mask = maskOf(columns, filter)!;
        expect(Array.from(mask)).toEqual(operations.map((each) => (fits(each) ? 1 : 0)));
        const visited: number[] = [];
        for (
          let at = nextOperation(columns, { from: undefined, backwards: false, mask });
          at !== undefined;
          at = nextOperation(columns, { from: at, backwards: false, mask })
        )
          visited.push(at);
        const byStart = operations.flatMap((each, i) => (fits(each) ? [i] : []));
        byStart.sort((a, b) => operations[a]!.start - operations[b]!.start || a - b);
        expect(visited).toEqual(byStart);
        const last = nextOperation(columns, { from: undefined, backwards: true, mask });
        expect(last).toEqual(byStart.at(-1));
      }
      expect(maskOf(columns, {})).toBeUndefined();
    }),
  );
});

it('names rows by what a statement and its answer say, or by what was recorded', () => {
  const common = { index: 0, session: 0, transaction: 0, start: 0, end: 1, outcome: 'ok' } as const;
  const named = (kind: 'select' | 'insert' | 'update', sql: string, more: object = {}) =>
    new RowNames().of({ ...common, kind, sql, ...more });
  expect(named('update', 'UPDATE "t" SET v = 3 WHERE id = 7')).toEqual(['t', 't/7']);
  expect(named('select', 'SELECT * FROM t WHERE rid IN (1, 2)')).toEqual(['t', 't/1', 't/2']);
  expect(named('insert', "INSERT INTO t VALUES (4, 'x'), (5, 'y')")).toEqual(['t', 't/4', 't/5']);
  expect(named('select', 'SELECT v, id FROM a JOIN b', { columns: ['v', 'id'], rows: [[9, 3]] })).toEqual(
    expect.arrayContaining(['a', 'b', 'a/3']),
  );
  expect(new RowNames().of({ ...common, kind: 'select', accesses: [{ mode: 'read', object: 'x' }] })).toEqual(
    ['x'],
  );
  const all = named('select', 'SELECT * FROM t', {
    columns: ['id'],
    rows: Array.from({ length: 10_000 }, (_, i) => [i]),
  });
  expect(all.length).toBeLessThan(50);
});

it('a history of SQL keeps its names, fates and open ends', () => {
  const columns = sqlColumns({
    header: { sessions: ['A', 'B'] },
    operations: [
      { index: 0, session: 0, transaction: 5, kind: 'begin', sql: 'BEGIN', start: 0, end: 1, outcome: 'ok' },
      {
        index: 1,
        session: 1,
        transaction: 9,
        kind: 'select',
        sql: 'SELECT 1',
        start: 2,
        end: null,
        outcome: 'unknown',
      },
      {
        index: 2,
        session: 0,
        transaction: 5,
        kind: 'commit',
        sql: 'COMMIT',
        start: 3,
        end: 8,
        outcome: 'ok',
        ends: 'commit',
      },
      {
        index: 3,
        session: 0,
        transaction: 7,
        kind: 'select',
        sql: 'SELECT 2',
        start: 9,
        end: 10,
        outcome: 'ok',
      },
    ],
  });
  expect(Array.from(columns.transaction, columns.transactionName)).toEqual(['A', 'B', 'A', 'A#2']);
  expect(columns.end[1]).toBe(10);
  expect(columns.flags[2]).toBe(4);
  expect(columns.statement(3)).toBe('SELECT 2');
});

it('a history of keys and values has the numbers that its findings use', () => {
  const history = kv('T1: wx1 ry_ | T2: rx1');
  const columns = columnsOf({ kind: 'kv', history, format: 'elle-json' });
  expect(columns.count).toBe(history.opCount);
  expect(columns.statement(0)).toContain('w(x, 1)');
  expect(columns.objectNames).toEqual(['x', 'y']);
  expect(columns.timed).toBe(history.txStart !== undefined);
});

/**
 * The checks of declared keys against two slow twins.
 *
 * 1. A small store that is obviously right: rows have hidden numbers, reads see a snapshot and the transaction's own writes,
 *    uniqueness is checked against current rows, as engines do. Whatever it answers, nothing is found.
 * 2. For autocommitted statements: every order that the intervals allow is tried. Whatever is found, no order explains;
 *    and where there is nothing but INSERTs, everything that no order explains is found.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { classifyStatement } from '../../sql/index.js';
import { brokenConstraints } from './constraint-oracle.js';

const setup = ['CREATE TABLE t (rid INT, id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1, 1)'];
const runs = Number(process.env.ISOLDE_RUNS ?? 300);
const seed = Number(process.env.ISOLDE_SEED ?? 1);

type Act =
  | { readonly type: 'begin' | 'commit' | 'rollback' | 'read' }
  | { readonly type: 'insert'; readonly key: number }
  | { readonly type: 'delete'; readonly key: number }
  | { readonly type: 'move'; readonly key: number; readonly to: number };

const key = fc.integer({ min: 1, max: 3 });
const write: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('insert' as const), key }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('move' as const), key, to: key }) },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: write },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('begin', 'commit', 'rollback', 'read', 'read') }),
  },
) as fc.Arbitrary<Act>;

function sqlOf(action: Act, rid: number): string {
  switch (action.type) {
    case 'insert':
      return `INSERT INTO t VALUES (${rid}, ${action.key})`;
    case 'delete':
      return `DELETE FROM t WHERE id = ${action.key}`;
    case 'move':
      return `UPDATE t SET id = ${action.to} WHERE id = ${action.key}`;
    case 'read':
      return 'SELECT rid, id FROM t';
    default:
      return action.type.toUpperCase();
  }
}

/** A snapshot that shows a deleted row beside the transaction's own of the same key. */
const oldBesideOwn: readonly { session: number; act: Act; widen: number }[] = [
  { session: 0, act: { type: 'begin' }, widen: 0 },
  { session: 0, act: { type: 'read' }, widen: 3 },
  { session: 1, act: { type: 'delete', key: 1 }, widen: 5 },
  { session: 0, act: { type: 'insert', key: 1 }, widen: 5 },
  { session: 0, act: { type: 'read' }, widen: 5 },
];

interface Tx {
  readonly number: number;
  readonly snapshot: ReadonlyMap<number, number> | undefined;
  /** Rows it wrote, by their hidden numbers; null: deleted. */
  readonly own: Map<number, number | null>;
}

/** The store; a statement that would wait or conflict fails and rolls its transaction back. */
function run(program: readonly { session: number; act: Act; widen: number }[], snapshots: boolean): History {
  let committed = new Map([[1, 1]]);
  const changed = new Map<number, number>();
  const open = new Map<number, Tx & { readonly since: number }>();
  const operations: Operation[] = [];
  let transactions = 0;
  let rid = 1;
  for (const [i, { session, act: action, widen }] of program.entries()) {
    if ((action.type === 'begin') === open.has(session) && action.type === 'begin') continue;
    if ((action.type === 'commit' || action.type === 'rollback') && !open.has(session)) continue;
    const known = open.get(session);
    const tx = known ?? {
      number: transactions++,
      snapshot: snapshots ? new Map(committed) : undefined,
      own: new Map<number, number | null>(),
      since: i,
    };
    if (action.type === 'begin') open.set(session, tx);
    const sees = () => {
      const view = new Map<number, number | null>(tx.snapshot ?? committed);
      for (const [row, value] of tx.own) view.set(row, value);
      return [...view].filter((entry): entry is [number, number] => entry[1] !== null);
    };
    const others = [...open.values()].filter((each) => each !== tx);
    const taken = (wanted: number, but: number) =>
      [...committed].some(([row, value]) => value === wanted && row !== but && !tx.own.has(row)) ||
      [...tx.own].some(([row, value]) => value === wanted && row !== but) ||
      others.some((other) =>
        [...other.own].some(([row, value]) => value === wanted || committed.get(row) === wanted),
      );
    let failed = false;
    let rows: [number, number][] | undefined;
    if (action.type === 'read') rows = sees();
    else if (action.type === 'insert') {
      rid++;
      if (taken(action.key, rid)) failed = true;
      else tx.own.set(rid, action.key);
    } else if (action.type === 'delete' || action.type === 'move') {
      for (const [row] of sees().filter(([, value]) => value === action.key)) {
        const late = snapshots && (changed.get(row) ?? -1) > tx.since;
        if (late || others.some((other) => other.own.has(row))) failed = true;
        else if (action.type === 'delete') tx.own.set(row, null);
        else if (taken(action.to, row)) failed = true;
        else tx.own.set(row, action.to);
      }
    }
    const commits = !failed && (action.type === 'commit' || (known === undefined && action.type !== 'begin'));
    if (commits)
      for (const [row, value] of tx.own) {
        committed = new Map(committed);
        changed.set(row, i);
        if (value === null) committed.delete(row);
        else committed.set(row, value);
      }
    const ends = commits ? 'commit' : failed || action.type === 'rollback' ? 'rollback' : undefined;
    if (ends !== undefined) open.delete(session);
    const sql = sqlOf(action, rid);
    const earlier = operations.findLast((each) => each.session === session);
    operations.push({
      index: operations.length,
      session,
      transaction: tx.number,
      kind: classifyStatement(sql, 'postgres').kind,
      sql,
      start: Math.max((earlier?.end ?? -1) + 1, i * 10 - widen),
      end: i * 10 + 1,
      outcome: failed ? 'error' : 'ok',
      ...(failed && { error: { class: 'duplicate-key', message: 'no' } }),
      ...(ends !== undefined && { ends }),
      ...(rows !== undefined && { rows }),
    } as Operation);
  }
  return { header: { sessions: ['T1', 'T2', 'T3'], dialect: 'postgres', setup }, operations };
}

describe('checks of declared keys', () => {
  it.each([
    ['postgres:repeatable-read', true],
    ['postgres:read-committed', false],
  ])('find nothing in what a right store answers under %s', (id, snapshots) => {
    const step = fc.record({
      session: fc.integer({ min: 0, max: 2 }),
      act,
      widen: fc.integer({ min: 0, max: 35 }),
    });
    let repeated = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), fc.boolean(), (drawn, old) => {
        const history = run(old ? [...oldBesideOwn, ...drawn] : drawn, snapshots);
        if (history.operations.some(({ rows = [] }) => new Set(rows.map((row) => row[1])).size < rows.length))
          repeated++;
        expect(brokenConstraints(history, findContract(id)!)).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
    // The hard case occurs: a snapshot that shows an old row beside the transaction's own.
    if (snapshots) expect(repeated).toBeGreaterThan(0);
  });

  const piece = fc.record({
    act: write,
    start: fc.integer({ min: 0, max: 30 }),
    length: fc.integer({ min: 1, max: 20 }),
  });

  it('find in autocommitted statements only what no order explains, and among INSERTs all of it', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), (pieces) => {
        const operations = pieces.map(({ act: action, start, length }, index): Operation => {
          const sql = sqlOf(action, 10 + index);
          const kind = classifyStatement(sql, 'postgres').kind;
          const end = start + length;
          return {
            index,
            session: index,
            transaction: index,
            kind,
            sql,
            start,
            end,
            outcome: 'ok',
            ends: 'commit',
          } as Operation;
        });
        const sessions = pieces.map((_, i) => `T${i}`);
        const wrong = brokenConstraints(
          { header: { sessions, dialect: 'postgres', setup }, operations },
          findContract('postgres:read-committed')!,
        );
        const explained = someOrder(pieces, new Set([1]), new Set());
        if (wrong.length > 0) expect(explained).toBe(false);
        if (pieces.every(({ act: { type } }) => type === 'insert')) expect(wrong.length > 0).toBe(!explained);
      }),
      { numRuns: 3 * runs, seed },
    );
  });
});

interface Piece {
  readonly act: Act;
  readonly start: number;
  readonly length: number;
}

/** Whether some order within the intervals lets every statement succeed. */
function someOrder(pieces: readonly Piece[], keys: ReadonlySet<number>, done: ReadonlySet<Piece>): boolean {
  if (done.size === pieces.length) return true;
  const left = pieces.filter((each) => !done.has(each));
  return left.some((next) => {
    if (left.some((other) => other.start + other.length < next.start)) return false;
    const after = effect(next.act, keys);
    return after !== undefined && someOrder(pieces, after, new Set([...done, next]));
  });
}

function effect(action: Act, keys: ReadonlySet<number>): ReadonlySet<number> | undefined {
  if (action.type === 'insert') return keys.has(action.key) ? undefined : new Set([...keys, action.key]);
  if (action.type !== 'delete' && action.type !== 'move') return keys;
  if (!keys.has(action.key)) return keys;
  const rest = [...keys].filter((each) => each !== action.key);
  if (action.type === 'delete') return new Set(rest);
  return rest.includes(action.to) ? undefined : new Set([...rest, action.to]);
}

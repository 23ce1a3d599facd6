/** Random programs for the small database of `simulate.case.ts`, and the contracts it is run under. */
import fc from 'fast-check';
import { findContract } from '../../contracts/index.js';
import type { Action } from './simulate.case.js';

/** One contract for each pivot, and both ways to meet conflicts. */
export const simulatedContracts = [
  'turso:snapshot+mvcc', // begin, fails
  'postgres:repeatable-read', // first statement, waits
  'duckdb:snapshot', // first statement, fails
  'mariadb:repeatable-read', // first read, writes see current rows
  'mariadb:repeatable-read+reported', // the same, own deletes hide, subqueries see the snapshot
  'postgres:read-committed', // statement
  'mariadb:read-uncommitted', // uncommitted
].map((id) => findContract(id)!);

const value = fc.integer({ min: 8, max: 32 });
export const statement: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('read' as const), least: fc.constantFrom(0, 15, 25) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('update' as const),
      least: fc.constantFrom(0, 15, 25),
      to: fc.oneof(value, fc.constant('more' as const)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('update-one' as const),
      id: fc.integer({ min: 1, max: 4 }),
      to: fc.oneof(value, fc.constant('more' as const)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('delete' as const), id: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('delete-all' as const), least: fc.constantFrom(0, 15, 25) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('update-if' as const),
      id: fc.integer({ min: 1, max: 3 }),
      most: fc.constantFrom(0, 15, 25),
      to: value,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('insert' as const), id: fc.constant(0), v: value }) },
);

const transaction: fc.Arbitrary<Action[]> = fc.oneof(
  { weight: 1, arbitrary: statement.map((each) => [each]) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.array(statement, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('commit', 'commit', 'commit', 'rollback'),
      )
      .map(([body, end]): Action[] => [{ type: 'begin' }, ...body, { type: end as 'commit' }]),
  },
);

export function programs(maxTransactions: number): fc.Arbitrary<Action[][]> {
  return fc
    .array(fc.array(transaction, { minLength: 1, maxLength: maxTransactions }), {
      minLength: 2,
      maxLength: 3,
    })
    .map((sessions) => {
      let id = 10;
      // Inserted rows are new ones: who may insert an existing key is not what is tested here.
      return sessions.map((txs) =>
        txs.flat().map((each) => (each.type === 'insert' ? { ...each, id: id++ } : each)),
      );
    });
}

export const choices = fc.infiniteStream(fc.nat());

export function chooser(stream: Iterator<number>): (below: number) => number {
  return (below) => (below <= 1 ? 0 : stream.next().value % below);
}

import { expect, it } from 'vitest';
import type { History, Operation } from '../histories/index.js';
import { compareRuns } from './compared.js';

function run(...operations: readonly Partial<Operation>[]): History {
  const common = { session: 0, transaction: 0, kind: 'select', start: 0, end: 1, outcome: 'ok' } as const;
  return {
    header: { sessions: ['A', 'B'] },
    operations: operations.map((operation, index) => ({ index, ...common, ...operation })),
  };
}

const read = (step: number, ...rows: readonly number[]): Partial<Operation> => ({
  statement: [0, step],
  sql: 'SELECT v FROM t',
  columns: ['v'],
  rows: rows.map((value) => [value]),
});

it('marks answers that differ, whatever the order of rows and the words of errors', () => {
  const failed = (message: string): Partial<Operation> => ({
    statement: [0, 2],
    sql: 'UPDATE t SET v = 1',
    outcome: 'error',
    error: { class: 'serialization', message },
  });
  const compared = compareRuns([
    run(read(0, 1, 2), read(1, 1), failed('could not serialize'), {
      statement: [1, 0],
      session: 1,
      sql: 'B',
    }),
    run(read(0, 2, 1), read(1, 3), failed('conflict')),
  ]);
  expect(compared.map(({ differs }) => differs)).toEqual([false, true, false, true]);
  expect(compared[1]!.answers.map((answer) => answer?.text)).toEqual(['→ (1)', '→ (3)']);
  expect(compared[3]).toMatchObject({ session: 'B', sql: 'B', answers: [expect.anything(), undefined] });
});

it('compares statements by their place in the case, not by when they were answered', () => {
  const compared = compareRuns([run(read(0, 1), read(1, 2)), run(read(1, 2), read(0, 1))]);
  expect(compared.map(({ differs }) => differs)).toEqual([false, false]);
});

it('has nothing to compare in one run', () => {
  expect(compareRuns([run(read(0, 1))])).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import type { History, Operation } from './history.js';
import { transactionNames } from './transaction-names.js';

const history = (sessions: readonly string[], ...run: readonly (readonly [number, number])[]): History => ({
  header: { sessions },
  operations: run.map(
    ([session, transaction], index): Operation => ({
      ...{ index, session, transaction, kind: 'select', start: index, end: index, outcome: 'ok' },
    }),
  ),
});
const names = (...given: Parameters<typeof history>) => [...transactionNames(history(...given)).values()];

describe('names of transactions', () => {
  it('are those of the sessions, with a number from the second on', () => {
    expect(names(['T1', 'T2'], [1, 0], [0, 1], [1, 0], [1, 2], [1, 3])).toEqual(['T2', 'T1', 'T2#2', 'T2#3']);
  });

  it('are never given twice', () => {
    expect(names(['T1', 'T1#2'], [0, 0], [0, 1], [1, 2])).toEqual(['T1', "T1#2'", 'T1#2']);
  });

  it('exist for sessions the header does not name', () => {
    expect(names([], [3, 0])).toEqual(['session 4']);
  });
});

import { describe, expect, it } from 'vitest';
import type { History, Operation } from '../histories/index.js';
import { operationOf, sameAnswers } from './evidence.js';

/** A history of this many statements, and how many of its operations have been looked at. */
function looked(count: number): { history: History; looks: () => number } {
  let looks = 0;
  const operations = Array.from({ length: count }, (_, index): Operation => {
    const statement = [index % 4, Math.floor(index / 4)] as const;
    return {
      ...{ index, session: index % 4, transaction: index, kind: 'select', outcome: 'ok' },
      ...{ start: index, end: index, ends: 'commit', sql: 'SELECT 1' },
      get statement() {
        looks++;
        return statement;
      },
    } as Operation;
  });
  const history = { header: { sessions: ['a', 'b', 'c', 'd'] }, operations };
  return { history, looks: () => looks };
}

const nothingNamed = { operations: [], transactions: [] } as never;

describe('the operation of a statement', () => {
  it('is the first that ran it', () => {
    const { history } = looked(9);
    const again = { ...history, operations: [...history.operations, history.operations[3]!] };
    expect(operationOf(again, [3, 0])).toBe(history.operations[3]);
    expect(operationOf(again, [0, 2])?.index).toBe(8);
    expect(operationOf(again, [2, 2])).toBeUndefined();
  });

  it('is found without a look at all operations each time', () => {
    const looksFor = (count: number): number => {
      const [{ history }, again] = [looked(count), looked(count)];
      expect(sameAnswers({ finding: nothingNamed, history }, again.history)).toBe(true);
      return again.looks();
    };
    const few = looksFor(100);
    expect(few).toBeGreaterThan(0);
    expect(looksFor(400)).toBeLessThanOrEqual(5 * few);
  });
});

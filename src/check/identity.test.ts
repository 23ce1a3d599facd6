import { describe, expect, it } from 'vitest';
import type { History, OperationKind } from '../histories/index.js';
import type { Finding } from './finding.js';
import { findingIdentity } from './identity.js';
import { focusOf } from './registry.js';

function history(...kinds: readonly OperationKind[]): History {
  return {
    header: { sessions: ['A', 'B'] },
    operations: kinds.map((kind, index) => ({
      ...{ index, session: 0, transaction: 0, kind, start: index, end: index, outcome: 'ok' as const },
    })),
  };
}

function finding(operations: readonly (readonly [index: number, transaction: number])[], more = {}): Finding {
  return {
    ...{ kind: 'wrong-version', oracle: 'mechanism', certainty: 'proved', rulesOut: [], clause: 'pivot' },
    ...{ transactions: [], explanation: [] },
    operations: operations.map(([index, transaction]) => ({ index, transaction, text: '' })),
    ...more,
  } as Finding;
}

describe('the identity of a finding', () => {
  const long = history('begin', 'select', 'update', 'commit', 'update', 'select');
  const short = history('select', 'update');

  it('does not depend on numbers, repetition or transaction control', () => {
    const before = findingIdentity(
      finding([
        [5, 9],
        [2, 8],
        [4, 8],
        [3, 8],
      ]),
      long,
    );
    expect(
      findingIdentity(
        finding([
          [0, 1],
          [1, 2],
        ]),
        short,
      ),
    ).toBe(before);
  });

  it('tells own operations from others, kinds, clauses and oracles apart', () => {
    const base = finding([
      [0, 1],
      [1, 2],
    ]);
    const others = [
      finding([
        [0, 1],
        [1, 1],
      ]),
      { ...base, kind: 'missing-row' },
      { ...base, clause: 'ownWrites' },
      { ...base, oracle: 'instrumented' },
    ] as readonly Finding[];
    const identities = [base, ...others].map((each) => findingIdentity(each, short));
    expect(new Set(identities).size).toBe(identities.length);
    expect(findingIdentity(base, history('select', 'delete'))).not.toBe(identities[0]);
  });

  it('of a cycle is its edges with what they join, wherever it starts', () => {
    const edge = (kind: string, fromOperation: number, toOperation: number) => ({
      ...{ from: 0, to: 1, kind, fromOperation, toOperation },
    });
    const cyclic = (...cycle: readonly object[]) =>
      finding([[0, 1]], { oracle: 'dependency-graph', kind: 'G-single', cycle });
    const one = cyclic(edge('rw', 1, 2), edge('wr', 2, 5));
    const turned = cyclic(edge('wr', 2, 5), edge('rw', 1, 2));
    expect(findingIdentity(turned, long)).toBe(findingIdentity(one, long));
    expect(findingIdentity(cyclic(edge('rw', 1, 2), edge('ww', 2, 4)), long)).not.toBe(
      findingIdentity(one, long),
    );
  });
});

describe('a finding in focus', () => {
  it('quotes only the operations its dependencies name', () => {
    const wide = finding(
      [
        [1, 0],
        [2, 1],
        [4, 1],
      ],
      { oracle: 'dependency-graph', cycle: [{ kind: 'rw', fromOperation: 1, toOperation: 2 }] },
    );
    expect(focusOf(wide).operations.map(({ index }) => index)).toEqual([1, 2]);
    expect(focusOf({ ...wide, oracle: 'mechanism' }).operations).toHaveLength(3);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { beforeCut } from './before-cut.js';
import { historyOf, simulate } from './simulate.case.js';
import { choices, chooser, programs, simulatedContracts } from './simulated-programs.case.js';
import { story, twoRows } from './story.case.js';
import { verifyMechanism } from './verify.js';

const seed = 20261117;

const cut = ({ header, operations }: History, count: number): History => ({
  header: { ...header, omitted: ['the end is missing'] },
  operations: operations.slice(0, count),
});

describe('a history that was cut off', () => {
  const whole = story(
    `[0,5] T1: BEGIN
     [6,9] T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
     [12,16] T2: SELECT id, v FROM t -> 1,11 | 2,20
     [10,20] T1: COMMIT
     [21,25] T2: SELECT id, v FROM t -> 1,12 | 2,20`,
    { setup: twoRows },
  );
  const contract = findContract('postgres:read-committed')!;

  it('does not show a dirty read where the COMMIT is in the missing part', () => {
    const early = { ...whole, operations: whole.operations.slice(0, 4) };
    expect(verifyMechanism(early, contract).findings).toEqual([]);
    const shortened = { ...whole, operations: whole.operations.slice(0, 3) };
    expect(verifyMechanism(shortened, contract).findings).toHaveLength(1);
    expect(verifyMechanism(cut(whole, 3), contract).findings).toEqual([]);
  });

  it('is judged up to where all sessions were last heard of', () => {
    const { history, answered } = beforeCut(cut(whole, 5));
    expect(answered).toBe(4);
    expect(history.operations.map(({ end }) => end)).toEqual([5, 9, 16, 20]);
    const lateRead = `[0,4] T1: SELECT id, v FROM t -> 1,99 | 2,20
      [5,9] T2: SELECT id, v FROM t -> 1,10 | 2,20`;
    const early = cut(story(lateRead, { setup: twoRows }), 2);
    expect(verifyMechanism(early, contract).findings.map(({ operations }) => operations[0]!.index)).toEqual([
      0,
    ]);
  });
});

describe.each(simulatedContracts)('wherever a history of a database that keeps $id ends', (contract) => {
  it(`nothing is found (seed ${seed})`, () => {
    fc.assert(
      fc.property(programs(2), choices, fc.boolean(), (sessions, stream, exact) => {
        const history = historyOf(simulate(contract, sessions, chooser(stream), exact));
        for (let count = 0; count < history.operations.length; count++)
          expect(verifyMechanism(cut(history, count), contract).findings).toEqual([]);
      }),
      { numRuns: 25, seed },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Image, unknownCell } from '../rows/index.js';
import * as role from './conflicts.js';
import {
  AccessList,
  because,
  Chain,
  Edges,
  type Evidence,
  type Expected,
  explains,
  Objects,
  type Order,
} from './evidence.js';
import { type FailedWrite, failedWriteChoices } from './failed-writes.js';
import { solve } from './solve.js';
import { accessesOf, type LabStep, labRun } from './step-lab.case.js';
import { noEdges } from './time-order.js';

const above = (limit: number) => (row: readonly unknown[]) =>
  typeof row[1] === 'number' ? row[1] > limit : undefined;

describe('whether a version explains a read', () => {
  const present: Image = [1, 10];
  it.each<[string, Image, Expected, boolean | undefined]>([
    ['the same cells', present, { type: 'cells', cells: [1, 10] }, true],
    ['another cell', present, { type: 'cells', cells: [1, 11] }, false],
    ['a cell that nobody knows', present, { type: 'cells', cells: [1, unknownCell] }, undefined],
    [
      'a cell that nobody knows and one that differs',
      present,
      { type: 'cells', cells: [2, unknownCell] },
      false,
    ],
    [
      'the same cells, but not the condition',
      present,
      { type: 'cells', cells: [1, 10], where: above(10) },
      false,
    ],
    ['a row that is not there', 'absent', { type: 'cells', cells: [1, 10] }, false],
    ['no row, where there is none', 'absent', { type: 'none', where: undefined }, true],
    ['no row, where there is one', present, { type: 'none', where: undefined }, false],
    ['no row of a condition it does not satisfy', present, { type: 'none', where: above(10) }, true],
    ['some row of a condition', present, { type: 'some', where: above(9) }, true],
    ['some row, where there is none', 'absent', { type: 'some', where: above(9) }, false],
    ['a condition that cannot be evaluated', [1, null], { type: 'none', where: above(9) }, undefined],
    ['a version that nobody knows', 'unknown', { type: 'cells', cells: [1, 10] }, undefined],
    ['rows chosen and looked at again', present, { type: 'chosen', kept: true, where: above(9) }, undefined],
  ])('%s', (_, image, expected, answer) => {
    expect(explains(image, expected)).toBe(answer);
  });
});

const quiet = (start: number, end: number): LabStep => ({ start, end, accesses: [] });

describe('versions of a row', () => {
  // COMMITs 0, 1 and 2 of three sessions; 3 is a snapshot that overlaps the second and third.
  const { steps } = labRun(
    [[quiet(1, 2)], [quiet(5, 9)], [quiet(6, 20)], [quiet(7, 12)], [quiet(30, 40)]],
    1,
  );
  const objects = new Objects();
  const row = objects.add('t/1', -1, [1, 0]);
  const chain = new Chain();
  chain.publish(0, [1, 1], 0);
  chain.publish(1, 'absent', 1);
  chain.publish(2, [1, 3], 2, true);
  objects.chains[row] = chain;

  it('are those that a snapshot may show, without those it misses', () => {
    expect(objects.overlappingCommits([row], 3, steps)).toEqual([1, 2]);
    expect(objects.overlappingCommits([row], 4, steps)).toEqual([]);
    const seen = (...unseen: number[]) => objects.imageAt(row, 3, new Set(unseen), steps);
    expect([seen(), seen(2), seen(1, 2), seen(0, 1, 2)]).toEqual([[1, 3], 'absent', [1, 1], [1, 0]]);
    expect(objects.newerThan(row, 3, new Set([1, 2]), steps)).toEqual([1, 2]);
  });

  it('end with a deletion, even if another row of that name was put in', () => {
    expect([-1, 0, 1, 2].map((version) => objects.endsAt(row, version))).toEqual([false, false, true, true]);
    expect(objects.goneSince(row, 3, new Set([1, 2]), steps)).toBe(true);
    expect(objects.goneSince(row, 3, new Set(), steps)).toBe(false);
  });

  it('stand in the order they were written, rows of the set-up first', () => {
    expect(objects.placeOf(row, -1)).toBeLessThan(objects.placeOf(row, 0));
    expect(objects.placeOf(row, 0)).toBeLessThan(objects.placeOf(row, 1));
  });
});

describe('accesses', () => {
  it('are grouped by step, roles of one object together, and reach the table where a whole table is accessed', () => {
    const added = fc.array(
      fc.record({ step: fc.nat(3), object: fc.nat(3), roles: fc.constantFrom(1, 8, 16) }),
      {
        maxLength: 10,
      },
    );
    const { steps } = labRun(
      [
        [quiet(1, 2), quiet(3, 4)],
        [quiet(1, 2), quiet(3, 4)],
      ],
      4,
    );
    fc.assert(
      fc.property(added, (list) => {
        const objects = new Objects();
        const table = objects.add('t', -1);
        for (const name of ['t/1', 't/2', 't/3']) objects.add(name, table);
        const accesses = new AccessList();
        for (const { step, object, roles } of list) accesses.add(step, object, roles);
        const found = accesses.finish(steps, objects);
        const isWhole = list.some(({ object }) => object === table);
        for (let step = 0; step < steps.count; step++) {
          const expected = new Map<number, number>();
          const add = (object: number, roles: number) =>
            expected.set(object, (expected.get(object) ?? 0) | roles);
          for (const each of list.filter((one) => one.step === step)) {
            add(each.object, each.roles);
            if (isWhole && each.object !== table) add(table, role.onTable(each.roles));
          }
          expect(new Map(accessesOf(found, step))).toEqual(expected);
        }
      }),
      { seed: 73, numRuns: 200 },
    );
  });
});

/** Two sessions, four steps that all overlap. */
const lab = labRun(
  [
    [quiet(1, 10), quiet(11, 20)],
    [quiet(2, 9), quiet(12, 19)],
  ],
  1,
);

function evidence(
  orders: readonly (readonly [number, number])[],
  alternatives: readonly Order[][][],
): Evidence {
  const objects = new Objects();
  objects.add('t/1', -1);
  const edges = new Edges();
  for (const [from, to] of orders) edges.add({ from, to, why: because.lock, object: 0 });
  const choices = alternatives.map((each) => ({
    step: 0,
    object: 0,
    what: 'version' as const,
    alternatives: each,
  }));
  return { steps: lab.steps, accesses: lab.accesses, objects, edges, choices } as unknown as Evidence;
}

const order = (from: number, to: number): Order => ({ from, to, why: because.shows, object: 0 });
const further = { times: noEdges, answers: noEdges, learnt: [] };

describe('choices', () => {
  it.each<[string, [number, number][], Order[][][], number[]]>([
    ['keep their first alternative where nothing contradicts it', [], [[[order(0, 2)], [order(2, 0)]]], [0]],
    ['move on to the alternative that fits', [[2, 0]], [[[order(0, 2)], [order(2, 0)]]], [1]],
    [
      'move on one by one until all go together',
      [[2, 0]],
      [
        [[order(0, 2)], [order(2, 1)]],
        [[order(3, 0)], [order(0, 3)]],
      ],
      [1, 1],
    ],
    [
      'move on where the first attempt brings none of them about',
      [[2, 0]],
      [[[order(0, 2)], [order(1, 3)]]],
      [1],
    ],
    ['hold none where all contradict what is certain', [[2, 0]], [[[order(0, 2)]]], [-1]],
  ])('%s', (_, orders, alternatives, holds) => {
    expect(solve(evidence(orders, alternatives), further).holds).toEqual(holds);
  });

  it('begin with the one that was asked for', () => {
    const open = evidence([], [[[order(0, 2)], [order(2, 0)]]]);
    expect(solve(open, further, new Map([[0, 1]])).holds).toEqual([1]);
    expect(solve(open, further, new Map([[0, 9]])).holds).toEqual([1]);
  });
});

describe('who made a write fail', () => {
  // A: BEGIN, UPDATE, COMMIT. B: a snapshot, then the UPDATE that failed.
  const run = labRun(
    [
      [quiet(1, 2), quiet(3, 4), quiet(20, 24)],
      [quiet(5, 6), quiet(21, 30)],
    ],
    1,
  );
  const objects = new Objects();
  objects.add('t/1', -1, [1, 0]);

  function opponents(
    more: {
      readonly snapshot?: number;
      readonly writeConflict?: string;
      readonly ends?: string;
      readonly failed?: Partial<FailedWrite>;
    } = {},
  ) {
    const chain = new Chain();
    chain.publish(2, [1, 1], 0);
    const waits = new Set<number>();
    const context = {
      steps: run.steps,
      locks: { sequence: () => [1] },
      chainOf: () => chain,
      initial: () => [1, 0],
      snapshot: Int32Array.of(-1, more.snapshot ?? 3),
      mechanism: { writeConflict: more.writeConflict ?? 'waits' },
      endsIn: () => more.ends ?? 'commit',
      waits,
    } as unknown as Parameters<typeof failedWriteChoices>[1];
    const choices = failedWriteChoices([{ step: 4, transaction: 1, object: 0, ...more.failed }], context);
    const pairs = choices.map(({ alternatives }) =>
      alternatives.map((list) => list.map(({ from, to }) => [from, to])),
    );
    return { pairs, waits };
  }

  it('is one who committed after its snapshot: it came later, or was sent before and waited', () => {
    expect(opponents().pairs).toEqual([
      [
        [
          [3, 2],
          [2, 4],
        ],
        [
          [1, 4],
          [4, 2],
        ],
      ],
    ]);
  });

  it('is waited for again if the snapshot was taken with the very statement', () => {
    const { pairs, waits } = opponents({ snapshot: -1 });
    expect(pairs).toEqual([
      [
        [
          [1, 4],
          [4, 2],
        ],
      ],
    ]);
    expect(waits).toEqual(new Set([4]));
  });

  it('is nobody who rolled back, where writers wait', () => {
    expect(opponents({ ends: 'rollback' }).pairs).toEqual([]);
  });

  it('is one who held the row, where writers fail at once', () => {
    const held = opponents({ writeConflict: 'fails', ends: 'rollback' });
    expect(held.pairs).toEqual([
      [
        [
          [1, 4],
          [4, 2],
        ],
      ],
    ]);
  });

  it('is one who had changed it, if the error says so', () => {
    const changed = opponents({ writeConflict: 'fails', failed: { met: 'changed' } });
    expect(changed.pairs).toEqual([
      [
        [
          [3, 2],
          [2, 4],
        ],
      ],
    ]);
  });

  it('is nobody whose row did not satisfy the condition', () => {
    expect(opponents({ failed: { where: above(100) } }).pairs).toEqual([]);
  });

  it('is rather one who was answered before it than one who was answered after', () => {
    const two = labRun(
      [
        [quiet(1, 2), quiet(3, 4), quiet(20, 24)],
        [quiet(5, 6), quiet(21, 30)],
        [quiet(7, 8), quiet(22, 40)],
      ],
      2,
    );
    const chains = [2, 6].map((commit) => {
      const chain = new Chain();
      chain.publish(commit, [1, 1], 0);
      return chain;
    });
    const context = {
      steps: two.steps,
      locks: { sequence: (object: number) => [object === 0 ? 1 : 5] },
      chainOf: (object: number) => chains[object],
      initial: () => [1, 0],
      snapshot: Int32Array.of(-1, 3, -1),
      mechanism: { writeConflict: 'fails' },
      endsIn: () => 'commit',
      waits: new Set<number>(),
    } as unknown as Parameters<typeof failedWriteChoices>[1];
    const failed = [1, 0].map((object) => ({ step: 4, transaction: 1, object, met: 'changed' as const }));
    const [choice] = failedWriteChoices(failed, context);
    expect(choice!.alternatives[0]!.map(({ from, to }) => [from, to])).toEqual([
      [3, 2],
      [2, 4],
    ]);
    expect(choice!.alternatives.flat().some(({ from }) => from === 6)).toBe(true);
  });
});

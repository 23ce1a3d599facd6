import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { because, Chain, Edges, Objects, type Unexplained } from './evidence.js';
import { LockTable } from './locks.js';
import type { Steps } from './steps.js';

interface Spec {
  readonly session: number;
  readonly transaction: number;
  readonly span: readonly [start: number, end: number];
  readonly ends?: true;
}

/** Steps with their sessions, transactions and spans; the last of a transaction that `ends` ends it. */
function stepsOf(specs: readonly Spec[]): Steps {
  const start = Float64Array.from(specs.map(({ span }) => span[0]));
  const end = Float64Array.from(specs.map(({ span }) => span[1]));
  const count = 1 + Math.max(...specs.map(({ transaction }) => transaction));
  const endOf = new Int32Array(count).fill(-1);
  specs.forEach(({ transaction, ends }, step) => {
    if (ends) endOf[transaction] = step;
  });
  return {
    count: specs.length,
    session: Int32Array.from(specs.map(({ session }) => session)),
    transaction: Int32Array.from(specs.map(({ transaction }) => transaction)),
    start,
    end,
    spans: { earliest: (step: number) => start[step]!, latest: (step: number) => end[step]! },
    endOf,
    transactionCount: count,
  } as unknown as Steps;
}

function lockTable(steps: Steps, snapshot = -1) {
  const edges = new Edges();
  const unexplained: Unexplained[] = [];
  const table = new LockTable(steps, edges, unexplained, {
    basisOf: () => snapshot,
    committed: () => true,
    arrives: () => 'no',
    passes: false,
    locksTables: false,
  });
  const orders = () =>
    Array.from({ length: edges.from.length }, (_, i) => [
      edges.from.at(i),
      edges.to.at(i),
      edges.why.at(i),
      edges.soft.at(i) === 1,
    ]);
  return { table, orders, unexplained };
}

const writes = { exclusive: true, writes: true };
const shares = { exclusive: false, writes: false };

describe('the locks of inference', () => {
  it('put the end of a holder before the step that got the lock next', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 2] },
      { session: 0, transaction: 0, span: [4, 8], ends: true },
      { session: 1, transaction: 1, span: [5, 9] },
    ]);
    const { table, orders, unexplained } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(2, 7, writes);
    expect(orders()).toEqual([[1, 2, because.lock, false]]);
    expect(unexplained).toEqual([]);
    expect([table.holderOf(7), table.sequence(7)]).toEqual([1, [0, 2]]);
  });

  it('who was sent before the holder began to end waited, and stands in the queue behind it', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 2] },
      { session: 0, transaction: 0, span: [4, 8], ends: true },
      { session: 1, transaction: 1, span: [1, 9] },
    ]);
    const { table, orders } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(2, 7, writes);
    expect(orders()).toEqual([
      [1, 2, because.lock, true],
      [0, 2, because.lock, false],
    ]);
  });

  it('say nothing where time says it', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 2] },
      { session: 0, transaction: 0, span: [3, 4], ends: true },
      { session: 1, transaction: 1, span: [5, 9] },
    ]);
    const { table, orders, unexplained } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(2, 7, writes);
    expect([orders(), unexplained]).toEqual([[], []]);
  });

  it('call a lock unexplained that two had at once', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 5] },
      { session: 0, transaction: 0, span: [8, 9], ends: true },
      { session: 1, transaction: 1, span: [4, 7] },
    ]);
    const { table, orders, unexplained } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(2, 7, writes);
    expect(unexplained).toMatchObject([{ step: 2, object: 7 }]);
    expect(orders()).toEqual([[0, 2, because.answered, true]]);
  });

  it('both ends of a span count: a grant in the tick in which the holder began to end is explained', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 2] },
      { session: 0, transaction: 0, span: [7, 9], ends: true },
      { session: 1, transaction: 1, span: [3, 7] },
    ]);
    const { table, unexplained } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(2, 7, writes);
    expect(unexplained).toEqual([]);
  });

  it('shares go together, and an exclusive lock comes after all of them', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 9] },
      { session: 0, transaction: 0, span: [10, 20], ends: true },
      { session: 1, transaction: 1, span: [0, 9] },
      { session: 1, transaction: 1, span: [11, 21], ends: true },
      { session: 2, transaction: 2, span: [12, 22] },
    ]);
    const { table, orders } = lockTable(steps);
    table.take(0, 7, shares);
    table.take(2, 7, shares);
    expect(orders()).toEqual([]);
    table.take(4, 7, writes);
    expect(orders().map(([from, to]) => [from, to])).toEqual([
      [1, 4],
      [3, 4],
    ]);
  });

  it('a transaction has its own locks already', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 1] },
      { session: 0, transaction: 0, span: [2, 3] },
      { session: 0, transaction: 0, span: [4, 5], ends: true },
    ]);
    const { table, orders } = lockTable(steps);
    table.take(0, 7, writes);
    table.take(1, 7, shares);
    table.take(1, 7, writes);
    expect([orders(), table.sequence(7), table.taken.step.length]).toEqual([[], [0], 1]);
  });

  it('a snapshot that writes are based on comes after the last writer', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 2] },
      { session: 0, transaction: 0, span: [4, 8], ends: true },
      { session: 1, transaction: 1, span: [5, 6] },
      { session: 1, transaction: 1, span: [7, 9] },
    ]);
    const { table, orders } = lockTable(steps, 2);
    table.take(0, 7, writes);
    table.take(3, 7, writes);
    expect(orders()).toContainEqual([1, 2, because.firstUpdater, false]);
  });
});

describe('the versions of rows', () => {
  it('a snapshot shows the newest that it does not miss', () => {
    const steps = stepsOf([
      { session: 0, transaction: 0, span: [0, 10], ends: true },
      { session: 1, transaction: 1, span: [20, 35], ends: true },
      { session: 2, transaction: 2, span: [40, 70], ends: true },
      { session: 3, transaction: 3, span: [60, 80], ends: true },
      { session: 4, transaction: 4, span: [30, 50] },
    ]);
    const objects = new Objects();
    const row = objects.add('t/1', -1, 'absent');
    const other = objects.add('t/2', -1, [9]);
    objects.chains[row] = new Chain();
    for (const step of [0, 1, 2, 3]) objects.chains[row].publish(step, [step], step);
    const shown = (...unseen: number[]) => objects.imageAt(row, 4, new Set(unseen), steps);
    expect([shown(), shown(2), shown(1, 2), shown(0, 1, 2)]).toEqual([[2], [1], [0], 'absent']);
    expect(objects.imageAt(other, 4, new Set(), steps)).toEqual([9]);
    expect(objects.overlappingCommits([row, other], 4, steps)).toEqual([1, 2]);
  });

  it('overlapping COMMITs are those of other sessions whose span meets that of the snapshot', () => {
    const span = fc.tuple(fc.nat(30), fc.nat(10)).map(([start, length]) => [start, start + length] as const);
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 6 }), span, (commits, snapshot) => {
        const sorted = commits.toSorted((a, b) => a[1] - b[1]);
        const steps = stepsOf([
          ...sorted.map((each, i) => ({ session: i, transaction: i, span: each, ends: true as const })),
          { session: 99, transaction: sorted.length, span: snapshot },
        ]);
        const objects = new Objects();
        const row = objects.add('t/1', -1);
        objects.chains[row] = new Chain();
        for (const step of sorted.keys()) objects.chains[row].publish(step, [step], step);
        const found = objects.overlappingCommits([row], sorted.length, steps);
        const expected = sorted.flatMap(([start, end], step) =>
          end >= snapshot[0] && start <= snapshot[1] ? [step] : [],
        );
        expect(found).toEqual(expected);
      }),
    );
  });
});

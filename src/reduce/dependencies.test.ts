import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allOperations, type CaseModel, modelOf } from './case-model.js';
import { dependencyGraph, type RowAccess, reachable, rowWriters, without } from './dependencies.js';
import { arbitraryEdges, edgeSource, numberedCase } from './fake-oracle.case.js';
import { surroundingsOf } from './surroundings.js';

function model(count: number): CaseModel {
  return modelOf(numberedCase([Array.from({ length: count }, () => 1)]));
}

const access: fc.Arbitrary<RowAccess> = fc
  .record({
    table: fc.constantFrom('t', 'u'),
    row: fc.constantFrom('1', '2', undefined),
    ...{ writes: fc.boolean(), blind: fc.boolean(), keepsRow: fc.boolean() },
  })
  .map(({ row, ...rest }) => (row === undefined ? rest : { ...rest, row }));
const arbitraryRun = fc.array(fc.array(access, { maxLength: 3 }), { minLength: 1, maxLength: 8 });
const options = { seed: 82, numRuns: 400 };

/** Who an access depends on, by looking back over all operations. */
function writersBefore(
  run: readonly (readonly RowAccess[])[],
  id: number,
  { table, row, blind }: RowAccess,
): number[] {
  const counts = (other: RowAccess) =>
    other.table === table && other.writes && (blind !== true || other.keepsRow !== true);
  const last = (meets: (other: RowAccess) => boolean) =>
    run.findLastIndex((list, at) => at < id && list.some((other) => counts(other) && meets(other)));
  const whole = last((other) => other.row === undefined);
  const ofRow = (name: string) =>
    Math.max(
      whole,
      last((other) => other.row === name),
    );
  const found = row === undefined ? [whole, ofRow('1'), ofRow('2')] : [ofRow(row)];
  return found.filter((writer) => writer >= 0);
}

describe('the graph of dependencies', () => {
  it('leads from the last writer of every row that an operation accesses', () => {
    fc.assert(
      fc.property(arbitraryRun, (run) => {
        const graph = dependencyGraph(model(run.length), { accesses: (id) => run[id]! });
        run.forEach((list, id) => {
          const expected = new Set(list.flatMap((each) => writersBefore(run, id, each)));
          expect(graph.predecessors[id]).toEqual([...expected].sort((a, b) => a - b));
        });
      }),
      options,
    );
  });

  it('says the same in both directions', () => {
    fc.assert(
      fc.property(arbitraryRun, (run) => {
        const { successors, predecessors } = dependencyGraph(model(run.length), {
          accesses: (id) => run[id]!,
        });
        run.forEach((_, a) => {
          run.forEach((_, b) => {
            expect(successors[a]!.includes(b)).toBe(predecessors[b]!.includes(a));
          });
        });
      }),
      options,
    );
  });

  it('lets a write of a constant depend on who put the row in, not on who wrote it last', () => {
    const row = { table: 't', row: '1' };
    const run: RowAccess[] = [
      { ...row, writes: true },
      { ...row, writes: true, keepsRow: true },
      { ...row, writes: true, keepsRow: true, blind: true },
      { ...row, writes: false },
    ];
    const { predecessors } = dependencyGraph(model(4), { accesses: (id) => [run[id]!] });
    expect(predecessors).toEqual([[], [0], [0], [2]]);
  });
});

describe('what can be reached', () => {
  it('is closed, holds the start, and nothing that no path leads to', () => {
    const cases = fc
      .integer({ min: 1, max: 9 })
      .chain((count) =>
        fc.record({ count: fc.constant(count), edges: arbitraryEdges(count), from: fc.nat(count - 1) }),
      );
    fc.assert(
      fc.property(cases, ({ count, edges, from }) => {
        const { successors } = dependencyGraph(model(count), edgeSource(edges));
        const closure = new Set([from]);
        for (let round = 0; round < count; round++)
          for (const [a, b] of edges) if (closure.has(a)) closure.add(b);
        expect(reachable(successors, [from])).toEqual([...closure].sort((a, b) => a - b));
      }),
      options,
    );
  });

  it('of nothing is nothing', () => {
    expect(reachable([[1], []], [])).toEqual([]);
  });

  it.each([
    [
      [1, 3],
      [0, 2],
    ],
    [[], [0, 1, 2, 3]],
    [[0, 1, 2, 3, 9], []],
  ])('taking %j away from four leaves %j', (removed, left) => {
    expect(without([0, 1, 2, 3], removed)).toEqual(left);
    expect(without([0, 1, 2, 3], new Set(removed))).toEqual(left);
  });
});

describe('the writers of the rows a finding is about', () => {
  const write = (row?: string, table = 't'): RowAccess => ({
    table,
    ...(row !== undefined && { row }),
    writes: true,
  });
  const read = (row?: string): RowAccess => ({
    table: 't',
    ...(row !== undefined && { row }),
    writes: false,
  });
  const run: RowAccess[][] = [
    [write('1')],
    [write('2')],
    [write(undefined)],
    [write('1', 'u')],
    [read('1')],
    [write('2'), read('1')],
    [write('1')],
  ];
  const source = { accesses: (id: number) => run[id]! };

  it.each([
    ['a read: the writers of what it read, before it', [4], [0, 2]],
    ['a write: the writers of what it wrote, not of what it read', [5], [1, 2]],
    ['several: up to the last', [4, 6], [0, 2]],
    ['a write of the whole table: all of them before it', [2], [0, 1]],
  ])('%s', (_, about, writers) => {
    expect(rowWriters(model(run.length), source, about)).toEqual(writers);
  });

  it('are worked out when asked for, from one source', () => {
    let made = 0;
    const given = model(run.length);
    const surroundings = surroundingsOf(given, [4], () => {
      made++;
      return source;
    });
    expect(made).toBe(0);
    expect(surroundings.rowWriters()).toEqual([0, 2]);
    expect(surroundings.graph()).toBe(surroundings.graph());
    expect(made).toBe(1);
  });

  it('of a finding that names no operation are none', () => {
    const nothing = surroundingsOf(model(run.length), [], () => source);
    expect(nothing.rowWriters()).toEqual([]);
    expect(allOperations(nothing.model)).toHaveLength(run.length);
  });
});

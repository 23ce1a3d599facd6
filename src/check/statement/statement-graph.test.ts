import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decycle, orderNodes } from './order.js';
import { readSetup } from './setup-tables.js';
import {
  execute,
  initialRows,
  makeRun,
  runSteps,
  type SmallRun,
  type SmallStatement,
  type SmallStep,
} from './small-engine.case.js';
import {
  buildStatementGraph,
  type GraphSource,
  type StatementEdge,
  type StatementGraph,
} from './statement-graph.js';
import type { SeenRow, StatementRun, TableState } from './statement-runs.js';
import type { TableUse } from './version-sets.js';

const state = (rows: Readonly<Record<string, readonly [writers: string, value: number]>>): TableState =>
  new Map(
    Object.entries(rows).map(([rid, [writers, value]]): [string, SeenRow] => [
      rid,
      { writers: writers.split(' '), values: [value] },
    ]),
  );

const graphOf = (nodes: readonly StatementRun[], over: Partial<GraphSource> = {}): StatementGraph =>
  buildStatementGraph({
    nodes,
    useOf: () => 'predicate',
    columnsOf: () => ['v'],
    tableOf: () => undefined,
    mayConcern: () => undefined,
    ...over,
  });

const shown = ({ edges }: StatementGraph): string[] =>
  edges.map(({ from, to, kind }: StatementEdge) => `${from} → ${to} ${kind}`);

describe('the dependencies of Figure 3: Si sets the value of the only row from 0 to 1', () => {
  const old = state({ x: ['0', 0] });
  const fresh = state({ x: ['0 1.1', 1] });
  const si = makeRun({ index: 0, transaction: 0, token: '1.1', before: old, after: fresh });
  const reader = (before: TableState) => makeRun({ index: 1, transaction: 1, before, after: before });
  const using = (use: TableUse) => ({ useOf: (run: StatementRun) => (run === si ? 'target' : use) }) as const;

  it('(a) Sj returns all rows and finds the new version: item-read', () => {
    expect(shown(graphOf([si, reader(fresh)], using('items')))).toEqual(['0 → 1 item-read']);
  });

  it('(b) Sj overwrites it: item-write', () => {
    const sj = makeRun({
      index: 1,
      transaction: 1,
      token: '2.1',
      before: fresh,
      after: state({ x: ['0 1.1 2.1', 2] }),
    });
    expect(shown(graphOf([si, sj], using('target')))).toContain('0 → 1 item-write');
    expect(shown(graphOf([si, sj], using('target')))).not.toContain('1 → 0 predicate-write');
  });

  it('(c) Sj returns all rows and finds the old version: item-anti', () => {
    expect(shown(graphOf([si, reader(old)], using('items')))).toEqual(['1 → 0 item-anti']);
  });

  it('(d) Sj chooses rows by the new version: predicate-read', () => {
    expect(shown(graphOf([si, reader(fresh)]))).toEqual(['0 → 1 predicate-read']);
  });

  it('(e) Sj updates nothing, because of the new version: predicate-write', () => {
    const sj = makeRun({ index: 1, transaction: 1, token: '2.1', before: fresh, after: fresh });
    expect(shown(graphOf([si, sj], using('target')))).toEqual(['0 → 1 predicate-write']);
  });

  it('(f) Sj chooses rows by the old version: predicate-anti', () => {
    expect(shown(graphOf([si, reader(old)]))).toEqual(['1 → 0 predicate-anti']);
  });

  it('(g) Sj inserts a value taken from the new version: value-write', () => {
    const after = state({ x: ['0 1.1', 1], y: ['2.1', 1] });
    const sj = makeRun({ index: 1, transaction: 1, token: '2.1', before: fresh, after });
    expect(shown(graphOf([si, sj], using('value')))).toContain('0 → 1 value-write');
  });
});

describe('rows that are not there', () => {
  const none = state({});
  const one = state({ y: ['1.1', 5] });
  const insert = makeRun({ index: 0, transaction: 0, token: '1.1', before: none, after: one });
  const remove = makeRun({ index: 2, transaction: 2, token: '3.1', before: one, after: none });

  it('put a reader before the INSERT', () => {
    const reader = makeRun({ index: 1, transaction: 1, before: none, after: none });
    expect(shown(graphOf([insert, reader]))).toEqual(['1 → 0 predicate-anti']);
  });

  it('put a reader behind the DELETE of an initial row', () => {
    const initial = state({ x: ['0', 1] });
    const gone = makeRun({ index: 0, transaction: 0, token: '1.1', before: initial, after: none });
    const reader = makeRun({ index: 1, transaction: 1, before: none, after: none });
    expect(shown(graphOf([gone, reader]))).toEqual(['0 → 1 predicate-read']);
  });

  it('leave a reader in a cycle that may have come before the INSERT or after the DELETE', () => {
    const reader = makeRun({ index: 3, transaction: 3, before: none, after: none });
    const graph = graphOf([insert, remove, reader]);
    expect(decycle(graph)).toMatchObject({ droppedReads: [2], droppedWrites: [] });
  });
});

describe('keys', () => {
  const table = { key: 't', keys: [['v']], parents: [] as string[] } as unknown as ReturnType<
    GraphSource['tableOf']
  >;
  const none = state({});

  it('keep the order of a DELETE and of the INSERT that takes its key, though the snapshot still has the row', () => {
    const old = state({ x: ['0', 5] });
    const remove = makeRun({ index: 0, transaction: 0, token: '1.1', before: old, after: none });
    const insert: StatementRun = {
      ...makeRun({
        index: 1,
        transaction: 1,
        token: '2.1',
        before: none,
        after: state({ x: ['0', 5], y: ['2.1', 5] }),
      }),
      before: new Map(),
    };
    expect(shown(graphOf([remove, insert], { tableOf: () => table }))).toContain('0 → 1 key');
    expect(shown(graphOf([remove, insert]))).not.toContain('0 → 1 key');
  });

  it('allow no order where two transactions have a value at once, and one lets it go again', () => {
    const first = state({ x: ['0', 10], y: ['0', 8] });
    const mine = state({ x: ['0 1.1', 4], y: ['0', 8] });
    const theirs = state({ x: ['0', 10], y: ['0 2.1', 4] });
    const take = makeRun({ index: 0, transaction: 0, token: '1.1', before: first, after: mine });
    const same = makeRun({ index: 1, transaction: 1, token: '2.1', before: first, after: theirs });
    const letGo = makeRun({
      ...{ index: 2, transaction: 0, token: '1.2', before: mine },
      after: state({ y: ['0', 8] }),
    });
    const nodes = [take, same, letGo];
    const edges = shown(graphOf(nodes, { tableOf: () => table }));
    for (const edge of ['0 → 1 key', '1 → 0 key', '1 → 2 key', '2 → 1 key']) expect(edges).toContain(edge);
    // Where it is let go before the other takes it, or kept, they follow each other.
    const then = makeRun({
      ...{ index: 2, transaction: 1, token: '2.1', before: state({ y: ['0', 8] }) },
      after: state({ y: ['0 2.1', 4] }),
    });
    const inTurn = shown(graphOf([take, letGo, then], { tableOf: () => table }));
    expect(inTurn.filter((edge) => edge.endsWith('key'))).toEqual(['0 → 1 key', '1 → 2 key']);
    const kept = shown(graphOf([take, same], { tableOf: () => table }));
    expect(kept.filter((edge) => edge.endsWith('key'))).toEqual(['0 → 1 key']);
  });
});

describe('foreign keys', () => {
  const { tables } = readSetup(
    ['CREATE TABLE "Parent" (id INT PRIMARY KEY)', 'CREATE TABLE child (id INT, p INT REFERENCES "Parent")'],
    'postgres',
  );

  it('keep the order of writes to a table and to one it refers to, quoted names included', () => {
    const [none, one] = [state({}), state({ x: ['1.1', 1] })];
    const change = (index: number, table: string): StatementRun => ({
      ...makeRun({ index, transaction: index, token: `${index + 1}.1`, before: none, after: one }),
      before: new Map([[table, none]]),
      after: new Map([[table, one]]),
    });
    const written = [change(0, 'Parent'), change(1, 'child')];
    expect(shown(graphOf(written, { tableOf: (table) => tables.get(table) }))).toContain('0 → 1 foreign-key');
    const other = [change(0, 'Parent'), change(1, 'parent')];
    expect(shown(graphOf(other, { tableOf: (table) => tables.get(table) }))).toEqual([]);
  });
});

describe('foreign keys', () => {
  type Table = NonNullable<ReturnType<GraphSource['tableOf']>>;
  const tables: Record<string, Pick<Table, 'key' | 'keys' | 'parents'>> = {
    parent: { key: 'parent', keys: [], parents: [] },
    child: { key: 'child', keys: [], parents: ['parent'] },
    tree: { key: 'tree', keys: [], parents: ['tree'] },
    stranger: { key: 'stranger', keys: [], parents: [] },
  };
  const tableOf = (name: string) => tables[name] as Table;
  /** A write of a table that finds and leaves nothing of anybody else's. */
  const write = (index: number, table: string): StatementRun => ({
    ...makeRun({ index, transaction: index, token: `${index + 1}.1`, before: state({}), after: state({}) }),
    before: new Map(),
    after: new Map([[table, state({ [`r${index}`]: [`${index + 1}.1`, index] })]]),
  });
  const edges = (...written: string[]) =>
    shown(
      graphOf(
        written.map((table, i) => write(i, table)),
        { tableOf },
      ),
    );

  it('keep the order of writes of a table and of one it refers to, whichever came first', () => {
    expect(edges('parent', 'child')).toEqual(['0 → 1 foreign-key']);
    expect(edges('child', 'parent')).toEqual(['0 → 1 foreign-key']);
    expect(edges('tree', 'tree')).toEqual(['0 → 1 foreign-key']);
  });

  it('say nothing of other tables, nor of two writes of one side', () => {
    expect(edges('parent', 'stranger', 'parent')).toEqual([]);
    expect(edges('child', 'child')).toEqual([]);
  });

  it('say nothing of queries', () => {
    const reader = makeRun({ index: 1, transaction: 1, before: state({}), after: state({}) });
    const query = { ...reader, before: new Map([['child', state({})]]), after: new Map() };
    expect(shown(graphOf([write(0, 'parent'), query], { tableOf }))).toEqual([]);
  });
});

describe('rows that never satisfy a condition', () => {
  it('make no dependency', () => {
    const before = state({ x: ['0', 1], y: ['0', 9] });
    const first = makeRun({
      index: 0,
      transaction: 0,
      token: '1.1',
      before,
      after: state({ x: ['0 1.1', 2], y: ['0', 9] }),
    });
    const second = makeRun({
      index: 1,
      transaction: 1,
      token: '2.1',
      before,
      after: state({ x: ['0', 1], y: ['0 2.1', 8] }),
    });
    const all = graphOf([first, second], { useOf: () => 'target' });
    expect(decycle(all).droppedWrites).toHaveLength(1);
    const mayConcern: GraphSource['mayConcern'] = (run) =>
      run === first ? (row) => (row[0] as number) < 5 : (row) => (row[0] as number) > 5;
    expect(graphOf([first, second], { useOf: () => 'target', mayConcern }).edges).toEqual([]);
  });
});

/** Every order that follows the edges, one by one: the slow twin. */
function* allOrders(nodes: readonly number[], edges: StatementGraph['edges']): Generator<number[]> {
  if (nodes.length === 0) yield [];
  for (const node of nodes) {
    if (edges.some(({ from, to }) => to === node && nodes.includes(from))) continue;
    for (const rest of allOrders(
      nodes.filter((each) => each !== node),
      edges,
    ))
      yield [node, ...rest];
  }
}

function withoutTransactions({ runs }: SmallRun, order: readonly number[]) {
  let rows = initialRows();
  const answers = new Map<number, string>();
  for (const node of order) {
    const { statement, operation, transaction } = runs[node]!;
    const { after, answer } = execute(statement, `${transaction + 1}.${operation.index}`, rows);
    rows = after;
    answers.set(node, answer);
  }
  return { answers, rows };
}

const statements: fc.Arbitrary<SmallStatement> = fc.oneof(
  fc.record({ do: fc.constant('read' as const), least: fc.integer({ min: 0, max: 8 }) }),
  fc.record({
    do: fc.constant('update' as const),
    least: fc.integer({ min: 0, max: 8 }),
    to: fc.integer({ min: 0, max: 8 }),
    plusCount: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('insert' as const),
    value: fc.integer({ min: 0, max: 8 }),
    plusCount: fc.boolean(),
  }),
  fc.record({ do: fc.constant('delete' as const), least: fc.integer({ min: 3, max: 9 }) }),
);

const programs: fc.Arbitrary<SmallStep[]> = fc
  .array(fc.record({ transaction: fc.integer({ min: 0, max: 2 }), statement: statements }), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((body) =>
    fc
      .tuple(
        fc.array(fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const), {
          minLength: 3,
          maxLength: 3,
        }),
        fc.array(fc.nat({ max: body.length }), { minLength: 3, maxLength: 3 }),
      )
      .map(([ends, places]) => {
        const steps: SmallStep[] = [...body];
        ends.forEach((statement, transaction) => {
          const last = steps.findLastIndex((step) => step.transaction === transaction) + 1;
          steps.splice(Math.max(last, places[transaction]!), 0, { transaction, statement });
        });
        return steps;
      }),
  );

describe('Theorem 1 on a small engine that is right', () => {
  for (const level of ['snapshot', 'read committed'] as const) {
    it(`every order that follows the graph gives every statement its result and the final state (${level})`, () => {
      fc.assert(
        fc.property(programs, fc.boolean(), (steps, byCondition) => {
          const run = runSteps(steps, level);
          const statementOf = (node: StatementRun) => (node as SmallRun['runs'][number]).statement;
          const graph = graphOf(run.runs, {
            useOf: (node) => (statementOf(node).do === 'read' ? 'predicate' : 'target'),
            mayConcern: (node) => {
              const statement = statementOf(node);
              const counts = 'plusCount' in statement && statement.plusCount;
              if (!byCondition || counts || !('least' in statement)) return undefined;
              return (row) => (row[0] as number) >= statement.least;
            },
          });
          const { kept, droppedWrites } = decycle(graph);
          // Without a write the others would have given something else: the case would run again.
          if (droppedWrites.length > 0) return;
          const expected = new Map(kept.map((node) => [node, run.runs[node]!.answer]));
          const orders = [...allOrders(kept, graph.edges)];
          expect(orders.length).toBeGreaterThan(0);
          for (const order of orders) {
            const { answers, rows } = withoutTransactions(run, order);
            expect(answers).toEqual(expected);
            expect(rows).toEqual(run.final);
          }
          for (const take of ['earliest', 'latest'] as const)
            expect(orders).toContainEqual(orderNodes(kept, graph.edges, take));
        }),
        { numRuns: 400 },
      );
    });
  }
});

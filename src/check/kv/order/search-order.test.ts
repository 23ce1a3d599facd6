import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kv } from '../../../histories/index.js';
import { explain } from '../../explain.js';
import { rw, ww } from '../../graph/graph.js';
import { checkKv } from '../check-kv.js';
import { Effort } from '../effort.js';
import { entersAt, leavesFrom, type OrderMode, type OrderProblem, type Rows } from './order-problem.js';
import { runOrder } from './run-order.js';
import { saturateOrder } from './saturate-order.js';
import { searchOrder } from './search-order.js';

interface OpenKey {
  readonly writers: readonly number[];
  readonly readers: readonly (readonly number[])[];
}

interface Question {
  readonly mode: OrderMode;
  readonly txCount: number;
  /** Transactions with the same remainder are one session. */
  readonly sessions: number;
  readonly known: readonly (readonly [number, number])[];
  readonly openKeys: readonly OpenKey[];
}

function rows(lists: readonly (readonly number[])[]): Rows {
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => {
    offsets[i + 1] = offsets[i]! + list.length;
  });
  return { offsets, items: Int32Array.from(lists.flat()) };
}

function toProblem({ mode, txCount, sessions, known, openKeys }: Question): OrderProblem {
  const split = mode === 'snapshot' || mode === 'prefix';
  const points: [number, number][] = split
    ? Array.from({ length: txCount }, (_, tx): [number, number] => [tx, txCount + tx])
    : [];
  const after = (from: number, to: number): void => {
    points.push([split ? txCount + from : from, to]);
  };
  // Known edges lead from a commit to a read, as reads-from does.
  for (const [from, to] of known) after(from, to);
  for (let tx = sessions; tx < txCount; tx++) after(tx - sessions, tx);
  const txs = Array.from({ length: txCount }, (_, tx) => tx);
  const position = Int32Array.from(txs, (tx) => Math.floor(tx / sessions));
  const session = Int32Array.from(txs, (tx) => tx % sessions);
  txs.sort((a, b) => session[a]! - session[b]! || a - b);
  const versionTx: number[] = [];
  const versionKey: number[] = [];
  const readers: (readonly number[])[] = [];
  const versionOffsets = [0];
  openKeys.forEach((open, key) => {
    for (const tx of txs.filter((each) => open.writers.includes(each))) {
      versionTx.push(tx);
      versionKey.push(key);
      const ofVersion = open.readers[open.writers.indexOf(tx)]!;
      readers.push(ofVersion);
      // A version's readers come after its writer.
      for (const reader of ofVersion) after(tx, reader);
    }
    versionOffsets.push(versionTx.length);
  });
  const of = (test: (version: number, tx: number) => boolean): Rows =>
    rows(Array.from({ length: txCount }, (_, tx) => versionTx.map((_, v) => v).filter((v) => test(v, tx))));
  return {
    mode,
    txCount,
    split,
    pointCount: split ? 2 * txCount : txCount,
    sources: Int32Array.from(points, ([from]) => from),
    targets: Int32Array.from(points, ([, to]) => to),
    keys: Int32Array.from(openKeys, (_, key) => key),
    versionOffsets: Int32Array.from(versionOffsets),
    versionTx: Int32Array.from(versionTx),
    versionKey: Int32Array.from(versionKey),
    readers: rows(readers),
    writes: of((v, tx) => versionTx[v] === tx),
    reads: of((v, tx) => readers[v]!.includes(tx)),
    chains: {
      txs: Int32Array.from(txs),
      offsets: Int32Array.from(
        { length: sessions + 1 },
        (_, s) => txs.filter((tx) => tx % sessions < s).length,
      ),
      position,
      session,
      count: sessions,
    },
  };
}

/** Tries every order of every key's writers. */
function possible(
  problem: OrderProblem,
  openKeys: readonly OpenKey[],
  extra: readonly (readonly [number, number])[] = [],
): boolean {
  const [open, ...rest] = openKeys;
  if (open === undefined) {
    const known = Array.from(problem.sources, (from, e) => [from, problem.targets[e]!] as const);
    return acyclic(problem.pointCount, [...known, ...extra]);
  }
  for (const order of permutations(open.writers.map((_, i) => i))) {
    const chosen: [number, number][] = [];
    order.forEach((i, place) => {
      for (const j of order.slice(place + 1)) {
        const second = open.writers[j]!;
        chosen.push([leavesFrom(problem, open.writers[i]!, ww), entersAt(problem, second, ww)]);
        for (const reader of open.readers[i]!) {
          if (reader !== second)
            chosen.push([leavesFrom(problem, reader, rw), entersAt(problem, second, rw)]);
        }
      }
    });
    if (possible(problem, rest, [...extra, ...chosen])) return true;
  }
  return false;
}

/** Does an order of points keep the known edges, and does every reader of a version come before the next one? */
function explains(problem: OrderProblem, order: Int32Array): boolean {
  const place = new Map(Array.from(order, (point, i) => [point, i]));
  const isBefore = (a: number, b: number): boolean => place.get(a)! < place.get(b)!;
  for (let e = 0; e < problem.sources.length; e++) {
    if (!isBefore(problem.sources[e]!, problem.targets[e]!)) return false;
  }
  const { versionTx, versionKey, readers } = problem;
  return [...versionTx].every((a, v) =>
    [...versionTx].every((b, w) => {
      if (v === w || versionKey[v] !== versionKey[w]) return true;
      if (!isBefore(leavesFrom(problem, a, ww), entersAt(problem, b, rw))) return true;
      if (!isBefore(leavesFrom(problem, a, ww), entersAt(problem, b, ww))) return false;
      const of = readers.items.subarray(readers.offsets[v], readers.offsets[v + 1]);
      return [...of].every((r) => r === b || isBefore(leavesFrom(problem, r, rw), entersAt(problem, b, rw)));
    }),
  );
}

function* permutations(items: readonly number[]): Generator<number[]> {
  if (items.length === 0) yield [];
  for (const first of items) {
    for (const rest of permutations(items.filter((item) => item !== first))) yield [first, ...rest];
  }
}

function acyclic(nodeCount: number, edges: readonly (readonly [number, number])[]): boolean {
  let left = Array.from({ length: nodeCount }, (_, v) => v);
  for (;;) {
    const free = left.filter((v) => !edges.some(([from, to]) => to === v && left.includes(from)));
    if (free.length === 0) return left.length === 0;
    left = left.filter((v) => !free.includes(v));
  }
}

const question = fc
  .record({
    mode: fc.constantFrom<OrderMode>('serializable', 'snapshot', 'prefix', 'cursor stability'),
    txCount: fc.integer({ min: 3, max: 7 }),
    sessions: fc.integer({ min: 2, max: 7 }),
  })
  .chain(({ mode, txCount, sessions }) => {
    const tx = fc.integer({ min: 0, max: txCount - 1 });
    const openKey = fc.uniqueArray(tx, { minLength: 2, maxLength: 3 }).chain((writers) =>
      fc.record({
        writers: fc.constant(writers),
        readers: fc.tuple(
          ...writers.map((writer) =>
            fc
              .uniqueArray(tx, { maxLength: 2 })
              .map((readers) => readers.filter((reader) => reader !== writer)),
          ),
        ),
      }),
    );
    return fc.record({
      mode: fc.constant(mode),
      txCount: fc.constant(txCount),
      sessions: fc.constant(Math.min(sessions, txCount)),
      known: fc.array(
        fc.tuple(tx, tx).map(([a, b]): [number, number] => (a < b ? [a, b] : [b, a])),
        { maxLength: 3 },
      ),
      openKeys: fc.array(openKey, { minLength: 1, maxLength: 4 }),
    });
  })
  .map((q): Question => ({ ...q, known: q.known.filter(([a, b]) => a !== b) }));

describe('the search for a version order', () => {
  it('finds one exactly when trying all of them does', () => {
    const effort = new Effort();
    let [yes, no, byForce] = [0, 0, 0];
    fc.assert(
      fc.property(question, (q) => {
        const problem = toProblem(q);
        const expected = possible(problem, q.openKeys);
        if (expected) yes++;
        else no++;
        const saturated = saturateOrder(problem, effort);
        if (saturated.outcome === 'cyclic') {
          byForce++;
          expect(expected).toBe(false);
          return;
        }
        const search = searchOrder(problem, saturated, effort);
        expect(search.outcome).toBe(expected ? 'possible' : 'impossible');
        if (search.outcome === 'possible') expect(explains(problem, search.order)).toBe(true);
      }),
      { numRuns: 1500 },
    );
    expect(Math.min(yes, no, byForce)).toBeGreaterThan(100);
  });

  it('needs no saturation to be right', () => {
    const effort = new Effort();
    let refuted = 0;
    fc.assert(
      fc.property(question, (q) => {
        const problem = toProblem(q);
        const saturated = saturateOrder(problem, new Effort({ seconds: 60, memoryBytes: 0 }));
        const outcome =
          saturated.outcome === 'cyclic' ? 'impossible' : searchOrder(problem, saturated, effort).outcome;
        if (saturated.outcome !== 'cyclic' && outcome === 'impossible') refuted++;
        expect(outcome).toBe(possible(problem, q.openKeys) ? 'possible' : 'impossible');
      }),
      { numRuns: 800 },
    );
    expect(refuted).toBeGreaterThan(50);
  });

  it('is never contradicted by a run that got through', () => {
    const effort = new Effort();
    let through = 0;
    fc.assert(
      fc.property(question, (q) => {
        const problem = toProblem(q);
        const { edges } = saturateOrder(problem, effort);
        const order = runOrder(problem, edges, { effort });
        if (order === undefined) return;
        through++;
        expect(explains(problem, order)).toBe(true);
      }),
      { numRuns: 800 },
    );
    expect(through).toBeGreaterThan(100);
  });

  /**
   * Three keys with two writers each leave eight ways to choose. For each way there is a loop of readers that closes
   * if exactly that way is taken, so nothing is forced, and only guessing refutes them all.
   */
  const eightLoops = (loops: number): string => {
    const keys = ['x', 'y', 'z'];
    const writes: string[][] = keys.flatMap((key) => [[`w${key}1`], [`w${key}2`]]);
    const readers: string[] = [];
    for (let way = 0; way < loops; way++) {
      const link = (k: number): string => `c${'abcdefgh'[way]}${keys[k]}`;
      keys.forEach((key, k) => {
        const first = (way >> k) & 1;
        writes[2 * k + (1 - first)]!.push(`w${link(k)}1`);
        readers.push(`R: r${key}${first + 1} r${link((k + 2) % 3)}1`);
      });
    }
    return [...writes.map((ops) => `W: ${ops.join(' ')}`), ...readers].join(' | ');
  };

  it('refutes by guessing where nothing is forced', () => {
    const result = checkKv(kv(eightLoops(8)), { definitions: 'adya', strongest: false });
    expect(result.valid).toBe(false);
    expect(result.findings.map((finding) => [finding.kind, finding.certainty])).toEqual([
      ['G-nonadjacent', 'proved-by-search'],
    ]);
    expect(explain(result.findings[0]!)).toContain('was tried, and each leads to a cycle');
  });

  it('says so when the budget ends first', () => {
    const options = { definitions: 'adya', budget: 0, strongest: false } as const;
    const result = checkKv(kv(eightLoops(8)), options);
    expect(result.valid).toBe('unknown');
    expect(result.unknownReasons).toEqual(['no order was found in 0 s']);
  });

  it('finds the way that is left when half of them are closed', () => {
    expect(checkKv(kv(eightLoops(4)), { definitions: 'adya', strongest: false }).valid).toBe(true);
  });
});

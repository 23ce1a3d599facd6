import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kv } from '../../histories/index.js';
import { rw, ww } from '../graph/graph.js';
import { checkKv } from './check-kv.js';
import { guessOrder } from './guess-order.js';
import { entersAt, leavesFrom, type OpenKey, type Polygraph, type PolygraphMode } from './polygraph.js';
import { searchOrder } from './search-order.js';

interface Question {
  readonly mode: PolygraphMode;
  readonly txCount: number;
  readonly known: readonly (readonly [number, number])[];
  readonly openKeys: readonly OpenKey[];
}

function toPolygraph(question: Question): Polygraph {
  const split = question.mode === 'snapshot' || question.mode === 'prefix';
  const { txCount } = question;
  const points: [number, number][] = split
    ? Array.from({ length: txCount }, (_, tx): [number, number] => [tx, txCount + tx])
    : [];
  // Known edges lead from a commit to a read, as reads-from does.
  for (const [from, to] of question.known) points.push([split ? txCount + from : from, to]);
  // A version's readers come after its writer.
  for (const open of question.openKeys) {
    open.writers.forEach((writer, i) => {
      for (const reader of open.readers[i]!) points.push([split ? txCount + writer : writer, reader]);
    });
  }
  return {
    mode: question.mode,
    txCount,
    counts: new Uint8Array(txCount).fill(1),
    nodeCount: split ? 2 * txCount : txCount,
    sources: Int32Array.from(points, ([from]) => from),
    targets: Int32Array.from(points, ([, to]) => to),
    openKeys: question.openKeys,
    split,
  };
}

/** Tries every order of every key's writers. */
function possible(graph: Polygraph, key = 0, extra: readonly (readonly [number, number])[] = []): boolean {
  if (key === graph.openKeys.length) {
    const edges = [...Array.from(graph.sources, (from, e) => [from, graph.targets[e]!] as const), ...extra];
    return acyclic(graph.nodeCount, edges);
  }
  const open = graph.openKeys[key]!;
  for (const order of permutations(open.writers.map((_, i) => i))) {
    const chosen: [number, number][] = [];
    order.forEach((i, place) => {
      for (const j of order.slice(place + 1)) {
        const second = open.writers[j]!;
        chosen.push([leavesFrom(graph, open.writers[i]!, ww), entersAt(graph, second, ww)]);
        for (const reader of open.readers[i]!) {
          if (reader !== second) chosen.push([leavesFrom(graph, reader, rw), entersAt(graph, second, rw)]);
        }
      }
    });
    if (possible(graph, key + 1, [...extra, ...chosen])) return true;
  }
  return false;
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
    mode: fc.constantFrom<PolygraphMode>('serializable', 'snapshot', 'prefix', 'cursor stability'),
    txCount: fc.integer({ min: 3, max: 7 }),
  })
  .chain(({ mode, txCount }) => {
    const tx = fc.integer({ min: 0, max: txCount - 1 });
    const openKey = fc.uniqueArray(tx, { minLength: 2, maxLength: 3 }).chain((writers) =>
      fc.record({
        key: fc.constant(0),
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
    let yes = 0;
    let no = 0;
    fc.assert(
      fc.property(question, (q) => {
        const graph = toPolygraph(q);
        const expected = possible(graph);
        if (expected) yes++;
        else no++;
        expect(searchOrder(graph).outcome).toBe(expected ? 'possible' : 'impossible');
      }),
      { numRuns: 800 },
    );
    expect(Math.min(yes, no)).toBeGreaterThan(100);
  });

  it('is never contradicted by a run that got through', () => {
    fc.assert(
      fc.property(question, (q) => {
        const graph = toPolygraph(q);
        if (guessOrder(graph, { position: new Int32Array(q.txCount) })) expect(possible(graph)).toBe(true);
      }),
      { numRuns: 500 },
    );
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
      ['no-order', 'proved-by-search'],
    ]);
    expect(result.findings[0]!.explanation).toContain('was tried, and each leads to a cycle');
  });

  it('says so when the budget ends first', () => {
    const options = { definitions: 'adya', budget: 0, strongest: false } as const;
    const result = checkKv(kv(eightLoops(8)), options);
    expect(result.valid).toBe('unknown');
    expect(result.unknownReasons).toEqual(['the search for an order ended after 0 steps']);
  });

  it('finds the way that is left when half of them are closed', () => {
    expect(checkKv(kv(eightLoops(4)), { definitions: 'adya', strongest: false }).valid).toBe(true);
  });
});

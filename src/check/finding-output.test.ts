import { describe, expect, it } from 'vitest';
import { KvBuilder, kv } from '../histories/index.js';
import { findingsToDot } from './dot.js';
import { explain } from './explain.js';
import type { Finding } from './finding.js';
import { checkKv } from './kv/check-kv.js';
import type { CheckLevel } from './levels.js';

function first(text: string, level: CheckLevel = 'serializable'): Finding {
  const finding = checkKv(kv(text), { level, definitions: 'adya', strongest: false }).findings[0];
  if (finding === undefined) throw new Error(`nothing found in ${text}`);
  return finding;
}

describe('explanations', () => {
  it('argue a write skew step by step', () => {
    expect(explain(first('A: rx_ wy1 | B: ry_ wx1'))).toMatchInlineSnapshot(`
      "Let T1 = r(x, initial) w(y, 1)
          T2 = r(y, initial) w(x, 1)
      T1 < T2, because T1 read x before T2 wrote it: r(x, initial) does not see w(x, 1);
      however, T2 < T1, because T2 read y before T1 wrote it: r(y, initial) does not see w(y, 1): a contradiction."
    `);
  });

  it('argue a lost update of lists with the lists', () => {
    expect(explain(first('A: rx[] ax1 | B: rx[] ax2 | C: rx[1,2]'))).toMatchInlineSnapshot(`
      "Let T2 = r(x, []) append(x, 2)
          T1 = r(x, []) append(x, 1)
      T2 < T1, because T2 read x before T1 wrote it: r(x, []) does not see append(x, 1);
      however, T1 < T2, because T2 wrote x after T1 did: append(x, 2) after append(x, 1): a contradiction."
    `);
  });

  it('say when a version order is inferred, and from what', () => {
    expect(explain(first('A: wx1 wy1 | B: ry1 wx2 wz1 | C: rx1 rz1'))).toMatchInlineSnapshot(`
      "Suppose T1 wrote x before T2.
      Let T3 = r(x, 1) r(z, 1)
          T2 = r(y, 1) w(x, 2) w(z, 1)
      T3 < T2, because T3 read x before T2 wrote it: r(x, 1) does not see w(x, 2) (as supposed);
      however, T2 < T3, because T3 read z as T2 wrote it: r(z, 1) from w(z, 1): a contradiction.
      Otherwise T2 wrote x before T1.
      Let T1 = w(x, 1) w(y, 1)
          T2 = r(y, 1) w(x, 2) w(z, 1)
      T1 < T2, because T2 read y as T1 wrote it: r(y, 1) from w(y, 1);
      however, T2 < T1, because T1 wrote x after T2 did: w(x, 1) after w(x, 2) (as supposed): a contradiction."
    `);
  });

  it('give for each inferred order the cycle that the other one would close', () => {
    const text = 'A: wx1 wy1 | B: wx2 wy2 | C: rx1 ry2 | D: rx2 ry1';
    expect(explain(first(text))).toMatchInlineSnapshot(`
      "Suppose T1 wrote y before T2.
      Let T1 = w(x, 1) w(y, 1)
          T2 = w(x, 2) w(y, 2)
          T3 = r(x, 1) r(y, 2)
      T1 < T2, because T2 wrote y after T1 did: w(y, 2) after w(y, 1) (as supposed);
      however, T2 < T1, because T1 wrote x after T2 did: w(x, 1) after w(x, 2) (T2 wrote x before T1, because otherwise T3 -rw x-> T2 -wr y-> T3): a contradiction.
      Otherwise T2 wrote y before T1.
      Let T3 = r(x, 1) r(y, 2)
          T1 = w(x, 1) w(y, 1)
      T3 < T1, because T3 read y before T1 wrote it: r(y, 2) does not see w(y, 1) (as supposed);
      however, T1 < T3, because T3 read x as T1 wrote it: r(x, 1) from w(x, 1): a contradiction."
    `);
  });

  it('argue by cases where two versions can stand neither way', () => {
    const text = 'A: rx_ wy1 wz1 | B: ry_ wx1 wz2 | C: rz1 | D: rz2';
    expect(explain(first(text, 'snapshot'))).toMatchInlineSnapshot(`
      "Suppose T1 wrote z before T2.
      Let T2 = r(y, initial) w(x, 1) w(z, 2)
          T1 = r(x, initial) w(y, 1) w(z, 1)
      T2 < T1, because T2 read y before T1 wrote it: r(y, initial) does not see w(y, 1);
      however, T1 < T2, because T2 wrote z after T1 did: w(z, 2) after w(z, 1) (as supposed): a contradiction.
      Otherwise T2 wrote z before T1.
      Let T1 = r(x, initial) w(y, 1) w(z, 1)
          T2 = r(y, initial) w(x, 1) w(z, 2)
      T1 < T2, because T1 read x before T2 wrote it: r(x, initial) does not see w(x, 1);
      however, T2 < T1, because T1 wrote z after T2 did: w(z, 1) after w(z, 2) (as supposed): a contradiction."
    `);
  });

  it('argue a lost update of registers', () => {
    expect(explain(first('A: wx1 | B: rx1 wx2 | C: rx1 wx3'))).toMatchInlineSnapshot(`
      "Let T2 = r(x, 1) w(x, 2)
          T3 = r(x, 1) w(x, 3)
      T2 < T3, because T2 read x before T3 wrote it: r(x, 1) does not see w(x, 3);
      however, T3 < T2, because T3 read x before T2 wrote it: r(x, 1) does not see w(x, 2): a contradiction."
    `);
  });

  it('name the read that an axiom rests on', () => {
    const text = 'A@s: wx1 | B@s: wx2 wy1 | C: ry1 rx1';
    expect(explain(first(text, 'read atomic'))).toMatchInlineSnapshot(`
      "Let T1 = w(x, 1)
          T2 = w(x, 2) w(y, 1)
          T3 = r(y, 1) r(x, 1)
      T1 < T2, because T1 came before T2 in session s;
      however, T2 < T1, because T1 wrote x after T2 did: w(x, 1) after w(x, 2) (T3 read from T2 and yet read x from T1: r(x, 1)): a contradiction."
    `);
  });

  it('give the times of a real-time violation', () => {
    expect(explain(first('A[1-2]: wx1 | B[3-4]: rx_', 'strict serializable'))).toMatchInlineSnapshot(`
      "Let T2 = r(x, initial)
          T1 = w(x, 1)
      T2 < T1, because T2 read x before T1 wrote it: r(x, initial) does not see w(x, 1);
      however, T1 < T2, because T1 ended (at 2 ns) before T2 started (at 3 ns): a contradiction."
    `);
  });

  it('show what a single read proves', () => {
    const texts = ['A!: wx1 | B: rx1', 'A: wx1 wx2 | B: rx1', 'A: wx1 rx_', 'A: ax1 | B: rx[1,1]', 'A: rx7'];
    expect(texts.map((text) => explain(first(text)))).toMatchInlineSnapshot(`
      [
        "Let T2 = r(x, 1)
          T1 = w(x, 1) (aborted)
      T2 read what T1 wrote, r(x, 1) from w(x, 1); however, T1 aborted.",
        "Let T2 = r(x, 1)
          T1 = w(x, 1) w(x, 2)
      T2 read an intermediate version, r(x, 1) from w(x, 1); however, T1 wrote x again before it committed.",
        "Let T1 = w(x, 1) r(x, initial)
      T1 read r(x, initial) after its own w(x, 1); however, it must see its own write.",
        "Let T2 = r(x, [1 1])
          T1 = append(x, 1)
      T2 read 1 more than once in r(x, [1 1]); however, it was appended only once, by append(x, 1) of T1.",
        "Let T1 = r(x, 7)
      T1 read r(x, 7); however, no transaction ever wrote that to x.",
      ]
    `);
  });
});

describe('findings as data', () => {
  it('carry the operations, the cycle and the object of each edge', () => {
    const finding = first('A: rx_ wy1 | B: ry_ wx1');
    expect(JSON.parse(JSON.stringify(finding))).toEqual(finding);
    expect(finding).toMatchObject({
      kind: 'write-skew',
      oracle: 'key-value',
      certainty: 'proved',
      rulesOut: ['repeatable read'],
    });
    expect(finding.cycle?.map(({ from, to, kind, object }) => [from, to, kind, object])).toEqual([
      [0, 1, 'rw', 'x'],
      [1, 0, 'rw', 'y'],
    ]);
    const texts = new Map(finding.operations.map((op) => [op.index, op.text]));
    expect(texts.get(finding.cycle![0]!.fromOperation!)).toBe('r(x, initial)');
    expect(texts.get(finding.cycle![0]!.toOperation!)).toBe('w(x, 1)');
  });
});

describe('pictures', () => {
  const hostile = '"]; } <script>alert(1)</script> \\" & \u0000 ]]>';
  const builder = new KvBuilder();
  builder.begin('s');
  builder.read(hostile, null);
  builder.write('y', hostile);
  builder.end('committed');
  builder.begin('t');
  builder.read('y', null);
  builder.write(hostile, 1);
  builder.end('committed');
  const { findings } = checkKv(builder.build(), { strongest: false });

  it('are made as DOT, whatever the names', () => {
    const dot = findingsToDot(findings);
    // Outside strings there must be nothing but our own words.
    const bare = dot.replaceAll(/"(?:[^"\\]|\\.)*"/g, 'S');
    expect(bare).toMatch(/^digraph isolde \{[\w\s{};[\]=,>-]*\}\n$/);
    expect(bare).not.toContain('script');
    expect(bare.match(/->/g)).toHaveLength(2);
  });

  it('draw a cycle as it was found', () => {
    expect(findingsToDot([first('A: rx_ wy1 | B: ry_ wx1')])).toMatchInlineSnapshot(`
      "digraph isolde {
        node [shape=box, fontname="monospace"];
        subgraph cluster_0 {
          label="write-skew";
          f0t0 [label="T1\\nr(x, initial)\\nw(y, 1)"];
          f0t1 [label="T2\\nr(y, initial)\\nw(x, 1)"];
          f0t0 -> f0t1 [label="rw x", color="#b9770e", fontcolor="#b9770e"];
          f0t1 -> f0t0 [label="rw y", color="#b9770e", fontcolor="#b9770e"];
        }
      }
      "
    `);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CycleEdge, EdgeName } from '../check/index.js';
import { nameShortened } from './cycle-shape.js';

type Edge = Pick<CycleEdge, 'kind' | 'object'>;

/** `rw x, ww y`: kinds and rows, in order. */
const edges = (text: string): Edge[] =>
  text.split(', ').map((part) => {
    const [kind, object] = part.split(' ');
    return { kind: kind as EdgeName, ...(object === undefined ? {} : { object }) };
  });
const named = (text: string) => nameShortened(edges(text));

describe('nameShortened', () => {
  it('gives two transactions the names everybody knows', () => {
    expect(named('rw x, ww x')).toBe('lost-update');
    expect(named('rw x, rw x')).toBe('lost-update');
    expect(named('rw x, ww y')).toBe('read-write-skew');
    expect(named('rw x, wr y')).toBe('read-skew');
    expect(named('rw x, rw y')).toBe('write-skew');
    expect(named('rw x, wr x')).toBe('G-single');
    expect(named('ww x, ww y')).toBe('G0');
    expect(named('ww x, wr y')).toBe('G1c');
    expect(named('predicate-rw t, ww y')).toBe('G-single');
    expect(named('predicate-rw t, rw y')).toBe('G2');
    expect(named('rw x, session')).toBe('G-single-session');
    expect(named('rw x, real-time')).toBe('G-single-realtime');
  });

  it('sees a lost update behind whoever wrote or read the row in between', () => {
    expect(named('rw x, ww x, ww x')).toBe('lost-update');
    expect(named('rw x, wr x, rw x')).toBe('lost-update');
    expect(named('rw x, ww x, wr x, rw x')).toBe('lost-update');
    expect(named('rw x, wr x, rw x, ww x')).toBe('lost-update');
  });

  it('keeps what is no detour', () => {
    expect(named('rw x, rw y, ww x')).toBe('G2-item');
    expect(named('rw x, rw y, wr z')).toBe('G2-item');
    expect(named('rw x, ww y, rw z, wr v')).toBe('G-nonadjacent');
    expect(named('rw x, wr y, wr z')).toBe('read-skew');
    expect(named('rw x, wr y, ww z')).toBe('read-write-skew');
    expect(named('ww x, ww y, wr z')).toBe('G1c');
  });

  const edge = fc.record({
    kind: fc.constantFrom<EdgeName>('ww', 'wr', 'rw', 'predicate-rw', 'session', 'real-time'),
    object: fc.constantFrom('x', 'y', 'z'),
  });
  const cycle = fc.array(edge, { minLength: 2, maxLength: 6 });

  it('does not care where a cycle starts', () => {
    fc.assert(
      fc.property(cycle, fc.nat(), (made, turn) => {
        const at = turn % made.length;
        expect(nameShortened([...made.slice(at), ...made.slice(0, at)])).toBe(nameShortened(made));
      }),
    );
  });

  it('does not care what rows are called', () => {
    fc.assert(
      fc.property(cycle, (made) => {
        const renamed = made.map(({ kind, object }) => ({ kind, object: `other/${object}` }));
        expect(nameShortened(renamed)).toBe(nameShortened(made));
      }),
    );
  });

  it('does not care for a stranger on the way of a skew of two transactions', () => {
    const skews = ['rw x, ww x', 'rw x, ww y', 'rw x, wr y', 'rw x, rw y'];
    const detours: Record<string, readonly string[]> = {
      ww: ['ww $, ww $', 'wr $, rw $', 'wr v, ww $', 'ww v, ww $'],
      wr: ['ww v, wr $', 'wr v, wr $'],
      rw: ['rw $, ww $'],
    };
    fc.assert(
      fc.property(fc.constantFrom(...skews), fc.nat(), fc.nat(), fc.nat(), (skew, which, how, turn) => {
        const parts = skew.split(', ');
        const at = which % parts.length;
        const [kind, row] = parts[at]!.split(' ') as [string, string];
        const ways = detours[kind]!;
        // A lost update goes through one row from end to end.
        const fitting = skew === 'rw x, ww x' ? ways.filter((way) => !way.includes(' v')) : ways;
        parts[at] = fitting[how % fitting.length]!.replaceAll('$', row);
        const longer = edges(parts.join(', '));
        const start = turn % longer.length;
        expect(nameShortened([...longer.slice(start), ...longer.slice(0, start)])).toBe(named(skew));
      }),
    );
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { baseKind, cycleAnomalies, describeKind, type FindingKind } from '../../contracts/index.js';
import { findCycles } from './cycles.js';
import { buildGraph, EdgeList } from './graph.js';
import { mildnessOf, nameCycle, nameWithOrder } from './name-cycle.js';

it('gives a cycle the name of its family, or a narrower one', () => {
  const edge = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(5), fc.nat(2));
  fc.assert(
    fc.property(fc.array(edge, { minLength: 2, maxLength: 12 }), (list) => {
      const edges = new EdgeList(4);
      for (const [from, to, kind, ref] of list) if (from !== to) edges.add(from, to, kind, ref);
      for (const cycle of findCycles(buildGraph(edges)).cycles) {
        const name = baseKind(nameCycle(cycle));
        expect([name, ...describeKind(name).partOf]).toContain(cycle.family);
        const order = cycle.order === 'none' ? '' : cycle.order === 'session' ? '-session' : '-realtime';
        expect(nameCycle(cycle)).toBe(`${name}${order}`);
      }
    }),
    { numRuns: 500 },
  );
});

it('says which name is milder: what stronger levels forbid, then what no cycle shows', () => {
  const inOrder: readonly FindingKind[] = [
    'G0',
    'G1c',
    'lost-update',
    'G-nonadjacent',
    'write-skew',
    'G2',
    'no-order',
  ];
  const mildness = inOrder.map(mildnessOf);
  expect(mildness).toEqual(mildness.toSorted((a, b) => a - b));
  expect(new Set(mildness).size).toBe(inOrder.length);
  expect(mildnessOf('read-skew')).toBe(mildnessOf('G-single'));
});

it('counts no kind without a family as the worst', () => {
  for (const kind of ['G1a', 'internal', 'garbage-read', 'incompatible-order', 'no-order'] as const)
    expect(mildnessOf(kind)).toBeGreaterThan(mildnessOf('G0'));
});

it('adds an order once, and is milder for it', () => {
  for (const name of cycleAnomalies) {
    const ordered = nameWithOrder(name, 'session');
    expect(ordered).toBe(`${name}-session`);
    expect(nameWithOrder(ordered, 'real-time')).toBe(ordered);
    expect(mildnessOf(ordered)).toBeGreaterThan(mildnessOf(name));
  }
  expect(nameWithOrder('G1c', 'real-time')).toBe('G1c-realtime');
  expect(nameWithOrder('G1c', 'none')).toBe('G1c');
});

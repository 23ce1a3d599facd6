import fc from 'fast-check';
import { expect, it } from 'vitest';
import { baseKind, describeKind } from '../../contracts/index.js';
import { findCycles } from './cycles.js';
import { buildGraph, EdgeList } from './graph.js';
import { nameCycle } from './name-cycle.js';

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

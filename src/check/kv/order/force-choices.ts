/**
 * Which orders of two versions follow, one after the other, because the opposite would close a cycle: the steps of an
 * argument a person can follow. For the few transactions of a core; the checker itself saturates (`saturate-order.ts`).
 */
import { rw, ww } from '../../graph/graph.js';
import type { ForcedChoice } from '../forced-finding.js';
import { entersAt, leavesFrom, type OrderProblem } from './order-problem.js';

/** The choices in the order they follow. If the last two are the two sides of one choice, neither is possible. */
export function forceChoices(problem: OrderProblem): { forced: ForcedChoice[]; contradictory: boolean } {
  const graph = new SmallGraph();
  for (let e = 0; e < problem.sources.length; e++) graph.add(problem.sources[e]!, problem.targets[e]!);
  const forced: ForcedChoice[] = [];
  let open = pairs(problem);
  for (let changed = true; changed; ) {
    changed = false;
    const still: [number, number][] = [];
    for (const [a, b] of open) {
      const sides = [choice(problem, a, b), choice(problem, b, a)] as const;
      const [left, right] = sides.map((side) => edgesOf(problem, side).every(([x, y]) => graph.mayAdd(x, y)));
      if (left && right) {
        still.push([a, b]);
        continue;
      }
      if (!left && !right) return { forced: [...forced, ...sides], contradictory: true };
      const side = left ? sides[0] : sides[1];
      forced.push(side);
      for (const [x, y] of edgesOf(problem, side)) graph.add(x, y);
      changed = true;
    }
    open = still;
  }
  return { forced, contradictory: false };
}

function pairs({ keys, versionOffsets }: OrderProblem): [number, number][] {
  const result: [number, number][] = [];
  for (let k = 0; k < keys.length; k++) {
    for (let a = versionOffsets[k]!; a < versionOffsets[k + 1]!; a++) {
      for (let b = a + 1; b < versionOffsets[k + 1]!; b++) result.push([a, b]);
    }
  }
  return result;
}

function choice(
  { versionTx, versionKey, keys, readers }: OrderProblem,
  first: number,
  second: number,
): ForcedChoice {
  return {
    key: keys[versionKey[first]!]!,
    first: versionTx[first]!,
    second: versionTx[second]!,
    readersOfFirst: [...readers.items.subarray(readers.offsets[first], readers.offsets[first + 1])],
  };
}

function edgesOf(problem: OrderProblem, { first, second, readersOfFirst }: ForcedChoice): [number, number][] {
  const overtaken = entersAt(problem, second, rw);
  return [
    [leavesFrom(problem, first, ww), entersAt(problem, second, ww)],
    ...readersOfFirst
      .filter((reader) => reader !== second)
      .map((reader): [number, number] => [leavesFrom(problem, reader, rw), overtaken]),
  ];
}

class SmallGraph {
  readonly #next = new Map<number, Set<number>>();

  add(from: number, to: number): void {
    const targets = this.#next.get(from) ?? new Set();
    this.#next.set(from, targets.add(to));
  }

  /** Would an edge close no cycle? */
  mayAdd(from: number, to: number): boolean {
    const reached = new Set([to]);
    for (const point of reached) {
      if (point === from) return false;
      for (const next of this.#next.get(point) ?? []) reached.add(next);
    }
    return true;
  }
}

/**
 * Decides what saturation and running left open: is there an order of versions without a cycle? Exact; stops when the
 * time is spent.
 *
 * Each pair of versions of a key that nothing orders is a choice with two sides; each side has its edges (ww, and rw
 * from the readers of the first version). The choices are made by clause learning (`clause-solver.ts`). The theory behind
 * it is an order of all points that is kept up as edges come and go (`topological-order.ts`): a side whose edge would
 * close a cycle is refused with the choices on that cycle, which together are impossible; that is the clause. A choice
 * is first tried in the order its versions have there already, so most of them cost nothing.
 */
import { rw, ww } from '../../graph/graph.js';
import { TopologicalOrder } from '../../graph/topological-order.js';
import type { Effort } from '../effort.js';
import { ClauseSolver, type Theory } from './clause-solver.js';
import { commitPoint, entersAt, leavesFrom, type OrderProblem } from './order-problem.js';
import { type PointEdges, sortPoints } from './point-edges.js';
import type { OrderClocks, Saturated } from './saturate-order.js';

/** A cycle: its points, the derived edges on it, and the choices (first version, second version) that close it. */
export interface OrderConflict {
  readonly points: readonly number[];
  readonly derived: readonly number[];
  readonly choices: readonly (readonly [first: number, second: number])[];
}

export type OrderSearch =
  | { readonly outcome: 'possible'; readonly order: Int32Array }
  | {
      readonly outcome: 'impossible';
      readonly guessed: boolean;
      readonly conflicts: readonly OrderConflict[];
    }
  | { readonly outcome: 'unknown'; readonly reason: string };

/** What a choice costs in the tables of the solver and its theory. */
const bytesPerChoice = 120;

export function searchOrder(problem: OrderProblem, saturated: Saturated, effort: Effort): OrderSearch {
  const most = Math.floor(effort.limits.memoryBytes / bytesPerChoice);
  const pairs = openPairs(problem, saturated.clocks, most);
  if (pairs === undefined) {
    return {
      outcome: 'unknown',
      reason: `more than ${most} pairs of writers have no known order, too many to keep in memory`,
    };
  }
  effort.progress(`searching: ${pairs.length / 2} pairs of writers have no known order`);
  const theory = new OrderTheory(problem, saturated.edges, pairs);
  const solved = new ClauseSolver(pairs.length / 2, theory).solve(effort);
  switch (solved.outcome) {
    case 'satisfiable':
      return { outcome: 'possible', order: theory.order() };
    case 'unsatisfiable': {
      const conflicts = solved.proofs.map((proof) => theory.conflicts[proof]!);
      return { outcome: 'impossible', guessed: solved.guessed, conflicts };
    }
    case 'unknown':
      return {
        outcome: 'unknown',
        reason: `the time ended while ${pairs.length / 2} pairs of writers had no known order`,
      };
  }
}

/** Pairs of versions of one key that the clocks leave open, one behind the other; undefined if more than `most`. */
function openPairs(
  problem: OrderProblem,
  clocks: OrderClocks | undefined,
  most: number,
): Int32Array | undefined {
  const { versionOffsets, versionTx, chains, keys, mode } = problem;
  // At snapshot isolation who starts before another commits must have committed before the other starts.
  const seen = mode === 'snapshot' ? clocks?.starts : clocks?.commits;
  const isBefore = (a: number, b: number): boolean =>
    seen !== undefined &&
    seen[commitPoint(problem, b) * clocks!.width + chains.session[a]!]! > chains.position[a]!;
  let pairs = new Int32Array(1024);
  let length = 0;
  for (let k = 0; k < keys.length; k++) {
    const end = versionOffsets[k + 1]!;
    for (let a = versionOffsets[k]!; a < end; a++) {
      for (let b = a + 1; b < end; b++) {
        const [x, y] = [versionTx[a]!, versionTx[b]!];
        if (chains.session[x] === chains.session[y] && clocks !== undefined) continue;
        if (isBefore(x, y) || isBefore(y, x)) continue;
        if (length / 2 >= most) return undefined;
        if (length === pairs.length) {
          const larger = new Int32Array(length * 2);
          larger.set(pairs);
          pairs = larger;
        }
        pairs[length++] = a;
        pairs[length++] = b;
      }
    }
  }
  return pairs.subarray(0, length);
}

class OrderTheory implements Theory {
  readonly conflicts: OrderConflict[] = [];
  readonly #problem: OrderProblem;
  readonly #edges: PointEdges;
  readonly #pairs: Int32Array;
  readonly #order: TopologicalOrder;
  /** Which of the given edges an edge of the order is; then which literal the others belong to. */
  readonly #given: Int32Array;
  readonly #givenCount: number;
  readonly #labels: number[] = [];
  /** How many edges there were before each asserted literal. */
  readonly #before: number[] = [];

  constructor(problem: OrderProblem, edges: PointEdges, pairs: Int32Array) {
    this.#problem = problem;
    this.#edges = edges;
    this.#pairs = pairs;
    this.#order = new TopologicalOrder(sortPoints(edges, edges.successors()), edges.length + pairs.length);
    this.#given = new Int32Array(edges.length);
    for (let e = 0; e < edges.length; e++) {
      this.#given[this.#order.length] = e;
      this.#order.add(edges.from[e]!, edges.to[e]!);
    }
    this.#givenCount = this.#order.length;
  }

  order(): Int32Array {
    return this.#order.order();
  }

  prefer(variable: number): number {
    const place = (version: number): number =>
      this.#order.place[commitPoint(this.#problem, this.#problem.versionTx[version]!)]!;
    const [a, b] = [this.#pairs[2 * variable]!, this.#pairs[2 * variable + 1]!];
    return place(a) < place(b) ? 2 * variable : 2 * variable + 1;
  }

  retract(count: number): void {
    const edges = this.#before[this.#before.length - count]!;
    this.#before.length -= count;
    this.#order.truncate(edges);
    this.#labels.length = edges - this.#givenCount;
  }

  assert(literal: number): { literals: readonly number[]; proof: number } | undefined {
    this.#before.push(this.#order.length);
    const [first, second] = this.#choice(literal);
    const { versionTx, readers } = this.#problem;
    const [a, b] = [versionTx[first]!, versionTx[second]!];
    const failed = this.#add(leavesFrom(this.#problem, a, ww), entersAt(this.#problem, b, ww), literal);
    if (failed !== undefined) return failed;
    const overtaken = entersAt(this.#problem, b, rw);
    for (let r = readers.offsets[first]!; r < readers.offsets[first + 1]!; r++) {
      const reader = readers.items[r]!;
      if (reader === b) continue;
      const stopped = this.#add(leavesFrom(this.#problem, reader, rw), overtaken, literal);
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  #choice(literal: number): readonly [first: number, second: number] {
    const a = this.#pairs[literal & ~1]!;
    const b = this.#pairs[literal | 1]!;
    return (literal & 1) === 0 ? [a, b] : [b, a];
  }

  #add(from: number, to: number, literal: number): { literals: number[]; proof: number } | undefined {
    const path = this.#order.add(from, to);
    if (path === undefined) {
      this.#labels.push(literal);
      return undefined;
    }
    const literals = new Set([literal]);
    const points = [from, to];
    const derived: number[] = [];
    for (const edge of path) {
      points.push(this.#order.source(edge));
      if (edge >= this.#givenCount) literals.add(this.#labels[edge - this.#givenCount]!);
      else if (this.#given[edge]! >= this.#edges.knownCount) derived.push(this.#given[edge]!);
    }
    const choices = [...literals].map((each) => this.#choice(each));
    this.conflicts.push({ points, derived, choices });
    return { literals: [...literals], proof: this.conflicts.length - 1 };
  }
}

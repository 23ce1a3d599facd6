/** All orders between steps as one graph: what each step releases, and what still stands in each step's way. */
import { because, type Edges, type Order, softness } from './evidence.js';
import { type Groups, groupBy } from './ints.js';
import type { TimeEdges } from './time-order.js';

/** How much an order counts when orders contradict each other. */
export const strength = {
  /** A replay has shown it. */
  learnt: 0,
  certain: 1,
  /** The contract says so, but the run may have broken it: what reads show counts more. */
  presumed: 2,
  /** Of an alternative that was chosen. */
  chosen: 3,
  /** A guess, or a lock that may be waited for. */
  weak: 4,
  /** A lock that was waited for, for certain: the statement was sent before, and is to be again as soon as anything asks for it. */
  waited: 5,
  /** Nothing speaks for it but that it was answered first. */
  answered: 6,
} as const;

/** The orders of the alternatives chosen, with the number of the choice each belongs to. */
export interface ChosenOrders {
  readonly orders: readonly Order[];
  readonly choice: readonly number[];
}

/** Two steps, the first before the second. */
export type StepPair = readonly [from: number, to: number];

export interface OrderGraph {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly strength: Uint8Array;
  /** The choice an edge belongs to, or −1. */
  readonly choice: Int32Array;
  /** Edges by the step they start from. */
  readonly bySource: Groups;
  /** For each step how many edges to it wait for their source. */
  readonly pending: Int32Array;
  /** Edges by the step they lead to; made when first asked for. */
  byTarget(): Groups;
}

/** What besides the evidence orders steps. */
export interface FurtherOrders {
  /** By when statements were sent and answered. */
  readonly times: TimeEdges;
  /** Guesses: who was answered first went first. */
  readonly answers: TimeEdges;
  /** What replays have shown. */
  readonly learnt: readonly StepPair[];
  /** Locks that were waited for count as much as other guesses: such statements are sent as late as may be. */
  readonly waitersLast?: boolean;
}

export function orderGraph(
  count: number,
  edges: Edges,
  chosen: ChosenOrders,
  { times, answers, learnt, waitersLast = false }: FurtherOrders,
): OrderGraph {
  const found = edges.from.length;
  const guessed = found + chosen.orders.length;
  const answered = guessed + times.from.length;
  const timed = answered + answers.from.length;
  const all = timed + learnt.length;
  const from = new Int32Array(all);
  const to = new Int32Array(all);
  const strengths = new Uint8Array(all).fill(strength.certain);
  const choice = new Int32Array(all).fill(-1);
  from.set(edges.from.view());
  to.set(edges.to.view());
  for (let i = 0; i < found; i++)
    if (edges.soft.at(i) === softness.guess) strengths[i] = strength.weak;
    else if (edges.soft.at(i) === softness.waited)
      strengths[i] = waitersLast ? strength.weak : strength.waited;
    else if (edges.why.at(i) === because.firstUpdater) strengths[i] = strength.presumed;
  chosen.orders.forEach((order, i) => {
    from[found + i] = order.from;
    to[found + i] = order.to;
    strengths[found + i] = strength.chosen;
    choice[found + i] = chosen.choice[i]!;
  });
  from.set(times.from.view(), guessed);
  to.set(times.to.view(), guessed);
  from.set(answers.from.view(), answered);
  to.set(answers.to.view(), answered);
  strengths.fill(strength.answered, answered, timed);
  learnt.forEach((pair, i) => {
    from[timed + i] = pair[0];
    to[timed + i] = pair[1];
    strengths[timed + i] = strength.learnt;
  });
  const pending = new Int32Array(count);
  for (let e = 0; e < all; e++) pending[to[e]!]!++;
  let byTarget: Groups | undefined;
  return {
    from,
    to,
    strength: strengths,
    choice,
    bySource: groupBy(from, count),
    pending,
    byTarget: () => {
      byTarget ??= groupBy(to, count);
      return byTarget;
    },
  };
}

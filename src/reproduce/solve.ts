/**
 * Finds alternatives that go together. Every choice starts with its likeliest alternative; if batches can be made that keep
 * all of them, that is the answer. Otherwise each contradiction names the choices it involves, at least one of them was
 * wrong, and one of them takes its next alternative. Batches are made again, a bounded number of times; the best
 * attempt is kept.
 *
 * A choice is content with any of its alternatives, not only the one that was asked for.
 */
import { type Batches, makeBatches } from './batches.js';
import type { Choice, Evidence, Order } from './evidence.js';
import { type FurtherOrders, orderGraph, strength } from './order-graph.js';

export interface Solution {
  readonly batches: Batches;
  /** For each choice the alternative that holds; −1: none does. */
  readonly holds: readonly number[];
}

const mostRounds = 60;
/** Histories so long that a round takes a second get fewer. */
const stepsTimesRounds = 4_000_000;

export function solve(
  evidence: Evidence,
  further: FurtherOrders,
  preferred: ReadonlyMap<number, number> = new Map(),
): Solution {
  const { steps, accesses, objects, edges, choices } = evidence;
  const asked = choices.map((choice, i) => Math.min(preferred.get(i) ?? 0, choice.alternatives.length - 1));
  const rounds = Math.max(3, Math.min(mostRounds, Math.floor(stepsTimesRounds / steps.count)));
  const blamed = new Int32Array(choices.length);
  let best: (Solution & { readonly score: number }) | undefined;
  for (let round = 0; round < rounds; round++) {
    const orders = choices.flatMap((choice, i) => choice.alternatives[asked[i]!]!);
    const choice = choices.flatMap((one, i) => one.alternatives[asked[i]!]!.map(() => i));
    const graph = orderGraph(steps.count, edges, { orders, choice }, further);
    const batches = makeBatches(steps, accesses, objects.names.length, graph);
    const holds = choices.map((one, i) => holding(one, asked[i]!, batches));
    const score = scoreOf(batches, holds);
    if (best === undefined || score < best.score) best = { batches, holds, score };
    if (score === 0 || !moveOn(choices, batches, asked, blamed)) break;
  }
  return best!;
}

/** What is wrong with an attempt; waits that nothing but a guess stands against count least. */
function scoreOf({ forced }: Batches, holds: readonly number[]): number {
  let score = holds.filter((one) => one < 0).length * 10;
  for (const one of forced)
    if (one.strength <= strength.presumed) score += 100;
    else if (one.strength === strength.weak && one.choices.length > 0) score += 1;
  return score;
}

/** For every contradiction the choice in it that was blamed least takes its next alternative. */
function moveOn(
  choices: readonly Choice[],
  { forced }: Batches,
  asked: number[],
  blamed: Int32Array,
): boolean {
  const moved = new Set<number>();
  for (const { choices: involved } of forced) {
    if (involved.some((one) => moved.has(one))) continue;
    const open = involved.filter((one) => choices[one]!.alternatives.length > 1);
    if (open.length === 0) continue;
    const one = open.reduce((a, b) => (blamed[b]! < blamed[a]! ? b : a));
    blamed[one]!++;
    asked[one] = (asked[one]! + 1) % choices[one]!.alternatives.length;
    moved.add(one);
  }
  return moved.size > 0;
}

function holding(choice: Choice, asked: number, { of }: Batches): number {
  const kept = (orders: readonly Order[]) => orders.every(({ from, to }) => of[from]! < of[to]!);
  if (kept(choice.alternatives[asked]!)) return asked;
  return choice.alternatives.findIndex(kept);
}

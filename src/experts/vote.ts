/**
 * The vote: a comparison is repeated, and what most of the k say counts (Pisco §6.2.2). It ends as soon as the rest cannot change
 * the outcome, which is where most calls are saved: three alike of five decide. Where fewer steps can be afforded than that takes, the larger side
 * of the comparisons that were made has it.
 */
import type { Compared } from './comparison.js';
import type { Choice } from './opinion.js';

export interface Voted {
  /** Undefined: no side has more than half of k. */
  readonly choice: Choice | undefined;
  /** Comparisons that were made. */
  readonly votes: number;
  readonly settledBy: readonly Compared['settledBy'][];
}

/** `most`: how often all experts can be asked; a comparison gets what is left of it. */
export async function vote(
  k: number,
  comparison: (vote: number, steps: number) => Promise<Compared>,
  most = Number.POSITIVE_INFINITY,
): Promise<Voted> {
  let left = most;
  const counts = new Map<Choice, number>();
  const settledBy: Compared['settledBy'][] = [];
  for (let i = 0; i < k && left > 0; i++) {
    const { choice, settledBy: how, steps } = await comparison(i, left);
    left -= steps;
    settledBy.push(how);
    if (choice === undefined) continue;
    const count = (counts.get(choice) ?? 0) + 1;
    counts.set(choice, count);
    if (count > k / 2) return { choice, votes: i + 1, settledBy };
  }
  // Abstentions leave less than half of k; then the larger side has it, if there is one.
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  const choice = first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
  return { choice, votes: settledBy.length, settledBy };
}

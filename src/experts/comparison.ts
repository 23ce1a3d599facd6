/**
 * One comparison by the panel (Pisco §6.2.2):
 *
 * 1. Every expert answers with a confidence. They agree if all choose alike, or if those who choose otherwise are clearly less sure:
 *    an expert whose mechanism the bug does not touch says so by a low confidence.
 * 2. If not, each unfolds its reasoning operation by operation, and they answer again.
 * 3. If they still disagree, they talk: each sees in the next round what all have said. Until they agree, or the rounds are used up; then
 *    the side with the larger sum of confidences has it, and a tie is no decision.
 *
 * Each step asks all of them once. Where fewer steps can be afforded, the sum of confidences decides earlier.
 */
import type { Random } from '../generate/index.js';
import type { Choice, Opinion } from './opinion.js';
import type { Occasion, Panel } from './panel.js';
import { type PooledOpinion, permuted, type Question } from './prompts.js';

export interface Compared {
  /** Undefined: no decision. */
  readonly choice: Choice | undefined;
  readonly settledBy: 'agreement' | 'stepwise' | 'discussion' | 'sum' | 'nothing';
  /** How often all experts were asked. */
  readonly steps: number;
}

/** Confidences closer than this are similar. */
const clearMargin = 30;
/** Below it an expert is not sure, however alone it stands. */
const sureEnough = 50;

export interface ComparisonOptions {
  readonly panel: Panel;
  /** Rounds of discussion. */
  readonly rounds: number;
  readonly random: Random;
}

export async function compare(
  question: Question,
  { about, vote, steps: most }: Pick<Occasion, 'about' | 'vote'> & { readonly steps: number },
  { panel, rounds, random }: ComparisonOptions,
): Promise<Compared> {
  let steps = 1;
  const asked = permuted(question, random);
  const choices: readonly Choice[] = question.kind === 'pair' ? ['A', 'B'] : ['same', 'different'];
  const occasion = (round: number): Occasion => ({ about, vote, round, choices });
  const told = (choice: Choice | undefined, settledBy: Compared['settledBy']): Compared => ({
    choice: asked.swapped && choice !== undefined ? (choice === 'A' ? 'B' : 'A') : choice,
    settledBy: choice === undefined ? 'nothing' : settledBy,
    steps,
  });
  const first = await panel.ask(asked.question, { kind: 'direct' }, occasion(0));
  const agreed = agreement([...first.values()]);
  if (agreed !== undefined) return told(agreed, 'agreement');
  if (steps >= most) return told(heavier([...first.values()]), 'sum');
  steps++;
  let opinions = await panel.ask(asked.question, { kind: 'stepwise' }, occasion(1));
  const verified = agreement([...opinions.values()]);
  if (verified !== undefined) return told(verified, 'stepwise');
  for (let round = 0; round < rounds && steps < most; round++) {
    steps++;
    const pool: PooledOpinion[] = [...opinions].map(([expert, opinion]) => ({ expert, ...opinion }));
    opinions = await panel.ask(asked.question, { kind: 'discussion', pool }, occasion(2 + round));
    const talked = agreement([...opinions.values()]);
    if (talked !== undefined) return told(talked, 'discussion');
  }
  return told(heavier([...opinions.values()]), 'sum');
}

/** What all say, or all who are clearly surer than the rest; undefined: they disagree. */
export function agreement(opinions: readonly Opinion[]): Choice | undefined {
  const best = opinions.reduce<Opinion | undefined>(
    (top, each) => (top === undefined || each.confidence > top.confidence ? each : top),
    undefined,
  );
  if (best === undefined || best.confidence < sureEnough) return undefined;
  const against = opinions.filter(({ choice }) => choice !== best.choice);
  return against.every(({ confidence }) => best.confidence - confidence >= clearMargin)
    ? best.choice
    : undefined;
}

function heavier(opinions: readonly Opinion[]): Choice | undefined {
  const sums = new Map<Choice, number>();
  for (const { choice, confidence } of opinions) sums.set(choice, (sums.get(choice) ?? 0) + confidence);
  const [first, second] = [...sums].sort(([, a], [, b]) => b - a);
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
}

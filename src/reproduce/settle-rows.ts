/**
 * Counts name no rows. A statement with a condition that waited may have changed one of several sets of rows, all of the right size
 * (`touched-rows.ts`); the likeliest is taken first. If that leaves reads that nothing explains, the other sets are tried, one
 * statement after the other, and one that explains more is kept (Pisco §4: ambiguous ones are settled by enumeration).
 *
 * Every try goes through the whole history, so long ones get few of them, and those without a contradiction none. `asked`: choices that
 * a search makes (`refine.ts`), which stay as they are.
 */
import type { Evidence } from './evidence.js';

/** Steps that all tries together may go through. */
const stepBudget = 200_000;

export function settleRows(
  collect: (rowChoices: ReadonlyMap<number, number>) => Evidence,
  asked: ReadonlyMap<number, number>,
): Evidence {
  let choices = asked;
  let best = collect(choices);
  let tries = Math.floor(stepBudget / Math.max(1, best.steps.count));
  for (let better = true; better && tries > 0; ) {
    better = false;
    for (const other of otherChoices(best, choices)) {
      if ([...asked].some(([step, choice]) => other.get(step) !== choice)) continue;
      if (contradictions(best) === 0 || tries-- <= 0) return best;
      const found = collect(other);
      if (contradictions(found) >= contradictions(best)) continue;
      [best, choices, better] = [found, other, true];
      break;
    }
  }
  return best;
}

/** What differs by one statement, the last one first: what is wrong shows soon after. */
function* otherChoices(
  { severalRows }: Evidence,
  choices: ReadonlyMap<number, number>,
): Generator<ReadonlyMap<number, number>> {
  for (const [step, count] of [...severalRows].reverse())
    for (let choice = 0; choice < count; choice++)
      if (choice !== (choices.get(step) ?? 0)) yield new Map([...choices, [step, choice]]);
}

/** Reads and locks that nothing explains; a statement whose rows are not known explains everything, and is worse. */
function contradictions({ unexplained, uncertain }: Evidence): number {
  const lost = uncertain.filter(({ chosen }) => chosen < 0).length;
  return unexplained.length + 100 * lost;
}

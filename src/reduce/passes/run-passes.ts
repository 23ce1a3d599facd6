/**
 * Runs passes on a small case:
 *
 * 1. What takes statements away.
 * 2. What takes away from the set-up and from statements, to a fixed point: each pass as long as it gets anywhere, all of them
 *    again as long as one did. A pass goes on where it succeeded instead of starting over; what failed before gets its
 *    second chance in the next round. A pass that got nowhere is not run again before something has changed.
 * 3. What only makes the case nicer to read, once: new names and smaller values do not make rows or columns superfluous.
 * 4. Every removal of a single statement; if one succeeds, again from 1. These are the last trials, so what comes out
 *    is minimal as it stands.
 */
import type { Candidate } from '../candidate.js';
import type { Trials } from '../trials.js';
import { isSmaller, measurer } from './measure.js';
import type { Pass, PassContext } from './pass.js';

export interface Passes {
  /** What takes statements away; the last of them must fail in the end. */
  readonly removals: readonly Pass[];
  /** What takes away from everything else. */
  readonly structural: readonly Pass[];
  /** What makes the rest nicer to read. */
  readonly cosmetic: readonly Pass[];
}

/** Simplifies the best case so far; the result is `trials.best`. */
export async function runPasses(
  { removals, structural, cosmetic }: Passes,
  trials: Trials,
  context: PassContext,
  onPass: (pass: Pass) => void = () => undefined,
): Promise<void> {
  const measure = measurer(context);
  /** The case a pass last got nowhere with. */
  const settled = new Map<Pass, Candidate>();
  const run = async (pass: Pass): Promise<boolean> => {
    if (settled.get(pass) === trials.best) return false;
    onPass(pass);
    let changed = false;
    for (let from = 0; ; ) {
      const current = trials.best;
      const size = measure(current);
      const proposals = pass.proposals(current, context);
      const start = from;
      const found = await trials.first(proposals.length - start, (i) => {
        const proposal = proposals[start + i]!();
        return proposal !== undefined && isSmaller(measure(proposal), size) ? proposal : undefined;
      });
      if (found < 0) {
        if (start === 0) settled.set(pass, current);
        return changed;
      }
      changed = true;
      from += found;
    }
  };
  const runAll = async (some: readonly Pass[]): Promise<boolean> => {
    let changed = false;
    for (const pass of some) changed = (await run(pass)) || changed;
    return changed;
  };
  do {
    await runAll(removals);
    while (await runAll(structural));
    await runAll(cosmetic);
  } while (await runAll(removals.slice(-1)));
}

/**
 * Runs passes to a fixed point: each as long as it gets anywhere, all of them again as long as one did. A pass goes on
 * where it succeeded instead of starting over; what failed before gets its second chance in the next round.
 */
import type { Trials } from '../trials.js';
import { isSmaller, measurer } from './measure.js';
import type { Pass, PassContext } from './pass.js';

/** Simplifies the best case so far; the result is `trials.best`. */
export async function runPasses(
  passes: readonly Pass[],
  trials: Trials,
  context: PassContext,
  onPass: (pass: Pass) => void = () => undefined,
): Promise<void> {
  const measure = measurer(context);
  for (let changed = true; changed; ) {
    changed = false;
    for (const pass of passes) {
      onPass(pass);
      for (let from = 0; ; ) {
        const current = trials.best;
        const size = measure(current);
        const proposals = pass.proposals(current, context);
        const start = from;
        const found = await trials.first(proposals.length - start, (i) => {
          const proposal = proposals[start + i]!();
          return proposal !== undefined && isSmaller(measure(proposal), size) ? proposal : undefined;
        });
        if (found < 0) break;
        changed = true;
        from += found;
      }
    }
  }
}

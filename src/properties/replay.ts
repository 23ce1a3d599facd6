/** Replays a kept counterexample, each time on an empty scratch. */
import type { Target } from '../targets/index.js';
import type { CounterexampleFile } from './counterexample-file.js';
import { type PlanOutcome, runPlan } from './run-plan.js';
import { shadowOf } from './test-properties.js';

export interface Replayed {
  readonly runs: number;
  /** Runs in which the same failure showed. */
  readonly shown: number;
  /** Runs in which another one did. */
  readonly others: number;
  readonly last: PlanOutcome;
}

export async function replayCounterexample(
  file: CounterexampleFile,
  open: () => Promise<Target>,
  options: { readonly runs: number; readonly signal?: AbortSignal | undefined },
): Promise<Replayed> {
  let target = await open();
  let [shown, others, runs] = [0, 0, 0];
  let last: PlanOutcome | undefined;
  try {
    do {
      const level = target.levels.some((each) => each.level === file.level)
        ? file.level
        : target.defaultLevel;
      const scratch = await target.createScratch();
      last = await runPlan(file.plan, { target, scratch, level, shadow: shadowOf(target, level) });
      runs++;
      if (last.failure?.identity === file.identity) shown++;
      else if (last.failure !== undefined) others++;
      if (last.broken) {
        await target.close().catch(() => undefined);
        target = await open();
      } else await scratch.drop().catch(() => undefined);
    } while (runs < options.runs && options.signal?.aborted !== true);
  } finally {
    await target.close().catch(() => undefined);
  }
  return { runs, shown, others, last };
}

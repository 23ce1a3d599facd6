/**
 * How often a trial is repeated before it is believed: Wald's sequential probability ratio test.
 *
 * A case is worth keeping if it shows its finding at least `reliable` of the time, and not worth keeping at
 * `unreliable` or less. Each run moves the log-likelihood ratio of the two; beyond ±log((1 − error) / error) the odds are
 * clear. One miss weighs as much as several hits, so what is accepted shows its finding nearly always.
 *
 * Most databases under a schedule are deterministic, and repeating everything would multiply the cost of a reduction. So
 * as long as runs agree, `agree` of them settle it; the test takes over at the first disagreement. An unsettled test ends
 * after `mostRuns` as `flaky`.
 */
import type { Candidate } from './candidate.js';
import type { TrialResult, Verdict } from './trial.js';

export interface RepeatOptions {
  /** Runs that settle a verdict while none disagrees. */
  readonly agree: number;
  /** The same where the finding did not show; default: as many. */
  readonly agreeMissing?: number;
  readonly reliable?: number;
  readonly unreliable?: number;
  /** Chance of a wrong answer, either way. */
  readonly error?: number;
  readonly mostRuns?: number;
}

/**
 * One run tells where statements go out one at a time. Where some go out together the engine may order them either way, so
 * a finding that shows must show twice before it is believed.
 */
export function repeatFor({ schedule }: Candidate): RepeatOptions {
  const parallel = schedule.batches.some((batch) => batch.length > 1);
  return parallel ? { agree: 2, agreeMissing: 1 } : { agree: 1 };
}

/** Runs a trial until its verdict is settled. */
export async function settleVerdict(
  runOnce: () => Promise<TrialResult>,
  {
    agree,
    agreeMissing = agree,
    reliable = 0.9,
    unreliable = 0.5,
    error = 0.05,
    mostRuns = 30,
  }: RepeatOptions,
): Promise<TrialResult> {
  const hit = Math.log(reliable / unreliable);
  const miss = Math.log((1 - reliable) / (1 - unreliable));
  const clear = Math.log((1 - error) / error);
  let ratio = 0;
  let hits = 0;
  let shown: TrialResult | undefined;
  let failed: TrialResult | undefined;
  for (let runs = 1; ; runs++) {
    const result = await runOnce();
    if (result.verdict === 'same') {
      shown = result;
      hits++;
      ratio += hit;
    } else {
      failed = result;
      ratio += miss;
    }
    const note = `the finding showed in ${hits} of ${runs} runs`;
    if (shown === undefined || failed === undefined) {
      if (runs >= (shown === undefined ? agreeMissing : agree)) return result;
      continue;
    }
    if (ratio >= clear) return { ...shown, note };
    if (ratio <= -clear) return { verdict: rejected(failed), note };
    if (runs >= mostRuns) return { ...shown, verdict: 'flaky', note };
  }
}

/** What did not show the finding reliably is `flaky`, unless it cannot even run. */
function rejected({ verdict }: TrialResult): Verdict {
  return verdict === 'infeasible' ? 'infeasible' : 'flaky';
}

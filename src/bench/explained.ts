/**
 * Whether an alarm on an engine with a known bug is that bug. It is only if the case raises an alarm every time as it is, and none in any
 * run under a setting that switches the bug off, where it was compared at least as far: a case that is silent once may be silent by chance,
 * and one of which nothing could be compared is always silent.
 */
import type { JudgedHistory } from '../check/index.js';

/** What a run of a case gave. */
export interface RunOfCase {
  readonly alarms: number;
  /** Statements that were compared. */
  readonly compared: number;
}

export const runsEach = 3;

export type Explained = { readonly explained: boolean; readonly why: string };

export const runOf = ({ findings, checked }: JudgedHistory): RunOfCase => ({
  alarms: findings.length,
  compared: (checked?.reads ?? 0) + (checked?.writes ?? 0),
});

/** Runs the case as it is and without the bug, by turns. */
export async function explainAlarm(
  asItIs: () => Promise<RunOfCase>,
  without: () => Promise<RunOfCase>,
): Promise<Explained> {
  const [shown, silent]: [RunOfCase[], RunOfCase[]] = [[], []];
  for (let run = 0; run < runsEach; run++) {
    shown.push(await asItIs());
    silent.push(await without());
  }
  const alarms = (runs: readonly RunOfCase[]) => runs.filter(({ alarms }) => alarms > 0).length;
  const [with_, without_] = [alarms(shown), alarms(silent)];
  const least = Math.min(...shown.map(({ compared }) => compared));
  const looked = silent.every(({ compared }) => compared > 0 && compared >= least);
  const why = `${with_} of ${runsEach} runs raise it as it is, ${without_} of ${runsEach} without the bug${looked ? '' : ', where less was compared'}`;
  return { explained: with_ === runsEach && without_ === 0 && looked, why };
}

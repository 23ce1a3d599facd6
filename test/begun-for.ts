/** Cases that tests run on every engine say plain BEGIN: here they begin as each engine needs it, as in the probe. */
import { type ScheduledCase, spellBegins } from '../src/cases/index.js';
import type { Level } from '../src/contracts/index.js';
import type { Target } from '../src/targets/index.js';

export function begunFor<T extends ScheduledCase>(scheduled: T, target: Target, level: Level): T {
  const { begin } = target.levels.find((each) => each.level === level)!;
  return { ...scheduled, case: spellBegins(scheduled.case, begin) };
}

/** Cases that tests run on every engine say plain BEGIN: here they begin as an engine needs it where that is another thing than BEGIN, as in the probe. */
import { type ScheduledCase, spellBegins } from '../src/cases/index.js';
import type { Level } from '../src/contracts/index.js';
import type { Target } from '../src/targets/index.js';

export function begunFor<T extends ScheduledCase>(scheduled: T, target: Target, level: Level): T {
  const { begin, plainBeginDiffers } = target.levels.find((each) => each.level === level)!;
  return plainBeginDiffers === true ? { ...scheduled, case: spellBegins(scheduled.case, begin) } : scheduled;
}

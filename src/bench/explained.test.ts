import { describe, expect, it } from 'vitest';
import { explainAlarm, type RunOfCase } from './explained.js';

/** One run after another, as listed. */
const runs = (...list: readonly (readonly [alarms: number, compared: number])[]) => {
  const left = [...list];
  return async (): Promise<RunOfCase> => {
    const [alarms, compared] = left.shift()!;
    return { alarms, compared };
  };
};
const alarm = [1, 8] as const;
const silence = [0, 8] as const;

describe('an alarm on an engine with a known bug', () => {
  it.each([
    ['comes every time and never without the bug', [alarm, alarm, alarm], [silence, silence, silence], true],
    ['does not come back', [alarm, silence, alarm], [silence, silence, silence], false],
    ['comes without the bug, too', [alarm, alarm, alarm], [silence, alarm, silence], false],
    ['is silent where nothing was compared', [alarm, alarm, alarm], [silence, [0, 0], silence], false],
    ['is silent where less was compared', [alarm, alarm, alarm], [silence, [0, 7], silence], false],
  ] as const)('%s', async (_, asItIs, without, explained) => {
    expect((await explainAlarm(runs(...asItIs), runs(...without))).explained).toBe(explained);
  });
});

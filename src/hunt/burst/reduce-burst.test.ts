import { expect, it } from 'vitest';
import type { Burst, BurstSize } from './burst-form.js';
import { burstPrograms } from './burst-programs.js';
import { type BurstTrials, reduceBurst } from './reduce-burst.js';

const burst: Burst = { program: burstPrograms.find(({ name }) => name === 'drawn')!, form: 'statements' };
const start = { sessions: 8, repeats: 64 };
const trials = (shows: (size: BurstSize, left: readonly string[]) => boolean): BurstTrials => ({
  shows: async (size, { program, without = [] }) =>
    shows(
      size,
      Object.keys(program.parts!).filter((part) => !without.includes(part)),
    ),
  isSilentAlone: async () => true,
  isStopped: () => false,
});

it('takes away sessions, repetitions and statements that are not needed', async () => {
  const needs = ['delete', 'insert'];
  const way = await reduceBurst(
    burst,
    start,
    trials(({ repeats }, left) => repeats >= 16 && needs.every((part) => left.includes(part))),
  );
  expect(way.slice(0, 2)).toEqual([start, { ...start, repeats: 32 }]);
  expect(way.at(-1)).toEqual({
    ...{ sessions: 2, repeats: 16 },
    without: ['begin', 'add', 'lock', 'upsert', 'merge', 'ensure', 'absent'],
  });
});

it('leaves nothing out without which one session breaks the fact, and no BEGIN of one request', async () => {
  const shown = trials(() => true);
  const alone = {
    ...shown,
    isSilentAlone: async (_: BurstSize, { without = [] }: Burst) => !without.includes('add'),
  };
  const way = await reduceBurst({ ...burst, form: 'block' }, start, alone);
  expect(way.at(-1)!.without).toEqual(['lock', 'upsert', 'merge', 'insert', 'delete', 'ensure', 'absent']);
});

it('tries nothing again that has failed, and takes less from what is smaller only at the end', async () => {
  const tried: string[] = [];
  const counting = trials(({ sessions, repeats }, left) => {
    tried.push(JSON.stringify([sessions, repeats, left]));
    // Fewer sessions are enough only when nothing but `add` is left.
    return repeats >= 64 && left.includes('add') && (sessions >= 8 || left.length <= 2);
  });
  const way = await reduceBurst(burst, start, { ...counting, stays: ['begin'] });
  const without = ['lock', 'upsert', 'merge', 'insert', 'delete', 'ensure', 'absent'];
  expect(way.at(-1)).toEqual({ sessions: 2, repeats: 64, without });
  expect(new Set(tried).size).toBe(tried.length);
  // 9 steps; before and behind them 2 halvings and `add`, each once, and once more at the smaller size.
  expect(tried.length).toBeLessThan(9 + 8);
});

it('is the start where nothing smaller shows it, or the time is up', async () => {
  const none = trials(() => false);
  expect(await reduceBurst(burst, start, none)).toEqual([start]);
  const over = { ...trials(() => true), isStopped: () => true };
  expect(await reduceBurst(burst, start, over)).toEqual([start]);
});

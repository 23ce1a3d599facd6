/**
 * Jobs of a hunt without a free round. What a free run shows is left to chance, so where two hunts must find the same bugs only rounds that
 * run by a schedule take part.
 */
import { huntJobs, type NewJob } from '../../fleet/index.js';
import { capabilitiesOf } from '../../generate/index.js';
import { groupSize, Rounds } from '../../hunt/index.js';
import { openTarget } from '../../targets/index.js';

/** A hunt in one database, from one seed. */
export interface ScheduledHunt
  extends Pick<Parameters<typeof huntJobs>[0], 'contract' | 'oracles' | 'runs' | 'profiles'> {
  readonly target: string;
  readonly seed: string;
}

/** Of the rounds that share a program the first ones run by a schedule, unless the whole program runs freely. */
export const scheduledRounds = 4;

/** So many jobs, each of `scheduledRounds` rounds. */
export async function scheduledJobs(hunt: ScheduledHunt, count: number): Promise<NewJob[]> {
  const { target, seed, profiles } = hunt;
  const opened = await openTarget(target);
  const [profile] = profiles;
  const rounds = new Rounds({
    ...{ seed, capabilities: capabilitiesOf(opened), levels: [opened.defaultLevel] },
    // Who judges a round changes nothing of its order.
    oracles: [{ name: 'mechanism', rounds: 1 }],
    ...(profile !== undefined && { profile }),
  });
  await opened.close();
  const jobs: NewJob[] = [];
  for (let from = 0; jobs.length < count; from += groupSize) {
    const to = from + scheduledRounds;
    const numbers = Array.from({ length: scheduledRounds }, (_, i) => from + i);
    if (numbers.some((number) => rounds.round(number).schedule === undefined)) continue;
    jobs.push(
      ...huntJobs({ ...hunt, targets: [target], seeds: [seed], levels: [], chunk: groupSize, from, to }),
    );
  }
  return jobs;
}

/**
 * Rounds of a hunt as a job. Bugs are collected and handed over with the end of the job, in one transaction: a worker that is killed in
 * the middle has said nothing, and whoever does the job again says it all.
 *
 * A job depends on nothing but its payload and the engine, so which bugs a batch finds does not depend on how many workers share it.
 */
import { describeEnvironment } from '../environment.js';
import { parseProfile, profiles } from '../generate/index.js';
import { type HuntOptions, hunt, replayLine, type Shelf } from '../hunt/index.js';
import type { Bug } from '../report/index.js';
import { countUp, type PackedBug, packBug } from '../store/index.js';
import type { Target } from '../targets/index.js';
import { counted } from '../words.js';
import type { HuntJob } from './job.js';
import type { JobOutcome } from './queue.js';

export interface HuntPlace {
  readonly open: () => Promise<Target>;
  /** Bugs and signatures to pass over. */
  readonly ignored: readonly string[];
  readonly identify?: NonNullable<HuntOptions['identify']>;
  readonly signal: AbortSignal;
}

export async function runHuntJob(job: HuntJob, place: HuntPlace): Promise<JobOutcome> {
  const shelf = new CollectingShelf(place.ignored);
  const { level, profile, oracles } = job;
  const { counters, stopped } = await hunt({
    open: place.open,
    shelf,
    seed: job.seed,
    contract: job.contract,
    from: job.from,
    to: job.to,
    confirmRuns: job.runs,
    signal: place.signal,
    environment: describeEnvironment(),
    replayLine: replayLine({
      ...{ target: job.target, contract: job.contract, seed: job.seed, oracles },
      levels: level === undefined ? undefined : [level],
      profile: profile === undefined || profiles.some(({ name }) => name === profile) ? profile : 'FILE',
    }),
    ...(level !== undefined && { levels: [level] }),
    ...(profile !== undefined && { profile: profileOf(profile) }),
    ...(oracles !== undefined && { oracles }),
    ...(place.identify !== undefined && { identify: place.identify }),
  });
  const bugs = shelf.bugs();
  const found = bugs.length === 0 ? '' : `, ${counted(bugs.length, 'bug')}`;
  return {
    result: JSON.stringify({ stopped, counters, bugs: bugs.map(({ id }) => id).sort() }),
    bugs,
    line: `hunted in ${job.target}, seed ${job.seed}, rounds ${job.from}..${job.to - 1}: ${counters.rounds} rounds${found}`,
  };
}

function profileOf(text: string): NonNullable<HuntOptions['profile']> {
  return profiles.some(({ name }) => name === text) ? text : parseProfile(text, 'the profile of the job');
}

/** Keeps bugs in memory, each once. */
class CollectingShelf implements Shelf {
  readonly #found = new Map<string, { bug: Bug; packed: PackedBug; again: number }>();

  constructor(private readonly ignored: readonly string[]) {}

  async isIgnored({ id, signature }: Pick<Bug, 'id' | 'signature'>): Promise<boolean> {
    return this.ignored.includes(id) || this.ignored.includes(signature);
  }

  async add(bug: Bug, raw: NonNullable<Parameters<Shelf['add']>[1]>) {
    const known = this.#found.get(bug.id);
    if (known === undefined) this.#found.set(bug.id, { bug, packed: await packBug(bug, { raw }), again: 0 });
    else known.packed = countUp(known.packed, bug);
    return { bug, isNew: known === undefined, files: [] };
  }

  seenAgain(id: string): void {
    const known = this.#found.get(id);
    if (known !== undefined) known.again++;
  }

  bugs(): PackedBug[] {
    return [...this.#found.values()].map(({ bug, packed, again }) =>
      again === 0 ? packed : countUp(packed, { ...bug, count: again }),
    );
  }
}

/**
 * The committed versions of a row in the order in which they were published, and which of them a snapshot shows. The snapshot was
 * taken at some moment of a step; COMMITs that overlap that step may or may not be in it.
 */
import type { Image } from '../rows/index.js';
import type { Chain } from './evidence.js';
import type { Steps } from './steps.js';

/** The last of these steps, sorted by start, that started before `time`; −1: none did. */
export function lastStartedBefore(list: readonly number[], start: Float64Array, time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[list[middle]!]! < time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** COMMITs of other sessions that changed one of these rows and overlap the snapshot, in the order of their answers. */
export function overlappingCommits(
  chains: readonly (Chain | undefined)[],
  rows: readonly number[],
  snapshot: number,
  { start, end, session }: Steps,
): number[] {
  const found = new Set<number>();
  for (const row of rows) {
    const publish = chains[row]?.publish;
    for (let i = (publish?.length ?? 0) - 1; i >= 0; i--) {
      const ending = publish![i]!;
      if (end[ending]! < start[snapshot]!) break;
      if (session[ending] !== session[snapshot] && start[ending]! < end[snapshot]!) found.add(ending);
    }
  }
  return [...found].sort((a, b) => end[a]! - end[b]!);
}

/** What a snapshot shows of a row that is taken at a step and misses some COMMITs. */
export function imageAt(
  chain: Chain | undefined,
  initial: Image,
  snapshot: number,
  unseen: ReadonlySet<number>,
  { start, end }: Steps,
): Image {
  for (let i = (chain?.publish.length ?? 0) - 1; i >= 0; i--) {
    const ending = chain!.publish[i]!;
    if (!unseen.has(ending) && start[ending]! < end[snapshot]!) return chain!.image[i]!;
  }
  return initial;
}

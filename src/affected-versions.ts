/** In which of many versions a bug shows: intervals between a first bad and a first good one. */

/** What trying a version says; `unknown`: it cannot be tried, or nobody can tell. */
export type Probe = 'bad' | 'good' | 'unknown';

/** An interval of versions that show a bug, by their numbers. */
export interface BadInterval {
  readonly firstBad: number;
  readonly lastBad: number;
  /** The nearest older version without it; absent: none was found that can be tried. */
  readonly goodBefore?: number;
  /** The nearest newer one without it: the first good version. */
  readonly goodAfter?: number;
}

/** All intervals, where every version was tried. */
export function intervalsOf(probes: readonly Probe[]): BadInterval[] {
  const found: BadInterval[] = [];
  let good: number | undefined;
  let open: { firstBad: number; lastBad: number; goodBefore?: number } | undefined;
  for (const [at, probe] of probes.entries()) {
    if (probe === 'bad') {
      open ??= { firstBad: at, lastBad: at, ...(good !== undefined && { goodBefore: good }) };
      open.lastBad = at;
    } else if (probe === 'good') {
      if (open !== undefined) found.push({ ...open, goodAfter: at });
      open = undefined;
      good = at;
    }
  }
  if (open !== undefined) found.push(open);
  return found;
}

export interface AffectedInterval {
  readonly firstBad: string;
  readonly lastBad: string;
  /** Absent: no older version was tried that can be decided. */
  readonly goodBefore?: string;
  /** Absent: it still shows in the newest that was tried. */
  readonly firstGood?: string;
}

/** The versions of an interval. */
export function nameInterval(interval: BadInterval, versions: readonly string[]): AffectedInterval {
  const version = (at: number) => versions[at]!;
  return {
    firstBad: version(interval.firstBad),
    lastBad: version(interval.lastBad),
    ...(interval.goodBefore !== undefined && { goodBefore: version(interval.goodBefore) }),
    ...(interval.goodAfter !== undefined && { firstGood: version(interval.goodAfter) }),
  };
}

/** `first bad 1.2.0 after 1.1.3, first good 1.4.0 after 1.3.2`. */
export function describeInterval({ firstBad, lastBad, goodBefore, firstGood }: AffectedInterval): string {
  const first =
    goodBefore === undefined
      ? `shows from ${firstBad}, the oldest that could be tried,`
      : `first bad ${firstBad} after ${goodBefore},`;
  const last = firstGood === undefined ? `still in ${lastBad}` : `first good ${firstGood} after ${lastBad}`;
  return `${first} ${last}`;
}

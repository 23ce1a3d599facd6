/**
 * The versions of one row, and which of them a snapshot may show. Nobody saw when a version was committed or a snapshot taken,
 * only spans in which that happened. For a snapshot of `[start, end]`:
 *
 * 1. a version is *possible* if it may have been committed by then (`earliest <= end`);
 * 2. it *settles* what comes before it if it must have been (`latest < start`);
 * 3. it is *hidden* if a version that settles comes after it;
 * 4. what is possible and not hidden may be shown. If several are left, the spans cannot tell them apart.
 *
 * What a version is, its client says. The verifier's carry spans, several images and doubt, and may be in no certain order
 * (`visible`). Order inference keeps the numbers of the steps that published them, in the one order it takes for granted, so that
 * the answer is a range (`newestPossible`, `newestSettled`). On a chain with a certain order both answers are the same.
 */
import type { Interval } from './interval.js';

/** The span in which a version was committed. */
export interface CommitSpans<Version> {
  earliest(version: Version): number;
  latest(version: Version): number;
}

export interface VisibilityRules<Version> extends CommitSpans<Version> {
  /** Whether it was certainly written. */
  isCertain(version: Version): boolean;
  /** Whether the first certainly comes before the second. */
  comesBefore(first: Version, second: Version): boolean;
  /** Whether readers see it before it is committed. */
  isSeenEarly?(version: Version, snapshot: Interval): boolean;
}

export class VersionChain<Version> {
  /** The row before them is the client's. In the order in which they were published, or first written, as far as that is known. */
  versions: Version[] = [];

  /** The versions that a snapshot may show, but for one that its reader wrote itself. */
  visible(snapshot: Interval, rules: VisibilityRules<Version>, own?: Version): Version[] {
    const possible: Version[] = [];
    const settling: Version[] = [];
    for (const version of this.versions) {
      if (version === own) continue;
      if (rules.earliest(version) > snapshot.end && rules.isSeenEarly?.(version, snapshot) !== true) continue;
      possible.push(version);
      if (rules.isCertain(version) && rules.latest(version) < snapshot.start) settling.push(version);
    }
    return possible.length < 2
      ? possible
      : possible.filter((version) => !comesBeforeOne(version, settling, rules));
  }

  /** Position of the newest version that may be in a snapshot taken by `end`, in a chain in order; −1: none. */
  newestPossible(end: number, spans: CommitSpans<Version>): number {
    return lastStarted(this.versions, spans, end);
  }

  /** Position of the newest version, not after `from`, that any snapshot from `start` on has or follows; −1: none. */
  newestSettled(start: number, spans: CommitSpans<Version>, from = this.versions.length - 1): number {
    let at = from;
    while (at >= 0 && spans.latest(this.versions[at]!) >= start) at--;
    return at;
  }

  /** Position of the version, not after `from`, shown by a snapshot that was taken by `end` and misses some; −1: none of them. */
  shown(
    end: number,
    spans: CommitSpans<Version>,
    missed: ReadonlySet<Version>,
    from = this.versions.length - 1,
  ): number {
    let at = from;
    while (at >= 0 && (missed.has(this.versions[at]!) || spans.earliest(this.versions[at]!) > end)) at--;
    return at;
  }
}

/** Newest first: that is the one that hides most. */
function comesBeforeOne<Version>(
  version: Version,
  settling: readonly Version[],
  rules: VisibilityRules<Version>,
): boolean {
  for (let i = settling.length - 1; i >= 0; i--)
    if (settling[i] !== version && rules.comesBefore(version, settling[i]!)) return true;
  return false;
}

/** Position of the last of these, sorted by their earliest moments, that may have happened by `time`; −1: none. */
export function lastStarted<Event>(list: ArrayLike<Event>, spans: CommitSpans<Event>, time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans.earliest(list[middle]!) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

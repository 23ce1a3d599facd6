/**
 * What serializability forces, in rounds, without a search. If T3 reads x from T1 and T2 also writes x, then T2 is not
 * between them: if T2 comes before T3 it comes before T1, and if T1 comes before T2 then T3 does. Each round draws what
 * follows from the order known so far (a vector clock per transaction says what that is), until nothing new follows.
 *
 * This is not complete (`search-order.ts` is), but it costs n · sessions per round, where the search needs n² bits, and
 * in histories whose keys are read often it leaves nothing open.
 */

import { cyclicComponents } from '../graph/components.js';
import { buildGraph, type EdgeList, rw, ww } from '../graph/graph.js';
import { groupWriters, type KeyWriters, type Sessions } from '../graph/sessions.js';
import { noSource, type ResolvedKv } from './resolved-kv.js';
import { clockLimit, clocksAlong, lastAtMost, type SessionGroups, sessionGroups } from './saturation.js';
import type { ForcedChoice } from './search-order.js';

export interface SerialSaturation {
  readonly choices: ForcedChoice[];
  /** What is forced contradicts itself: not serializable. */
  readonly cyclic: boolean;
}

const mostRounds = 8;
const mostChoices = 5_000_000;

/** Adds what it draws to `edges`, which holds the known dependencies and the order to keep. */
export function saturateSerially(
  resolved: ResolvedKv,
  sessions: Sessions,
  edges: EdgeList,
): SerialSaturation {
  const choices: ForcedChoice[] = [];
  if (edges.nodeCount * sessions.count > clockLimit) return { choices, cyclic: false };
  const writers = groupWriters(resolved, sessions.txs);
  const groups = sessionGroups(writers, sessions, resolved.history.keyNames.length);
  for (let round = 0; round < mostRounds && choices.length < mostChoices; round++) {
    const clocks = clocksAlong(sessions, edges, -1);
    if (clocks === undefined) return { choices, cyclic: true };
    const before = choices.length;
    drawRound(resolved, sessions, edges, clocks, writers, groups, choices);
    if (choices.length === before) return { choices, cyclic: false };
  }
  return { choices, cyclic: cyclicComponents(buildGraph(edges)).length > 0 };
}

function drawRound(
  resolved: ResolvedKv,
  sessions: Sessions,
  edges: EdgeList,
  clocks: Int32Array,
  writers: KeyWriters,
  groups: SessionGroups,
  choices: ForcedChoice[],
): void {
  const { history, readsFrom, opTx } = resolved;
  const width = sessions.count;
  const isBefore = (a: number, b: number): boolean =>
    clocks[b * width + sessions.session[a]!]! > sessions.position[a]!;
  for (const reader of sessions.txs) {
    for (let op = history.opOffsets[reader]!; op < history.opOffsets[reader + 1]!; op++) {
      const source = readsFrom[op]!;
      // Readers of the initial state have their rw edges from the start.
      if (source === noSource || source < 0) continue;
      const key = history.opKey[op]!;
      const version = opTx[source]!;
      for (let g = groups.offsets[key]!; g < groups.offsets[key + 1]!; g++) {
        const s = groups.session[g]!;
        const seen = clocks[reader * width + s]! - (s === sessions.session[reader] ? 1 : 0);
        const earlier = lastAtMost(writers, groups, g, sessions.position, seen - 1);
        if (earlier >= 0 && earlier !== version && !isBefore(earlier, version)) {
          edges.add(earlier, version, ww, key);
          choices.push({ key, first: earlier, second: version, readersOfFirst: [] });
        }
        const later = firstAfter(writers, groups, g, version, reader, isBefore);
        if (later >= 0 && !isBefore(reader, later)) {
          edges.add(reader, later, rw, key);
          choices.push({ key, first: version, second: later, readersOfFirst: [reader] });
        }
      }
    }
  }
}

/** The first writer of the group, the reader aside, that comes after `version`, or -1. */
function firstAfter(
  writers: KeyWriters,
  groups: SessionGroups,
  group: number,
  version: number,
  reader: number,
  isBefore: (a: number, b: number) => boolean,
): number {
  let low = groups.start[group]!;
  let high = groups.start[group + 1]!;
  const after = (at: number): boolean => writers.txs[at] !== version && isBefore(version, writers.txs[at]!);
  const end = high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (after(middle)) high = middle;
    else low = middle + 1;
  }
  if (low < end && writers.txs[low] === reader) low++;
  return low < end ? writers.txs[low]! : -1;
}

/**
 * What a cycle of dependencies is called once everything is left out that only passes it on.
 *
 * A lost update stays one when a third transaction overwrites the row in between, or when only another one's read shows
 * in which order two writes came; the oracle then reports a longer cycle under a wider name. So the cycle is
 * shortened before it is named:
 *
 * 1. Two neighbours through one row become one edge where the order of that row's versions says so: what X wrote and Y
 *    read before Z overwrote it, Z wrote after X; X before Y before Z in one row is X before Z.
 * 2. Of several dependencies in a row only the last counts. An anti-dependency starts at a transaction that read too
 *    early; the edge that leads into that transaction says what it did too late (write over the new version, or read
 *    it). Which transactions stand between does not count.
 *
 * What is left has at most ten names, Adya's and those of the skews: two different causes can share one. How the cycle
 * really runs, and through which statements, belongs to the variant (`signature.ts`).
 */
import { addOrder, baseName, type CycleEdge, type GraphAnomaly } from '../check/index.js';
import { cycleAnomalies } from '../contracts/index.js';

type Edge = Pick<CycleEdge, 'kind' | 'object'>;

/** The name of the shortened cycle; `session` and `realtime` where the cycle needs that order. */
export function nameShortened(cycle: readonly Edge[]): GraphAnomaly {
  // Where to start shortening is no part of the cycle: of the names of all starts, the weakest guarantee broken counts.
  const found = cycle.map((_, start) => baseName(shorten([...cycle.slice(start), ...cycle.slice(0, start)])));
  return addOrder(cycleAnomalies.find((each) => found.includes(each))!, cycle);
}

function shorten(cycle: readonly Edge[]): readonly Edge[] {
  let edges = cycle;
  for (const join of cycle.some(isRead) ? [joinInRow, joinDependencies] : [joinInRow]) {
    for (let i = 0; i < edges.length && edges.length > 2; ) {
      // Rotated, so that the last edge has a neighbour too.
      const [first, second, ...rest] = [...edges.slice(i), ...edges.slice(0, i)];
      const joined = join(first!, second!);
      if (joined === undefined) i++;
      else [edges, i] = [[joined, ...rest], 0];
    }
  }
  return edges;
}

const inRow: Readonly<Record<string, 'ww' | 'rw'>> = {
  'wr rw': 'ww',
  'wr ww': 'ww',
  'ww ww': 'ww',
  'rw ww': 'rw',
};

function joinInRow(a: Edge, b: Edge): Edge | undefined {
  const kind = inRow[`${a.kind} ${b.kind}`];
  return kind === undefined || a.object === undefined || a.object !== b.object
    ? undefined
    : { kind, object: a.object };
}

function joinDependencies(a: Edge, b: Edge): Edge | undefined {
  return isRead(a) || isRead(b) ? undefined : b;
}

const isRead = ({ kind }: Edge): boolean => kind === 'rw' || kind === 'predicate-rw';

/**
 * What a level forces about the order of points, in rounds, without a guess.
 *
 * A vector clock per point says how many transactions of each chain (session) have started, and how many have
 * committed, at or before it. Two rules add edges, as long as the clocks do not imply them:
 * 1. *Overtaken*: T1 and T2 wrote x, and T1 comes first (snapshot: it is enough that T1 starts before T2 commits, for
 *    then T1 must have committed before T2 starts). Then whoever read T1's x reads before T2 commits.
 * 2. *Seen*: R reads T1's x, and T2, another writer of x, commits before R reads. Then T2 comes before T1.
 *
 * Of each chain only the last T1 that T2 overtakes, the last T2 that R sees and the last reader of a version in a
 * chain are looked at: the chain implies the rest. A round goes over the points in topological order. A point takes over
 * the clocks of its predecessors, last one first, so that most others turn out to be known already; such an edge says
 * nothing new and is not looked at again. Rules look only at what a clock says since they last did, so later rounds are short.
 *
 * Nothing here guesses: a cycle refutes the level. If there is none the level may still be broken.
 *
 * Cost: points · chains for the first round, in bytes 12 (one point a transaction) or 24 (two) times transactions · chains.
 */
import type { Effort } from '../effort.js';
import { commitPoint, type OrderProblem, type Rows } from './order-problem.js';
import { PointEdges, type Successors, sortPoints } from './point-edges.js';

/** Row `p · width …`: how many transactions of each chain have committed, or started, at or before point `p`. */
export interface OrderClocks {
  readonly width: number;
  readonly commits: Int32Array;
  /** The same array where a transaction is one point. */
  readonly starts: Int32Array;
}

export interface Saturated {
  /** `open`: nothing more follows. `cut short`: by time or memory; then there are no clocks to rely on. */
  readonly outcome: 'cyclic' | 'open' | 'cut short';
  readonly edges: PointEdges;
  readonly clocks?: OrderClocks;
}

export function saturateOrder(problem: OrderProblem, effort: Effort): Saturated {
  const edges = new PointEdges(problem);
  const { pointCount, txCount, chains, split } = problem;
  const bytes = (pointCount * (split ? 2 : 1) + 2 * txCount) * chains.count * 4;
  if (bytes > effort.limits.memoryBytes) {
    const acyclic = sortPoints(edges, edges.successors()).length === edges.pointCount;
    return { outcome: acyclic ? 'cut short' : 'cyclic', edges };
  }
  const rounds = new Rounds(problem, edges);
  for (let round = 1; ; round++) {
    const outcome = rounds.next(effort);
    if (outcome === 'cyclic' || outcome === 'cut short') return { outcome, edges };
    if (outcome === 'done') return { outcome: 'open', edges, clocks: rounds.clocks };
    effort.progress(
      `saturating, round ${round}: ${edges.length - edges.knownCount} orders follow from the others`,
    );
  }
}

class Rounds {
  readonly clocks: OrderClocks;
  readonly #problem: OrderProblem;
  readonly #edges: PointEdges;
  /** Of each version the last reader in each chain, and that reader's chain and position. */
  readonly #lastReaders: Rows;
  readonly #readerChain: Int32Array;
  readonly #readerPosition: Int32Array;
  readonly #versionPosition: Int32Array;
  /** The versions of open key `k` in one chain are a group: `#groupOffsets[k] … #groupOffsets[k + 1] - 1`. */
  readonly #groupOffsets: Int32Array;
  readonly #groupStart: Int32Array;
  readonly #groupChain: Int32Array;
  /** The round in which a point's clocks grew last. */
  readonly #grew: Int32Array;
  /** Known edges that say nothing that others do not. */
  readonly #redundant: Uint8Array;
  /** What the rules have looked at, per transaction: the clocks at its commit for the first, at its reads for the second. */
  readonly #overtakenUpTo: Int32Array;
  readonly #seenUpTo: Int32Array;
  readonly #row: Int32Array;
  #round = 0;
  /** Edges from here on are new in this round. */
  #newFrom = 0;

  constructor(problem: OrderProblem, edges: PointEdges) {
    this.#problem = problem;
    this.#edges = edges;
    const { chains, pointCount, split, txCount, versionTx } = problem;
    const width = chains.count;
    const commits = new Int32Array(pointCount * width);
    const starts = split ? new Int32Array(pointCount * width) : commits;
    this.clocks = { width, commits, starts };
    for (const tx of chains.txs) {
      const at = chains.session[tx]!;
      const seen = chains.position[tx]! + 1;
      starts[tx * width + at] = seen;
      const commit = commitPoint(problem, tx) * width + at;
      starts[commit] = seen;
      commits[commit] = seen;
    }
    this.#lastReaders = lastReaders(problem);
    this.#readerChain = this.#lastReaders.items.map((reader) => chains.session[reader]!);
    this.#readerPosition = this.#lastReaders.items.map((reader) => chains.position[reader]!);
    this.#versionPosition = versionTx.map((tx) => chains.position[tx]!);
    const groups = versionGroups(problem);
    this.#groupOffsets = groups.offsets;
    this.#groupStart = groups.start;
    this.#groupChain = groups.chain;
    this.#grew = new Int32Array(pointCount);
    this.#redundant = new Uint8Array(edges.knownCount);
    this.#overtakenUpTo = new Int32Array(txCount * width);
    this.#seenUpTo = new Int32Array(txCount * width);
    this.#row = new Int32Array(width);
  }

  next(effort: Effort): 'more' | 'done' | 'cyclic' | 'cut short' {
    const edges = this.#edges;
    const successors = edges.successors();
    const order = sortPoints(edges, successors);
    if (order.length < edges.pointCount) return 'cyclic';
    const predecessors = lastFirst(successors, order);
    const before = edges.length;
    this.#round++;
    const { txCount, split } = this.#problem;
    for (let i = 0; i < order.length; i++) {
      const point = order[i]!;
      if ((i & 0xfff) === 0 && effort.spent()) return 'cut short';
      this.#pull(point, predecessors);
      if (this.#grew[point]! < this.#round - 1) continue;
      if (point < txCount) this.#applySeen(point);
      if (split ? point >= txCount && point < 2 * txCount : point < txCount) {
        this.#applyOvertaken(split ? point - txCount : point, point);
      }
    }
    this.#newFrom = before;
    return edges.length > before || this.#grew.includes(this.#round) ? 'more' : 'done';
  }

  /** A point learns what its predecessors have seen. */
  #pull(point: number, { offsets, targets, edges }: Successors): void {
    for (let e = offsets[point]!; e < offsets[point + 1]!; e++) {
      const edge = edges[e]!;
      if (this.#redundant[edge] === 1) continue;
      const source = targets[e]!;
      if (this.#round === 1) {
        if (this.#knows(point, source)) {
          this.#redundant[edge] = 1;
          continue;
        }
      } else if (edge < this.#newFrom && this.#grew[source]! < this.#round - 1) continue;
      this.#merge(source, point);
    }
  }

  /** Does a point know another one, of another chain, by an edge looked at before? */
  #knows(point: number, source: number): boolean {
    const { txCount, split, chains } = this.#problem;
    const { width, commits, starts } = this.clocks;
    const atCommit = !split || source >= txCount;
    const tx = split && source >= txCount ? source - txCount : source;
    if (tx >= txCount) return false;
    const chain = chains.session[tx]!;
    const own = split && point >= txCount ? point - txCount : point;
    if (own < txCount && chains.session[own] === chain) return false;
    return (atCommit ? commits : starts)[point * width + chain]! > chains.position[tx]!;
  }

  #merge(source: number, target: number): void {
    const { width, commits, starts } = this.clocks;
    const a = source * width;
    const b = target * width;
    let grew = false;
    for (let c = 0; c < width; c++) {
      const seen = commits[a + c]!;
      if (seen > commits[b + c]!) {
        commits[b + c] = seen;
        grew = true;
      }
    }
    if (starts !== commits) {
      for (let c = 0; c < width; c++) {
        const seen = starts[a + c]!;
        if (seen > starts[b + c]!) {
          starts[b + c] = seen;
          grew = true;
        }
      }
    }
    if (grew) this.#grew[target] = this.#round;
  }

  #derive(from: number, to: number, premiseFrom: number, premiseTo: number): void {
    this.#edges.derive(from, to, premiseFrom, premiseTo);
    this.#merge(from, to);
  }

  /** The last version of a group at a position below `bound`, or -1. */
  #lastBelow(group: number, bound: number): number {
    const from = this.#groupStart[group]!;
    let low = from;
    let high = this.#groupStart[group + 1]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#versionPosition[middle]! < bound) low = middle + 1;
      else high = middle;
    }
    return low > from ? low - 1 : -1;
  }

  /** Rule 1 for everything `tx` overwrites. */
  #applyOvertaken(tx: number, commit: number): void {
    const { mode, writes, versionKey, chains } = this.#problem;
    const { width, commits, starts } = this.clocks;
    const seen = mode === 'snapshot' ? starts : commits;
    const upTo = this.#overtakenUpTo;
    // Applying the rule may let the clocks grow; what they say then is for the next round.
    const row = this.#row;
    for (let c = 0; c < width; c++) row[c] = seen[commit * width + c]!;
    row[chains.session[tx]!] = chains.position[tx]!;
    for (let w = writes.offsets[tx]!; w < writes.offsets[tx + 1]!; w++) {
      const k = versionKey[writes.items[w]!]!;
      for (let g = this.#groupOffsets[k]!; g < this.#groupOffsets[k + 1]!; g++) {
        const chain = this.#groupChain[g]!;
        const bound = row[chain]!;
        if (bound <= upTo[tx * width + chain]!) continue;
        const version = this.#lastBelow(g, bound);
        if (version >= 0) this.#overtake(version, chain, tx, commit);
      }
    }
    for (let c = 0; c < width; c++) upTo[tx * width + c] = row[c]!;
  }

  /** `tx` overwrites what the version's writer wrote first. */
  #overtake(version: number, chain: number, tx: number, commit: number): void {
    const { mode, versionTx } = this.#problem;
    const { width, commits, starts } = this.clocks;
    const exclusive = mode === 'snapshot';
    const first = versionTx[version]!;
    const firstCommit = commitPoint(this.#problem, first);
    if (exclusive && commits[tx * width + chain]! <= this.#versionPosition[version]!) {
      this.#derive(firstCommit, tx, first, commit);
    }
    const { offsets, items } = this.#lastReaders;
    for (let r = offsets[version]!; r < offsets[version + 1]!; r++) {
      if (starts[commit * width + this.#readerChain[r]!]! > this.#readerPosition[r]!) continue;
      if (items[r] !== tx) this.#derive(items[r]!, commit, exclusive ? first : firstCommit, commit);
    }
  }

  /** Rule 2 for everything `tx` reads. */
  #applySeen(tx: number): void {
    const { mode, reads, versionKey, versionTx, chains, txCount, split } = this.#problem;
    const { width, commits } = this.clocks;
    const upTo = this.#seenUpTo;
    const row = this.#row;
    for (let c = 0; c < width; c++) row[c] = commits[tx * width + c]!;
    row[chains.session[tx]!] = chains.position[tx]!;
    for (let r = reads.offsets[tx]!; r < reads.offsets[tx + 1]!; r++) {
      const version = reads.items[r]!;
      const k = versionKey[version]!;
      const first = versionTx[version]!;
      const entry = split && mode !== 'snapshot' ? txCount + first : first;
      for (let g = this.#groupOffsets[k]!; g < this.#groupOffsets[k + 1]!; g++) {
        const chain = this.#groupChain[g]!;
        const bound = row[chain]!;
        if (bound <= upTo[tx * width + chain]!) continue;
        const other = this.#lastBelow(g, bound);
        if (other < 0 || other === version) continue;
        if (commits[entry * width + chain]! > this.#versionPosition[other]!) continue;
        const seenCommit = commitPoint(this.#problem, versionTx[other]!);
        this.#derive(seenCommit, entry, seenCommit, tx);
      }
    }
    for (let c = 0; c < width; c++) upTo[tx * width + c] = row[c]!;
  }
}

/** The edges into each point, those from the latest points first. */
function lastFirst({ offsets, targets, edges }: Successors, order: Int32Array): Successors {
  const count = order.length;
  const into = new Int32Array(count + 1);
  for (let i = 0; i < targets.length; i++) into[targets[i]! + 1]!++;
  for (let p = 0; p < count; p++) into[p + 1] = into[p + 1]! + into[p]!;
  const next = into.slice(0, count);
  const sources = new Int32Array(targets.length);
  const ids = new Int32Array(targets.length);
  for (let i = count - 1; i >= 0; i--) {
    const point = order[i]!;
    for (let e = offsets[point]!; e < offsets[point + 1]!; e++) {
      const at = next[targets[e]!]!++;
      sources[at] = point;
      ids[at] = edges[e]!;
    }
  }
  return { offsets: into, targets: sources, edges: ids };
}

/** Of each version the last reader in each chain. */
function lastReaders({ readers, versionTx, chains }: OrderProblem): Rows {
  const offsets = new Int32Array(versionTx.length + 1);
  const items = new Int32Array(readers.items.length);
  const place = new Int32Array(chains.count).fill(-1);
  let length = 0;
  for (let v = 0; v < versionTx.length; v++) {
    const start = length;
    for (let r = readers.offsets[v]!; r < readers.offsets[v + 1]!; r++) {
      const reader = readers.items[r]!;
      const chain = chains.session[reader]!;
      const at = place[chain]!;
      if (at < start || at >= length) {
        place[chain] = length;
        items[length++] = reader;
      } else if (chains.position[items[at]!]! < chains.position[reader]!) items[at] = reader;
    }
    for (let i = start; i < length; i++) place[chains.session[items[i]!]!] = -1;
    offsets[v + 1] = length;
  }
  return { offsets, items: items.subarray(0, length) };
}

function versionGroups({ keys, versionOffsets, versionTx, chains }: OrderProblem): {
  offsets: Int32Array;
  start: Int32Array;
  chain: Int32Array;
} {
  const offsets = new Int32Array(keys.length + 1);
  const start = new Int32Array(versionTx.length + 1);
  const chain = new Int32Array(versionTx.length);
  let length = 0;
  for (let k = 0; k < keys.length; k++) {
    for (let v = versionOffsets[k]!; v < versionOffsets[k + 1]!; v++) {
      const c = chains.session[versionTx[v]!]!;
      if (v > versionOffsets[k]! && chain[length - 1] === c) continue;
      chain[length] = c;
      start[length++] = v;
    }
    offsets[k + 1] = length;
  }
  start[length] = versionTx.length;
  return { offsets, start: start.subarray(0, length + 1), chain: chain.subarray(0, length) };
}

/**
 * The graph all dependency checks share: transactions 0 … n-1, then auxiliary nodes, and edges with a kind, in
 * typed arrays. It does not care where edges come from (lists, registers, rows of a table).
 *
 * Auxiliary nodes keep "each of these before each of those" linear: r1 … rm -> aux -> w1 … wk stands for m·k
 * edges. The edges into and out of an auxiliary node carry the kind of the edge they stand for, and a path counts
 * a kind when it enters a transaction.
 */

export const ww = 0;
export const wr = 1;
export const rw = 2;
/** An anti-dependency through a predicate: the reader's predicate would have matched the writer's version. */
export const predicateRw = 3;
export const sessionOrder = 4;
export const realTime = 5;

export const edgeNames = ['ww', 'wr', 'rw', 'predicate-rw', 'session', 'real-time'] as const;

/** A set of kinds as bits. */
export const kindBit = (kind: number): number => 1 << kind;
export const kindMask = (...kinds: readonly number[]): number =>
  kinds.reduce((mask, kind) => mask | kindBit(kind), 0);

export const allMask = kindMask(ww, wr, rw, predicateRw, sessionOrder, realTime);

/** Edges as they are found; `ref` is for whoever adds them (a key, a row) and comes back with the cycle. */
export class EdgeList {
  sources: Int32Array;
  targets: Int32Array;
  refs: Int32Array;
  kinds: Uint8Array;
  length = 0;
  #auxCount = 0;

  /** `expected` edges fit without growing. */
  constructor(
    readonly txCount: number,
    expected = 1024,
  ) {
    const size = Math.max(16, expected);
    this.sources = new Int32Array(size);
    this.targets = new Int32Array(size);
    this.refs = new Int32Array(size);
    this.kinds = new Uint8Array(size);
  }

  get nodeCount(): number {
    return this.txCount + this.#auxCount;
  }

  addAux(): number {
    this.#auxCount++;
    return this.nodeCount - 1;
  }

  add(source: number, target: number, kind: number, ref = -1): void {
    const at = this.length++;
    if (at === this.sources.length) this.#grow();
    this.sources[at] = source;
    this.targets[at] = target;
    this.kinds[at] = kind;
    this.refs[at] = ref;
  }

  #grow(): void {
    const size = this.sources.length * 2;
    const grow = (old: Int32Array): Int32Array => {
      const grown = new Int32Array(size);
      grown.set(old);
      return grown;
    };
    this.sources = grow(this.sources);
    this.targets = grow(this.targets);
    this.refs = grow(this.refs);
    const kinds = new Uint8Array(size);
    kinds.set(this.kinds);
    this.kinds = kinds;
  }
}

/** Edges by source: those of `v` are `offsets[v] … offsets[v + 1] - 1`. */
export interface Graph {
  readonly txCount: number;
  readonly nodeCount: number;
  readonly offsets: Int32Array;
  readonly targets: Int32Array;
  readonly kinds: Uint8Array;
  readonly refs: Int32Array;
}

/** Sorts edges by source, keeping only those whose kind is in `mask`. */
export function buildGraph(edges: EdgeList, mask = allMask): Graph {
  const { nodeCount, length, sources, kinds } = edges;
  const offsets = new Int32Array(nodeCount + 1);
  for (let e = 0; e < length; e++) {
    if ((mask >> kinds[e]!) & 1) {
      const next = sources[e]! + 1;
      offsets[next] = offsets[next]! + 1;
    }
  }
  for (let v = 0; v < nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const count = offsets[nodeCount]!;
  const targets = new Int32Array(count);
  const refs = new Int32Array(count);
  const outKinds = new Uint8Array(count);
  const next = offsets.slice(0, nodeCount);
  for (let e = 0; e < length; e++) {
    if (((mask >> kinds[e]!) & 1) === 0) continue;
    const source = sources[e]!;
    const at = next[source]!;
    next[source] = at + 1;
    targets[at] = edges.targets[e]!;
    refs[at] = edges.refs[e]!;
    outKinds[at] = kinds[e]!;
  }
  return { txCount: edges.txCount, nodeCount, offsets, targets, kinds: outKinds, refs };
}

/** The edges whose kind is in `mask`, in a list of their own, with the same nodes. */
export function copyEdges(edges: EdgeList, mask = allMask): EdgeList {
  const copy = new EdgeList(edges.txCount, edges.length + (edges.length >> 3) + 1024);
  while (copy.nodeCount < edges.nodeCount) copy.addAux();
  for (let e = 0; e < edges.length; e++) {
    if ((mask >> edges.kinds[e]!) & 1) {
      copy.add(edges.sources[e]!, edges.targets[e]!, edges.kinds[e]!, edges.refs[e]!);
    }
  }
  return copy;
}

/** The nodes in an order that follows every edge; undefined if there is none. */
export function sortNodes({ nodeCount, offsets, targets }: Graph): Int32Array | undefined {
  const incoming = new Int32Array(nodeCount);
  for (let e = 0; e < targets.length; e++) incoming[targets[e]!]!++;
  const order = new Int32Array(nodeCount);
  let length = 0;
  for (let v = 0; v < nodeCount; v++) if (incoming[v] === 0) order[length++] = v;
  for (let i = 0; i < length; i++) {
    const v = order[i]!;
    for (let e = offsets[v]!; e < offsets[v + 1]!; e++) {
      incoming[targets[e]!]!--;
      if (incoming[targets[e]!] === 0) order[length++] = targets[e]!;
    }
  }
  return length === nodeCount ? order : undefined;
}

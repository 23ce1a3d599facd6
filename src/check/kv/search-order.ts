/**
 * Decides a polygraph: is there a choice of version orders without a cycle? Exact; stops at a budget.
 *
 * 1. Points that lie on no cycle even if every choice is taken both ways cannot matter; each component that is left is
 *    decided alone.
 * 2. A bit matrix says which point reaches which. A choice one side of which would close a cycle is taken the other
 *    way, and the matrix grows; this repeats until nothing changes. Both sides closed: refuted.
 * 3. What is still open is tried: one side first, with step 2 after each guess, and the other side if that fails.
 *
 * Choices forced in step 2 before any guess are returned: they are facts about the history and make cycles that
 * can be shown.
 */
import { cyclicComponents } from '../graph/components.js';
import { rw, ww } from '../graph/graph.js';
import { entersAt, leavesFrom, type Polygraph } from './polygraph.js';

/** Of two writers of a key, `first` must come first. */
export interface ForcedChoice {
  readonly key: number;
  readonly first: number;
  readonly second: number;
  readonly readersOfFirst: readonly number[];
}

export type OrderSearch =
  | { readonly outcome: 'possible' }
  /** `byForce`: refuted without a guess; then `forced` contains contradictory choices. */
  | {
      readonly outcome: 'impossible';
      readonly byForce: boolean;
      readonly forced: ForcedChoice[];
      readonly txs: number[];
    }
  | { readonly outcome: 'unknown'; readonly reason: string; readonly forced: ForcedChoice[] };

export interface SearchLimits {
  readonly points: number;
  readonly choices: number;
  readonly steps: number;
}

export const defaultLimits: SearchLimits = { points: 12_000, choices: 2_000_000, steps: 30_000_000 };

interface Choice {
  readonly open: number;
  readonly a: number;
  readonly b: number;
}

export function searchOrder(graph: Polygraph, limits: SearchLimits = defaultLimits): OrderSearch {
  let pairs = 0;
  for (const open of graph.openKeys) pairs += (open.writers.length * (open.writers.length - 1)) / 2;
  if (pairs > limits.choices) {
    return { outcome: 'unknown', reason: `${pairs} pairs of writers have no known order`, forced: [] };
  }
  const choices: Choice[] = [];
  graph.openKeys.forEach((open, k) => {
    for (let a = 0; a < open.writers.length; a++) {
      for (let b = a + 1; b < open.writers.length; b++) choices.push({ open: k, a, b });
    }
  });
  const components = cyclicComponents(unionGraph(graph, choices));
  const componentOf = new Int32Array(graph.nodeCount).fill(-1);
  components.forEach((nodes, c) => {
    for (const node of nodes) componentOf[node] = c;
  });
  const choicesOf: Choice[][] = components.map(() => []);
  for (const choice of choices) {
    const open = graph.openKeys[choice.open]!;
    const point = entersAt(graph, open.writers[choice.a]!, ww);
    const c = componentOf[point]!;
    if (c >= 0) choicesOf[c]!.push(choice);
  }
  let steps = limits.steps;
  const forced: ForcedChoice[] = [];
  let unknown: string | undefined;
  for (const [c, nodes] of components.entries()) {
    if (nodes.length > limits.points) {
      unknown ??= `${nodes.length} points of order depend on each other, more than ${limits.points}`;
      continue;
    }
    const solver = new Solver(graph, nodes, componentOf, c, choicesOf[c]!, steps);
    const outcome = solver.solve();
    steps = solver.stepsLeft;
    for (const choice of solver.forced) forced.push(choice);
    if (outcome === 'impossible') {
      const txs = [...new Set(Array.from(nodes, (v) => pointTx(graph, v)))].filter((tx) => tx >= 0);
      return { outcome, byForce: !solver.guessed, forced: solver.forced, txs };
    }
    if (outcome === 'unknown') unknown ??= `the search for an order ended after ${limits.steps} steps`;
  }
  return unknown === undefined ? { outcome: 'possible' } : { outcome: 'unknown', reason: unknown, forced };
}

function pointTx(graph: Polygraph, v: number): number {
  if (v < graph.txCount) return v;
  return graph.split && v < 2 * graph.txCount ? v - graph.txCount : -1;
}

/** Calls back with each edge, as points, that a choice adds. */
function eachEdge(
  graph: Polygraph,
  choice: Choice,
  aFirst: boolean,
  visit: (from: number, to: number) => boolean,
): boolean {
  const open = graph.openKeys[choice.open]!;
  const i = aFirst ? choice.a : choice.b;
  const first = open.writers[i]!;
  const second = open.writers[aFirst ? choice.b : choice.a]!;
  if (!visit(leavesFrom(graph, first, ww), entersAt(graph, second, ww))) return false;
  for (const reader of open.readers[i]!) {
    if (reader === second) continue;
    if (!visit(leavesFrom(graph, reader, rw), entersAt(graph, second, rw))) return false;
  }
  return true;
}

function unionGraph(
  graph: Polygraph,
  choices: readonly Choice[],
): { nodeCount: number; offsets: Int32Array; targets: Int32Array } {
  const offsets = new Int32Array(graph.nodeCount + 1);
  for (const source of graph.sources) offsets[source + 1]!++;
  const count = (from: number): boolean => {
    offsets[from + 1]!++;
    return true;
  };
  for (const choice of choices) {
    eachEdge(graph, choice, true, count);
    eachEdge(graph, choice, false, count);
  }
  for (let v = 0; v < graph.nodeCount; v++) offsets[v + 1] = offsets[v + 1]! + offsets[v]!;
  const targets = new Int32Array(offsets[graph.nodeCount]!);
  const next = offsets.slice(0, graph.nodeCount);
  for (let e = 0; e < graph.sources.length; e++) targets[next[graph.sources[e]!]!++] = graph.targets[e]!;
  const place = (from: number, to: number): boolean => {
    targets[next[from]!++] = to;
    return true;
  };
  for (const choice of choices) {
    eachEdge(graph, choice, true, place);
    eachEdge(graph, choice, false, place);
  }
  return { nodeCount: graph.nodeCount, offsets, targets };
}

class Solver {
  guessed = false;
  readonly forced: ForcedChoice[] = [];
  stepsLeft: number;
  readonly #graph: Polygraph;
  readonly #local: Int32Array;
  readonly #componentOf: Int32Array;
  readonly #component: number;
  readonly #size: number;
  readonly #words: number;
  readonly #reach: Uint32Array;
  readonly #known: readonly [number, number][];
  #open: Choice[];
  /** Rows of the matrix as they were, and where each guess began. */
  readonly #trail: { row: number; old: Uint32Array }[] = [];

  constructor(
    graph: Polygraph,
    nodes: Int32Array,
    componentOf: Int32Array,
    component: number,
    choices: Choice[],
    steps: number,
  ) {
    this.#graph = graph;
    this.#componentOf = componentOf;
    this.#component = component;
    this.#size = nodes.length;
    this.#words = (nodes.length + 31) >> 5;
    this.#reach = new Uint32Array(this.#size * this.#words);
    this.#local = new Int32Array(graph.nodeCount);
    nodes.forEach((node, i) => {
      this.#local[node] = i;
    });
    const known: [number, number][] = [];
    for (let e = 0; e < graph.sources.length; e++) {
      const from = graph.sources[e]!;
      const to = graph.targets[e]!;
      if (this.#inside(from) && this.#inside(to)) known.push([this.#local[from]!, this.#local[to]!]);
    }
    this.#known = known;
    this.#open = choices;
    this.stepsLeft = steps;
  }

  solve(): 'possible' | 'impossible' | 'unknown' {
    if (!this.#closeKnown()) return 'impossible';
    if (!this.#propagate(true)) return 'impossible';
    return this.#guess();
  }

  #inside(node: number): boolean {
    return this.#componentOf[node] === this.#component;
  }

  /** Fills the matrix from the known edges, last points first; false if they have a cycle. */
  #closeKnown(): boolean {
    const out: number[][] = Array.from({ length: this.#size }, () => []);
    const incoming = new Int32Array(this.#size);
    for (const [from, to] of this.#known) {
      out[from]!.push(to);
      incoming[to] = incoming[to]! + 1;
    }
    const order: number[] = [];
    for (let v = 0; v < this.#size; v++) if (incoming[v] === 0) order.push(v);
    for (let i = 0; i < order.length; i++) {
      for (const to of out[order[i]!]!) {
        incoming[to] = incoming[to]! - 1;
        if (incoming[to] === 0) order.push(to);
      }
    }
    if (order.length < this.#size) return false;
    for (let i = order.length - 1; i >= 0; i--) {
      const row = order[i]! * this.#words;
      for (const to of out[order[i]!]!) {
        this.#set(row, to);
        const other = to * this.#words;
        for (let w = 0; w < this.#words; w++) this.#reach[row + w]! |= this.#reach[other + w]!;
      }
    }
    return true;
  }

  #set(row: number, bit: number): void {
    this.#reach[row + (bit >> 5)]! |= 1 << (bit & 31);
  }

  #reaches(from: number, to: number): boolean {
    return ((this.#reach[from * this.#words + (to >> 5)]! >>> (to & 31)) & 1) === 1;
  }

  #feasible(choice: Choice, aFirst: boolean): boolean {
    return eachEdge(this.#graph, choice, aFirst, (from, to) => {
      this.stepsLeft--;
      if (from === to) return false;
      return !this.#inside(from) || !this.#inside(to) || !this.#reaches(this.#local[to]!, this.#local[from]!);
    });
  }

  /** Takes every choice that has one side left; false if one has none. */
  #propagate(root: boolean): boolean {
    for (let changed = true; changed && this.stepsLeft > 0; ) {
      changed = false;
      const still: Choice[] = [];
      for (const choice of this.#open) {
        const a = this.#feasible(choice, true);
        const b = this.#feasible(choice, false);
        if (a && b) {
          still.push(choice);
          continue;
        }
        if (root) this.#record(choice, a || !b);
        if (!a && !b) {
          if (root) this.#record(choice, false);
          return false;
        }
        if (!this.#take(choice, a)) return false;
        changed = true;
      }
      this.#open = still;
    }
    return true;
  }

  #record(choice: Choice, aFirst: boolean): void {
    const open = this.#graph.openKeys[choice.open]!;
    const i = aFirst ? choice.a : choice.b;
    this.forced.push({
      key: open.key,
      first: open.writers[i]!,
      second: open.writers[aFirst ? choice.b : choice.a]!,
      readersOfFirst: open.readers[i]!,
    });
  }

  #take(choice: Choice, aFirst: boolean): boolean {
    return eachEdge(this.#graph, choice, aFirst, (from, to) => {
      if (!this.#inside(from) || !this.#inside(to)) return true;
      return this.#connect(this.#local[from]!, this.#local[to]!);
    });
  }

  /** Adds an edge to the matrix; false if it closes a cycle. */
  #connect(from: number, to: number): boolean {
    if (from === to || this.#reaches(to, from)) return false;
    if (this.#reaches(from, to)) return true;
    const target = to * this.#words;
    for (let v = 0; v < this.#size; v++) {
      if (v !== from && !this.#reaches(v, from)) continue;
      if (this.#reaches(v, to)) continue;
      this.stepsLeft -= this.#words;
      const row = v * this.#words;
      if (this.guessed) this.#trail.push({ row, old: this.#reach.slice(row, row + this.#words) });
      this.#set(row, to);
      for (let w = 0; w < this.#words; w++) this.#reach[row + w]! |= this.#reach[target + w]!;
    }
    return true;
  }

  #guess(): 'possible' | 'impossible' | 'unknown' {
    // Depth-first with a stack of our own: `second` says that only the other side is left to try.
    const guesses: { choice: Choice; open: Choice[]; trail: number; second: boolean }[] = [];
    for (;;) {
      if (this.stepsLeft <= 0) return 'unknown';
      const choice = this.#open.at(-1);
      if (choice === undefined) return 'possible';
      this.guessed = true;
      guesses.push({ choice, open: this.#open, trail: this.#trail.length, second: false });
      this.#open = this.#open.slice(0, -1);
      let good = this.#take(choice, true) && this.#propagate(false);
      while (!good) {
        const last = guesses.pop();
        if (last === undefined) return 'impossible';
        this.#undo(last.trail);
        if (this.stepsLeft <= 0) return 'unknown';
        if (last.second) continue;
        guesses.push({ ...last, second: true });
        this.#open = last.open.slice(0, -1);
        good = this.#take(last.choice, false) && this.#propagate(false);
      }
    }
  }

  #undo(to: number): void {
    while (this.#trail.length > to) {
      const { row, old } = this.#trail.pop()!;
      this.#reach.set(old, row);
    }
  }
}

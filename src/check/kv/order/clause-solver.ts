/**
 * A small solver for choices with two sides: conflict-driven clause learning (as in GRASP and MiniSat) over a theory
 * that is asked about each choice made. It starts with no clauses at all; every clause is learned from a set of
 * choices that the theory found impossible together.
 *
 * 1. Make a choice, the side the theory prefers; tell the theory; follow the clauses that have one way left.
 * 2. On a conflict, walk back over the reasons to the first choice that alone implies it (1-UIP), learn the clause,
 *    and return to where it has one way left.
 * 3. Choices that took part in conflicts come first (VSIDS); now and then start over (Luby) and drop long clauses.
 *
 * Literals are numbers: 2 · v says that choice v takes its first side, 2 · v + 1 its second. Every learned clause
 * remembers what it came from, so that a refutation can name the conflicts it rests on.
 */
import type { Effort } from '../effort.js';

export interface Theory {
  /** A literal became true. Returns true literals that cannot all be true, and the number of the proof of that. */
  assert(literal: number): { readonly literals: readonly number[]; readonly proof: number } | undefined;
  /** The last `count` literals that were asserted are open again. */
  retract(count: number): void;
  /** The literal to try first. */
  prefer(variable: number): number;
}

export type ClauseOutcome =
  | { readonly outcome: 'satisfiable' }
  /** `proofs`: the theory's conflicts that the refutation rests on. */
  | { readonly outcome: 'unsatisfiable'; readonly proofs: readonly number[]; readonly guessed: boolean }
  | { readonly outcome: 'unknown' };

interface Clause {
  readonly literals: Int32Array;
  /** Clauses resolved, and conflicts of the theory as -1 - number. */
  readonly from: readonly number[];
  /** Variables whose value before any choice was used. */
  readonly facts: readonly number[];
  readonly distinctLevels: number;
  dropped: boolean;
}

const restartUnit = 128;
const decay = 0.95;

export class ClauseSolver {
  readonly #theory: Theory;
  readonly #value: Int8Array;
  readonly #level: Int32Array;
  readonly #reason: Int32Array;
  readonly #trail: Int32Array;
  readonly #levelStart: number[] = [];
  readonly #clauses: Clause[] = [];
  readonly #watches = new Map<number, number[]>();
  readonly #queue: ActivityQueue;
  readonly #seen: Uint8Array;
  #trailLength = 0;
  #asserted = 0;
  #learnedLimit = 20_000;
  #learned = 0;
  #guessed = false;

  constructor(count: number, theory: Theory) {
    this.#theory = theory;
    this.#value = new Int8Array(count);
    this.#level = new Int32Array(count);
    this.#reason = new Int32Array(count).fill(-1);
    this.#trail = new Int32Array(count);
    this.#queue = new ActivityQueue(count);
    this.#seen = new Uint8Array(count);
  }

  solve(effort: Effort): ClauseOutcome {
    let steps = 0;
    let conflicts = 0;
    let restarts = 0;
    let untilRestart = restartUnit;
    for (;;) {
      if ((++steps & 0xff) === 0 && effort.spent()) return { outcome: 'unknown' };
      const conflict = this.#propagate();
      if (conflict !== undefined) {
        if (++conflicts % 1000 === 0) effort.progress(`searching: ${conflicts} contradictions learned from`);
        if (this.#levelStart.length === 0) {
          return { outcome: 'unsatisfiable', proofs: this.#proofsOf(conflict), guessed: this.#guessed };
        }
        this.#learn(conflict);
        untilRestart--;
        continue;
      }
      if (untilRestart <= 0) {
        untilRestart = restartUnit * luby(++restarts);
        this.#backTo(0);
        this.#dropClauses();
        continue;
      }
      const variable = this.#next();
      if (variable < 0) return { outcome: 'satisfiable' };
      this.#guessed = true;
      this.#levelStart.push(this.#trailLength);
      this.#enqueue(this.#theory.prefer(variable), -1);
    }
  }

  #next(): number {
    for (;;) {
      const variable = this.#queue.pop();
      if (variable < 0 || this.#value[variable] === 0) return variable;
    }
  }

  #isTrue(literal: number): boolean {
    return this.#value[literal >> 1] === ((literal & 1) === 0 ? 1 : -1);
  }

  #isFalse(literal: number): boolean {
    return this.#value[literal >> 1] === ((literal & 1) === 0 ? -1 : 1);
  }

  #enqueue(literal: number, reason: number): void {
    const variable = literal >> 1;
    this.#value[variable] = (literal & 1) === 0 ? 1 : -1;
    this.#level[variable] = this.#levelStart.length;
    this.#reason[variable] = reason;
    this.#trail[this.#trailLength++] = literal;
  }

  /** Follows every choice to its end; a clause whose literals are all false if that is impossible. */
  #propagate(): Clause | undefined {
    while (this.#asserted < this.#trailLength) {
      const literal = this.#trail[this.#asserted++]!;
      const conflict = this.#theory.assert(literal);
      if (conflict !== undefined) {
        return {
          literals: Int32Array.from(conflict.literals, (each) => each ^ 1),
          from: [-1 - conflict.proof],
          facts: [],
          distinctLevels: 0,
          dropped: false,
        };
      }
      const failed = this.#follow(literal ^ 1);
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** Looks at the clauses that watch a literal that became false. */
  #follow(literal: number): Clause | undefined {
    const watching = this.#watches.get(literal);
    if (watching === undefined) return undefined;
    let kept = 0;
    for (let i = 0; i < watching.length; i++) {
      const id = watching[i]!;
      const clause = this.#clauses[id]!;
      if (clause.dropped) continue;
      const { literals } = clause;
      if (literals[0] === literal) {
        literals[0] = literals[1]!;
        literals[1] = literal;
      }
      if (this.#isTrue(literals[0]!)) {
        watching[kept++] = id;
        continue;
      }
      let other = 2;
      while (other < literals.length && this.#isFalse(literals[other]!)) other++;
      if (other < literals.length) {
        literals[1] = literals[other]!;
        literals[other] = literal;
        this.#watch(literals[1]!, id);
        continue;
      }
      watching[kept++] = id;
      if (this.#isFalse(literals[0]!)) {
        for (i++; i < watching.length; i++) watching[kept++] = watching[i]!;
        watching.length = kept;
        return clause;
      }
      this.#enqueue(literals[0]!, id);
    }
    watching.length = kept;
    return undefined;
  }

  #watch(literal: number, id: number): void {
    const list = this.#watches.get(literal);
    if (list === undefined) this.#watches.set(literal, [id]);
    else list.push(id);
  }

  /** Learns from a conflict and returns to where the clause learned has one way left. */
  #learn(conflict: Clause): void {
    const level = this.#levelStart.length;
    const from: number[] = [...conflict.from];
    const facts: number[] = [];
    const learned: number[] = [-1];
    const marked: number[] = [];
    let open = 0;
    let at = this.#trailLength - 1;
    const mark = (literals: Int32Array): void => {
      for (const literal of literals) {
        const variable = literal >> 1;
        if (this.#seen[variable] === 1) continue;
        this.#seen[variable] = 1;
        marked.push(variable);
        if (this.#level[variable] === 0) facts.push(variable);
        else {
          this.#queue.bump(variable);
          if (this.#level[variable] === level) open++;
          else learned.push(literal);
        }
      }
    };
    mark(conflict.literals);
    for (;;) {
      while (this.#seen[this.#trail[at]! >> 1] === 0 || this.#level[this.#trail[at]! >> 1] !== level) at--;
      const literal = this.#trail[at--]!;
      open--;
      if (open === 0) {
        learned[0] = literal ^ 1;
        break;
      }
      const reason = this.#reason[literal >> 1]!;
      from.push(reason);
      mark(this.#clauses[reason]!.literals);
    }
    for (const variable of marked) this.#seen[variable] = 0;
    this.#queue.decay();
    this.#add(learned, from, facts);
  }

  #add(learned: number[], from: readonly number[], facts: readonly number[]): void {
    // The second literal is one of the highest level below, so that it is the next to become open.
    for (let i = 2; i < learned.length; i++) {
      if (this.#level[learned[i]! >> 1]! > this.#level[learned[1]! >> 1]!) {
        [learned[1], learned[i]] = [learned[i]!, learned[1]!];
      }
    }
    const levels = new Set(learned.map((literal) => this.#level[literal >> 1]!));
    const id = this.#clauses.length;
    const literals = Int32Array.from(learned);
    this.#clauses.push({ literals, from, facts, distinctLevels: levels.size, dropped: false });
    this.#backTo(learned.length === 1 ? 0 : this.#level[learned[1]! >> 1]!);
    if (learned.length > 1) {
      this.#watch(literals[0]!, id);
      this.#watch(literals[1]!, id);
      this.#learned++;
    }
    this.#enqueue(literals[0]!, id);
  }

  #backTo(level: number): void {
    const start = this.#levelStart[level];
    if (start === undefined) return;
    for (let i = this.#trailLength - 1; i >= start; i--) {
      const variable = this.#trail[i]! >> 1;
      this.#value[variable] = 0;
      this.#queue.push(variable);
    }
    if (this.#asserted > start) {
      this.#theory.retract(this.#asserted - start);
      this.#asserted = start;
    }
    this.#trailLength = start;
    this.#levelStart.length = level;
  }

  /** Called with no choice open: drops the half of the clauses that join the most levels. */
  #dropClauses(): void {
    if (this.#learned < this.#learnedLimit) return;
    const used = new Set(this.#reason);
    const long = this.#clauses
      .map((clause, id) => ({ clause, id }))
      .filter(({ clause, id }) => !clause.dropped && clause.distinctLevels > 3 && !used.has(id))
      .sort((a, b) => b.clause.distinctLevels - a.clause.distinctLevels);
    for (const { clause } of long.slice(0, long.length >> 1)) {
      clause.dropped = true;
      this.#learned--;
    }
    this.#learnedLimit = Math.round(this.#learnedLimit * 1.3);
  }

  /** The theory's conflicts behind a clause that is false with no choice open. */
  #proofsOf(conflict: Clause): number[] {
    const proofs = new Set<number>();
    const visited = new Set<Clause>();
    const facts = new Set<number>();
    const work: Clause[] = [conflict];
    const need = (variables: Iterable<number>): void => {
      for (const variable of variables) {
        if (facts.has(variable)) continue;
        facts.add(variable);
        const reason = this.#clauses[this.#reason[variable]!];
        if (reason !== undefined) work.push(reason);
      }
    };
    for (let clause = work.pop(); clause !== undefined; clause = work.pop()) {
      if (visited.has(clause)) continue;
      visited.add(clause);
      for (const id of clause.from) {
        if (id < 0) proofs.add(-1 - id);
        else work.push(this.#clauses[id]!);
      }
      need(clause.facts);
      // Whatever is known before any choice is known by clauses all of whose other literals are false by then.
      need(Array.from(clause.literals, (literal) => literal >> 1).filter((v) => this.#level[v] === 0));
    }
    return [...proofs];
  }
}

/** 1, 1, 2, 1, 1, 2, 4, … */
function luby(i: number): number {
  let size = 1;
  while (size < i + 1) size = 2 * size + 1;
  let at = i;
  while (size - 1 !== at) {
    size = (size - 1) >> 1;
    at %= size;
  }
  return (size + 1) >> 1;
}

/** Variables by how often they took part in conflicts of late. */
class ActivityQueue {
  readonly #activity: Float64Array;
  readonly #heap: Int32Array;
  readonly #place: Int32Array;
  #size: number;
  #step = 1;

  constructor(count: number) {
    this.#activity = new Float64Array(count);
    this.#heap = Int32Array.from({ length: count }, (_, i) => i);
    this.#place = this.#heap.slice();
    this.#size = count;
  }

  bump(variable: number): void {
    this.#activity[variable]! += this.#step;
    if (this.#activity[variable]! > 1e100) {
      for (let i = 0; i < this.#activity.length; i++) this.#activity[i]! *= 1e-100;
      this.#step *= 1e-100;
    }
    if (this.#place[variable]! >= 0) this.#up(this.#place[variable]!);
  }

  decay(): void {
    this.#step /= decay;
  }

  push(variable: number): void {
    if (this.#place[variable]! >= 0) return;
    this.#heap[this.#size] = variable;
    this.#place[variable] = this.#size;
    this.#up(this.#size++);
  }

  pop(): number {
    if (this.#size === 0) return -1;
    const top = this.#heap[0]!;
    this.#place[top] = -1;
    const last = this.#heap[--this.#size]!;
    if (this.#size > 0) {
      this.#heap[0] = last;
      this.#place[last] = 0;
      this.#down(0);
    }
    return top;
  }

  /** Ties by number, so that the same question always takes the same way. */
  #before(a: number, b: number): boolean {
    const difference = this.#activity[a]! - this.#activity[b]!;
    return difference > 0 || (difference === 0 && a < b);
  }

  #up(start: number): void {
    let at = start;
    const item = this.#heap[at]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(item, this.#heap[parent]!)) break;
      this.#put(at, this.#heap[parent]!);
      at = parent;
    }
    this.#put(at, item);
  }

  #down(start: number): void {
    let at = start;
    const item = this.#heap[at]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#before(this.#heap[child + 1]!, this.#heap[child]!)) child++;
      if (!this.#before(this.#heap[child]!, item)) break;
      this.#put(at, this.#heap[child]!);
      at = child;
    }
    this.#put(at, item);
  }

  #put(at: number, item: number): void {
    this.#heap[at] = item;
    this.#place[item] = at;
  }
}

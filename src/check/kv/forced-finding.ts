/**
 * Shows why no order of versions works, where that follows without guessing: a cycle whose ww and rw edges are partly
 * forced, each with the cycle that the other order would close; or, if a pair of versions can stand neither way, both
 * cycles as the two cases of one argument.
 */
import { printName } from '../../histories/index.js';
import { joined, ofRow, type Phrase, type Piece, phrase, type Step, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { FamilyCycle } from '../graph/cycle-search.js';
import { findCycles } from '../graph/cycles.js';
import { buildGraph, copyEdges, type EdgeList, edgeNames, predicateRw, rw, ww } from '../graph/graph.js';
import type { CheckLevel } from '../levels.js';
import { cycleFinding, ofTx, type WhyForced } from './kv-findings.js';
import type { OrderMode } from './order/order-problem.js';
import type { ResolvedKv } from './resolved-kv.js';

/** Of two writers of a key, `first` must come first. */
export interface ForcedChoice {
  readonly key: number;
  readonly first: number;
  readonly second: number;
  readonly readersOfFirst: readonly number[];
}

/** `forced` in the order it was found; if its last two are the two sides of one choice, neither is possible. */
export function forcedFinding(
  resolved: ResolvedKv,
  level: CheckLevel,
  {
    mode,
    known,
    forced,
  }: { readonly mode: OrderMode; readonly known: EdgeList; readonly forced: readonly ForcedChoice[] },
): Finding | undefined {
  const view = new ForcedView(resolved, mode, known, forced);
  const [left, right] = forced.slice(-2);
  const contradictory = left !== undefined && right !== undefined && isOpposite(left, right);
  if (!contradictory) return view.finding(level, forced.length);
  const a = view.finding(level, forced.length - 2, view.withReaders(left));
  const b = view.finding(level, forced.length - 2, view.withReaders(right));
  if (a === undefined || b === undefined) return view.finding(level, forced.length);
  // An order that closes a cycle without rw is not the one the database used.
  const weight = (finding: Finding): number =>
    finding.cycle!.length + (finding.cycle!.some((edge) => edge.kind === 'rw') ? 0 : 1000);
  const [main, other] = weight(b) < weight(a) ? [b, a] : [a, b];
  const ids = new Set(main.transactions.map((tx) => tx.id));
  const added = other.transactions.filter((tx) => !ids.has(tx.id));
  const object = ofRow(printName(resolved.history.keyNames[left.key]!));
  const name = (tx: number): Piece => ofTx(resolved.history, tx);
  const caseOf = (word: string, choice: ForcedChoice): Step =>
    say.suppose`${word} ${name(choice.first)} wrote ${object} before ${name(choice.second)}.`;
  return {
    ...main,
    transactions: [...main.transactions, ...added],
    operations: [
      ...main.operations,
      ...other.operations.filter((op) => added.some((tx) => tx.id === op.transaction)),
    ],
    explanation: [caseOf('Suppose', left), ...a.explanation, caseOf('Otherwise', right), ...b.explanation],
  };
}

const isOpposite = (a: ForcedChoice, b: ForcedChoice): boolean =>
  a.key === b.key && a.first === b.second && a.second === b.first;

class ForcedView {
  constructor(
    readonly resolved: ResolvedKv,
    readonly mode: OrderMode,
    readonly known: EdgeList,
    readonly forced: readonly ForcedChoice[],
  ) {}

  /** The finding that the first `count` forced choices, and one supposed, lead to. */
  finding(level: CheckLevel, count: number, supposed?: ForcedChoice): Finding | undefined {
    const cycle = this.#cycle(count, supposed);
    if (cycle === undefined) return undefined;
    const turned = supposed === undefined ? this.#turnedRound(cycle) : undefined;
    const shown = new Set<number>();
    const whyForced: WhyForced = (from, to, kind, key) => {
      if (this.#isKnown(from, to, kind, key)) return undefined;
      if (supposed !== undefined && makes(supposed, { from, to, kind, key })) return ['as supposed'];
      if (turned !== undefined && makes(turned.choice, { from, to, kind, key })) {
        return this.#because(turned.choice, cycle, turned.at, shown);
      }
      const at = this.#forcedAt(from, to, kind, key);
      if (at < 0) return undefined;
      return this.#because(this.forced[at]!, this.#cycle(at, this.#opposite(at)), at, shown);
    };
    const options = { rulesOut: [level], whyForced, alsoShow: () => shown };
    return cycleFinding(this.resolved, turned?.cycle ?? cycle, options);
  }

  /**
   * A cycle without rw is not what the database did: it says that a forced order is impossible, and the truth is the
   * other order, with the cycle that had ruled that out. Both prove the same; this one has the right name.
   */
  #turnedRound(cycle: FamilyCycle): { choice: ForcedChoice; at: number; cycle: FamilyCycle } | undefined {
    if (hasRw(cycle.kinds)) return undefined;
    let at = -1;
    cycle.nodes.forEach((from, i) => {
      const to = cycle.nodes[(i + 1) % cycle.nodes.length]!;
      const kind = cycle.kinds[i]!;
      if (this.#isKnown(from, to, kind, cycle.refs[i]!)) return;
      at = Math.max(at, this.#forcedAt(from, to, kind, cycle.refs[i]!));
    });
    if (at < 0) return undefined;
    const choice = this.#opposite(at);
    const other = this.#cycle(at, choice);
    return other === undefined || !hasRw(other.kinds) ? undefined : { choice, at, cycle: other };
  }

  #because(choice: ForcedChoice, otherwise: FamilyCycle | undefined, at: number, shown: Set<number>): Phrase {
    const { history } = this.resolved;
    const { first, second, key } = choice;
    for (const tx of [first, second]) shown.add(tx);
    const order = phrase`${ofTx(history, first)} wrote ${ofRow(printName(history.keyNames[key]!))} before ${ofTx(history, second)}`;
    return otherwise === undefined
      ? order
      : phrase`${order}, because otherwise ${this.#print(otherwise, at, shown)}`;
  }

  #forcedAt(from: number, to: number, kind: number, key: number): number {
    return this.forced.findIndex((choice) => makes(choice, { from, to, kind, key }));
  }

  #opposite(at: number): ForcedChoice {
    const { key, first, second } = this.forced[at]!;
    return this.withReaders({ key, first: second, second: first, readersOfFirst: [] });
  }

  #cycle(count: number, supposed?: ForcedChoice): FamilyCycle | undefined {
    const edges = copyEdges(this.known);
    for (const choice of this.forced.slice(0, count)) addChoice(edges, choice);
    if (supposed !== undefined) addChoice(edges, supposed);
    return findCycles(buildGraph(edges))
      .cycles.filter((cycle) => breaksMode(cycle, this.mode))
      .reduce<FamilyCycle | undefined>(
        (best, next) => (best === undefined || next.nodes.length < best.nodes.length ? next : best),
        undefined,
      );
  }

  /** A choice with everybody who read the version that comes first. */
  withReaders(choice: ForcedChoice): ForcedChoice {
    const { history, opTx, readsFrom } = this.resolved;
    const readers = new Set<number>();
    for (let op = 0; op < history.opCount; op++) {
      const source = readsFrom[op]!;
      if (source < 0 || history.opKey[op] !== choice.key || opTx[source] !== choice.first) continue;
      readers.add(opTx[op]!);
    }
    return { ...choice, readersOfFirst: [...readers] };
  }

  #isKnown(from: number, to: number, kind: number, key: number): boolean {
    const { sources, targets, kinds, refs, length } = this.known;
    for (let e = 0; e < length; e++) {
      if (sources[e] === from && targets[e] === to && kinds[e] === kind && refs[e] === key) return true;
    }
    return false;
  }

  /** A cycle in one line; orders that were forced before `limit` say why. */
  #print(cycle: FamilyCycle, limit: number, shown: Set<number>): Phrase {
    const { history } = this.resolved;
    const steps = cycle.nodes.map((tx, i) => {
      shown.add(tx);
      const to = cycle.nodes[(i + 1) % cycle.nodes.length]!;
      const kind = cycle.kinds[i]!;
      const key = cycle.refs[i]!;
      const object = key < 0 ? [] : phrase` ${ofRow(printName(history.keyNames[key]!))}`;
      const at = this.#isKnown(tx, to, kind, key) ? -1 : this.#forcedAt(tx, to, kind, key);
      const other = at < 0 || at >= limit ? undefined : this.#cycle(at, this.#opposite(at));
      const why = other === undefined ? [] : phrase` (otherwise ${this.#print(other, at, shown)})`;
      return phrase`${ofTx(history, tx)} -${edgeNames[kind]!}${object}${why}-> `;
    });
    return phrase`${joined(steps, '')}${ofTx(history, cycle.nodes[0]!)}`;
  }
}

const hasRw = (kinds: readonly number[]): boolean => kinds.includes(rw) || kinds.includes(predicateRw);

function addChoice(edges: EdgeList, choice: ForcedChoice): void {
  edges.add(choice.first, choice.second, ww, choice.key);
  for (const reader of choice.readersOfFirst) {
    if (reader !== choice.second) edges.add(reader, choice.second, rw, choice.key);
  }
}

function makes(
  choice: ForcedChoice,
  { from, to, kind, key }: Readonly<Record<'from' | 'to' | 'kind' | 'key', number>>,
): boolean {
  if (choice.key !== key || choice.second !== to) return false;
  return (kind === ww && choice.first === from) || (kind === rw && choice.readersOfFirst.includes(from));
}

/** Is the cycle one that the mode itself forbids? */
export function breaksMode(cycle: FamilyCycle, mode: OrderMode): boolean {
  const { kinds } = cycle;
  const isRw = (i: number): boolean => kinds[i] === rw || kinds[i] === predicateRw;
  const before = (i: number): number => (i + kinds.length - 1) % kinds.length;
  const sameObject = kinds.length === 2 && cycle.refs[0] === cycle.refs[1];
  switch (mode) {
    case 'serializable':
    case 'cursor stability':
      return true;
    case 'snapshot':
      return kinds.every((_, i) => !isRw(i) || !isRw(before(i))) || sameObject;
    case 'prefix':
      return kinds.every((_, i) => !isRw(i) || (!isRw(before(i)) && kinds[before(i)] !== ww));
  }
}

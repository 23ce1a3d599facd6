/**
 * Linearizability of one object: is there an order of its operations, each somewhere between its begin and its end, that
 * the object's rules allow? (Wing & Gong 1993; the search follows Lowe, 2017: configurations are carried through the events
 * of the history, and an operation takes effect no earlier than somebody's end needs it to.)
 *
 * 1. A configuration is the state of the object and which of the open operations have taken effect. Before an operation
 *    ends, every way to let open operations take effect until this one has is followed.
 * 2. If none is left, the history is not linearizable, and this end shows it.
 *
 * What keeps the configurations few:
 * - equal ones are kept once;
 * - an open read that fits the state takes effect at once: it changes nothing, so nothing is lost by it;
 * - an operation of unknown outcome need not take effect, so it takes effect only where the next one needs it: it lets an
 *   open read fit, or is followed by an operation that looks at the state; one that leads to a state which nobody looks for
 *   any more is left out. Alike ones are counted and not told apart, of
 *   two configurations that differ only in those the one that used fewer is kept, and what all have used is forgotten.
 *
 * The problem is NP-complete; a limit on configurations makes the answer `unknown`.
 */
import { type PlainOperation, plainKey } from '../../histories/index.js';

export interface Model<State> {
  readonly initial: State;
  /** The state after an operation; undefined: it cannot take effect here. */
  step(state: State, operation: PlainOperation): State | undefined;
  /** It changes nothing whatever the state. */
  isRead(operation: PlainOperation): boolean;
  /** It leads to the same state whatever the state was. */
  isBlind(operation: PlainOperation): boolean;
  /** Equal for equal states. */
  key(state: State): string;
  /** The key of the only state in which an operation can take effect, if there is only one. */
  needs?(operation: PlainOperation): string | undefined;
}

export type Linearization =
  | { readonly outcome: 'linearizable' }
  | {
      readonly outcome: 'impossible';
      /** The operation whose end no order reaches, and those that were open then. */
      readonly operation: number;
      readonly open: readonly number[];
      /** What the object could hold before. */
      readonly states: readonly string[];
    }
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Operations are told apart by the bits of one number. */
const mostSlots = 30;

export interface LinearizeLimits {
  /** Operations open at once, at most 30. */
  readonly open: number;
  /** Configurations followed at once; 200,000 take some 100 MB. */
  readonly configurations: number;
}

const usualLimits: LinearizeLimits = { open: mostSlots, configurations: 200_000 };

interface Configuration<State> {
  readonly state: State;
  /** Bits of the slots whose operation has taken effect. */
  readonly done: number;
  /** The kinds of operations that never ended and took effect, sorted, each as often as it did. */
  readonly lost: readonly number[];
  /** The last one took effect only for the sake of the next, which must look at the state. */
  readonly awaited: boolean;
}

/** Looks for an order of the given operations of one object; `which` are positions in `operations`. */
export function linearize<State>(
  operations: readonly PlainOperation[],
  which: readonly number[],
  model: Model<State>,
  limits: LinearizeLimits = usualLimits,
): Linearization {
  return new Search(operations, model, limits).run(which);
}

class Search<State> {
  readonly #operations: readonly PlainOperation[];
  readonly #model: Model<State>;
  readonly #limits: LinearizeLimits;
  /** The operation in each slot, -1 where it is free. */
  readonly #slots: number[] = [];
  /** Kinds of operations that never end: one of each, and how many there are that may still take effect. */
  readonly #lostKinds: { readonly operation: PlainOperation; readonly until: number; available: number }[] =
    [];
  /** The kinds of these that may still be of use. */
  #useful: number[] = [];
  /** For a state's key, when the last operation ends that looks for it; undefined if the model cannot say. */
  #lastNeeded: ReadonlyMap<string, number> | undefined;
  readonly #kindOf = new Map<string, number>();
  #configurations: Configuration<State>[];

  constructor(operations: readonly PlainOperation[], model: Model<State>, limits: LinearizeLimits) {
    this.#operations = operations;
    this.#model = model;
    this.#limits = { ...limits, open: Math.min(limits.open, mostSlots) };
    this.#configurations = [{ state: model.initial, done: 0, lost: [], awaited: false }];
  }

  run(which: readonly number[]): Linearization {
    this.#lastNeeded = this.#needs(which);
    const events = which
      .filter((at) => this.#counts(this.#operations[at]!))
      .flatMap((at) => {
        const { start, end } = this.#operations[at]!;
        const begin = { at, position: start, begins: true };
        return end === Number.POSITIVE_INFINITY ? [begin] : [begin, { at, position: end, begins: false }];
      })
      .sort((a, b) => a.position - b.position || Number(b.begins) - Number(a.begins));
    for (const { at, begins, position } of events) {
      this.#useful = this.#useful.filter((kind) => {
        const { available, until } = this.#lostKinds[kind]!;
        return available > 0 && until >= position;
      });
      if (begins) {
        if (!this.#begin(at)) {
          return {
            outcome: 'unknown',
            reason: `more than ${this.#limits.open} operations were open at once`,
          };
        }
        continue;
      }
      const before = this.#configurations;
      const outcome = this.#end(at);
      if (outcome === 'too many') {
        return {
          outcome: 'unknown',
          reason: `more than ${this.#limits.configurations} orders would have to be followed`,
        };
      }
      if (outcome === 'none') return this.#impossible(at, before);
    }
    return { outcome: 'linearizable' };
  }

  /** Undefined if some operation may take effect in several states without being blind. */
  #needs(which: readonly number[]): ReadonlyMap<string, number> | undefined {
    if (this.#model.needs === undefined) return undefined;
    const last = new Map<string, number>();
    for (const at of which) {
      const operation = this.#operations[at]!;
      if (!this.#counts(operation)) continue;
      const key = this.#model.needs(operation);
      if (key !== undefined) last.set(key, Math.max(last.get(key) ?? 0, operation.end));
    }
    return last;
  }

  /** Until when a blind operation that never ends can be of use. */
  #usefulUntil(operation: PlainOperation): number {
    const { step, key, isBlind, initial } = this.#model;
    if (this.#lastNeeded === undefined || !isBlind(operation)) return Number.POSITIVE_INFINITY;
    const state = step(initial, operation);
    return state === undefined ? Number.POSITIVE_INFINITY : (this.#lastNeeded.get(key(state)) ?? -1);
  }

  /** What failed did nothing, and a read that nobody got an answer to says nothing. */
  #counts(operation: PlainOperation): boolean {
    return operation.status === 'ok' || (operation.status === 'info' && !this.#model.isRead(operation));
  }

  #begin(at: number): boolean {
    const operation = this.#operations[at]!;
    if (operation.status === 'info') {
      const name = `${operation.f} ${plainKey(operation.value)}`;
      const known = this.#kindOf.get(name);
      const kind = known ?? this.#lostKinds.length;
      if (known === undefined) {
        this.#kindOf.set(name, kind);
        this.#lostKinds.push({ operation, until: this.#usefulUntil(operation), available: 0 });
      }
      this.#lostKinds[kind]!.available++;
      if (!this.#useful.includes(kind)) this.#useful.push(kind);
      return true;
    }
    const free = this.#slots.indexOf(-1);
    const slot = free < 0 ? this.#slots.length : free;
    if (slot >= this.#limits.open) return false;
    this.#slots[slot] = at;
    if (this.#model.isRead(operation))
      this.#configurations = this.#configurations.map((each) => this.#withReads(each));
    return true;
  }

  /** Lets an operation end: only configurations in which it took effect go on. */
  #end(at: number): 'some' | 'none' | 'too many' {
    const slot = this.#slots.indexOf(at);
    const bit = 1 << slot;
    const ended = new Front<State>(this.#model);
    const visited = new Front<State>(this.#model);
    const work: Configuration<State>[] = [];
    const visit = (configuration: Configuration<State>): void => {
      if ((configuration.done & bit) !== 0 && !configuration.awaited) ended.add(configuration);
      else if (visited.add(configuration)) work.push(configuration);
    };
    for (const configuration of this.#configurations) visit(configuration);
    // First come first served: what used fewer of the lost is met first.
    for (let next = 0; next < work.length; next++) {
      if (visited.size + ended.size > this.#limits.configurations) return 'too many';
      for (const further of this.#steps(work[next]!)) visit(further);
    }
    this.#slots[slot] = -1;
    this.#configurations = ended.all().map((each) => ({ ...each, done: each.done & ~bit }));
    this.#forgetLost();
    return this.#configurations.length === 0 ? 'none' : 'some';
  }

  /** Every configuration that one more operation leads to. */
  *#steps({
    state,
    done,
    lost,
    awaited,
  }: Configuration<State>): Generator<Configuration<State>, void, undefined> {
    const { step, isBlind } = this.#model;
    for (let slot = 0; slot < this.#slots.length; slot++) {
      const at = this.#slots[slot]!;
      if (at < 0 || (done & (1 << slot)) !== 0) continue;
      const operation = this.#operations[at]!;
      if (awaited && isBlind(operation)) continue;
      const next = step(state, operation);
      if (next === undefined) continue;
      yield this.#withReads({ state: next, done: done | (1 << slot), lost, awaited: false });
    }
    for (const kind of this.#useful) {
      const { operation, available } = this.#lostKinds[kind]!;
      if (available === 0 || (awaited && isBlind(operation))) continue;
      const next = step(state, operation);
      if (next === undefined || countOf(lost, kind) >= available) continue;
      const further = this.#withReads({ state: next, done, lost: inserted(lost, kind), awaited: true });
      yield further.done === done ? further : { ...further, awaited: false };
    }
  }

  #withReads(configuration: Configuration<State>): Configuration<State> {
    const { state } = configuration;
    let { done } = configuration;
    for (let slot = 0; slot < this.#slots.length; slot++) {
      const at = this.#slots[slot]!;
      if (at < 0 || (done & (1 << slot)) !== 0 || !this.#model.isRead(this.#operations[at]!)) continue;
      if (this.#model.step(state, this.#operations[at]!) !== undefined) done |= 1 << slot;
    }
    return done === configuration.done ? configuration : { ...configuration, done };
  }

  /** Lost operations that took effect in every configuration did so for good. */
  #forgetLost(): void {
    const [first, ...others] = this.#configurations;
    if (first === undefined || first.lost.length === 0) return;
    const common = others.reduce<readonly number[]>((left, { lost }) => intersection(left, lost), first.lost);
    if (common.length === 0) return;
    for (const kind of common) this.#lostKinds[kind]!.available--;
    this.#configurations = this.#configurations.map((each) => ({
      ...each,
      lost: without(each.lost, common),
    }));
  }

  #impossible(at: number, before: readonly Configuration<State>[]): Linearization {
    const states = [...new Set(before.map(({ state }) => this.#model.key(state)))];
    return {
      outcome: 'impossible',
      operation: at,
      open: this.#slots.filter((each) => each >= 0 && each !== at),
      states: states.slice(0, 10),
    };
  }
}

/** Configurations without those that another one makes needless. */
class Front<State> {
  size = 0;
  readonly #model: Model<State>;
  readonly #groups = new Map<string, Configuration<State>[]>();

  constructor(model: Model<State>) {
    this.#model = model;
  }

  /** Adds a configuration unless one as good is there; whether it was added. */
  add(configuration: Configuration<State>): boolean {
    const { state, done, lost, awaited } = configuration;
    const key = `${awaited ? '+' : ''}${done} ${this.#model.key(state)}`;
    const group = this.#groups.get(key) ?? [];
    if (group.some((other) => contains(lost, other.lost))) return false;
    const kept = group.filter((other) => !contains(other.lost, lost));
    this.size += kept.length + 1 - group.length;
    this.#groups.set(key, [...kept, configuration]);
    return true;
  }

  all(): Configuration<State>[] {
    return [...this.#groups.values()].flat();
  }
}

/** Lists of kinds are sorted, and hold a kind as often as it was used. */
const countOf = (list: readonly number[], kind: number): number =>
  list.reduce((count, each) => (each === kind ? count + 1 : count), 0);

const inserted = (list: readonly number[], kind: number): number[] => [...list, kind].sort((a, b) => a - b);

/** Does `more` hold everything that `less` holds, as often? */
const contains = (more: readonly number[], less: readonly number[]): boolean =>
  intersection(more, less).length === less.length;

function intersection(a: readonly number[], b: readonly number[]): number[] {
  const common: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      common.push(a[i]!);
      i++;
      j++;
    } else if (a[i]! < b[j]!) i++;
    else j++;
  }
  return common;
}

function without(list: readonly number[], taken: readonly number[]): number[] {
  let next = 0;
  return list.filter((each) => each !== taken[next] || next++ < 0);
}

/**
 * Stores that keep their promise, run under a random interleaving: whatever they produce must be judged valid. The
 * opposite of a fault: here every finding is a false alarm.
 *
 * It is apart from the simulated stores of rows (`check/mechanism/simulate.case.ts`, `execute/row-store.case.ts`):
 * those follow a contract's mechanism, statement by statement; this one follows a level, on keys whose values are
 * lists that are appended to, without SQL, conditions or intervals of statements, and outcomes get lost.
 */
import { KvBuilder, type KvHistory } from '../../../histories/index.js';

export type StorePromise = 'serial' | 'snapshot' | 'read committed';

export interface SimulationOptions {
  readonly promise: StorePromise;
  readonly lists: boolean;
  readonly txCount: number;
  readonly sessions: number;
  readonly keys: number;
}

interface Running {
  readonly session: number;
  readonly start: number;
  readonly snapshot: Map<number, readonly number[]>;
  readonly own: Map<number, readonly number[]>;
  readonly ops: (
    | { readonly kind: 'read'; readonly key: number; readonly seen: readonly number[] }
    | { readonly kind: 'write'; readonly key: number; readonly value: number }
  )[];
  left: number;
}

/** Sessions take turns at random; one step is one operation or a commit. Writers lock keys until they end. */
export function simulateStore(random: () => number, options: SimulationOptions): KvHistory {
  return new Simulation(random, options).run();
}

class Simulation {
  readonly #builder = new KvBuilder();
  readonly #store = new Map<number, readonly number[]>();
  readonly #lockedBy = new Map<number, Running>();
  readonly #running: (Running | undefined)[];
  #started = 0;
  #value = 0;
  #clock = 0;

  constructor(
    private readonly random: () => number,
    private readonly options: SimulationOptions,
  ) {
    this.#running = Array.from({ length: options.sessions }, () => undefined);
  }

  run(): KvHistory {
    const { promise, sessions, txCount } = this.options;
    while (this.#started < txCount || this.#running.some((tx) => tx !== undefined)) {
      const busy = this.#running.findIndex((tx) => tx !== undefined);
      const session = promise === 'serial' && busy >= 0 ? busy : this.#below(sessions);
      const tx = this.#running[session];
      if (tx !== undefined) this.#step(tx);
      else if (this.#started < txCount) this.#begin(session);
    }
    return this.#builder.build();
  }

  #below(n: number): number {
    return Math.floor(this.random() * n);
  }

  #begin(session: number): void {
    this.#started++;
    this.#running[session] = {
      session,
      start: ++this.#clock,
      snapshot: new Map(this.#store),
      own: new Map(),
      ops: [],
      left: 1 + this.#below(5),
    };
  }

  #step(tx: Running): void {
    if (tx.left === 0) {
      this.#finish(tx, this.random() > 0.05);
      return;
    }
    tx.left--;
    const { promise, lists, keys } = this.options;
    const key = this.#below(keys);
    if (this.random() < 0.5) {
      const visible = promise === 'read committed' ? this.#store : tx.snapshot;
      tx.ops.push({ kind: 'read', key, seen: tx.own.get(key) ?? visible.get(key) ?? [] });
      return;
    }
    const holder = this.#lockedBy.get(key);
    const changed = promise === 'snapshot' && this.#store.get(key) !== tx.snapshot.get(key);
    if ((holder !== undefined && holder !== tx) || changed) {
      this.#finish(tx, false);
      return;
    }
    this.#lockedBy.set(key, tx);
    const before = tx.own.get(key) ?? this.#store.get(key) ?? [];
    const value = ++this.#value;
    tx.own.set(key, lists ? [...before, value] : [value]);
    tx.ops.push({ kind: 'write', key, value });
  }

  #finish(tx: Running, commits: boolean): void {
    // An outcome may get lost on its way to the client, whatever it was.
    const lost = this.random() < 0.03;
    for (const [key, list] of tx.own) {
      this.#lockedBy.delete(key);
      if (commits) this.#store.set(key, list);
    }
    this.#builder.begin(tx.session, tx.start);
    for (const op of tx.ops) this.#record(op);
    this.#builder.end(lost ? 'unknown' : commits ? 'committed' : 'aborted', lost ? undefined : ++this.#clock);
    this.#running[tx.session] = undefined;
  }

  #record(op: Running['ops'][number]): void {
    const { lists } = this.options;
    if (op.kind === 'write') {
      if (lists) this.#builder.append(op.key, op.value);
      else this.#builder.write(op.key, op.value);
    } else if (lists) this.#builder.readList(op.key, op.seen);
    else this.#builder.read(op.key, op.seen.at(-1) ?? null);
  }
}

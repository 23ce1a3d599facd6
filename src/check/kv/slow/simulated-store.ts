/**
 * Stores that keep their promise, run under a random interleaving: whatever they produce must be judged valid. The
 * opposite of a fault: here every finding is a false alarm.
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
  const below = (n: number): number => Math.floor(random() * n);
  const builder = new KvBuilder();
  const store = new Map<number, readonly number[]>();
  const lockedBy = new Map<number, Running>();
  const running: (Running | undefined)[] = Array.from({ length: options.sessions }, () => undefined);
  let started = 0;
  let value = 0;
  let clock = 0;

  const finish = (tx: Running, commits: boolean): void => {
    // An outcome may get lost on its way to the client, whatever it was.
    const lost = random() < 0.03;
    for (const [key, list] of tx.own) {
      lockedBy.delete(key);
      if (commits) store.set(key, list);
    }
    builder.begin(tx.session, tx.start);
    for (const op of tx.ops) {
      if (op.kind === 'write') {
        if (options.lists) builder.append(op.key, op.value);
        else builder.write(op.key, op.value);
      } else if (options.lists) builder.readList(op.key, op.seen);
      else builder.read(op.key, op.seen.at(-1) ?? null);
    }
    builder.end(lost ? 'unknown' : commits ? 'committed' : 'aborted', lost ? undefined : ++clock);
    running[tx.session] = undefined;
  };

  const step = (tx: Running): void => {
    if (tx.left === 0) {
      finish(tx, random() > 0.05);
      return;
    }
    tx.left--;
    const key = below(options.keys);
    if (random() < 0.5) {
      const visible = options.promise === 'read committed' ? store : tx.snapshot;
      tx.ops.push({ kind: 'read', key, seen: tx.own.get(key) ?? visible.get(key) ?? [] });
      return;
    }
    const holder = lockedBy.get(key);
    const changed = options.promise === 'snapshot' && store.get(key) !== tx.snapshot.get(key);
    if ((holder !== undefined && holder !== tx) || changed) {
      finish(tx, false);
      return;
    }
    lockedBy.set(key, tx);
    const before = tx.own.get(key) ?? store.get(key) ?? [];
    tx.own.set(key, options.lists ? [...before, ++value] : [++value]);
    tx.ops.push({ kind: 'write', key, value });
  };

  while (started < options.txCount || running.some((tx) => tx !== undefined)) {
    const busy = running.findIndex((tx) => tx !== undefined);
    const session = options.promise === 'serial' && busy >= 0 ? busy : below(options.sessions);
    const tx = running[session];
    if (tx !== undefined) step(tx);
    else if (started < options.txCount) {
      started++;
      running[session] = {
        session,
        start: ++clock,
        snapshot: new Map(store),
        own: new Map(),
        ops: [],
        left: 1 + below(5),
      };
    }
  }
  return builder.build();
}

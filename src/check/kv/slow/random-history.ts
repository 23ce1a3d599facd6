/**
 * Small random histories, written in the shorthand so that any of them can be pasted into a test. Half of them come
 * from a store that is nearly right (so that strong levels hold often and fail narrowly), half are arbitrary.
 */

/** A generator of numbers in [0, 1), from a seed: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface RandomHistoryOptions {
  readonly lists: boolean;
  readonly maxTxs: number;
  readonly times: boolean;
  /** Some values are written more than once; the first value of a register is 0. */
  readonly repeated?: boolean;
  /** Some reads are of values that nobody wrote, and some of committed transactions have no result. */
  readonly strange?: boolean;
}

export function randomHistory(random: () => number, options: RandomHistoryOptions): string {
  const below = (n: number): number => Math.floor(random() * n);
  const keys = ['x', 'y', 'z'].slice(0, 1 + below(3));
  const txCount = 2 + below(options.maxTxs - 1);
  const sessions = 1 + below(3);
  const noise = random() < 0.5 ? 0.15 : 0.6;
  const store = new Map<string, number[]>(keys.map((key) => [key, []]));
  // Values are planned first, so that a read may see what is written later.
  const plan = Array.from({ length: txCount }, () =>
    Array.from({ length: 1 + below(3) }, () => ({ key: keys[below(keys.length)]!, writes: random() < 0.5 })),
  );
  const counters = new Map<string, number>();
  const values = plan.map((ops) =>
    ops.map(({ key, writes }) => {
      if (!writes) return 0;
      if (options.repeated === true && counters.has(key) && random() < 0.5)
        return 1 + below(counters.get(key)!);
      counters.set(key, (counters.get(key) ?? 0) + 1);
      return counters.get(key)!;
    }),
  );
  const shift = options.repeated === true && !options.lists ? 1 : 0;
  let clock = 0;
  const txs = plan.map((ops, t) => {
    const kind = random();
    const status = kind < 0.06 ? '!' : kind < 0.12 ? '?' : '';
    const session = random() < 0.7 ? `@s${below(sessions)}` : '';
    clock += below(4);
    const time = options.times ? `[${clock}-${clock + below(8)}]` : '';
    const words = ops.map(({ key, writes }, i) => {
      const value = values[t]![i]!;
      const held = store.get(key)!;
      if (writes) {
        if (status !== '!') store.set(key, options.lists ? [...held, value] : [value]);
        return `${options.lists ? 'a' : 'w'}${key}${value - shift}`;
      }
      if (options.strange === true && random() < 0.1) {
        const garbage = options.lists ? '[77]' : '77';
        return `r${key}${random() < 0.5 ? '?' : garbage}`;
      }
      const wrong = random() < noise;
      if (!options.lists) {
        const read = wrong ? below((counters.get(key) ?? 0) + 1) : (held.at(-1) ?? 0);
        return `r${key}${read === 0 ? '_' : read - shift}`;
      }
      if (status !== '') return `r${key}?`;
      const list = wrong ? held.slice(0, below(held.length + 1)) : held;
      const swapped = wrong && random() < 0.1 ? [...list].reverse() : list;
      // What is appended later, by this transaction or another, somewhere in the list.
      const later = plan
        .slice(t)
        .flatMap((others, ahead) =>
          others.flatMap((other, j) =>
            other.writes && other.key === key && (ahead > 0 || j > i) ? [values[t + ahead]![j]!] : [],
          ),
        );
      const place = below(swapped.length + 1);
      const shown =
        wrong && later.length > 0 && random() < 0.1
          ? swapped.toSpliced(place, 0, later[below(later.length)]!)
          : swapped;
      return `r${key}[${shown.join(',')}]`;
    });
    return `T${t + 1}${session}${status}${time}: ${words.join(' ')}`;
  });
  return txs.join(' | ');
}

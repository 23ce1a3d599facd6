/**
 * Randomness from a seed: the same text gives the same numbers on every machine and every Node version.
 *
 * The generator is xoshiro128** (Blackman, Vigna 2021), four 32-bit words filled by hashing the seed. It needs only
 * 32-bit integer operations, which JavaScript does exactly, and passes the usual batteries; nobody's safety rests on it.
 */

/** A stream of random choices. Mutable: the order of calls is part of what a seed means. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    const mix = hashWords(seed);
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    // All four words zero would repeat zero for ever.
    this.#d = mix() | 1;
  }

  /** 32 random bits as an unsigned number. */
  bits(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9);
    const t = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = rotate(this.#d, 11);
    return result >>> 0;
  }

  /** From 0 up to but without 1. */
  fraction(): number {
    return this.bits() / 0x1_0000_0000;
  }

  /** A whole number below `limit` (at least 1). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** A whole number of an inclusive range. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True with this probability. Draws even when the answer is certain, so that profiles differ by little. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('there is nothing to pick from');
    return items[this.below(items.length)]!;
  }

  /** Like `pick`, but the first items come much more often: small domains collide on purpose. */
  pickSkewed<T>(items: readonly T[]): T {
    const fraction = this.fraction();
    return items[Math.floor(fraction * fraction * items.length)]!;
  }

  /** The position of a weight, by weight; undefined when all are zero. */
  weighted(weights: readonly number[]): number | undefined {
    let total = 0;
    for (const weight of weights) total += weight;
    if (total <= 0) return undefined;
    let left = this.fraction() * total;
    let last = 0;
    for (let i = 0; i < weights.length; i++) {
      if (weights[i]! <= 0) continue;
      last = i;
      left -= weights[i]!;
      if (left < 0) return i;
    }
    return last;
  }

  /** The items in random order. */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** Words derived from every UTF-16 unit of the seed (FNV-1a, then splitmix's finisher). */
function hashWords(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) | 0;
  };
}

/** What the rounds of a hunt reached, counted in what was sent and answered, not in what was meant. */
import type { History } from '../histories/index.js';

export interface HuntCoverage {
  /** Where the programs of rounds came from: `template lost-update`, `profile no-op`. */
  readonly sources: readonly Counted[];
  readonly levels: readonly Counted[];
  readonly oracles: readonly Counted[];
  /** Kinds of statements, and how many of them failed or had to wait. */
  readonly statements: readonly StatementCount[];
  readonly errors: readonly Counted[];
  /** Rounds that ran in an order, and those that ran freely. */
  readonly orders: readonly Counted[];
}

export interface Counted {
  readonly name: string;
  readonly count: number;
}

export interface StatementCount extends Counted {
  readonly failed: number;
  readonly waited: number;
}

/** What is counted of a round. */
export interface CountedRound {
  readonly source: string;
  readonly level: string;
  readonly oracle: string;
  readonly schedule?: unknown;
}

type Group = 'sources' | 'levels' | 'oracles' | 'errors' | 'orders';

const mostListed = 40;

export class CoverageCounter {
  readonly #groups: Readonly<Record<Group, Map<string, number>>> = {
    sources: new Map(),
    levels: new Map(),
    oracles: new Map(),
    errors: new Map(),
    orders: new Map(),
  };
  readonly #statements = new Map<string, { count: number; failed: number; waited: number }>();

  add({ source, level, oracle, schedule }: CountedRound, { operations }: History): void {
    this.#count('sources', source);
    this.#count('levels', level);
    this.#count('oracles', oracle);
    this.#count('orders', schedule === undefined ? 'free' : 'scheduled');
    for (const { kind, outcome, blocked, error } of operations) {
      const counts = this.#statements.get(kind) ?? { count: 0, failed: 0, waited: 0 };
      counts.count++;
      if (outcome !== 'ok') counts.failed++;
      if (blocked === true) counts.waited++;
      this.#statements.set(kind, counts);
      if (error !== undefined) this.#count('errors', error.class);
    }
  }

  page(): HuntCoverage {
    return {
      sources: listed(this.#groups.sources),
      levels: listed(this.#groups.levels),
      oracles: listed(this.#groups.oracles),
      errors: listed(this.#groups.errors),
      orders: listed(this.#groups.orders),
      statements: [...this.#statements]
        .map(([name, counts]) => ({ name, ...counts }))
        .toSorted((a, b) => b.count - a.count),
    };
  }

  #count(group: Group, name: string): void {
    const counts = this.#groups[group];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
}

function listed(counts: ReadonlyMap<string, number>): Counted[] {
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, mostListed);
}

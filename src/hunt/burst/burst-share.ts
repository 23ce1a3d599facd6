/**
 * Bursts as part of a hunt: a small share of its time, so that races which no order shows are looked for, too.
 *
 * - A burst is due when all bursts together, this one included, would still take less than their share of the time so far. Its length is
 *   taken from the ones before. So a hunt of a few seconds runs none.
 * - Every other burst is one of the programs that conflict nearly always, statement by statement: they find most, and by the graph as well. The
 *   others take turns, in all their forms. Levels take turns as in rounds.
 * - A program that was found broken is not run again in this hunt: it would be found for ever.
 */
import type { Contract, Level } from '../../contracts/index.js';
import type { Target } from '../../targets/index.js';
import { type BurstFinding, runBursts } from './burst.js';
import { type Burst, type BurstSize, burstsOf } from './burst-form.js';
import { clauseOf } from './burst-oracle.js';
import { burstPrograms } from './burst-programs.js';
import { numbers, pairs } from './dense-programs.js';

export interface BurstShareOptions {
  /** The share of a hunt's time that bursts may take, 0 to 1. */
  readonly share: number;
  /** Of all sessions of a burst; default: enough for what happens to one of a thousand. */
  readonly transactions?: number;
}

export const usualBurstShare = 0.04;
/** Before one has run. */
const firstGuessMs = 1_000;
const usualTransactions = 1_600;
const mostSessions = 8;
/** Runs that confirm a break: a hunt has other things to do. */
const runs = 3;
/** A burst that takes longer is made smaller the next time, and is cut short soon. */
const longMs = 10_000;
const mostMs = 15_000;

export interface BurstPlace {
  readonly target: Target;
  readonly levels: readonly Level[];
  readonly contractAt: (level: Level) => Contract;
  /** Another database to compare what is broken with. */
  readonly control?: () => Promise<Target | undefined>;
}

interface Lab {
  readonly target: Target;
  readonly size: BurstSize;
}

export class BurstShare {
  #spentMs = 0;
  #count = 0;
  #lastMs = firstGuessMs;
  #transactions: number;
  readonly #broken = new Set<string>();

  constructor(
    private readonly options: BurstShareOptions,
    private readonly now: () => number,
  ) {
    this.#transactions = options.transactions ?? usualTransactions;
  }

  /** How many have run. */
  get count(): number {
    return this.#count;
  }

  isDue(elapsedMs: number): boolean {
    return this.#spentMs + this.#lastMs <= this.options.share * elapsedMs;
  }

  /** Runs the next burst, and follows what it breaks; undefined: nothing was broken, or nothing could be run. */
  async run(
    place: BurstPlace,
    { signal, onBroken }: { readonly signal: AbortSignal; readonly onBroken: () => void },
  ): Promise<BurstFinding | undefined> {
    const { target, levels } = place;
    const level = levels[this.#count % levels.length]!;
    const contract = place.contractAt(level);
    const turn = Math.floor(this.#count / levels.length);
    const sessions = sessionsFor(target);
    const size = { sessions, repeats: Math.ceil(this.#transactions / Math.max(1, sessions)) };
    const burst = this.#pick({ target, size }, contract, turn);
    const began = this.now();
    this.#count++;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), mostMs);
    try {
      if (burst === undefined || sessions < 2) return undefined;
      const { finding } = await runBursts(target, {
        ...{ level, contract, runs, ...size },
        programs: [burst.program],
        forms: [burst.form],
        control: place.control,
        signal: AbortSignal.any([signal, limit.signal]),
        // What is broken may take its time.
        onBroken: () => {
          clearTimeout(timer);
          onBroken();
        },
      });
      if (finding !== undefined) this.#broken.add(finding.program);
      // What a finding costs is not the bursts' doing.
      if (finding === undefined) this.#lastMs = this.now() - began;
      return finding;
    } finally {
      clearTimeout(timer);
      this.#spentMs += this.now() - began;
      if (this.now() - began > longMs) this.#transactions = Math.ceil(this.#transactions / 2);
    }
  }

  #pick({ target, size }: Lab, contract: Contract, turn: number): Burst | undefined {
    const asked = burstsOf(burstPrograms, target, size).filter(
      (burst) => clauseOf(burst, contract) !== undefined && !this.#broken.has(burst.program.name),
    );
    const dense = [numbers, pairs].flatMap((program) =>
      asked.filter((burst) => burst.program === program && burst.form === 'statements'),
    );
    const groups = [dense, asked.filter((burst) => !dense.includes(burst))];
    const group = groups[turn % 2]!.length > 0 ? groups[turn % 2]! : groups[(turn + 1) % 2]!;
    return group[Math.floor(turn / 2) % Math.max(1, group.length)];
  }
}

/** A hunt has connections of its own besides. */
function sessionsFor({ features, nodes }: Target): number {
  if (nodes !== undefined) return 0;
  return Math.min(mostSessions, Math.floor((features.maxSessions ?? 4 * mostSessions) / 4));
}

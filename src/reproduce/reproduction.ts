/**
 * How often does a finding come back? A history's finding, an order in which it does (`find-order.ts`), and a number of
 * replays: each is judged as the raw run was, and counts if it shows a finding of the same identity, or, where statements that
 * overlapped now run in order, a sharper one about the same write (`sharperFinding`); those are counted apart.
 */
import type { Finding } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import type { Difference } from './compare.js';
import { FindingReplays, findOrder, type OrderSearch, type Replayed } from './find-order.js';
import { type Inference, type InferredOrder, openInference } from './infer.js';
import type { ReplayMode } from './replay.js';
import { wilsonInterval } from './wilson.js';

export interface ReproduceOptions extends OrderSearch {
  readonly runs: number;
  readonly mode: ReplayMode;
  readonly onRun?: (done: number, reproduced: number) => void;
}

export interface Reproduction {
  readonly finding: Finding;
  readonly identity: string;
  readonly inferred: InferredOrder;
  readonly mode: ReplayMode;
  /** Runs that ended; fewer than asked for if the run was interrupted. */
  readonly runs: number;
  readonly reproduced: number;
  /** Of these, the ones that show it only as a sharper finding about the same write, by its kind. */
  readonly sharper: readonly { readonly kind: string; readonly runs: number }[];
  /** Where the true ratio lies, with 95 % confidence. */
  readonly interval: readonly [low: number, high: number];
  /** Runs in which every operation saw what it saw in the raw run. */
  readonly identical: number;
  /** Where runs first diverged, most frequent first. */
  readonly divergences: readonly { readonly count: number; readonly first: Difference }[];
  /** Identities of other findings the replays showed, with how many runs showed each. */
  readonly others: readonly { readonly kind: string; readonly runs: number }[];
  /** Why a run could not go on as scheduled, if one could not. */
  readonly infeasible?: string;
}

/** Replays a finding of a history in the order inferred from it. */
export async function reproduce(
  history: History,
  finding: Finding,
  contract: Contract,
  options: ReproduceOptions,
): Promise<Reproduction> {
  const inference = openInference(history, contract);
  return reproduceOrder(inference, inference.order(), finding, options);
}

/** The same with an order at hand. */
export async function reproduceOrder(
  inference: Inference,
  given: InferredOrder,
  finding: Finding,
  options: ReproduceOptions,
): Promise<Reproduction> {
  const { mode, signal } = options;
  const replays = new FindingReplays(given, finding, options);
  const tally = new Tally();
  const found = await findOrder(inference, given, replays, options);
  const { order } = found;
  let { seen } = found;
  // A replay that was cut short shows nothing, neither the finding nor that it is gone.
  while (signal?.aborted !== true) {
    tally.add(seen);
    options.onRun?.(tally.runs, tally.reproduced);
    if (tally.runs >= options.runs) break;
    seen = await replays.once(order);
  }
  return { finding, identity: replays.identity, inferred: order, mode, ...tally.result() };
}

class Tally {
  runs = 0;
  reproduced = 0;
  #identical = 0;
  #infeasible: string | undefined;
  readonly #divergences = new Map<number, { count: number; first: Difference }>();
  readonly #others = new Map<string, number>();
  readonly #sharper = new Map<string, number>();

  add({ report, same, sharper, kinds }: Replayed): void {
    this.runs++;
    if (same) this.reproduced++;
    if (sharper !== undefined) this.#sharper.set(sharper, (this.#sharper.get(sharper) ?? 0) + 1);
    for (const kind of new Set(kinds)) this.#others.set(kind, (this.#others.get(kind) ?? 0) + 1);
    this.#infeasible ??= report.infeasible;
    const first = report.firstDifference;
    if (first === undefined) {
      this.#identical++;
      return;
    }
    const known = this.#divergences.get(first.operation);
    if (known === undefined) this.#divergences.set(first.operation, { count: 1, first });
    else known.count++;
  }

  result(): Omit<Reproduction, 'finding' | 'identity' | 'inferred' | 'mode'> {
    return {
      runs: this.runs,
      reproduced: this.reproduced,
      sharper: [...this.#sharper].map(([kind, runs]) => ({ kind, runs })),
      interval: wilsonInterval(this.reproduced, this.runs),
      identical: this.#identical,
      divergences: [...this.#divergences.values()].sort((a, b) => b.count - a.count),
      others: [...this.#others].map(([kind, runs]) => ({ kind, runs })),
      ...(this.#infeasible === undefined ? undefined : { infeasible: this.#infeasible }),
    };
  }
}

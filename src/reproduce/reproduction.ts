/**
 * How often does a finding come back? A history's finding, its inferred schedule, and a number of replays: each is
 * checked as the raw run was, and counts if it shows a finding of the same identity, or, where statements that overlapped now
 * run in order, a sharper one about the same write (`sharperFinding`); those are told apart.
 *
 * Where the history can be explained in several ways, one was chosen. If the first replay does not show the finding,
 * others are tried before the runs are counted (Pisco §4: an order is right if it triggers the bug): first orders learnt from
 * where replays part from the history (`refine.ts`), then other choices, one at a time. Both are bounded.
 */

import { type Finding, sharperFinding } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import type { RunOptions } from '../execute/index.js';
import type { History } from '../histories/index.js';
import type { Scratch } from '../targets/index.js';
import type { Difference } from './compare.js';
import { type Inference, type InferredOrder, openInference } from './infer.js';
import { rawInProgram } from './raw-in-program.js';
import { refineOrder } from './refine.js';
import { type ReplayMode, replay } from './replay.js';
import { wilsonInterval } from './wilson.js';

/** What finds findings, and what makes two of them the same. */
export interface Checker {
  readonly findings: (history: History) => readonly Finding[];
  readonly identity: (finding: Finding, history: History) => string;
}

export interface ReproduceOptions extends RunOptions {
  readonly runs: number;
  readonly mode: ReplayMode;
  readonly checker: Checker;
  /** Other explanations to try when the first replay does not show the finding; default 8. */
  readonly otherOrders?: number;
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

/** Replays a history's finding. The finding is the first that the checker has; undefined: it has none. */
export async function reproduce(
  scratch: Scratch,
  history: History,
  contract: Contract,
  options: ReproduceOptions,
): Promise<Reproduction | undefined> {
  const finding = options.checker.findings(history)[0];
  if (finding === undefined) return undefined;
  const inference = openInference(history, contract);
  return reproduceOrder(
    scratch,
    inference.order(),
    finding,
    options,
    (choices) => inference.order([], { choices }),
    inference,
  );
}

/** The same with an order at hand. `otherwise` makes another order from other choices, `inference` from replays. */
export async function reproduceOrder(
  scratch: Scratch,
  given: InferredOrder,
  finding: Finding,
  options: ReproduceOptions,
  otherwise?: (choices: ReadonlyMap<number, number>) => InferredOrder,
  inference?: Inference,
): Promise<Reproduction> {
  const { checker, mode } = options;
  const identity = checker.identity(finding, given.raw);
  const tally = new Tally();
  let inferred = given;
  let named: History | undefined;
  const asSeen = () => {
    named ??= rawInProgram(given);
    return named;
  };
  const once = async (order: InferredOrder): Promise<Seen> => {
    const report = await replay(scratch, order, mode, options);
    const findings = checker.findings(report.history);
    const others = findings.filter((one) => checker.identity(one, report.history) !== identity);
    const isShown = others.length < findings.length;
    const sharper =
      isShown || others.length === 0
        ? undefined
        : sharperFinding({ finding, history: asSeen() }, others, report.history);
    const kinds = others.filter((one) => one !== sharper).map(({ kind }) => kind);
    return { report, same: isShown || sharper !== undefined, sharper: sharper?.kind, kinds };
  };
  let run = await once(inferred);
  if (!run.same && inference !== undefined && mode !== 'random') {
    const start = run;
    let last = run;
    const refined = await refineOrder(
      inference,
      async (order) => {
        last = order === given ? start : await once(order);
        return last.report;
      },
      { first: given, enough: () => last.same, ...(options.signal && { signal: options.signal }) },
    );
    if (last.same) [inferred, run] = [refined.order, last];
  }
  if (!run.same && otherwise !== undefined && mode !== 'random') {
    for (const choices of otherChoices(given, options.otherOrders ?? 8)) {
      if (options.signal?.aborted === true) break;
      const order = otherwise(choices);
      const attempt = await once(order);
      if (!attempt.same) continue;
      inferred = order;
      run = attempt;
      break;
    }
  }
  // A replay that was cut short shows nothing, neither the finding nor that it is gone.
  while (options.signal?.aborted !== true) {
    tally.add(run);
    options.onRun?.(tally.runs, tally.reproduced);
    if (tally.runs >= options.runs) break;
    run = await once(inferred);
  }
  return { finding, identity, inferred, mode, ...tally.result() };
}

/** Single changes of choice: one statement explained another way. */
function* otherChoices(order: InferredOrder, limit: number): Generator<ReadonlyMap<number, number>> {
  let made = 0;
  for (const [number, { choices, chosen, what }] of order.ambiguous.entries()) {
    if (what !== 'version' && what !== 'opponent') continue;
    for (let choice = 0; choice < choices; choice++) {
      if (choice === chosen) continue;
      if (made++ === limit) return;
      yield new Map([[number, choice]]);
    }
  }
}

/** What one replay showed. */
interface Seen {
  readonly report: Awaited<ReturnType<typeof replay>>;
  readonly same: boolean;
  /** The kind of the sharper finding by which it did, if it did not show the finding itself. */
  readonly sharper: string | undefined;
  /** Of other findings. */
  readonly kinds: readonly string[];
}

class Tally {
  runs = 0;
  reproduced = 0;
  #identical = 0;
  #infeasible: string | undefined;
  readonly #divergences = new Map<number, { count: number; first: Difference }>();
  readonly #others = new Map<string, number>();
  readonly #sharper = new Map<string, number>();

  add({ report, same, sharper, kinds }: Seen): void {
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

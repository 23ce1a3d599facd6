/**
 * An order in which a finding comes back (Pisco §4: an order is right if it triggers the bug).
 *
 * 1. The order inferred from the history is replayed.
 * 2. If the replay does not show the finding, orders are learnt from where replays diverge from the history (`refine.ts`).
 * 3. Then, where the history can be explained in several ways, other explanations are tried, one at a time.
 *
 * Steps 2 and 3 are bounded. A replay shows the finding if it has one of the same identity, or a sharper one about the same
 * write.
 */
import type { ScheduledCase } from '../cases/index.js';
import { type Finding, identityOf, sharperFinding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Inference, InferredOrder } from './infer.js';
import { rawInProgram } from './raw-in-program.js';
import { refineOrder } from './refine.js';
import { compareReplay, type ReplayMode, type ReplayReport, replayProgram } from './replay.js';

export interface OrderSearch {
  /** Runs a program and judges it as the raw run was. */
  readonly observe: (
    program: ScheduledCase,
  ) => Promise<{ readonly history: History; readonly findings: readonly Finding[] }>;
  /** How replays are sent; default by batches. */
  readonly mode?: ReplayMode;
  /** What makes two findings the same; default: what their oracles say. */
  readonly identity?: (finding: Finding, history: History) => string;
  /** Other explanations to try; default 8. */
  readonly otherOrders?: number;
  /** Replays from which an order may be learnt; default: by the size of the program. */
  readonly mostReplays?: number;
  readonly signal?: AbortSignal;
}

/** What one replay showed. */
export interface Replayed {
  readonly report: ReplayReport;
  /** It shows the finding, or a sharper one. */
  readonly same: boolean;
  /** As what it shows it. */
  readonly shown: Finding | undefined;
  /** The kind of the sharper finding by which it did, if it did not show the finding itself. */
  readonly sharper: string | undefined;
  /** Of other findings. */
  readonly kinds: readonly string[];
}

/** Replays of one finding. */
export class FindingReplays {
  readonly identity: string;
  readonly #identityOf: NonNullable<OrderSearch['identity']>;
  #named: History | undefined;

  constructor(
    private readonly given: InferredOrder,
    private readonly finding: Finding,
    private readonly search: OrderSearch,
  ) {
    this.#identityOf = search.identity ?? identityOf;
    this.identity = this.#identityOf(finding, given.raw);
  }

  async once(order: InferredOrder): Promise<Replayed> {
    const { mode = 'batch', observe } = this.search;
    const { history, findings } = await observe(replayProgram(order, mode));
    const report = compareReplay(order, mode, history);
    const same = findings.find((one) => this.#identityOf(one, history) === this.identity);
    const others = findings.filter((one) => this.#identityOf(one, history) !== this.identity);
    const sharper = same === undefined ? this.#sharperOf(others, history) : undefined;
    return {
      report,
      same: (same ?? sharper) !== undefined,
      shown: same ?? sharper,
      sharper: sharper?.kind,
      kinds: others.filter((one) => one !== sharper).map(({ kind }) => kind),
    };
  }

  #sharperOf(others: readonly Finding[], history: History): Finding | undefined {
    if (others.length === 0) return undefined;
    this.#named ??= rawInProgram(this.given);
    return sharperFinding({ finding: this.finding, history: this.#named }, others, history);
  }
}

/** Looks for an order that shows the finding. Without one, the answer is the given order and its replay. */
export async function findOrder(
  inference: Inference,
  given: InferredOrder,
  replays: FindingReplays,
  { mode, otherOrders = 8, mostReplays, signal }: OrderSearch,
): Promise<{ readonly order: InferredOrder; readonly seen: Replayed }> {
  const isStopped = () => signal?.aborted === true;
  const first = await replays.once(given);
  if (first.same || mode === 'random' || isStopped()) return { order: given, seen: first };
  let last = first;
  const refined = await refineOrder(
    inference,
    async (order) => {
      last = order === given ? first : await replays.once(order);
      return last.report;
    },
    {
      first: given,
      enough: () => last.same,
      ...(mostReplays !== undefined && { mostReplays }),
      ...(signal && { signal }),
    },
  );
  if (last.same) return { order: refined.order, seen: last };
  for (const choices of otherChoices(given, otherOrders)) {
    if (isStopped()) break;
    const order = inference.order([], { choices });
    const seen = await replays.once(order);
    if (seen.same) return { order, seen };
  }
  return { order: given, seen: first };
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

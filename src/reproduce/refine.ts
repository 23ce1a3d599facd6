/**
 * Learning from replays that part from their history (Pisco §4: an order is right if it brings the results back; ambiguous
 * ones are enumerated over interval candidates only).
 *
 * What a client records leaves orders open that only the database knew: which of two overlapping statements met the
 * other's gap lock, whose read the certifier blamed. A replay that parts says where: its first statement that saw something else.
 * That statement stood wrongly towards some transaction that overlapped it. So:
 *
 * 0. First the careful order is tried: the one answered first goes first, wherever statements overlapped and conflict.
 * 1. For every other transaction that overlapped it, four places are possible: after the other ended; after its own
 *    snapshot but not in it; while the other was open; before the other touched anything. Places that the recorded times rule out,
 *    or that the schedule has already, are no candidates. Transactions that touched the same rows come first.
 * 2. Each candidate is added to the orders, a schedule is made and replayed. The first that gets further (the earliest
 *    operation of the history that differs comes later, or fewer differ) is kept, and the search goes on from there.
 * 3. It ends when a replay sees everything, when no candidate gets further, or when the budget of replayed statements is spent.
 *
 * Deterministic, as far as replays are. What is learnt is part of the schedule and its reasons.
 */
import { inConflict } from './conflicts.js';
import type { Evidence } from './evidence.js';
import type { Inference, InferredOrder } from './infer.js';
import type { StepPair } from './order-graph.js';
import type { ReplayReport } from './replay.js';
import type { Steps } from './steps.js';

export interface Refined {
  readonly order: InferredOrder;
  readonly report: ReplayReport;
  /** Replays it took, the first included. */
  readonly replays: number;
  readonly learnt: readonly StepPair[];
}

export interface RefineOptions {
  /** The order to start from; default: what the inference makes by itself. */
  readonly first?: InferredOrder;
  readonly mostReplays?: number;
  /** Ends the search though the last replay parted: it showed what was looked for. */
  readonly enough?: () => boolean;
  readonly signal?: AbortSignal;
}

/** Statements that all replays of a refinement may send together, and replays at least allowed. */
const statementBudget = 60_000;
const fewestReplays = 8;

/** Replays an order, and others learnt from where it parts, until one sees what the history saw. */
export async function refineOrder(
  inference: Inference,
  run: (order: InferredOrder) => Promise<ReplayReport>,
  options: RefineOptions = {},
): Promise<Refined> {
  let order = options.first ?? inference.order();
  let report = await run(order);
  let learnt: readonly StepPair[] = [];
  let replays = 1;
  const most =
    options.mostReplays ??
    Math.max(fewestReplays, Math.floor(statementBudget / Math.max(1, order.statementCount)));
  const seen = new Set([scheduleKey(order)]);
  const attempt = async (orders: readonly StepPair[]) => {
    const other = inference.order(orders, { careful: true });
    const key = scheduleKey(other);
    if (seen.has(key)) return undefined;
    seen.add(key);
    const again = await run(other);
    replays++;
    return { order: other, report: again };
  };
  if (report.firstDifference !== undefined && replays < most && options.enough?.() !== true) {
    const careful = await attempt([]);
    if (careful !== undefined && (options.enough?.() === true || getsFurther(careful.report, report)))
      ({ order, report } = careful);
    if (options.enough?.() === true) return { order, report, replays, learnt };
  }
  for (let better = true; better && report.firstDifference !== undefined; ) {
    better = false;
    for (const pairs of candidates(inference.evidence, order, report)) {
      if (replays >= most || options.signal?.aborted === true) break;
      const orders = [...learnt, ...pairs];
      const tried = await attempt(orders);
      if (tried === undefined) continue;
      if (options.enough?.() === true) return { ...tried, replays, learnt: orders };
      if (!getsFurther(tried.report, report)) continue;
      ({ order, report } = tried);
      [learnt, better] = [orders, true];
      break;
    }
  }
  return { order, report, replays, learnt };
}

/** Whether the earliest operation of the history that differs comes later; or is the same, and fewer differ in all. */
function getsFurther(again: ReplayReport, before: ReplayReport): boolean {
  const [a, b] = [again.earliest ?? Number.POSITIVE_INFINITY, before.earliest ?? Number.POSITIVE_INFINITY];
  return a > b || (a === b && again.same > before.same);
}

/** Places for the statement where the replay parted, then for the earliest of the history that differs. */
function* candidates(
  evidence: Evidence,
  order: InferredOrder,
  { firstDifference, earliest }: ReplayReport,
): Generator<readonly StepPair[]> {
  yield* placements(evidence, order, firstDifference!.operation);
  if (earliest !== undefined && earliest !== firstDifference!.operation)
    yield* placements(evidence, order, earliest);
}

function scheduleKey({ schedule }: InferredOrder): string {
  return schedule.batches
    .map((batch) =>
      batch
        .map(([s, p]) => `${s}.${p}`)
        .sort()
        .join(' '),
    )
    .join('|');
}

/** The places an operation could have towards the transactions around it, other than those it has; likeliest first. */
export function placements(
  evidence: Evidence,
  order: InferredOrder,
  operation: number,
): (readonly StepPair[])[] {
  const { steps } = evidence;
  const step = steps.source.indexOf(operation);
  if (step < 0) return [];
  const batchOf = batchNumbers(steps, order);
  const transaction = steps.transaction[step]!;
  const snapshot = snapshotOf(evidence, step);
  let own = step;
  while (own > 0 && steps.transaction[own - 1] === transaction) own--;
  const found: { readonly pairs: readonly StepPair[]; readonly rank: number }[] = [];
  for (const { first, touch, ending, close } of neighbours(evidence, step, snapshot, own)) {
    const places: (readonly StepPair[])[] = [[[step, touch]]];
    if (ending >= 0) {
      places.push(
        [[ending, snapshot]],
        [
          [touch, step],
          [step, ending],
        ],
      );
      if (snapshot !== step)
        places.push(
          [
            [snapshot, ending],
            [ending, step],
          ],
          [[ending, step]],
          [[snapshot, ending]],
        );
    } else places.push([[touch, step]]);
    if (first !== touch) places.push([[step, first]]);
    if (evidence.stamped) {
      places.push(
        [[first, own]],
        [[own, first]],
        [
          [own, first],
          [touch, step],
        ],
        [
          [first, own],
          [step, touch],
        ],
      );
    }
    for (const pairs of places) {
      if (!pairs.every(([from, to]) => steps.start[from]! < steps.end[to]!)) continue;
      const changes = pairs.filter(([from, to]) => batchOf[from]! >= batchOf[to]!);
      if (changes.length === 0) continue;
      const distance = Math.max(...changes.map(([from, to]) => batchOf[from]! - batchOf[to]!));
      found.push({ pairs, rank: close * 1_000_000 + distance });
    }
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ pairs }) => pairs);
}

interface Neighbour {
  readonly first: number;
  /** Its first step that touched what the operation touches; else its first. */
  readonly touch: number;
  readonly ending: number;
  /** 0: it touched the same rows, 1: nothing in common. */
  readonly close: number;
}

/** The transactions that overlapped a step, or the step that fixed its snapshot. */
function* neighbours(
  { steps, accesses, stamped }: Evidence,
  step: number,
  snapshot: number,
  own: number,
): Generator<Neighbour> {
  const transaction = steps.transaction[step]!;
  const roles = new Map<number, number>();
  for (const at of [step, snapshot])
    for (let i = accesses.first[at]!; i < accesses.first[at + 1]!; i++)
      roles.set(accesses.object[i]!, (roles.get(accesses.object[i]!) ?? 0) | accesses.roles[i]!);
  const from = Math.min(steps.start[step]!, steps.start[snapshot]!, steps.start[stamped ? own : step]!);
  for (let first = 0; first < steps.count; ) {
    const other = steps.transaction[first]!;
    let last = first;
    while (last + 1 < steps.count && steps.transaction[last + 1] === other) last++;
    if (other !== transaction && steps.end[last]! >= from && steps.start[first]! <= steps.end[step]!) {
      let touch = -1;
      for (let at = first; at <= last && touch < 0; at++)
        for (let i = accesses.first[at]!; i < accesses.first[at + 1]!; i++)
          if (inConflict(roles.get(accesses.object[i]!) ?? 0, accesses.roles[i]!)) touch = at;
      yield {
        first,
        touch: touch < 0 ? first : touch,
        ending: steps.endOf[other]!,
        close: touch < 0 ? 1 : 0,
      };
    }
    first = last + 1;
  }
}

function snapshotOf({ needs, scans, snapshots, steps }: Evidence, step: number): number {
  const fixed = snapshots[steps.transaction[step]!]!;
  if (fixed >= 0 && fixed < step) return fixed;
  return (
    needs.find((one) => one.step === step)?.snapshot ??
    scans.find((one) => one.step === step)?.snapshot ??
    step
  );
}

function batchNumbers(steps: Steps, { schedule }: InferredOrder): Int32Array {
  const numbers = new Int32Array(steps.count);
  schedule.batches.forEach((batch, number) => {
    for (const [session, position] of batch) numbers[steps.firstOf[session]! + position] = number;
  });
  return numbers;
}

/**
 * Learning from replays that part from their history (Pisco §4: an order is right if it brings the results back; ambiguous
 * ones are enumerated over interval candidates only).
 *
 * What a client records leaves orders open that only the database knew: which of two overlapping statements met the
 * other's gap lock, whose read the certifier blamed. A replay that parts says where: its first statement that saw something else.
 * That statement stood wrongly towards some transaction that overlapped it. So, in this order:
 *
 * 0. The careful order is tried: the one answered first goes first, wherever statements overlapped and conflict.
 * 1. Where a certifier decides who fails, failures take their recorded outcome, a ROLLBACK in their place: first those that did
 *    not come back, then all. Whom a certifier hits depends on every overlapping pair, so to bring back one failure among many is
 *    to guess all of them.
 * 2. The statement is put in every other place that the recorded times allow (`placements.ts`).
 * 3. If it is a failure and no place brings it back, it takes its recorded outcome, too.
 *
 * Each of these makes a schedule, which is replayed. The first that gets further (the earliest operation of the history that differs
 * comes later, or fewer differ) is kept, and the search goes on from there. It ends when a replay sees everything, when nothing
 * gets further, or when the budget of replayed statements is spent.
 *
 * Deterministic, as far as replays are. What is learnt is part of the schedule, its reasons and its notes.
 */
import type { ErrorClass } from '../histories/index.js';
import type { Inference, InferredOrder } from './infer.js';
import type { StepPair } from './order-graph.js';
import { placements } from './placements.js';
import type { ReplayReport } from './replay.js';

export interface Refined {
  readonly order: InferredOrder;
  readonly report: ReplayReport;
  /** Replays it took, the first included. */
  readonly replays: number;
  /** Orders that replays have shown, as steps of the program that was sent last. */
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

/** What an order is made from. */
interface Knowledge {
  readonly inference: Inference;
  readonly learnt: readonly StepPair[];
}

interface Attempt extends Knowledge {
  readonly order: InferredOrder;
  readonly report: ReplayReport;
}

/** Replays an order, and others learnt from where it parts, until one sees what the history saw. */
export async function refineOrder(
  inference: Inference,
  run: (order: InferredOrder) => Promise<ReplayReport>,
  options: RefineOptions = {},
): Promise<Refined> {
  const first = options.first ?? inference.order();
  const seen = new Set([keyOf(inference, first)]);
  let best: Attempt = { inference, learnt: [], order: first, report: await run(first) };
  let replays = 1;
  const most =
    options.mostReplays ??
    Math.max(fewestReplays, Math.floor(statementBudget / Math.max(1, first.statementCount)));
  for (let better = true; better && best.report.firstDifference !== undefined; ) {
    better = false;
    if (options.enough?.() === true) break;
    for (const knowledge of otherKnowledge(best)) {
      if (replays >= most || options.signal?.aborted === true) break;
      const order = knowledge.inference.order(knowledge.learnt, { careful: true });
      const key = keyOf(knowledge.inference, order);
      if (seen.has(key)) continue;
      seen.add(key);
      const tried: Attempt = { ...knowledge, order, report: await run(order) };
      replays++;
      if (options.enough?.() === true) return resultOf(tried, replays);
      if (!getsFurther(tried.report, best.report)) continue;
      [best, better] = [tried, true];
      break;
    }
  }
  return resultOf(best, replays);
}

function resultOf({ order, report, learnt }: Attempt, replays: number): Refined {
  return { order, report, learnt, replays };
}

/** Whether the earliest operation of the history that differs comes later; or is the same, and fewer differ in all. */
function getsFurther(again: ReplayReport, before: ReplayReport): boolean {
  const [a, b] = [again.earliest ?? Number.POSITIVE_INFINITY, before.earliest ?? Number.POSITIVE_INFINITY];
  return a > b || (a === b && again.same > before.same);
}

/** What to try next, likeliest first. */
function* otherKnowledge(best: Attempt): Generator<Knowledge> {
  const { inference, learnt, order, report } = best;
  yield { inference, learnt };
  const lost = report.differences.map(({ operation }) => operation).filter((at) => isConflict(order, at));
  if (inference.certified) {
    if (lost.length > 0) yield sparing(best, lost);
    yield sparing(
      best,
      order.raw.operations.map((_, at) => at).filter((at) => isConflict(order, at)),
    );
  }
  const places = [report.firstDifference!.operation];
  if (report.earliest !== undefined && report.earliest !== places[0]) places.push(report.earliest);
  for (const operation of places)
    for (const pairs of placements(inference.evidence, order, operation))
      yield { inference, learnt: [...learnt, ...pairs] };
  if (lost.length > 0) yield sparing(best, [lost[0]!]);
}

/** Failures that conflicts between transactions decide. */
const conflicts: ReadonlySet<ErrorClass> = new Set(['serialization', 'busy']);

function isConflict({ raw }: InferredOrder, operation: number): boolean {
  const { error } = raw.operations[operation]!;
  return error !== undefined && conflicts.has(error.class);
}

/** The same knowledge about a program without these failures; its steps have other numbers. */
function sparing({ inference, learnt }: Knowledge, operations: readonly number[]): Knowledge {
  const other = inference.sparing(operations);
  const [from, to] = [inference.evidence.steps.source, other.evidence.steps.source];
  const moved = learnt
    .map(([a, b]): StepPair => [to.indexOf(from[a]!), to.indexOf(from[b]!)])
    .filter(([a, b]) => a >= 0 && b >= 0);
  return { inference: other, learnt: moved };
}

function keyOf({ spared }: Inference, { schedule }: InferredOrder): string {
  const batches = schedule.batches.map((batch) =>
    batch
      .map(([s, p]) => `${s}.${p}`)
      .sort()
      .join(' '),
  );
  return `${[...spared].join()}:${batches.join('|')}`;
}

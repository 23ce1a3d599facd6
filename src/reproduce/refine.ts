/**
 * Learning from replays that diverge from their history (Pisco §4: an order is right if it brings the results back; ambiguous
 * ones are enumerated over interval candidates only).
 *
 * What a client records leaves orders open that only the database knew: which of two overlapping statements met the
 * other's gap lock, whose read the certifier blamed. A replay that diverges says where: its first statement that saw something else.
 * That statement stood wrongly towards some transaction that overlapped it. So, in this order:
 *
 * 0. The careful order is tried: the one answered first goes first, wherever statements overlapped and conflict.
 * 1. Where a certifier decides who fails, failures take their recorded outcome, a ROLLBACK in their place: first those that did
 *    not come back, then all. Whom a certifier hits depends on every overlapping pair, so to bring back one failure among many is
 *    to guess all of them.
 * 2. If its count fits other rows, it is taken to have changed those; if it saw values that were there at several moments, to have seen them at
 *    another one. Then it is put in every other place that the recorded times allow (`placements.ts`). It may only show what another did: so the
 *    same is tried with those before it in its session that had to wait in the replay, for which it came late, and with
 *    statements by condition of which it is open when they chose their rows or had their turn.
 * 3. If it is a failure and no place brings it back, it takes its recorded outcome, too.
 *
 * 4. Where statements chose rows and waited, all of this begins again with these sent as late as may be; and where victims of deadlocks
 *    held rows that others waited for (`victims.ts`), with victims sent, and cancelled where they failed; and where rows that are deleted
 *    may stay locked, with these locks. Each has its share of the budget.
 *
 * 5. If nothing got further, the order it began with and the best one are replayed a few times more: locks go by timing, too. What got
 *    further and what did not may have been chance, so the search begins anew: once, and several times if the same order has shown something else.
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
  /** Ends the search though the last replay diverged: it showed what was looked for. */
  readonly enough?: () => boolean;
  readonly signal?: AbortSignal;
}

/** Statements that all replays of a refinement may send together, and replays at least allowed. */
const statementBudget = 60_000;
const fewestReplays = 8;
const triesAgain = 3;
const mostSearches = 4;
const fewestSearches = 2;

/** What an order is made from. */
interface Knowledge {
  readonly inference: Inference;
  readonly learnt: readonly StepPair[];
  /** For ambiguous statements which of their choices to try first. */
  readonly choices?: ReadonlyMap<number, number> | undefined;
}

interface Attempt extends Knowledge {
  readonly order: InferredOrder;
  readonly report: ReplayReport;
}

/** Replays an order, and others learnt from where it diverges, until one sees what the history saw. */
export async function refineOrder(
  inference: Inference,
  run: (order: InferredOrder) => Promise<ReplayReport>,
  options: RefineOptions = {},
): Promise<Refined> {
  const search = new Search(run, options);
  const first = options.first ?? inference.order();
  let starts: readonly Inference[] | undefined;
  const others = () => {
    starts ??= otherStarts(inference);
    return starts;
  };
  const share = (beginnings: number) => () => beginnings / (others().length + 1);
  let best = await search.from(inference, first, share(1));
  const better = (found: Attempt) =>
    search.isOver(found) || getsFurther(found.report, best.report) ? found : best;
  for (let i = 0; !search.isOver(best) && i < others().length; i++)
    best = better(await search.from(others()[i]!, others()[i]!.order(), share(i + 2)));
  if (!inference.certified) {
    for (let searches = 1; !search.isOver(best); searches++) {
      best = await search.again(best);
      if (search.isOver(best) || searches === (search.races ? mostSearches : fewestSearches)) break;
      search.forget();
      best = better(await search.from(inference, first));
    }
    return search.result(best);
  }
  if (search.isOver(best)) return search.result(best);
  // What was learnt with failures sent again may be wrong without them: a second search begins with none.
  const without = sparing(best, allConflicts(best.order)).inference;
  const other = await search.from(without, without.order([], { careful: true }));
  return search.result(search.isOver(other) || getsFurther(other.report, best.report) ? other : best);
}

/** Other ways to look at the same history, from which a search begins with nothing learnt. */
function otherStarts(inference: Inference): readonly Inference[] {
  return [inference.later(), inference.resending(), inference.keepingGone()].filter(
    (one) => one !== undefined,
  );
}

class Search {
  #replays = 0;
  #most = Number.POSITIVE_INFINITY;
  /** A replay showed what was looked for. */
  #shown = false;
  #first: Attempt | undefined;
  #races = false;
  readonly #seen = new Set<string>();

  constructor(
    private readonly run: (order: InferredOrder) => Promise<ReplayReport>,
    private readonly options: RefineOptions,
  ) {}

  /** `share`: of the replays that are allowed in all; not asked for if the first sees everything. */
  async from(inference: Inference, first: InferredOrder, share = () => 1): Promise<Attempt> {
    const most =
      this.options.mostReplays ??
      Math.max(fewestReplays, Math.floor(statementBudget / Math.max(1, first.statementCount)));
    let best = await this.#attempt({ inference, learnt: [] }, first);
    this.#first ??= best;
    if (this.isOver(best)) return best;
    this.#most = Math.ceil(most * share());
    for (let better = true; better && !this.#isSpent(best); ) {
      better = false;
      for (const knowledge of otherKnowledge(best)) {
        if (this.#isSpent(best)) break;
        const { inference: other, learnt, choices } = knowledge;
        const order = other.order(learnt, { careful: true, ...(choices && { choices }) });
        if (this.#seen.has(keyOf(other, order))) continue;
        const tried = await this.#attempt(knowledge, order);
        if (!this.#shown && !getsFurther(tried.report, best.report)) continue;
        [best, better] = [tried, true];
        break;
      }
    }
    return best;
  }

  /**
   * The same order once more, and the one it all began with: statements of one batch race each other, and so do those that wait behind
   * one lock. What one replay showed of them another may not.
   */
  async again(attempt: Attempt): Promise<Attempt> {
    let best = attempt;
    for (let time = 0; time < triesAgain && !this.#isSpent(best); time++) {
      for (const { order, ...knowledge } of [this.#first ?? attempt, attempt]) {
        if (this.#isSpent(best)) break;
        const tried = await this.#attempt(knowledge, order);
        const before = order === attempt.order ? attempt.report : this.#first!.report;
        if (getsFurther(tried.report, before) || getsFurther(before, tried.report)) this.#races = true;
        if (this.isOver(tried) || getsFurther(tried.report, best.report)) best = tried;
      }
    }
    return best;
  }

  /** Whether an order that was replayed again has shown something else. */
  get races(): boolean {
    return this.#races;
  }

  /** Orders that have been tried may be tried again. */
  forget(): void {
    this.#seen.clear();
  }

  async #attempt(knowledge: Knowledge, order: InferredOrder): Promise<Attempt> {
    this.#seen.add(keyOf(knowledge.inference, order));
    const report = await this.run(order);
    this.#replays++;
    this.#shown = this.options.enough?.() === true;
    return { ...knowledge, order, report };
  }

  /** It is found, or nobody wants to know any more. */
  isOver({ report }: Attempt): boolean {
    return report.firstDifference === undefined || this.#shown || this.options.signal?.aborted === true;
  }

  #isSpent(attempt: Attempt): boolean {
    return this.#replays >= this.#most || this.isOver(attempt);
  }

  result({ order, report, learnt }: Attempt): Refined {
    return { order, report, learnt, replays: this.#replays };
  }
}

/** Whether the earliest operation of the history that differs comes later; or is the same, and fewer differ in all. */
function getsFurther(again: ReplayReport, before: ReplayReport): boolean {
  const [a, b] = [again.earliest ?? Number.POSITIVE_INFINITY, before.earliest ?? Number.POSITIVE_INFINITY];
  return a > b || (a === b && again.same > before.same);
}

/** What to try next, likeliest first. */
function* otherKnowledge(best: Attempt): Generator<Knowledge> {
  const { inference, learnt, choices, order, report } = best;
  yield { inference, learnt, choices };
  const lost = report.differences.map(({ operation }) => operation).filter((at) => isConflict(order, at));
  if (inference.certified) {
    if (lost.length > 0) yield sparing(best, lost);
    yield sparing(best, allConflicts(order));
  }
  const places = [report.firstDifference!.operation];
  if (report.earliest !== undefined && report.earliest !== places[0]) places.push(report.earliest);
  for (const operation of [...places, ...suspects(best, places)]) {
    for (const other of inference.otherRows(operation)) yield { inference: other, learnt };
    for (const other of otherMoments(best, operation)) yield { inference, learnt, choices: other };
    for (const pairs of placements(inference.evidence, order, operation))
      yield { inference, learnt: [...learnt, ...pairs], choices };
  }
  if (lost.length > 0) yield sparing(best, [lost[0]!]);
}

/** More moments than these are not tried for one statement. */
const mostMoments = 12;

/** The other moments at which a statement may have seen what it saw, those that were not tried in vain. */
function* otherMoments(
  { inference, choices, order }: Attempt,
  operation: number,
): Generator<ReadonlyMap<number, number>> {
  const { evidence } = inference;
  const step = evidence.steps.source.indexOf(operation);
  const at = evidence.choices.findIndex((one) => one.step === step && one.what === 'version');
  if (at < 0) return;
  const { alternatives } = evidence.choices[at]!;
  const told = new Map<string, number>();
  alternatives.forEach((orders, i) => {
    const text = orders.map(({ from, to }) => `${from} ${to}`).join();
    if (!told.has(text) || i === order.ambiguous[at]!.chosen) told.set(text, i);
  });
  const others = [...told.values()].filter((i) => i !== order.ambiguous[at]!.chosen);
  const stride = Math.max(1, others.length / mostMoments);
  for (let i = 0; i < others.length; i += stride)
    yield new Map([...(choices ?? []), [at, others[Math.floor(i)]!]]);
}

/** Statements by condition that may have gone elsewhere and touched what a statement that differs met, last first. */
function suspects(attempt: Attempt, tried: readonly number[]): readonly number[] {
  const { inference, order, report } = attempt;
  const { steps, accesses } = inference.evidence;
  const objects = new Set<number>();
  for (const { operation } of report.differences) {
    const step = steps.source.indexOf(operation);
    if (step < 0) continue;
    for (let i = accesses.first[step]!; i < accesses.first[step + 1]!; i++) objects.add(accesses.object[i]!);
  }
  const found = new Set<number>(delaying(attempt));
  const late = found.size;
  for (const { statement, what } of order.ambiguous) {
    if (what !== 'turn' && what !== 'moment') continue;
    const step = steps.firstOf[statement[0]]! + statement[1];
    const operation = steps.source[step]!;
    if (tried.includes(operation)) continue;
    for (let i = accesses.first[step]!; i < accesses.first[step + 1]!; i++)
      if (objects.has(accesses.object[i]!)) found.add(operation);
  }
  const [first, others] = [[...found].slice(0, late), [...found].slice(late)];
  return [...first, ...others.sort((a, b) => b - a)];
}

/** The statements before the first that differs, in the same session, that had to wait in the replay: because of them it came late. */
function delaying({ order, report }: Attempt): readonly number[] {
  const { operation, session } = report.firstDifference!;
  const number = order.raw.header.sessions.indexOf(session);
  const sources = order.sources[number]!;
  return report.history.operations
    .filter((one) => one.session === number && one.blocked === true && one.statement !== undefined)
    .map(({ statement }) => sources[statement![1]]!)
    .filter((source) => source >= 0 && source < operation)
    .reverse()
    .slice(0, 2);
}

/** Failures that conflicts between transactions decide. */
const conflicts: ReadonlySet<ErrorClass> = new Set(['serialization', 'busy']);

function isConflict({ raw }: InferredOrder, operation: number): boolean {
  const { error } = raw.operations[operation]!;
  return error !== undefined && conflicts.has(error.class);
}

function allConflicts(order: InferredOrder): readonly number[] {
  return order.raw.operations.map((_, at) => at).filter((at) => isConflict(order, at));
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
  return `${schedule.keepsHistory === true}:${[...spared].join()}:${batches.join('|')}`;
}

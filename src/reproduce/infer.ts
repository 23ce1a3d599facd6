/**
 * Order inference: from a raw concurrent history to a schedule that shows every operation what it saw (Pisco §4,
 * Algorithm 1; technical report §D, §E).
 *
 * 1. The program is rebuilt from the history (`steps.ts`).
 * 2. The mirror follows rows, versions and locks through the answers (`mirror.ts`, `locks.ts`).
 * 3. Orders are found: by time (`time-order.ts`), by locks (`locks.ts`), by the versions that reads show
 *    (`version-order.ts`, `query-order.ts`), by failures (`failed-writes.ts`). Where several fit, `solve.ts` chooses.
 * 4. Batches are made that keep them (`batches.ts`), and checked (`invariants.ts`).
 *
 * The contract's mechanism says which of these there is:
 *
 * | protocol        | what orders conflicting writers |
 * |-----------------|---|
 * | `locking`       | the order in which they got the row's lock |
 * | `optimistic`    | the same where a second writer fails at once; else the order of COMMITs, and with it that of snapshots |
 * | `timestamp`     | as locking; a pair of transactions ordered by one row is ordered so by all |
 * | `single-writer` | one lock for the whole database |
 *
 * Not seen: what an engine does besides rows (sequences, gap locks of rows that do not exist, clocks), and who of those that wait for
 * one row is woken first.
 */

import type { Case, OrderReason, Schedule, StatementRef } from '../cases/index.js';
import type { Contract, Mechanism } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import type { OperationId } from '../ids.js';
import { withCatalog } from '../rows/index.js';
import { counted } from '../words.js';
import type { Batches } from './batches.js';
import type { Evidence } from './evidence.js';
import { type BrokenInvariant, brokenInvariants } from './invariants.js';
import { collectEvidence } from './mirror.js';
import { type StepPair, strength } from './order-graph.js';
import { addQueryOrder } from './query-order.js';
import { orderReasons } from './reasons.js';
import { settleRows } from './settle-rows.js';
import { type Solution, solve } from './solve.js';
import { type LeftOut, refOf, type Steps, stepsOf } from './steps.js';
import { changesOf } from './table-changes.js';
import { answerOrder, noEdges, type TimeEdges, timeOrder } from './time-order.js';
import { addTimestampOrder } from './timestamp-order.js';
import { addVersionOrder } from './version-order.js';

export interface InferOptions {
  /** Reasons for the order of pairs that overlapped; default true. */
  readonly reasons?: boolean;
  /** Check the invariants of the result; default true. */
  readonly check?: boolean;
  /** Send statements again that fell to deadlocks and time-outs; default false. */
  readonly keepTimed?: boolean;
  /** Failed operations, by their place in the history, that take their recorded outcome: a ROLLBACK stands in their place. */
  readonly spared?: ReadonlySet<number>;
  /** Send victims of deadlocks again, and cancel them where they failed; default false: a ROLLBACK stands in their place. */
  readonly resent?: boolean;
  /** Send statements that chose rows and waited as late as may be, not before every COMMIT they may have missed; default false. */
  readonly waitersLast?: boolean;
  /** Take locks of deleted rows that were waited for as kept to the end of the transaction, and keep the rows from being purged; default false: purged at once. */
  readonly keepsGone?: boolean;
  /** For operations that may have changed one of several sets of rows, by their place in the history, which of these sets to take. */
  readonly rowChoices?: ReadonlyMap<number, number>;
  /** For ambiguous statements, by number, which of their choices to try first. */
  readonly choices?: ReadonlyMap<number, number>;
  /** Orders that replays have shown (`refine.ts`); they outweigh everything else. */
  readonly learnt?: readonly StepPair[];
}

/** What a history shows about its order, ready to be made into schedules. */
export interface Inference {
  /** @internal */
  readonly evidence: Evidence;
  /** A certifier decides who fails, by more than rows and times show. */
  readonly certified: boolean;
  /** Failed operations that take their recorded outcome. */
  readonly spared: ReadonlySet<number>;
  /** The same with more of these. */
  sparing(operations: Iterable<number>): Inference;
  /** The same with victims of deadlocks sent again, if there are any that are not. */
  resending(): Inference | undefined;
  /** The same with statements that chose rows and waited sent as late as may be, if there are any. */
  later(): Inference | undefined;
  /** The same with locks of deleted rows kept, where the engine may keep them. */
  keepingGone(): Inference | undefined;
  /** The same with each other set of rows that an operation may have changed. */
  otherRows(operation: OperationId): Iterable<Inference>;
  /**
   * The schedule, with orders that replays have shown. `careful`: of two overlapping statements that conflict, the one
   * answered first always goes first where nothing else speaks against it; batches are smaller then.
   */
  order(
    learnt?: readonly StepPair[],
    how?: { readonly choices?: ReadonlyMap<number, number>; readonly careful?: boolean },
  ): InferredOrder;
}

export interface InferredOrder {
  readonly case: Case;
  readonly schedule: Schedule;
  /** The history it was inferred from. */
  readonly raw: History;
  /** For people: what was assumed, left out or not understood. */
  readonly notes: readonly string[];
  /** For each session and statement the place of its operation in the raw history; −1: put in. */
  readonly sources: readonly Int32Array[];
  /** Operations of the raw history that are not sent again. */
  readonly leftOut: readonly LeftOut[];
  /**
   * What happened in one of several ways: reads that several versions explain, failures with several opponents, statements
   * that chose their rows at one of several moments, overlapping statements whose order only their answers suggest.
   */
  readonly ambiguous: readonly AmbiguousStatement[];
  /** Where the raw run did something no order explains: often the bug itself. */
  readonly unexplained: readonly UnexplainedStatement[];
  /** Empty, unless the orders found contradict each other. */
  readonly broken: readonly BrokenInvariant[];
  readonly batchCount: number;
  readonly largestBatch: number;
  readonly statementCount: number;
}

export interface AmbiguousStatement {
  readonly statement: StatementRef;
  readonly object: string;
  readonly what: 'version' | 'opponent' | 'turn' | 'moment' | 'order';
  readonly choices: number;
  /** The one the schedule brings about; −1: none. */
  readonly chosen: number;
}

export interface UnexplainedStatement {
  readonly statement: StatementRef;
  readonly object: string;
  readonly what: string;
}

/**
 * What was said beforehand about an operation, by its place in the history: how it is ambiguous, that nothing explains it, or that its transaction overlapped
 * an operation that is not sent again (`left out`: whoever waited for that one does not wait for it again). Empty: nothing was.
 */
export function namedBefore(
  { ambiguous, unexplained, leftOut, sources, raw }: InferredOrder,
  operation: OperationId,
): readonly (AmbiguousStatement['what'] | 'unexplained' | 'left out')[] {
  const isIt = ({ statement: [session, position] }: { readonly statement: StatementRef }) =>
    sources[session]![position] === operation;
  const { transaction } = raw.operations[operation]!;
  const own = raw.operations.filter((each) => each.transaction === transaction);
  const begin = own.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const end = own.reduce((most, each) => Math.max(most, each.end ?? Number.POSITIVE_INFINITY), begin);
  const overlaps = ({ operation: other }: LeftOut) => {
    const { start, end: over } = raw.operations[other]!;
    return start <= end && (over ?? Number.POSITIVE_INFINITY) >= begin;
  };
  return [
    ...new Set([
      ...ambiguous.filter(isIt).map(({ what }) => what),
      ...(unexplained.some(isIt) ? (['unexplained'] as const) : []),
      ...(leftOut.some(overlaps) ? (['left out'] as const) : []),
    ]),
  ];
}

/** Infers a schedule for the program of a history under a contract that says how its engine works. */
export function inferSchedule(
  history: History,
  contract: Contract,
  options: InferOptions = {},
): InferredOrder {
  return openInference(history, contract, options).order(options.learnt, options);
}

/** Collects what a history shows about its order. */
export function openInference(history: History, contract: Contract, options: InferOptions = {}): Inference {
  const { mechanism } = contract;
  if (mechanism === undefined) {
    throw new IsoldeError(
      'usage',
      `the contract ${contract.id} says what must not happen but not how an engine works; order inference needs a vendor's contract`,
    );
  }
  const evidence = evidenceOf(history, { ...contract, mechanism }, options);
  const { steps } = evidence;
  const times = timeOrder(steps, evidence.accesses, evidence.objects.names.length);
  const guesses = (about: 'none' | 'tables' | 'all', onGuess?: (step: number, object: number) => void) => {
    if (about === 'none') return noEdges;
    const only = about === 'tables' ? evidence.tables : undefined;
    return answerOrder(steps, evidence.accesses, evidence.objects.names.length, { only, onGuess });
  };
  const noted = new Set<number>();
  const answers = guesses(answersDecide(mechanism), (step, object) => {
    if (!evidence.unobservable.has(object) || noted.has(step)) return;
    noted.add(step);
    evidence.uncertain.push({ step, object, what: 'order', choices: 2, chosen: 0 });
  });
  let every: TimeEdges | undefined;
  const spared = options.spared ?? new Set();
  const other = (more: InferOptions) => openInference(history, contract, { ...options, ...more });
  return {
    evidence,
    certified: mechanism.certifier === 'ssi',
    spared,
    sparing: (more) => other({ spared: new Set([...spared, ...more]) }),
    resending: () => {
      if (options.resent === true || !evidence.looksAgain || !hasVictims(history, mechanism))
        return undefined;
      const again = other({ resent: true });
      return again.evidence.steps.cancelled.includes(1) ? again : undefined;
    },
    later: () =>
      options.waitersLast === true || !evidence.looksAgain || evidence.waits.size === 0
        ? undefined
        : other({ waitersLast: true }),
    keepingGone: () =>
      options.keepsGone === true || !evidence.metGone ? undefined : other({ keepsGone: true }),
    *otherRows(operation) {
      const step = steps.source.indexOf(operation);
      const sets = evidence.severalRows.get(step) ?? 1;
      for (let choice = 0; choice < sets; choice++)
        if (choice !== (evidence.rowChoices.get(step) ?? 0))
          yield other({ rowChoices: new Map([...(options.rowChoices ?? []), [operation, choice]]) });
    },
    order: (learnt = [], { choices, careful } = {}) => {
      if (careful === true) every ??= guesses('all');
      const solution = solve(
        evidence,
        {
          times,
          answers: careful === true ? every! : answers,
          learnt,
          waitersLast: options.waitersLast === true,
        },
        choices,
      );
      return inferredOrder({ history, evidence, solution, learnt }, options);
    },
  };
}

/** All that rows, versions, queries and timestamps show. */
function evidenceOf(
  history: History,
  contract: Contract & { mechanism: Mechanism },
  { keepTimed, spared, resent, keepsGone, rowChoices = new Map() }: InferOptions,
): Evidence {
  const { failureRollsBack, protocol } = contract.mechanism;
  const conflictsAreTimed = !conflictsFail(contract.mechanism);
  const steps = stepsOf(history, { keepTimed, spared, resent, conflictsAreTimed, failureRollsBack });
  const source = { history, steps, contract, keepsGone: keepsGone === true };
  const asked = new Map(
    [...rowChoices].map(([operation, choice]) => [steps.source.indexOf(operation), choice]),
  );
  return withCatalog(history, {}, (catalog) =>
    settleRows((choices) => {
      const evidence = collectEvidence({ ...source, catalog, rowChoices: choices });
      const changes = changesOf(evidence);
      addVersionOrder(evidence, changes);
      addQueryOrder(evidence, changes);
      if (protocol === 'timestamp') addTimestampOrder(evidence);
      return evidence;
    }, asked),
  );
}

/** Whether statements fail for what others have committed or hold; where none does, only deadlocks make them fail. */
function conflictsFail({ protocol, writeConflict, firstUpdaterWins, certifier }: Mechanism): boolean {
  const watched = certifier !== 'none' && certifier !== 'two-phase-locking';
  return protocol !== 'locking' || writeConflict !== 'waits' || firstUpdaterWins || watched;
}

/** Whether statements fell to deadlocks, and their transactions with them. */
function hasVictims({ operations }: History, { failureRollsBack }: Mechanism): boolean {
  return failureRollsBack === true && operations.some(({ error }) => error?.class === 'deadlock');
}

/**
 * Where writers wait for rows they both name, locks and versions order everything; a guess would only keep statements out of a
 * common batch. Where writers may fail, statements that concern a whole table do not tell for which of its rows; and where
 * engines do not wait, lock gaps, certify or go by timestamps, more counts everywhere than what was recorded.
 */
function answersDecide(mechanism: Mechanism): 'none' | 'tables' | 'all' {
  const { writeConflict, firstUpdaterWins, passedRows, certifier, protocol } = mechanism;
  if (writeConflict !== 'waits' || passedRows === 'kept' || certifier === 'ssi' || protocol === 'timestamp')
    return 'all';
  return firstUpdaterWins ? 'tables' : 'none';
}

function inferredOrder(
  {
    history,
    evidence,
    solution,
    learnt,
  }: {
    readonly history: History;
    readonly evidence: Evidence;
    readonly solution: Solution;
    readonly learnt: readonly StepPair[];
  },
  options: InferOptions,
): InferredOrder {
  const { steps } = evidence;
  const { batches } = solution;
  const schedule = scheduleOf(
    steps,
    batches,
    options.reasons === false ? undefined : orderReasons(evidence, solution, learnt),
  );
  const kept: Schedule = options.keepsGone === true ? { ...schedule, keepsHistory: true } : schedule;
  const exempt = new Set([...batches.forced.map(({ step }) => step), ...evidence.waits]);
  const broken = options.check === false ? [] : brokenInvariants(evidence, schedule, exempt);
  return {
    case: steps.case,
    schedule: kept,
    raw: history,
    notes: notesOf(evidence, solution, history),
    sources: sourcesOf(steps),
    leftOut: steps.leftOut,
    ambiguous: [
      ...evidence.choices.map((choice, i) => ({
        statement: refOf(steps, choice.step),
        object: evidence.objects.names[choice.object]!,
        what: choice.what,
        choices: choice.alternatives.length,
        chosen: solution.holds[i]!,
      })),
      ...evidence.uncertain.map(({ step, object, ...rest }) => ({
        statement: refOf(steps, step),
        object: evidence.objects.names[object]!,
        ...rest,
      })),
    ],
    unexplained: evidence.unexplained.map(({ step, object, what }) => ({
      statement: refOf(steps, step),
      object: evidence.objects.names[object]!,
      what,
    })),
    broken,
    batchCount: schedule.batches.length,
    largestBatch: schedule.batches.reduce((most, batch) => Math.max(most, batch.length), 0),
    statementCount: steps.count,
  };
}

function scheduleOf(steps: Steps, batches: Batches, reasons: OrderReason[] | undefined): Schedule {
  const list: StatementRef[][] = [];
  const cancelled: StatementRef[] = [];
  for (let step = 0; step < steps.count; step++)
    if (steps.cancelled[step]) cancelled.push(refOf(steps, step));
  for (let b = 0; b + 1 < batches.first.length; b++) {
    const batch: StatementRef[] = [];
    for (let i = batches.first[b]!; i < batches.first[b + 1]!; i++)
      batch.push(refOf(steps, batches.steps[i]!));
    list.push(batch);
  }
  return { batches: list, ...(reasons && { reasons }), ...(cancelled.length > 0 && { cancelled }) };
}

function sourcesOf(steps: Steps): Int32Array[] {
  return steps.case.sessions.map((_, s) => steps.source.slice(steps.firstOf[s]!, steps.firstOf[s + 1]!));
}

function notesOf(evidence: Evidence, { batches, holds }: Solution, { header }: History): string[] {
  const notes = [...evidence.notes];
  const byWhy = new Map<string, number>();
  for (const { why } of evidence.steps.leftOut) byWhy.set(why, (byWhy.get(why) ?? 0) + 1);
  for (const [why, count] of byWhy) notes.push(`${counted(count, 'operation')} left out: ${why}`);
  const several = holds.filter((_, i) => evidence.choices[i]!.alternatives.length > 1).length;
  if (several > 0)
    notes.push(
      `${counted(several, 'statement')} can be explained in several ways; one way was chosen for each`,
    );
  const moments = evidence.uncertain.filter(({ what }) => what === 'moment').length;
  if (moments > 0)
    notes.push(
      `${counted(moments, 'statement')} chose rows while others changed them, at one of several moments`,
    );
  const turns = evidence.uncertain.filter(({ what }) => what === 'turn').length;
  if (turns > 0)
    notes.push(`${counted(turns, 'statement')} waited for a row beside others, one of whom had it first`);
  const orders = evidence.uncertain.length - moments - turns;
  if (orders > 0)
    notes.push(
      `${counted(orders, 'statement')} overlapped others whose locks cannot be observed; the answers' order was taken`,
    );
  const open = holds.filter((one) => one < 0).length;
  if (open > 0)
    notes.push(
      `${counted(open, 'statement')} may see something else: no order was found that explains everything`,
    );
  if (evidence.unexplained.length > 0)
    notes.push(
      `the raw run shows no version or lock that explains ${counted(evidence.unexplained.length, 'access', 'accesses')} of it`,
    );
  const hard = batches.forced.filter((one) => one.strength <= strength.presumed).length;
  if (hard > 0)
    notes.push(
      `the orders found contradict each other; ${counted(hard, 'statement')} went against one of them`,
    );
  if (header.sessionLevels !== undefined && Object.keys(header.sessionLevels).length > 0)
    notes.push('sessions run at different levels; the order was inferred for one');
  return notes;
}

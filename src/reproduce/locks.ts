/**
 * The lock table of the mirror, and the orders it proves.
 *
 * Locks are granted in the order in which their statements were answered (Property 1 of Pisco: whoever holds a lock
 * cannot release it before it was answered that it has it, so the first of two overlapping writers to be answered was
 * first). A lock is held to the end of its transaction. So the end of a holder stands before the step that got the lock
 * next; where its transaction could write only what its snapshot shows, before the step that fixed the snapshot, too.
 *
 * An order that the raw run's times contradict (the holder began to end after the other was answered) is not added: the
 * database let two in at once. That is kept as unexplained, and the answers' order decides.
 *
 * Autocommitted writers release a lock before they are answered, so Property 1 says nothing of them; the
 * answers' order is still the best guess, and its edges are soft.
 */
import type { OrderStepId, RowId, TransactionId } from '../ids.js';
import { type Interval, type Lock, lockMeeting, RowLocks } from '../rows/index.js';
import {
  type Because,
  because,
  type Choice,
  type Edges,
  type Evidence,
  type Order,
  type Softness,
  softness,
  type Unexplained,
} from './evidence.js';
import { Ints } from './ints.js';
import type { Steps } from './steps.js';

interface Holder extends Lock<number> {
  /** The step that took the lock. */
  readonly step: OrderStepId;
  /** Released with the step that took it. */
  readonly brief?: true;
  /** It wrote the row, not only locked it. */
  wrote: boolean;
}

/** What is known of the locks on an object. */
interface LockedObject {
  readonly locks: RowLocks<Holder>;
  /** The last who wrote it and committed, as far as later lockers tell. */
  writer: Holder | undefined;
  /** All exclusive lockings, in order; conflicts look for the holder they met. */
  readonly sequence: number[];
  /** For lockings by transactions that had shared the lock before, the step that did. */
  shared?: Map<OrderStepId, OrderStepId>;
}

export interface LockRequest {
  readonly exclusive: boolean;
  readonly writes: boolean;
  /** A new row: whether its key is free depends on what is committed now, not of a snapshot. */
  readonly inserts?: boolean;
  /** It was sent while another held the lock, and is to be again. */
  readonly waited?: boolean;
}

export const overwrote = 'overwrote a version that its snapshot does not show';

export interface KnownOfTransactions {
  /** The step that fixed the snapshot a transaction's writes must be based on; −1: none. */
  basisOf(transaction: TransactionId): number;
  committed(transaction: TransactionId): boolean;
  /**
   * Whether a step fixes what its transaction sees before it waits; `range`: on several rows, one after the other; `later`: the same, and it had
   * waited for another row before it came to this one (`passed-rows.ts` orders that); `chosen`: it chose these rows first, and what follows from
   * that is said elsewhere (`touched-rows.ts`).
   */
  arrives(step: OrderStepId, object: RowId): 'no' | 'row' | 'range' | 'later' | 'chosen';
  /** Statements pass rows one after another and let go of those that do not match: who came first to which row decides what they change. */
  readonly passes: boolean;
  /** Whole tables are locked before a statement begins: the answers' order is the order of the locks, and nobody need wait for one again. */
  readonly locksTables: boolean;
}

export class LockTable {
  readonly taken: Evidence['locks'] = {
    step: new Ints(1024),
    object: new Ints(1024),
    exclusive: new Ints(1024),
  };
  readonly choices: Choice[] = [];
  /**
   * Statements that stood in the queue for an object beside others when its holder committed another version of it. PostgreSQL does not keep the queue
   * then: the first gives its place up to look at the new version, and any of them may be faster.
   */
  readonly raced = new Map<OrderStepId, RowId>();
  /** For each object whom the steps that waited for it waited for. */
  readonly #waited = new Map<RowId, Map<OrderStepId, Holder>>();
  readonly #objects: (LockedObject | undefined)[] = [];
  /** Per table: transactions with locks in it, for locks that scans take on all they pass. */
  readonly #lockers = new Map<number, { transaction: TransactionId; whole: boolean }[]>();

  constructor(
    private readonly steps: Steps,
    private readonly edges: Edges,
    private readonly unexplained: Unexplained[],
    private readonly known: KnownOfTransactions,
  ) {}

  holderOf(object: RowId): number {
    return this.#objects[object]?.locks.exclusive?.owner ?? -1;
  }

  /** Exclusive lockings of an object by ever new transactions, oldest first. */
  sequence(object: RowId): readonly number[] {
    return this.#objects[object]?.sequence ?? [];
  }

  /** The step by which the transaction of an exclusive locking came to the object: that one, or one that shared the lock before. */
  cameBy(locking: OrderStepId, object: RowId): OrderStepId {
    return this.#objects[object]?.shared?.get(locking) ?? locking;
  }

  #object(object: RowId): LockedObject {
    this.#objects[object] ??= { locks: new RowLocks(), writer: undefined, sequence: [] };
    return this.#objects[object];
  }

  take(step: OrderStepId, object: RowId, request: LockRequest): void {
    const transaction = this.steps.transaction[step]!;
    const { exclusive, writes, inserts = false, waited = false } = request;
    const mode = exclusive ? 'exclusive' : 'share';
    const locked = this.#object(object);
    const { locks } = locked;
    const own = locks.covering(transaction, mode);
    if (own !== undefined) {
      own.wrote ||= writes;
      return;
    }
    this.taken.step.push(step);
    this.taken.object.push(object);
    this.taken.exclusive.push(exclusive ? 1 : 0);
    locks.meet(transaction, mode, (holder) => {
      const changes = holder.mode === 'exclusive' && exclusive && !inserts;
      this.#after(holder, { step, transaction, object, changes, waited });
      if (holder.wrote && this.known.committed(holder.owner)) locked.writer = holder;
    });
    if (exclusive && !inserts && locked.writer !== undefined) this.#basedOn(locked.writer, step, object);
    if (exclusive) {
      const before = locks.all.find((held) => held.owner === transaction && held.brief !== true);
      if (before !== undefined) {
        locked.shared ??= new Map();
        locked.shared.set(step, before.step);
      }
      // Locks held, so whoever had one before has ended.
      locks.clear();
      locked.sequence.push(step);
    }
    locks.grant({ owner: transaction, mode, step, wrote: writes });
  }

  /**
   * A statement needed the lock only for a moment (a duplicate key), so it ran when nobody held it: between two lockings, in one of the
   * gaps that its times allow, newest first. `fits`: whether it can have met what the transactions that ended before the gap left.
   * False: in none of them.
   */
  touch(step: OrderStepId, object: RowId, fits: (ended: ReadonlySet<number>) => boolean): boolean {
    const { transaction, endOf, start, end } = this.steps;
    const order = (from: number, to: number): Order => ({ from, to, why: because.lock, object });
    const isPossible = ({ from, to }: Order) => from >= 0 && start[from]! <= end[to]!;
    const lockings = this.holdersAround(step, object);
    const ended = new Set(lockings.map((one) => endOf[transaction[one]!]!));
    const alternatives: Order[][] = [];
    for (let gap = 0; gap <= lockings.length; gap++) {
      const [before, next] = [lockings[gap], lockings[gap - 1]];
      const released = before === undefined ? undefined : endOf[transaction[before]!]!;
      const orders = [
        ...(released === undefined ? [] : [order(released, step)]),
        ...(next === undefined ? [] : [order(step, next)]),
      ];
      if (orders.every(isPossible) && fits(ended)) alternatives.push(orders);
      if (released !== undefined) ended.delete(released);
    }
    if (lockings.length > 0 && alternatives.length > 0)
      this.choices.push({ step, object, what: 'opponent', alternatives });
    this.pass(step, object);
    return alternatives.length > 0;
  }

  /** Exclusive lockings of an object by other transactions that were not over when a step was sent, newest first. */
  holdersAround(step: OrderStepId, object: RowId): OrderStepId[] {
    const { transaction, endOf, start, end } = this.steps;
    const sequence = this.sequence(object);
    const found: number[] = [];
    for (let at = sequence.length - 1; at >= 0; at--) {
      const holder = sequence[at]!;
      const ending = endOf[transaction[holder]!]!;
      if (transaction[holder] === transaction[step]) continue;
      if (ending >= 0 && end[ending]! < start[step]!) break;
      found.push(holder);
    }
    return found;
  }

  /** The steps by which other transactions share an object that nobody has locked alone since, by when they end, the last first. */
  sharers(step: OrderStepId, object: RowId): OrderStepId[] {
    const { transaction, endOf, end } = this.steps;
    const endingOf = (one: OrderStepId) => end[endOf[transaction[one]!]!] ?? Number.POSITIVE_INFINITY;
    return (this.#objects[object]?.locks.all ?? [])
      .filter(({ mode, owner, brief }) => mode === 'share' && brief !== true && owner !== transaction[step])
      .map((held) => held.step)
      .sort((a, b) => endingOf(b) - endingOf(a));
  }

  /** A statement may have held the lock for a moment: it comes before whoever locks it next. */
  pass(step: OrderStepId, object: RowId): void {
    const transaction = this.steps.transaction[step]!;
    this.#object(object).locks.grant({ owner: transaction, mode: 'share', step, brief: true, wrote: false });
  }

  /** A step got the lock that `holder` had. */
  #after(
    holder: Holder,
    {
      step,
      transaction,
      object,
      changes,
      waited,
    }: {
      step: OrderStepId;
      transaction: TransactionId;
      object: RowId;
      changes: boolean;
      waited: boolean;
    },
  ): void {
    const { steps } = this;
    const ending = holder.brief === true ? holder.step : steps.endOf[holder.owner]!;
    const meeting = ending < 0 ? 'together' : lockMeeting(this.#span(ending), this.#span(step));
    if (meeting === 'apart') return; // time says so
    this.#queue(holder, step, { object, waits: meeting === 'waited' });
    if (meeting === 'together') {
      this.unexplained.push({ step, object, what: 'got a lock that another transaction still held' });
      this.#overlapping(holder.step, step, { why: because.answered, object, soft: true });
      return;
    }
    // A step that waits for its lock fixes its snapshot before it waits, so it may have to be sent early; but not if it
    // could overwrite only what its snapshot shows.
    const overwrites =
      changes && holder.wrote && this.known.basisOf(transaction) >= 0 && this.known.committed(holder.owner);
    const arrives = this.known.arrives(step, object);
    const inTurn = arrives === 'range' || arrives === 'later';
    if (arrives === 'chosen' || waited) {
      this.#overlapping(ending, step, { why: because.lock, object, soft: softness.waited });
      if (waited) this.#overlapping(holder.step, step, { why: because.lock, object, soft: true });
      return;
    }
    // Who did wait may have to again, to have its place in a queue.
    const mayWait = (arrives !== 'no' || meeting === 'waited') && !overwrites && !this.known.locksTables;
    const soft = ending === holder.step || mayWait;
    const queues = meeting === 'waited' && mayWait && this.known.passes;
    this.#overlapping(ending, step, {
      ...{ why: because.lock, object },
      soft: soft && (inTurn || queues) ? softness.waited : soft,
    });
    // Sent early it would stand in the queue; whoever got the lock before it must be there first, unless it
    // stood in the queue for another row then.
    if (mayWait && ending !== holder.step)
      this.#overlapping(holder.step, step, {
        ...{ why: because.lock, object },
        soft: arrives === 'later' ? softness.waited : inTurn,
      });
  }

  /** A step came after a holder; if that one had waited, and this one was there before that wait was over, they were in one queue. */
  #queue(
    holder: Holder,
    step: OrderStepId,
    { object, waits }: { readonly object: RowId; readonly waits: boolean },
  ): void {
    const waited = this.#waited.get(object) ?? new Map<OrderStepId, Holder>();
    this.#waited.set(object, waited);
    if (waits) waited.set(step, holder);
    const before = waited.get(holder.step);
    if (before === undefined || !before.wrote || !this.known.committed(before.owner)) return;
    if (this.steps.start[step]! >= this.steps.start[this.steps.endOf[before.owner]!]!) return;
    this.raced.set(step, object);
    this.raced.set(holder.step, object);
  }

  #span(step: OrderStepId): Interval {
    return { start: this.steps.start[step]!, end: this.steps.end[step]! };
  }

  /** Where a transaction may overwrite only what its snapshot shows, the snapshot shows the last committed version. */
  #basedOn(writer: Holder, step: OrderStepId, object: RowId): void {
    const transaction = this.steps.transaction[step]!;
    const { steps } = this;
    const basis = this.known.basisOf(transaction);
    const ending = steps.endOf[writer.owner]!;
    if (basis < 0 || ending < 0) return;
    if (steps.start[ending]! <= steps.end[basis]!)
      this.#overlapping(ending, basis, { why: because.firstUpdater, object, soft: ending === writer.step });
    else if (basis !== step) this.unexplained.push({ step, object, what: overwrote });
  }

  /** Adds an order that time leaves open. */
  #overlapping(
    from: number,
    to: number,
    { why, object, soft }: { why: Because; object: RowId; soft: boolean | Softness },
  ): void {
    const { steps, edges } = this;
    if (steps.session[from] === steps.session[to]) return;
    if (steps.end[from]! < steps.start[to]!) return;
    if (steps.start[from]! <= steps.end[to]!) edges.add({ from, to, why, object }, soft);
  }

  /** A scan locked all rows it passed, or a row was locked in a table where scans do. */
  passTable(step: OrderStepId, table: number, whole: boolean): void {
    const transaction = this.steps.transaction[step]!;
    const { steps } = this;
    const lockers = (this.#lockers.get(table) ?? []).filter(
      (one) =>
        !(
          steps.endOf[one.transaction]! >= 0 && steps.end[steps.endOf[one.transaction]!]! < steps.start[step]!
        ),
    );
    for (const one of lockers) {
      if (one.transaction === transaction || (!one.whole && !whole)) continue;
      const ending = steps.endOf[one.transaction]!;
      if (ending >= 0) this.#overlapping(ending, step, { why: because.scanLock, object: table, soft: true });
    }
    const own = lockers.find((one) => one.transaction === transaction);
    if (own === undefined) lockers.push({ transaction, whole });
    else own.whole ||= whole;
    this.#lockers.set(table, lockers);
  }
}

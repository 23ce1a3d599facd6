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
import { because, type Choice, type Edges, type Evidence, type Order, type Unexplained } from './evidence.js';
import { Ints } from './ints.js';
import type { Steps } from './steps.js';

interface Holder {
  readonly transaction: number;
  /** The step that took the lock. */
  readonly step: number;
  /** Released with the step that took it. */
  readonly brief?: true;
  /** It wrote the row, not only locked it. */
  wrote: boolean;
}

export interface LockMode {
  readonly exclusive: boolean;
  readonly writes: boolean;
  /** A new row: whether its key is free depends on what is committed now, not of a snapshot. */
  readonly inserts?: boolean;
}

export const overwrote = 'overwrote a version that its snapshot does not show';

export class LockTable {
  readonly taken: Evidence['locks'] = {
    step: new Ints(1024),
    object: new Ints(1024),
    exclusive: new Ints(1024),
  };
  readonly choices: Choice[] = [];
  /** Per object: who last locked it exclusively. */
  readonly #exclusive = new Map<number, Holder>();
  /** The last who wrote it and committed, as far as later lockers tell. */
  readonly #writer = new Map<number, Holder>();
  readonly #sharers = new Map<number, Holder[]>();
  /** Per object all exclusive lockings, in order; conflicts look for the holder they met. */
  readonly #sequence = new Map<number, number[]>();
  /** Per table: transactions with locks in it, for locks that scans take on all they pass. */
  readonly #lockers = new Map<number, { transaction: number; whole: boolean }[]>();

  constructor(
    private readonly steps: Steps,
    private readonly edges: Edges,
    private readonly unexplained: Unexplained[],
    /** The step that fixed the snapshot a transaction's writes must be based on; −1: none. */
    private readonly basisOf: (transaction: number) => number,
    private readonly committed: (transaction: number) => boolean,
    /** Whether a step fixes what its transaction sees before it waits; `range`: on several rows, one after the other. */
    private readonly arrives: (transaction: number, step: number) => 'no' | 'row' | 'range',
  ) {}

  holderOf(object: number): number {
    return this.#exclusive.get(object)?.transaction ?? -1;
  }

  /** Exclusive lockings of an object by ever new transactions, oldest first. */
  sequence(object: number): readonly number[] {
    return this.#sequence.get(object) ?? [];
  }

  take(step: number, transaction: number, object: number, mode: LockMode): void {
    const { exclusive, writes, inserts = false } = mode;
    const holder = this.#exclusive.get(object);
    const sharers = this.#sharers.get(object);
    if (holder?.transaction === transaction) {
      holder.wrote ||= writes;
      return;
    }
    if (!exclusive && sharers?.some((one) => one.transaction === transaction)) return;
    this.taken.step.push(step);
    this.taken.object.push(object);
    this.taken.exclusive.push(exclusive ? 1 : 0);
    if (holder !== undefined) {
      this.#after(holder, step, transaction, object, exclusive && !inserts);
      if (holder.wrote && this.committed(holder.transaction)) this.#writer.set(object, holder);
    }
    const writer = this.#writer.get(object);
    if (exclusive && !inserts && writer !== undefined) this.#basedOn(writer, step, transaction, object);
    if (!exclusive) {
      if (sharers === undefined) this.#sharers.set(object, [{ transaction, step, wrote: false }]);
      else sharers.push({ transaction, step, wrote: false });
      return;
    }
    if (sharers !== undefined) {
      for (const sharer of sharers)
        if (sharer.transaction !== transaction) this.#after(sharer, step, transaction, object, false);
      this.#sharers.delete(object);
    }
    this.#exclusive.set(object, { transaction, step, wrote: writes });
    const sequence = this.#sequence.get(object);
    if (sequence === undefined) this.#sequence.set(object, [step]);
    else sequence.push(step);
  }

  /**
   * A statement needed the lock only for a moment (a duplicate key). It ran before the holder that was answered last took the
   * lock, or after that one ended; and before whoever locks it next.
   */
  touch(step: number, transaction: number, object: number): void {
    const { steps } = this;
    const holder = this.#exclusive.get(object);
    if (holder !== undefined && holder.transaction !== transaction) {
      const ending = steps.endOf[holder.transaction]!;
      const order = (from: number, to: number): Order[] | undefined =>
        steps.start[from]! < steps.end[to]! ? [{ from, to, why: because.lock, object }] : undefined;
      const after = ending < 0 ? undefined : order(ending, step);
      const before = order(step, holder.step);
      const alternatives = [after, before].filter((one) => one !== undefined);
      if (alternatives.length > 0) this.choices.push({ step, object, what: 'opponent', alternatives });
    }
    this.pass(step, transaction, object);
  }

  /** A statement may have held the lock for a moment: it comes before whoever locks it next. */
  pass(step: number, transaction: number, object: number): void {
    const sharers = this.#sharers.get(object);
    const brief: Holder = { transaction, step, brief: true, wrote: false };
    if (sharers === undefined) this.#sharers.set(object, [brief]);
    else sharers.push(brief);
  }

  /** `step` got the lock that `holder` had. */
  #after(holder: Holder, step: number, transaction: number, object: number, changes: boolean): void {
    const { steps } = this;
    const ending = holder.brief === true ? holder.step : steps.endOf[holder.transaction]!;
    if (ending < 0 || steps.start[ending]! >= steps.end[step]!) {
      this.unexplained.push({ step, object, what: 'got a lock that another transaction still held' });
      this.#overlapping(holder.step, step, because.answered, object, true);
      return;
    }
    // A step that waits for its lock fixes its snapshot before it waits, so it may have to be sent early; but not if it
    // could overwrite only what its snapshot shows.
    const overwrites =
      changes && holder.wrote && this.basisOf(transaction) >= 0 && this.committed(holder.transaction);
    const arrives = this.arrives(transaction, step);
    // Who was sent before the holder began to end did wait, and may have to again, to have its place in a queue.
    const waited = steps.start[step]! < steps.start[ending]!;
    const mayWait = (arrives !== 'no' || waited) && !overwrites;
    this.#overlapping(ending, step, because.lock, object, ending === holder.step || mayWait);
    // Sent early it would stand in the queue; whoever got the lock before it must be there first, unless it
    // stood in the queue for another row then.
    if (mayWait && ending !== holder.step)
      this.#overlapping(holder.step, step, because.lock, object, arrives === 'range');
  }

  /** Where a transaction may overwrite only what its snapshot shows, the snapshot shows the last committed version. */
  #basedOn(writer: Holder, step: number, transaction: number, object: number): void {
    const { steps } = this;
    const basis = this.basisOf(transaction);
    const ending = steps.endOf[writer.transaction]!;
    if (basis < 0 || ending < 0) return;
    if (steps.start[ending]! < steps.end[basis]!)
      this.#overlapping(ending, basis, because.firstUpdater, object, ending === writer.step);
    else if (basis !== step) this.unexplained.push({ step, object, what: overwrote });
  }

  #overlapping(
    from: number,
    to: number,
    why: Parameters<Edges['add']>[2],
    object: number,
    soft: boolean,
  ): void {
    const { steps, edges } = this;
    if (steps.session[from] === steps.session[to]) return;
    if (steps.end[from]! < steps.start[to]!) return; // time says so
    if (steps.start[from]! < steps.end[to]!) edges.add(from, to, why, object, soft);
  }

  /** A scan locked all rows it passed, or a row was locked in a table where scans do. */
  passTable(step: number, transaction: number, table: number, whole: boolean): void {
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
      if (ending >= 0) this.#overlapping(ending, step, because.scanLock, table, true);
    }
    const own = lockers.find((one) => one.transaction === transaction);
    if (own === undefined) lockers.push({ transaction, whole });
    else own.whole ||= whole;
    this.#lockers.set(table, lockers);
  }
}

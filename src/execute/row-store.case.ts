/**
 * A small, obvious database for tests: rows of `t(id, v)` with their versions, transactions under a contract's mechanism, one
 * step at a time, so that the true order is known. Order inference (`reproduce/`) is tested against it, and needs waiting: `request`
 * answers at once, or later through `answer`, with queues of waiting statements, deadlocks and failed transactions that stay open.
 * `wakes: 'later'` lets whoever waited go on only when it is told to (`wake`), so that others may come before it, as on a busy machine.
 * The verifier's slow twin is another store (`check/mechanism/simulate.case.ts`, which says what only one of them has).
 *
 * An UPDATE or DELETE by condition goes through the rows as its engine does:
 *
 * - One snapshot, or a validating engine: the rows that satisfy the condition there.
 * - Current rows, chosen by the statement's own snapshot (PostgreSQL's READ COMMITTED): row by row, in the order in which the
 *   versions of the snapshot were written; it waits for each that another holds, and looks at its newest version again. A row that was
 *   deleted meanwhile is gone, even if its key was put in again.
 * - Current rows, in the order of their keys (InnoDB): each as it is when the statement gets there.
 */
import type { Mechanism } from '../contracts/index.js';
import type { RowCondition, RowStatement } from '../generate/index.js';
import type { ErrorClass } from '../histories/index.js';

export interface StoreAnswer {
  readonly rows?: readonly (readonly [id: number, v: number])[];
  readonly matched?: number;
  readonly error?: Extract<
    ErrorClass,
    'serialization' | 'deadlock' | 'duplicate-key' | 'transaction-aborted'
  >;
  readonly ends?: 'commit' | 'rollback';
}

export interface StoreOptions {
  /** Those who waited for a row go on as soon as it is free, first come first served; or when they are told to. */
  readonly wakes?: 'at once' | 'later';
  /** Called with the answers of statements that had to wait. */
  readonly answer?: (session: number, answer: StoreAnswer) => void;
}

interface Version {
  readonly at: number;
  readonly value: number | null;
  /** Versions are stored in the order in which they were written. */
  readonly place: number;
}

interface Transaction {
  readonly session: number;
  readonly explicit: boolean;
  /** When it began: what timestamp ordering goes by. */
  readonly stamp: number;
  snapshot: number | undefined;
  failed: boolean;
  readonly own: Map<number, Omit<Version, 'at'>>;
}

type Access = Extract<RowStatement, { where: RowCondition }>;
type Insert = Extract<RowStatement, { type: 'insert' }>;

/** A statement on its way. */
interface Running {
  readonly transaction: Transaction;
  readonly statement: Access | Insert;
  /** When it arrived: what it sees, if it sees a snapshot of its own. */
  arrived: number;
  /** The rows it still has to look at, once it has chosen them; or the key it has come to. */
  left?: number[];
  passed?: number;
  readonly taken: number[];
  /** The row that it waits for. */
  waitsFor?: number;
  /** The rows it has waited for. */
  readonly waited: Set<number>;
}

const ever = Number.POSITIVE_INFINITY;

export class RowStore {
  #clock = 0;
  #places = 0;
  #versions = new Map<number, Version[]>();
  #open = new Map<number, Transaction>();
  /** Who holds a row. */
  #locks = new Map<number, Transaction>();
  /** Who keeps others from changing a row, because it stood in the way of their own (InnoDB). */
  readonly #shares = new Map<number, Set<Transaction>>();
  readonly #waiting: Running[] = [];
  readonly #readStamp = new Map<number, number>();
  readonly #writeStamp = new Map<number, number>();

  constructor(
    readonly mechanism: Mechanism,
    initial: Iterable<readonly [id: number, v: number]>,
    private readonly options: StoreOptions = {},
  ) {
    for (const [id, value] of initial) this.#versions.set(id, [{ at: 0, value, place: this.#places++ }]);
  }

  /** Answers at once, or returns undefined and calls `answer` later. */
  request(session: number, statement: RowStatement): StoreAnswer | undefined {
    const found = this.#begin(session, statement);
    return 'transaction' in found ? this.#goOn(found) : found;
  }

  /** Sessions that wait for a row that is free by now. */
  get wakeable(): readonly number[] {
    return this.#waiting
      .filter((running) => this.#blockersOf(running).length === 0)
      .map(({ transaction }) => transaction.session);
  }

  /** Lets a session that waited go on. */
  wake(session: number): void {
    const at = this.#waiting.findIndex(({ transaction }) => transaction.session === session);
    const [running] = this.#waiting.splice(at, 1);
    this.#clock++;
    const answer = this.#goOn(running!);
    if (answer !== undefined) this.options.answer?.(session, answer);
  }

  /** Sessions that wait for each other; empty: there are none. */
  get deadlocked(): readonly number[] {
    for (const running of this.#waiting) {
      const cycle = this.#cycleFrom(running.transaction);
      if (cycle.length > 0) return cycle;
    }
    return [];
  }

  /** Ends a statement that waits, and its transaction, as a deadlock's victim. */
  killWaiting(session: number): void {
    const at = this.#waiting.findIndex(({ transaction }) => transaction.session === session);
    const [running] = this.#waiting.splice(at, 1);
    const answer = this.#finish(running!.transaction, { error: 'deadlock' });
    this.options.answer?.(session, answer!);
  }

  // ── Statements ───────────────────────────────────────────────────────────────────────────────────────────────

  #begin(session: number, statement: RowStatement): Running | StoreAnswer {
    this.#clock++;
    let transaction = this.#open.get(session);
    const { pivot } = this.mechanism;
    if (statement.type === 'begin') {
      transaction = this.#transaction(session, true);
      if (pivot === 'begin') transaction.snapshot = this.#clock;
      return {};
    }
    if (!isAccess(statement)) {
      if (transaction === undefined) return {};
      const wants = statement.type === 'commit' && !transaction.failed;
      const outdated = wants && this.#outdated(transaction);
      this.#end(transaction, wants && !outdated);
      return {
        ends: wants && !outdated ? 'commit' : 'rollback',
        ...(outdated && { error: 'serialization' as const }),
      };
    }
    if (transaction?.failed === true) return { error: 'transaction-aborted' };
    transaction ??= this.#transaction(session, false);
    const plain = statement.type === 'select' && statement.lock !== true;
    if (pivot === 'first-statement' || pivot === 'begin' || (pivot === 'first-read' && plain))
      transaction.snapshot ??= this.#clock;
    return { transaction, statement, arrived: this.#clock, taken: [], waited: new Set() };
  }

  #transaction(session: number, explicit: boolean): Transaction {
    const transaction: Transaction = {
      ...{ session, explicit, stamp: this.#clock, snapshot: undefined, failed: false },
      own: new Map(),
    };
    this.#open.set(session, transaction);
    return transaction;
  }

  #goOn(running: Running): StoreAnswer | undefined {
    delete running.waitsFor;
    const answer = this.#attempt(running);
    if (answer !== undefined) return this.#finish(running.transaction, answer);
    const prompt = this.options.wakes !== 'later';
    if (running.waitsFor !== undefined) running.waited.add(running.waitsFor);
    this.#waiting.push(running);
    if (!prompt || this.#cycleFrom(running.transaction).length === 0) return undefined;
    this.#waiting.pop();
    return this.#finish(running.transaction, { error: 'deadlock' });
  }

  #finish(transaction: Transaction, answer: StoreAnswer | undefined): StoreAnswer | undefined {
    if (answer === undefined) return undefined;
    const { error } = answer;
    const { failureRollsBack } = this.mechanism;
    if (error === 'deadlock' && !(failureRollsBack === true && transaction.explicit)) {
      this.#end(transaction, false);
      return { ...answer, ends: 'rollback' };
    }
    if (!transaction.explicit) {
      this.#end(transaction, error === undefined);
      return { ...answer, ends: error === undefined ? 'commit' : 'rollback' };
    }
    if (error === undefined) return answer;
    if (error === 'serialization' || failureRollsBack === true) transaction.failed = true;
    if (failureRollsBack === true) {
      transaction.own.clear();
      this.#release(transaction);
    }
    return answer;
  }

  /** Undefined: it has to wait. */
  #attempt(running: Running): StoreAnswer | undefined {
    const { statement } = running;
    if (this.mechanism.protocol === 'timestamp') return this.#stamped(running);
    if (statement.type === 'insert') return this.#insert(running, statement);
    if (statement.type === 'select' && statement.lock !== true) return { rows: this.#read(running) };
    return this.#take(running, statement);
  }

  #read({ transaction, statement, arrived }: Running): [number, number][] {
    const view = this.#view(transaction, transaction.snapshot ?? arrived);
    return rowsOf(view).filter((row) => satisfies(row, (statement as Access).where));
  }

  #insert(running: Running, { id, value }: Insert): StoreAnswer | undefined {
    const { transaction, arrived } = running;
    const { writeConflict, passedRows } = this.mechanism;
    if (this.#isHeld(id, transaction, 'share')) {
      if (writeConflict === 'fails') return { error: 'duplicate-key' };
      running.waitsFor = id;
      return undefined;
    }
    const at = writeConflict === 'none' ? (transaction.snapshot ?? arrived) : ever;
    if (this.#seen(transaction, id, at) !== null) {
      if (passedRows !== undefined) this.#share(id, transaction);
      return { error: 'duplicate-key' };
    }
    this.#write(transaction, id, value);
    return { matched: 1 };
  }

  /** Goes through the rows of a statement that changes or locks them. */
  #take(running: Running, statement: Access): StoreAnswer | undefined {
    const { transaction, arrived, taken } = running;
    const { writeConflict, firstUpdaterWins } = this.mechanism;
    const clause = statement.type === 'select' ? this.mechanism.lockingReadsSee : this.mechanism.writesSee;
    const at = transaction.snapshot ?? arrived;
    const rows = this.#rowsInTurn(running, clause === 'snapshot' ? at : arrived, clause === 'current');
    for (const [id, matches] of rows) {
      if (this.#isHeld(id, transaction)) {
        if (writeConflict === 'fails') return { error: 'serialization' };
        running.waitsFor = id;
        return undefined;
      }
      running.passed = id;
      running.left?.shift();
      if (!matches()) {
        // What was waited for stays locked; PostgreSQL locks what is still there.
        const { passedRows } = this.mechanism;
        const keeps = clause === 'current' && passedRows !== 'kept' && running.waited.has(id);
        const isThere = passedRows === 'released' || this.#seen(transaction, id, ever) !== null;
        if (keeps && isThere) this.#locks.set(id, transaction);
        continue;
      }
      if (firstUpdaterWins && writeConflict !== 'none' && this.#changedSince(transaction, id, at))
        return { error: 'serialization' };
      if (writeConflict !== 'none') this.#locks.set(id, transaction);
      taken.push(id);
    }
    if (statement.type === 'select')
      return { rows: taken.map((id) => [id, this.#seen(transaction, id, ever)!]) };
    for (const id of taken) {
      const before = this.#seen(transaction, id, writeConflict === 'none' ? at : ever)!;
      if (statement.type === 'delete') this.#write(transaction, id, null);
      else this.#write(transaction, id, statement.to === 'more' ? before + 1 : statement.to);
    }
    return { matched: taken.length };
  }

  /** The rows that a statement looks at, one after another, each with the question whether it is changed once it is free. */
  *#rowsInTurn(running: Running, at: number, current: boolean): Generator<readonly [number, () => boolean]> {
    const { transaction } = running;
    const { passedRows } = this.mechanism;
    const { where } = running.statement as Access;
    const isHit = (id: number) => {
      const value = this.#seen(transaction, id, ever);
      return value !== null && satisfies([id, value], where);
    };
    if (current && passedRows !== undefined) {
      const { id: only } = where;
      for (let id = this.#nextKey(running); id !== undefined; id = this.#nextKey(running)) {
        // READ COMMITTED does not wait for rows whose committed version does not match.
        const passes = passedRows === 'released' && !running.waited.has(id) && !isHit(id);
        const skips = (only !== undefined && id !== only) || passes;
        if (skips) running.passed = id;
        else yield [id, () => isHit(id)];
      }
      return;
    }
    running.left ??= this.#chosen(running, at);
    for (let [id] = running.left; id !== undefined; [id] = running.left) {
      const row = id;
      const isSame = () => transaction.own.has(row) || !this.#deletedSince(row, at);
      yield [row, () => !current || (isSame() && isHit(row))];
    }
  }

  /** The next key, whoever put it in. */
  #nextKey({ passed = Number.NEGATIVE_INFINITY }: Running): number | undefined {
    let next: number | undefined;
    const look = (id: number) => {
      if (id > passed && (next === undefined || id < next)) next = id;
    };
    for (const id of this.#versions.keys()) look(id);
    for (const { own } of this.#open.values()) for (const id of own.keys()) look(id);
    return next;
  }

  /** The rows that satisfy a condition at a moment, in the order in which they are stored. */
  #chosen({ transaction, statement }: Running, at: number): number[] {
    const { where } = statement as Access;
    return rowsOf(this.#view(transaction, at))
      .filter((row) => satisfies(row, where))
      .map(([id]) => id)
      .sort((a, b) => this.#place(transaction, a, at) - this.#place(transaction, b, at));
  }

  // ── Timestamp ordering ───────────────────────────────────────────────────────────────────────────────────────

  /** Who comes too late for the rows it names fails; nobody reads what is not committed. */
  #stamped(running: Running): StoreAnswer | undefined {
    const { transaction, statement } = running;
    const reads = statement.type === 'select';
    const where: RowCondition = statement.type === 'insert' ? { id: statement.id } : statement.where;
    const ids = [...new Set([...this.#versions.keys(), ...transaction.own.keys()])].sort((a, b) => a - b);
    const named = where.id === undefined ? ids : [where.id];
    for (const id of named) {
      const holder = this.#locks.get(id);
      if (holder !== undefined && holder !== transaction) {
        // Only the younger waits for the older, so nobody waits in a circle.
        if (holder.stamp > transaction.stamp) return { error: 'serialization' };
        running.waitsFor = id;
        return undefined;
      }
      if (this.#tooLate(transaction, id, !reads)) return { error: 'serialization' };
      if (!reads) this.#locks.set(id, transaction);
    }
    const found = named.flatMap((id): [number, number][] => {
      const value = this.#seen(transaction, id, ever);
      return value !== null && satisfies([id, value], where) ? [[id, value]] : [];
    });
    if (reads) return { rows: found };
    if (statement.type === 'insert') {
      if (found.length > 0) return { error: 'duplicate-key' };
      this.#write(transaction, statement.id, statement.value);
      return { matched: 1 };
    }
    for (const [id, v] of found)
      this.#write(
        transaction,
        id,
        statement.type === 'delete' ? null : statement.to === 'more' ? v + 1 : statement.to,
      );
    return { matched: found.length };
  }

  #tooLate({ stamp }: Transaction, id: number, writes: boolean): boolean {
    const [read, written] = [this.#readStamp.get(id) ?? 0, this.#writeStamp.get(id) ?? 0];
    if (written > stamp || (writes && read > stamp)) return true;
    (writes ? this.#writeStamp : this.#readStamp).set(id, Math.max(stamp, writes ? written : read));
    return false;
  }

  // ── Versions and locks ───────────────────────────────────────────────────────────────────────────────────────

  #committed(id: number, at: number): Version | undefined {
    return this.#versions.get(id)?.findLast((version) => version.at <= at);
  }

  #seen({ own }: Transaction, id: number, at: number): number | null {
    return (own.get(id) ?? this.#committed(id, at))?.value ?? null;
  }

  #place({ own }: Transaction, id: number, at: number): number {
    return (own.get(id) ?? this.#committed(id, at))!.place;
  }

  /** What a transaction sees of a moment, with its own writes. */
  #view({ own }: Transaction, at: number): Map<number, number | null> {
    const view = new Map<number, number | null>();
    for (const id of this.#versions.keys()) view.set(id, this.#committed(id, at)?.value ?? null);
    for (const [id, { value }] of own) view.set(id, value);
    return view;
  }

  #changedSince({ own }: Transaction, id: number, at: number): boolean {
    const newest = this.#versions.get(id)?.at(-1);
    return !own.has(id) && newest !== undefined && newest.at > at;
  }

  #deletedSince(id: number, at: number): boolean {
    return this.#versions.get(id)?.some((version) => version.at > at && version.value === null) === true;
  }

  /** Validation at COMMIT, where nothing was locked before: a row it wrote has a version newer than its snapshot. */
  #outdated({ own, snapshot = ever }: Transaction): boolean {
    if (this.mechanism.writeConflict !== 'none') return false;
    return [...own.keys()].some((id) => (this.#versions.get(id)?.at(-1)?.at ?? 0) > snapshot);
  }

  /** Whether others keep a transaction from a row that it wants to change, or only to be kept (`share`). */
  #isHeld(id: number, by: Transaction, mode: 'exclusive' | 'share' = 'exclusive'): boolean {
    return this.#holdersOf(id, by, mode).length > 0;
  }

  #holdersOf(id: number, by: Transaction, mode: 'exclusive' | 'share'): Transaction[] {
    const holder = this.#locks.get(id);
    const found = new Set(mode === 'exclusive' ? this.#shares.get(id) : []);
    if (holder !== undefined) found.add(holder);
    found.delete(by);
    return [...found];
  }

  /** Whom a statement waits for. */
  #blockersOf({ waitsFor, transaction, statement }: Running): readonly Transaction[] {
    return this.#holdersOf(waitsFor!, transaction, statement.type === 'insert' ? 'share' : 'exclusive');
  }

  #share(id: number, transaction: Transaction): void {
    const sharers = this.#shares.get(id);
    if (sharers === undefined) this.#shares.set(id, new Set([transaction]));
    else sharers.add(transaction);
  }

  #write(transaction: Transaction, id: number, value: number | null): void {
    if (this.mechanism.writeConflict !== 'none') this.#locks.set(id, transaction);
    transaction.own.set(id, { value, place: this.#places++ });
  }

  #end(transaction: Transaction, commits: boolean): void {
    this.#clock++;
    this.#open.delete(transaction.session);
    for (const [id, own] of commits ? transaction.own : []) {
      const version = { ...own, at: this.#clock };
      const versions = this.#versions.get(id);
      if (versions === undefined) this.#versions.set(id, [version]);
      else versions.push(version);
    }
    this.#release(transaction);
  }

  #release(transaction: Transaction): void {
    for (const [row, holder] of this.#locks) if (holder === transaction) this.#locks.delete(row);
    for (const sharers of this.#shares.values()) sharers.delete(transaction);
    if (this.options.wakes === 'later') return;
    for (let [next] = this.wakeable; next !== undefined; [next] = this.wakeable) this.wake(next);
  }

  /** The sessions of a circle of waits that leads back to a transaction that waits; empty: there is none. */
  #cycleFrom(transaction: Transaction): number[] {
    const seen = new Set<Transaction>();
    const search = (at: Transaction, path: readonly number[]): number[] => {
      const running = this.#waiting.find((one) => one.transaction === at);
      for (const holder of running?.waitsFor === undefined ? [] : this.#blockersOf(running)) {
        if (holder === transaction) return [...path];
        if (seen.has(holder)) continue;
        seen.add(holder);
        const found = search(holder, [...path, holder.session]);
        if (found.length > 0) return found;
      }
      return [];
    };
    return search(transaction, [transaction.session]);
  }
}

function isAccess(statement: RowStatement): statement is Access | Insert {
  return 'where' in statement || statement.type === 'insert';
}

function satisfies([id, v]: readonly [number, number], where: RowCondition): boolean {
  return (
    (where.id === undefined || id === where.id) &&
    (where.below === undefined || v < where.below) &&
    (where.least === undefined || v >= where.least)
  );
}

function rowsOf(view: ReadonlyMap<number, number | null>): [number, number][] {
  return [...view].filter((row): row is [number, number] => row[1] !== null).sort((a, b) => a[0] - b[0]);
}

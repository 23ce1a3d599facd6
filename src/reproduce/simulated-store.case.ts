/**
 * A multi-version store with row locks, small enough to be obviously right: what order inference is tested against.
 * It runs one request at a time, so the true order is known, and hidden again by widening every operation's interval.
 *
 * The verifier's twin (`check/mechanism/simulate.case.ts`) is a second store of rows: there a statement takes
 * effect at one instant or is not possible yet, and the state is copied to search every order. Here waiting is what is tested,
 * so only this store has
 * - queues of waiting statements that are answered later, seeing what is current when they get their lock;
 * - deadlocks, failed transactions that stay open until they are ended, duplicate keys, and each error's class;
 * - locking reads, and timestamp ordering and validation at COMMIT as ways to handle conflicts.
 * Only the twin has reads of uncommitted rows, subqueries in conditions, rows hidden by the reader's own DELETE, and copies.
 */
import type { Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';

export type SimOp =
  | { readonly type: 'begin' | 'commit' | 'rollback' }
  | { readonly type: 'get'; readonly id: number; readonly lock: boolean }
  | { readonly type: 'scan'; readonly below: number | undefined }
  | { readonly type: 'set'; readonly id: number; readonly value: number }
  | { readonly type: 'add'; readonly id: number }
  | { readonly type: 'set-below'; readonly below: number; readonly value: number }
  | { readonly type: 'insert'; readonly id: number; readonly value: number }
  | { readonly type: 'delete'; readonly id: number };

export function sqlOfSim(op: SimOp): string {
  switch (op.type) {
    case 'begin':
    case 'commit':
    case 'rollback':
      return op.type.toUpperCase();
    case 'get':
      return `SELECT id, v FROM t WHERE id = ${op.id}${op.lock ? ' FOR UPDATE' : ''}`;
    case 'scan':
      return op.below === undefined ? 'SELECT id, v FROM t' : `SELECT id, v FROM t WHERE v < ${op.below}`;
    case 'set':
      return `UPDATE t SET v = ${op.value} WHERE id = ${op.id}`;
    case 'add':
      return `UPDATE t SET v = v + 1 WHERE id = ${op.id}`;
    case 'set-below':
      return `UPDATE t SET v = ${op.value} WHERE v < ${op.below}`;
    case 'insert':
      return `INSERT INTO t VALUES (${op.id}, ${op.value})`;
    case 'delete':
      return `DELETE FROM t WHERE id = ${op.id}`;
    default:
      return op satisfies never;
  }
}

export interface SimResult {
  readonly rows?: readonly (readonly [number, number])[];
  readonly matched?: number;
  readonly error?: 'serialization' | 'deadlock' | 'duplicate-key' | 'transaction-aborted';
  readonly ends?: 'commit' | 'rollback';
}

interface Txn {
  readonly session: number;
  /** When it began: what timestamp ordering goes by. */
  readonly stamp: number;
  snapshot: number | undefined;
  failed: boolean;
  readonly writes: Map<number, number | null>;
  readonly explicit: boolean;
}

interface Waiting {
  readonly txn: Txn;
  readonly op: SimOp;
  readonly row: number;
  /** Clock when the statement arrived: what it sees, if it sees a snapshot of its own. */
  readonly arrived: number;
}

/** Rows `id → v`, under one mechanism. `answer` is called for requests that had to wait. */
export class SimStore {
  #clock = 0;
  readonly #versions = new Map<number, { at: number; value: number | null }[]>();
  readonly #locks = new Map<number, Txn>();
  readonly #open = new Map<number, Txn>();
  readonly #waiting: Waiting[] = [];
  readonly #readStamp = new Map<number, number>();
  readonly #writeStamp = new Map<number, number>();

  constructor(
    private readonly mechanism: Mechanism,
    initial: ReadonlyMap<number, number>,
    private readonly answer: (session: number, result: SimResult) => void,
  ) {
    for (const [id, value] of initial) this.#versions.set(id, [{ at: 0, value }]);
  }

  /** Answers at once, or returns undefined and calls `answer` later. */
  request(session: number, op: SimOp): SimResult | undefined {
    this.#clock++;
    let txn = this.#open.get(session);
    if (op.type === 'begin') {
      txn = this.#begin(session, true);
      if (this.mechanism.pivot === 'begin') txn.snapshot = this.#clock;
      this.#open.set(session, txn);
      return {};
    }
    if (op.type === 'commit' || op.type === 'rollback') {
      if (txn === undefined) return {};
      const outdated = op.type === 'commit' && !txn.failed && this.#outdated(txn);
      const commits = op.type === 'commit' && !txn.failed && !outdated;
      this.#end(txn, commits);
      return { ends: commits ? 'commit' : 'rollback', ...(outdated && { error: 'serialization' as const }) };
    }
    txn ??= this.#begin(session, false);
    if (txn.failed) return { error: 'transaction-aborted' };
    const { pivot } = this.mechanism;
    const plain = (op.type === 'get' && !op.lock) || op.type === 'scan';
    if (pivot === 'first-statement' || (pivot === 'first-read' && plain)) txn.snapshot ??= this.#clock;
    return this.#finish(txn, this.#attempt(txn, op, this.#clock));
  }

  #begin(session: number, explicit: boolean): Txn {
    return { session, stamp: this.#clock, snapshot: undefined, failed: false, writes: new Map(), explicit };
  }

  /** Validation at COMMIT, where nothing was locked before: a row it wrote has a version newer than its snapshot. */
  #outdated(txn: Txn): boolean {
    if (this.mechanism.writeConflict !== 'none') return false;
    return [...txn.writes.keys()].some(
      (id) => (this.#versions.get(id)?.at(-1)?.at ?? 0) > (txn.snapshot ?? Number.POSITIVE_INFINITY),
    );
  }

  /** Strict timestamp ordering: who comes too late for the rows it names fails; nobody reads what is not committed. */
  #tooLate(txn: Txn, id: number, writes: boolean): boolean {
    const [read, written] = [this.#readStamp.get(id) ?? 0, this.#writeStamp.get(id) ?? 0];
    if (written > txn.stamp || (writes && read > txn.stamp)) return true;
    (writes ? this.#writeStamp : this.#readStamp).set(id, Math.max(txn.stamp, writes ? written : read));
    return false;
  }

  #stamped(txn: Txn, op: SimOp, ids: readonly number[], arrived: number): SimResult | undefined {
    const reads = op.type === 'get' || op.type === 'scan';
    const named = 'id' in op ? [op.id] : ids;
    for (const id of named) {
      const holder = this.#locks.get(id);
      if (holder !== undefined && holder !== txn) {
        // Only the younger waits for the older, so nobody waits in a circle.
        return holder.stamp > txn.stamp ? { error: 'serialization' } : this.#block(txn, op, id, arrived);
      }
      if (this.#tooLate(txn, id, !reads)) return { error: 'serialization' };
      if (!reads) this.#locks.set(id, txn);
    }
    const now = (id: number) => this.#seen(txn, id, Number.POSITIVE_INFINITY);
    const found = named.filter((id) => {
      const value = now(id);
      return value !== null && !('below' in op && op.below !== undefined && value >= op.below);
    });
    if (reads) return { rows: found.map((id) => [id, now(id)!]) };
    if (op.type === 'insert') {
      if (found.length > 0) return { error: 'duplicate-key' };
      txn.writes.set(op.id, op.value);
      return { matched: 1 };
    }
    for (const id of found)
      txn.writes.set(id, op.type === 'delete' ? null : 'value' in op ? op.value : now(id)! + 1);
    return { matched: found.length };
  }

  get waitingSessions(): readonly number[] {
    return this.#waiting.map(({ txn }) => txn.session);
  }

  #finish(txn: Txn, result: SimResult | undefined): SimResult | undefined {
    if (result === undefined) return undefined;
    if (result.error === 'deadlock') {
      this.#end(txn, false);
      return { ...result, ends: 'rollback' };
    }
    if (txn.explicit) {
      const rollsBack = result.error !== undefined && this.mechanism.failureRollsBack === true;
      if (result.error === 'serialization' || rollsBack) txn.failed = true;
      if (rollsBack) {
        txn.writes.clear();
        this.#release(txn);
      }
      return result;
    }
    this.#end(txn, result.error === undefined);
    return { ...result, ends: result.error === undefined ? 'commit' : 'rollback' };
  }

  #seen(txn: Txn, id: number, at: number): number | null {
    if (txn.writes.has(id)) return txn.writes.get(id)!;
    return this.#versions.get(id)?.findLast((version) => version.at <= at)?.value ?? null;
  }

  #attempt(txn: Txn, op: SimOp, arrived: number): SimResult | undefined {
    const { mechanism } = this;
    const at = txn.snapshot ?? arrived;
    const ids = [...new Set([...this.#versions.keys(), ...txn.writes.keys()])].sort((a, b) => a - b);
    if (mechanism.protocol === 'timestamp') return this.#stamped(txn, op, ids, arrived);
    if (op.type === 'scan' || (op.type === 'get' && !op.lock)) {
      const wanted = ids.filter((id) => (op.type === 'get' ? id === op.id : true));
      const rows = wanted.flatMap((id): [number, number][] => {
        const value = this.#seen(txn, id, at);
        return value === null || (op.type === 'scan' && op.below !== undefined && value >= op.below)
          ? []
          : [[id, value]];
      });
      return { rows };
    }
    const clause = op.type === 'get' ? mechanism.lockingReadsSee : mechanism.writesSee;
    const base = clause === 'snapshot' ? at : Number.POSITIVE_INFINITY;
    if (op.type === 'insert') {
      const holder = this.#locks.get(op.id);
      if (holder !== undefined && holder !== txn) {
        if (mechanism.writeConflict === 'fails') return { error: 'duplicate-key' };
        return this.#block(txn, op, op.id, arrived);
      }
      const sees = mechanism.writeConflict === 'none' ? at : Number.POSITIVE_INFINITY;
      if (this.#seen(txn, op.id, sees) !== null) return { error: 'duplicate-key' };
      if (mechanism.writeConflict !== 'none') this.#locks.set(op.id, txn);
      txn.writes.set(op.id, op.value);
      return { matched: 1 };
    }
    const touched: number[] = [];
    for (const id of ids) {
      if ('id' in op ? id !== op.id : false) continue;
      const value = this.#seen(txn, id, base);
      if (value === null || (op.type === 'set-below' && value >= op.below)) continue;
      const holder = this.#locks.get(id);
      if (holder !== undefined && holder !== txn) {
        if (mechanism.writeConflict === 'fails') return { error: 'serialization' };
        return this.#block(txn, op, id, arrived);
      }
      if (mechanism.writeConflict === 'none') {
        touched.push(id);
        continue;
      }
      const newest = this.#versions.get(id)?.at(-1);
      if (mechanism.firstUpdaterWins && !txn.writes.has(id) && newest !== undefined && newest.at > at)
        return { error: 'serialization' };
      this.#locks.set(id, txn);
      touched.push(id);
    }
    if (op.type === 'get') {
      return { rows: touched.map((id) => [id, this.#seen(txn, id, Number.POSITIVE_INFINITY)!]) };
    }
    for (const id of touched) {
      const value = this.#seen(txn, id, mechanism.writeConflict === 'none' ? at : Number.POSITIVE_INFINITY)!;
      txn.writes.set(id, op.type === 'delete' ? null : 'value' in op ? op.value : value + 1);
    }
    return { matched: touched.length };
  }

  #block(txn: Txn, op: SimOp, row: number, arrived: number): SimResult | undefined {
    for (let at: Txn | undefined = this.#locks.get(row); at !== undefined; ) {
      if (at === txn) return { error: 'deadlock' };
      const waits: Waiting | undefined = this.#waiting.find((one) => one.txn === at);
      at = waits === undefined ? undefined : this.#locks.get(waits.row);
    }
    this.#waiting.push({ txn, op, row, arrived });
    return undefined;
  }

  #end(txn: Txn, commits: boolean): void {
    this.#clock++;
    this.#open.delete(txn.session);
    if (commits) {
      for (const [id, value] of txn.writes) {
        const versions = this.#versions.get(id);
        if (versions === undefined) this.#versions.set(id, [{ at: this.#clock, value }]);
        else versions.push({ at: this.#clock, value });
      }
    }
    this.#release(txn);
  }

  #release(txn: Txn): void {
    for (const [row, holder] of this.#locks) if (holder === txn) this.#locks.delete(row);
    for (;;) {
      const next = this.#waiting.findIndex((one) => !this.#locks.has(one.row));
      if (next < 0) return;
      const [one] = this.#waiting.splice(next, 1);
      this.#clock++;
      // A statement that sees current data sees what is current when it gets its lock.
      const arrived = this.mechanism.writesSee === 'current' ? this.#clock : one!.arrived;
      const result = this.#finish(one!.txn, this.#attempt(one!.txn, one!.op, arrived));
      if (result !== undefined) this.answer(one!.txn.session, result);
    }
  }
}

export interface SimProgram {
  readonly initial: ReadonlyMap<number, number>;
  readonly sessions: readonly (readonly SimOp[])[];
}

/**
 * Runs the sessions in a random interleaving and returns the history with widened intervals: up to `widest` of the way to the
 * session's neighbouring statements.
 */
export function simulate(
  program: SimProgram,
  mechanism: Mechanism,
  random: () => number,
  widest = 1,
): History {
  interface Flight {
    readonly session: number;
    readonly op: SimOp;
    readonly sent: number;
    done?: number;
    result?: SimResult;
  }
  const flights: Flight[][] = program.sessions.map(() => []);
  const position = program.sessions.map(() => 0);
  const flying = new Map<number, Flight>();
  let time = 0;
  const finish = (session: number, result: SimResult) => {
    const flight = flying.get(session)!;
    flying.delete(session);
    flight.done = ++time;
    flight.result = result;
    const failed =
      result.error !== undefined && (mechanism.failureRollsBack === true || result.error !== 'duplicate-key');
    if (failed && !/^(commit|rollback)$/.test(flight.op.type)) skipToEnd(session, result);
  };
  const skipToEnd = (session: number, result: SimResult) => {
    const ops = program.sessions[session]!;
    while (
      position[session]! < ops.length &&
      !/^(commit|rollback|begin)$/.test(ops[position[session]!]!.type)
    )
      position[session]!++;
    const next = ops[position[session]!];
    if (result.ends === 'rollback' && next !== undefined && next.type !== 'begin') position[session]!++;
  };
  const store = new SimStore(mechanism, program.initial, finish);
  for (;;) {
    const ready = program.sessions.flatMap((ops, s) =>
      !flying.has(s) && position[s]! < ops.length ? [s] : [],
    );
    if (ready.length === 0) break;
    const session = ready[Math.floor(random() * ready.length)]!;
    const op = program.sessions[session]![position[session]!++]!;
    const flight: Flight = { session, op, sent: ++time };
    flights[session]!.push(flight);
    flying.set(session, flight);
    const result = store.request(session, op);
    if (result !== undefined) finish(session, result);
  }
  let transactions = 0;
  const operations = flights.flatMap((list) => {
    let free = 0;
    let transaction = -1;
    return list.map((flight, i) => {
      const done = flight.done ?? Number.POSITIVE_INFINITY;
      const until = list[i + 1]?.sent ?? done + 10;
      const start = flight.sent - (flight.sent - free) * random() * widest;
      const end = done + (until - done) * random() * widest;
      free = end;
      const { error, ends, rows, matched } = flight.result ?? {};
      if (transaction < 0) transaction = transactions++;
      const operation: Omit<Operation, 'index'> = {
        session: flight.session,
        transaction,
        kind: kindOf(flight.op),
        sql: sqlOfSim(flight.op),
        start,
        end,
        outcome: error === undefined ? 'ok' : 'error',
        ...(error === undefined ? undefined : { error: { class: error, message: error } }),
        ...(ends === undefined ? undefined : { ends }),
        ...(rows === undefined ? undefined : { columns: ['id', 'v'], rows }),
        ...(matched === undefined ? undefined : { matched }),
      };
      if (ends !== undefined) transaction = -1;
      return operation;
    });
  });
  return {
    header: {
      sessions: program.sessions.map((_, s) => `S${s}`),
      dialect: 'postgres',
      setup: [
        'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
        ...[...program.initial].map(([id, v]) => `INSERT INTO t VALUES (${id}, ${v})`),
      ],
    },
    operations: operations.sort((a, b) => a.end! - b.end!).map((op, index) => ({ ...op, index })),
  };
}

function kindOf(op: SimOp): Operation['kind'] {
  switch (op.type) {
    case 'get':
    case 'scan':
      return 'select';
    case 'set':
    case 'add':
    case 'set-below':
      return 'update';
    default:
      return op.type;
  }
}

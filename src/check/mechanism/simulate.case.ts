/**
 * A small, obvious database for tests: rows of `t(id, v)`, transactions under a contract's mechanism, one statement at a
 * time, each at one instant. It serves twice. Run in a random order it gives histories a correct database could have
 * given, with the true instants hidden inside wider intervals. Run in every order the intervals allow (`explainable`),
 * it is the verifier's slow twin: a history is wrong exactly if no order gives its answers.
 *
 * Order inference is tested against another store of rows (`execute/row-store.case.ts`). The search needs a state
 * that can be copied at every step, in which a statement that would have to wait is simply not possible yet; inference needs
 * the waits themselves. So only this store has
 * - copies, and a search over all orders with them;
 * - reads of uncommitted rows, subqueries in conditions, rows hidden by the reader's own DELETE.
 * Only the other has queues of waiting statements, deadlocks, failed transactions that stay open, duplicate keys, locking
 * reads, timestamp ordering and validation at COMMIT: here every failure rolls its transaction back.
 */
import type { Contract, Mechanism } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';

export type Action =
  | { readonly type: 'begin' }
  | { readonly type: 'commit' }
  | { readonly type: 'rollback' }
  | { readonly type: 'read'; readonly least: number }
  | { readonly type: 'update'; readonly least: number; readonly to: number | 'more' }
  | { readonly type: 'update-one'; readonly id: number; readonly to: number | 'more' }
  | { readonly type: 'update-if'; readonly id: number; readonly most: number; readonly to: number }
  | { readonly type: 'delete'; readonly id: number }
  | { readonly type: 'delete-all'; readonly least: number }
  | { readonly type: 'insert'; readonly id: number; readonly v: number };

export interface Step {
  readonly session: number;
  readonly action: Action;
}

type Answer =
  | { readonly rows: readonly (readonly [number, number])[] }
  | { readonly matched: number }
  | { readonly error: true }
  | { readonly done: true };

export interface Answered extends Step {
  readonly answer: Answer;
  start: number;
  end: number;
}

interface SimTx {
  own: Map<number, number | null>;
  /** Rows its own DELETEs hide, without having met them. */
  hidden: Set<number>;
  snapshot: Map<number, Cell> | undefined;
  failed: boolean;
}

interface Cell {
  readonly v: number | null;
  readonly stamp: number;
}

export const initialRows = [
  [1, 10],
  [2, 20],
  [3, 30],
] as const;

export class Database {
  committed = new Map<number, Cell>(initialRows.map(([id, v]) => [id, { v, stamp: 0 }]));
  open = new Map<number, SimTx>();
  stamp = 0;

  constructor(readonly mechanism: Mechanism) {}

  clone(): Database {
    const copy = new Database(this.mechanism);
    copy.committed = new Map(this.committed);
    copy.stamp = this.stamp;
    for (const [session, tx] of this.open)
      copy.open.set(session, { ...tx, own: new Map(tx.own), hidden: new Set(tx.hidden) });
    return copy;
  }

  /**
   * Runs a statement now; 'blocked' if it would have to wait. `current`: subqueries about a row that differs from the
   * snapshot see current rows, which no contract forbids.
   */
  run({ session, action }: Step, current = false): Answer | 'blocked' {
    if (action.type === 'begin') {
      const snapshot = this.mechanism.pivot === 'begin' ? new Map(this.committed) : undefined;
      this.open.set(session, { own: new Map(), hidden: new Set(), snapshot, failed: false });
      return { done: true };
    }
    const explicit = this.open.get(session);
    const tx = explicit ?? { own: new Map(), hidden: new Set<number>(), snapshot: undefined, failed: false };
    if (action.type === 'commit' || action.type === 'rollback') {
      if (action.type === 'commit') this.#commit(tx);
      this.open.delete(session);
      return { done: true };
    }
    const { pivot } = this.mechanism;
    const takes =
      pivot === 'first-statement' || (pivot === 'first-read' && action.type === 'read') || pivot === 'begin';
    const before = tx.snapshot;
    if (takes) tx.snapshot ??= new Map(this.committed);
    const answer =
      action.type === 'read'
        ? { rows: this.#read(tx, action.least) }
        : this.#write(session, tx, action, current);
    if (answer === 'blocked') {
      // It waits outside, and looks at the state only when it gets in.
      tx.snapshot = before;
      return 'blocked';
    }
    if ('error' in answer) this.open.delete(session);
    else if (explicit === undefined) this.#commit(tx);
    return answer;
  }

  /** The transaction of this session is rolled back by the database. */
  abort(session: number): void {
    this.open.delete(session);
  }

  #read(tx: SimTx, least: number): [number, number][] {
    const { pivot } = this.mechanism;
    const view = new Map([...(tx.snapshot ?? this.committed)].map(([id, cell]) => [id, cell.v]));
    if (pivot === 'uncommitted')
      for (const other of this.open.values()) for (const [id, v] of other.own) view.set(id, v);
    for (const id of tx.hidden) view.set(id, null);
    for (const [id, v] of tx.own) view.set(id, v);
    return rowsOf(view).filter(([, v]) => v >= least);
  }

  /** What a transaction sees on top of a state. */
  #seenBy(tx: SimTx, state: ReadonlyMap<number, Cell>): Map<number, number | null> {
    const view = new Map([...state].map(([id, cell]) => [id, cell.v]));
    for (const [id, v] of tx.own) view.set(id, v);
    return view;
  }

  #changedSince(tx: SimTx, id: number): boolean {
    return tx.snapshot !== undefined && tx.snapshot.get(id)?.stamp !== this.committed.get(id)?.stamp;
  }

  /** Whether a subquery of the condition for this row finds a value above `most`. */
  #findsMore(tx: SimTx, id: number, most: number, current: boolean): boolean {
    const { subqueriesSee, writesSee } = this.mechanism;
    const snapshot = subqueriesSee ?? writesSee;
    const differs = tx.snapshot !== undefined && tx.snapshot.get(id)?.v !== this.committed.get(id)?.v;
    const old = snapshot === 'snapshot' && !(current && differs);
    const state = old ? (tx.snapshot ?? this.committed) : this.committed;
    const view = this.#seenBy(tx, state);
    if (old) for (const hidden of tx.hidden) if (!tx.own.has(hidden)) view.set(hidden, null);
    return rowsOf(view).some(([, v]) => v > most);
  }

  #write(
    session: number,
    tx: SimTx,
    action: Exclude<Action, { type: 'read' | 'begin' | 'commit' | 'rollback' }>,
    current: boolean,
  ): Answer | 'blocked' {
    if (action.type === 'insert') {
      tx.own.set(action.id, action.v);
      return { matched: 1 };
    }
    const base = this.mechanism.writesSee === 'snapshot' ? (tx.snapshot ?? this.committed) : this.committed;
    const selects = ([id, v]: readonly [number, number]): boolean => {
      if (action.type === 'update' || action.type === 'delete-all') return v >= action.least;
      if (id !== action.id) return false;
      return action.type !== 'update-if' || this.#findsMore(tx, id, action.most, current);
    };
    const view = this.#seenBy(tx, base);
    const chosen = rowsOf(view).filter(selects);
    for (const [id] of chosen) {
      for (const [other, { own }] of this.open) {
        if (other === session || !own.has(id)) continue;
        return this.mechanism.writeConflict === 'waits' ? 'blocked' : { error: true };
      }
      if (this.mechanism.firstUpdaterWins && this.#changedSince(tx, id) && !tx.own.has(id))
        return { error: true };
    }
    const deletes = action.type === 'delete' || action.type === 'delete-all';
    if (deletes && this.mechanism.ownDeletesHide === true && tx.snapshot !== undefined)
      for (const row of rowsOf(this.#seenBy(tx, tx.snapshot)))
        if (selects(row) && (view.get(row[0]) ?? null) === null) tx.hidden.add(row[0]);
    for (const [id, v] of chosen) {
      if (deletes) tx.own.set(id, null);
      else tx.own.set(id, action.to === 'more' ? v + 1 : action.to);
    }
    return { matched: chosen.length };
  }

  #commit(tx: SimTx): void {
    this.stamp++;
    for (const [id, v] of tx.own) this.committed.set(id, { v, stamp: this.stamp });
  }
}

function rowsOf(view: ReadonlyMap<number, number | null>): [number, number][] {
  return [...view].filter((row): row is [number, number] => row[1] !== null).sort((a, b) => a[0] - b[0]);
}

/** Runs programs in the order `choose` picks, and hides each true instant in an interval. */
export function simulate(
  contract: Contract,
  programs: readonly (readonly Action[])[],
  next: (below: number) => number,
  exact: boolean,
): Answered[] {
  const database = new Database(contract.mechanism!);
  const positions = programs.map(() => 0);
  const answered: (Answered & { instant: number })[] = [];
  const skip = new Set<number>();
  for (;;) {
    const ready = programs.flatMap((program, session) =>
      positions[session]! < program.length ? [session] : [],
    );
    if (ready.length === 0) break;
    let session = ready[next(ready.length)]!;
    let answer: Answer | 'blocked' = 'blocked';
    for (let i = 0; i < ready.length && answer === 'blocked'; i++) {
      session = ready[(ready.indexOf(session) + (i === 0 ? 0 : 1)) % ready.length]!;
      const action = programs[session]![positions[session]!]!;
      if (skip.has(session) && action.type !== 'begin') {
        positions[session] = positions[session]! + 1;
        if (action.type === 'commit' || action.type === 'rollback') skip.delete(session);
        answer = { done: true };
        session = -1;
        break;
      }
      answer = database.run({ session, action });
    }
    if (session < 0) continue;
    const action = programs[session]![positions[session]!]!;
    if (answer === 'blocked') {
      database.abort(session);
      answer = { error: true };
    }
    positions[session] = positions[session]! + 1;
    const inside = programs[session]!.slice(0, positions[session]!).findLastIndex(
      ({ type }) => type === 'begin',
    );
    const ended = programs[session]!.slice(0, positions[session]!).findLastIndex(
      ({ type }) => type === 'commit' || type === 'rollback',
    );
    if ('error' in answer && inside > ended) skip.add(session);
    const instant = (answered.length + 1) * 100;
    answered.push({ session, action, answer, instant, start: instant, end: instant });
  }
  for (const session of programs.keys()) {
    const own = answered.filter((step) => step.session === session);
    for (const [i, step] of own.entries()) {
      const room = Math.min(own[i + 1]?.instant ?? step.instant + 400, step.instant + 400) - step.instant;
      const cut = exact ? 10 : 1 + next(Math.floor(room / 2) - 2);
      step.end = step.instant + cut;
      const following = own[i + 1];
      if (following !== undefined)
        following.start = exact ? following.instant - 10 : following.instant - next(Math.floor(room / 2) - 2);
    }
    if (own[0] !== undefined && !exact) own[0].start -= next(90);
  }
  return answered.sort((a, b) => a.end - b.end);
}

/** Whether some order of the instants inside the intervals gives these answers; undefined: too many to try. */
export function explainable(
  contract: Contract,
  answered: readonly Answered[],
  budget = 20_000,
): boolean | undefined {
  let left = budget;
  const search = (database: Database, done: number): boolean => {
    if (done === (1 << answered.length) - 1) return true;
    if (left-- <= 0) return false;
    for (let i = 0; i < answered.length; i++) {
      if ((done >> i) & 1) continue;
      const step = answered[i]!;
      const waits = answered.some((other, o) => !((done >> o) & 1) && o !== i && other.end < step.start);
      const earlier = answered.some(
        (other, o) => !((done >> o) & 1) && o !== i && other.session === step.session && other.end < step.end,
      );
      if (waits || earlier) continue;
      for (const current of step.action.type === 'update-if' ? [false, true] : [false]) {
        const copy = database.clone();
        if ('error' in step.answer) copy.abort(step.session);
        else {
          const answer = copy.run(step, current);
          if (answer === 'blocked' || JSON.stringify(answer) !== JSON.stringify(step.answer)) continue;
        }
        if (search(copy, done | (1 << i))) return true;
      }
    }
    return false;
  };
  const found = search(new Database(contract.mechanism!), 0);
  return found ? true : left <= 0 ? undefined : false;
}

export function sqlOf(action: Action): string {
  switch (action.type) {
    case 'begin':
    case 'commit':
    case 'rollback':
      return action.type.toUpperCase();
    case 'read':
      return `SELECT id, v FROM t WHERE v >= ${action.least}`;
    case 'insert':
      return `INSERT INTO t VALUES (${action.id}, ${action.v})`;
    case 'update-if':
      return `UPDATE t SET v = ${action.to} WHERE id = ${action.id} AND EXISTS (SELECT 1 FROM t AS s WHERE s.v > ${action.most})`;
    case 'delete-all':
      return `DELETE FROM t WHERE v >= ${action.least}`;
    case 'delete':
      return `DELETE FROM t WHERE id = ${action.id}`;
    default: {
      const to = action.to === 'more' ? 'v + 1' : action.to;
      const where = action.type === 'update' ? `v >= ${action.least}` : `id = ${action.id}`;
      return `UPDATE t SET v = ${to} WHERE ${where}`;
    }
  }
}

const kindOf = {
  read: 'select',
  'update-one': 'update',
  'update-if': 'update',
  'delete-all': 'delete',
} as const;

export function historyOf(answered: readonly Answered[]): History {
  const open = new Map<number, number>();
  let count = 0;
  const operations = answered.map((step, index): Operation => {
    const { session, action, answer } = step;
    const wasOpen = open.get(session);
    const transaction = wasOpen ?? count++;
    if (action.type === 'begin') open.set(session, transaction);
    const failed = 'error' in answer;
    const ends =
      action.type === 'commit'
        ? 'commit'
        : action.type === 'rollback' || failed
          ? 'rollback'
          : action.type === 'begin' || wasOpen !== undefined
            ? undefined
            : 'commit';
    if (ends !== undefined) open.delete(session);
    const { type } = action;
    return {
      index,
      session,
      transaction,
      kind:
        type in kindOf
          ? kindOf[type as keyof typeof kindOf]
          : (type as Exclude<typeof type, keyof typeof kindOf>),
      sql: sqlOf(action),
      start: step.start,
      end: step.end,
      outcome: failed ? 'error' : 'ok',
      ...(failed ? { error: { class: 'serialization' as const, message: 'conflict' } } : undefined),
      ...(ends === undefined ? undefined : { ends }),
      ...('rows' in answer ? { columns: ['id', 'v'], rows: answer.rows } : undefined),
      ...('matched' in answer ? { matched: answer.matched } : undefined),
    };
  });
  const setup = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    `INSERT INTO t VALUES ${initialRows.map(([id, v]) => `(${id}, ${v})`).join(', ')}`,
  ];
  return { header: { sessions: ['T1', 'T2', 'T3'], dialect: 'postgres', setup }, operations };
}

/**
 * The state of the mirror: rows with their newest images, the versions published so far, what every open transaction
 * has written and locked. `mirror.ts` feeds it with statements.
 */

import type { Contract, Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { OrderStepId, RowId, TransactionId } from '../ids.js';
import {
  type Catalog,
  IdentityEnded,
  type Image,
  isExclusive,
  type RowLock,
  rowKey,
  type Satisfies,
  splitObject,
  type Table,
} from '../rows/index.js';
import type { EvaluatedRow } from '../sql/index.js';
import * as role from './conflicts.js';
import { Doing } from './doing.js';
import {
  AccessList,
  Chain,
  Edges,
  type Expected,
  explains,
  type Need,
  Objects,
  type Query,
  type Scan,
  type Uncertain,
  type Unexplained,
} from './evidence.js';
import type { FailedWrite } from './failed-writes.js';
import { type LockRequest, LockTable } from './locks.js';
import { snapshotSteps } from './snapshots.js';
import type { Steps } from './steps.js';

/** Which clause of the mechanism says what a statement sees. */
export type Sees = 'plain' | 'lockingReadsSee' | 'writesSee';

/** A statement that scans more rows than this is not followed row by row. */
export const scanLimit = 2_000;

/** What a mirror is made from. */
export interface MirrorSource {
  readonly history: History;
  readonly steps: Steps;
  readonly contract: Contract & { mechanism: Mechanism };
  readonly catalog: Catalog;
  /** For statements that may have changed one of several sets of rows, by their steps, which of these. */
  readonly rowChoices?: ReadonlyMap<number, number>;
  /** Locks of deleted rows that were waited for are kept like others. InnoDB does until it purges the row, whenever that is. */
  readonly keepsGone?: boolean;
}

export class MirrorState {
  readonly mechanism: Mechanism;
  readonly tables: Table[];
  /** The first rows of each table, by name; undefined: not known, or some have no name. */
  readonly #initial: (ReadonlyMap<string, Image> | undefined)[] = [];
  /** Rows that were put in, of tables where only that shows what names rows. */
  readonly #put = new Set<number>();
  readonly objects = new Objects();
  readonly tableObject: RowId[] = [];
  readonly rows: Map<string, RowId>[] = [];
  /** The newest image of every row, committed or not. */
  readonly current: Image[] = [];
  /** Where the newest image of a row stands in the order of writing. */
  readonly #places: number[] = [];
  #written = 0;
  /** Tables of which nothing can be said any more. */
  readonly blind = new Set<Table>();
  readonly accesses = new AccessList();
  readonly needs: Need[] = [];
  readonly scans: Scan[] = [];
  readonly queries: Query[] = [];
  readonly edges = new Edges();
  readonly unexplained: Unexplained[] = [];
  readonly uncertain: Uncertain[] = [];
  readonly locks: LockTable;
  readonly doing: (Doing | undefined)[] = [];
  readonly #idle: Doing[] = [];
  readonly failed: FailedWrite[] = [];
  readonly everything: number[] = [];
  /** Steps taken so far. */
  readonly taken: Uint8Array;
  readonly snapshot: Int32Array;
  /** Steps that chose their rows, then waited for some of them, and answered with what was left. */
  readonly early = new Set<number>();
  /** Rows that such a step came to only when it had waited for others. */
  readonly afterWaits = new Map<OrderStepId, Set<RowId>>();
  /** Scans lock all rows they pass. */
  readonly scanLocks: boolean;
  /** Statements choose rows in a snapshot of their own, wait for them, and look at them again. */
  readonly looksAgain: boolean;
  /**
   * What plain reads do. Versions keep them apart from writers, so that only COMMITs matter to them; held to uncommitted writes they would
   * keep statements from being sent where they waited. Where the order of answers is a guess, it is made from these conflicts.
   */
  readonly plainRead: typeof role.snapshot | typeof role.read;
  /** The one writer's lock of engines that have one. */
  readonly writerLock: number;
  /** The lock on the whole database that readers share and a writer's COMMIT needs alone (SQLite's rollback journal); −1: there is none. */
  readonly readersLock: number;
  /** What gives out timestamps, for engines that go by them. */
  readonly clock: number;
  readonly notes = new Map<string, number>();
  readonly rowChoices: ReadonlyMap<number, number>;
  readonly keepsGone: boolean;
  /** Statements that may have changed one of several sets of rows, and how many there are. */
  readonly severalRows = new Map<OrderStepId, number>();
  /** A statement may have waited for a row that was deleted meanwhile (`keepsGone` decides what follows). */
  metGone = false;

  readonly history: History;
  readonly steps: Steps;
  readonly catalog: Catalog;

  constructor(
    { history, steps, contract, catalog, rowChoices, keepsGone = false }: MirrorSource,
    /** Takes a step before its turn. */
    private readonly take: (step: OrderStepId) => void,
  ) {
    const { operations } = history;
    this.history = history;
    this.steps = steps;
    this.catalog = catalog;
    this.rowChoices = rowChoices ?? new Map();
    this.keepsGone = keepsGone;
    // Whoever changes what a snapshot shows cannot change what is newer, even where no manual says so (H2's REPEATABLE READ).
    const overwritesShown =
      contract.mechanism.firstUpdaterWins || contract.mechanism.writesSee === 'snapshot';
    this.mechanism = { ...contract.mechanism, firstUpdaterWins: overwritesShown };
    this.tables = [...catalog.tables];
    this.taken = new Uint8Array(steps.count);
    this.snapshot = snapshotSteps(steps, operations, this.mechanism, catalog.dialect);
    const { passedRows, writesSee, writeConflict, locksTables } = this.mechanism;
    this.scanLocks = passedRows === 'kept';
    this.looksAgain =
      writesSee === 'current' &&
      passedRows === undefined &&
      writeConflict === 'waits' &&
      locksTables !== true;
    this.plainRead = this.looksAgain && readsVersions(this.mechanism) ? role.snapshot : role.read;
    this.writerLock =
      this.mechanism.protocol === 'single-writer' ? this.objects.add('the writer lock', -1) : -1;
    this.readersLock =
      this.writerLock >= 0 && this.mechanism.readsLock ? this.objects.add('the readers’ lock', -1) : -1;
    this.clock = this.mechanism.protocol === 'timestamp' ? this.objects.add('the timestamps', -1) : -1;
    for (const table of this.tables) this.openTable(table);
    const { firstUpdaterWins } = this.mechanism;
    this.locks = new LockTable(steps, this.edges, this.unexplained, {
      basisOf: (transaction) => (firstUpdaterWins ? this.snapshot[transaction]! : -1),
      committed: (transaction) => (this.endsIn(transaction) ?? 'rollback') !== 'rollback',
      arrives: (step, object) => {
        if (this.early.has(step))
          return this.looksAgain ? 'chosen' : this.afterWaits.get(step)?.has(object) ? 'later' : 'range';
        return this.snapshot[steps.transaction[step]!] === step ? 'row' : 'no';
      },
      passes: passedRows === 'released',
      locksTables: locksTables === true,
    });
  }

  /** What concerns a table as a whole may keep plain reads out before it is committed (DDL does). */
  get #wholeTable(): number {
    return role.write | role.lock | (this.plainRead === role.snapshot ? role.publish : 0);
  }

  note(text: string): void {
    this.notes.set(text, (this.notes.get(text) ?? 0) + 1);
  }

  opOf(step: OrderStepId): Operation | undefined {
    const source = this.steps.source[step]!;
    return source < 0 ? undefined : this.history.operations[source];
  }

  /** What became of a transaction; undefined: nothing ended it. */
  endsIn(transaction: TransactionId): 'commit' | 'rollback' | 'unknown' | undefined {
    const ending = this.steps.endOf[transaction]!;
    // A failure that ends its transaction without saying so.
    return ending < 0 ? undefined : (this.opOf(ending)?.ends ?? 'rollback');
  }

  /** Plain reads lock, except those of one statement that is a transaction of its own: they need no lock to be serializable. */
  readsLock(step: OrderStepId): boolean {
    const { readsLock, protocol, locksTables } = this.mechanism;
    if (locksTables === true || this.readersLock >= 0) return false; // its table is locked, or everything
    return readsLock && !(protocol === 'locking' && this.isAlone(step));
  }

  isAlone(step: OrderStepId): boolean {
    const transaction = this.steps.transaction[step]!;
    const { transaction: of, endOf } = this.steps;
    return endOf[transaction] === step && of[step - 1] !== transaction;
  }

  openTable(table: Table): void {
    this.tableObject[table.number] = this.objects.add(table.name, -1);
    this.rows[table.number] = new Map();
    this.#initial[table.number] = firstRows(table);
    for (const name of this.#initial[table.number]?.keys() ?? []) {
      const row = this.row(table, name);
      if (table.basis === 'shown') this.#put.add(row);
    }
  }

  row(table: Table, name: string): RowId {
    const rows = this.rows[table.number]!;
    let row = rows.get(name);
    if (row === undefined) {
      const first = this.#initial[table.number];
      const initial = first === undefined ? 'unknown' : (first.get(name) ?? 'absent');
      row = this.objects.add(`${table.name}/${name}`, this.tableObject[table.number]!, initial);
      rows.set(name, row);
      this.current[row] = this.blind.has(table) ? 'unknown' : initial;
    }
    return row;
  }

  /** The row that an INSERT puts in; undefined: it has no name. */
  newRow(table: Table, cells: EvaluatedRow): RowId | undefined {
    const name = rowKey(cells, table.identity);
    if (table.basis !== 'shown') return name === undefined ? undefined : this.row(table, name);
    const row = name === undefined ? undefined : this.row(table, name);
    if (row === undefined || this.#put.has(row)) throw new IdentityEnded(table);
    this.#put.add(row);
    return row;
  }

  rowOf(object: string): { table: Table; row: RowId } {
    const [name, key] = splitObject(object);
    const table =
      this.catalog.find(name) ?? this.tables.find((one) => one.name === name) ?? this.#mention(name);
    return { table, row: this.row(table, key) };
  }

  /** A table of which nothing but rows is known. */
  #mention(name: string): Table {
    const table: Table = {
      number: this.tables.length,
      name,
      shape: { name, columns: [], keys: [], checks: [] },
      identity: [],
      basis: 'none',
      indexed: true,
      uniqueKeys: undefined,
      unfollowed: undefined,
      initial: undefined,
      createdBy: undefined,
    };
    this.tables.push(table);
    this.openTable(table);
    return table;
  }

  do(transaction: TransactionId): Doing {
    let doing = this.doing[transaction];
    if (doing === undefined) {
      doing = this.#idle.pop() ?? new Doing();
      this.doing[transaction] = doing;
    }
    return doing;
  }

  readRow(step: OrderStepId, row: RowId, expected: Expected, lock: RowLock): void {
    const transaction = this.steps.transaction[step]!;
    const locking = lock !== 'none';
    this.accesses.add(step, row, locking ? role.read : this.plainRead);
    const own = this.doing[transaction]?.writes.wrote(row) === true;
    if (locking) {
      this.settle(step, row);
      this.lock(step, row, isExclusive(lock) ? role.lock : role.share);
      if (this.scanLocks) this.scanLock(step, undefined, false, row);
    }
    if (own) {
      if (explains(this.doing[transaction]!.writes.own(row)!, expected) === false)
        this.unexplained.push({ step, object: row, what: 'did not see what its transaction had written' });
      return;
    }
    const seen = this.snapshotOf(step, locking ? 'lockingReadsSee' : 'plain');
    if (seen !== step) this.accesses.add(seen, row, role.snapshot);
    // What a current read of a locked row sees, the lock's order says; what a snapshot shows, its versions.
    if (!(locking && seen === step)) this.needs.push({ step, snapshot: seen, row, expected });
  }

  /** It looked for a row and found none that satisfies its condition; a lock that it waited for is kept. */
  missRow(step: OrderStepId, row: RowId, where: Satisfies, clause: Sees): void {
    const transaction = this.steps.transaction[step]!;
    this.accesses.add(step, row, clause === 'plain' ? this.plainRead : role.read);
    if (this.doing[transaction]?.writes.wrote(row) === true) return;
    const seen = this.snapshotOf(step, clause);
    if (seen !== step) this.accesses.add(seen, row, role.snapshot);
    const expected: Expected = { type: 'none', where };
    const passes = this.mechanism.passedRows !== undefined && clause !== 'plain';
    if (passes) this.settle(step, row);
    // A lock that was waited for is kept, and it saw the row only then.
    const met = this.imageFor(transaction, row);
    const queued = passes && this.#queued(step, row);
    if (queued && met === 'absent') this.metGone = true;
    const keeps = queued && (met !== 'absent' || this.keepsGone);
    if (keeps && explains(met, expected) === true) {
      this.lock(step, row, role.lock, { waited: true });
      return;
    }
    this.needs.push({ step, snapshot: seen, row, expected });
    // Where passing a row locks it, current reads meet uncommitted rows too, and wait for them.
    if (passes) {
      this.accesses.add(step, row, role.lock);
      this.touch(step, row, expected);
      // What is not there is locked by the gap around it, and nobody tells how wide that is.
      if (this.scanLocks) this.scanLock(step, undefined, true, row);
    }
  }

  /** Whether a statement that is at a row now was sent after the last who had it, and before that one began to end: it waited. */
  #queued(step: OrderStepId, row: RowId): boolean {
    if (this.mechanism.passedRows !== 'released') return false;
    const { start, end, endOf, transaction } = this.steps;
    const [locking] = this.locks.holdersAround(step, row);
    if (locking === undefined) return false;
    const ending = endOf[transaction[locking]!]!;
    if (ending < 0 || start[ending]! > end[step]!) return false;
    return start[this.locks.cameBy(locking, row)]! < start[step]! && start[step]! < start[ending]!;
  }

  /** It met a row as it was at a moment when nobody held it; false: there is no such moment. */
  touch(step: OrderStepId, row: RowId, expected: Expected): boolean {
    return this.touchTogether(step, row, [{ row, expected }]);
  }

  /** It met these rows as they were at a moment when nobody held an object that locks them all; false: there is no such moment. */
  touchTogether(
    step: OrderStepId,
    object: RowId,
    met: readonly { readonly row: RowId; readonly expected: Expected }[],
  ): boolean {
    return this.locks.touch(step, object, (ended) =>
      met.every(({ row, expected }) => {
        const chain = this.objects.chains[row];
        const version =
          chain?.versions.findLastIndex((one) => ended.has(one) || this.isOver(one, step)) ?? -1;
        return explains(this.objects.imageOf(row, version), expected) !== false;
      }),
    );
  }

  /** Whether a step was answered before another was sent. */
  isOver(step: OrderStepId, by: OrderStepId): boolean {
    return this.steps.end[step]! < this.steps.start[by]!;
  }

  /** The step that fixed what this one sees. */
  snapshotOf(step: OrderStepId, clause: Sees): number {
    const transaction = this.steps.transaction[step]!;
    if (clause !== 'plain' && this.mechanism[clause] === 'current') return step;
    const snapshot = this.snapshot[transaction]!;
    return snapshot >= 0 && snapshot < step ? snapshot : step;
  }

  write(step: OrderStepId, row: RowId, image: Image, inserts = false): void {
    const transaction = this.steps.transaction[step]!;
    if (this.doing[transaction]?.unseenInserts?.has(row) === true) {
      this.insertUnseen(step, row, image);
      return;
    }
    this.settle(step, row);
    this.lock(step, row, role.write | role.lock, { inserts });
    if (this.scanLocks) this.scanLock(step, undefined, false, row);
    if (this.writerLock >= 0) this.writer(step, true);
    const doing = this.do(transaction);
    if (inserts && doing.writes.own(row) === 'absent') {
      doing.renewed ??= new Set();
      doing.renewed.add(row);
    }
    doing.writes.write(row, this.current[row]!, image);
    this.current[row] = image;
    this.#places[row] = this.#written++;
    this.basedOn(step, row);
    if (this.mechanism.pivot === 'uncommitted') this.version(row, step, image);
  }

  /** Validating engines keep new rows to themselves: only the COMMIT finds out whether another has put in the same key. */
  insertUnseen(step: OrderStepId, row: RowId, image: Image): void {
    const transaction = this.steps.transaction[step]!;
    this.accesses.add(step, row, role.read);
    const doing = this.do(transaction);
    doing.access(row, role.write | role.lock);
    doing.unseenInserts ??= new Map();
    doing.unseenInserts.set(row, image);
    doing.writes.write(row, this.current[row]!, image);
    this.basedOn(step, row);
  }

  /** The row as a statement of this transaction would find it now. */
  imageFor(transaction: TransactionId, row: RowId): Image {
    return this.doing[transaction]?.writes.own(row) ?? this.current[row]!;
  }

  /**
   * A certifier watches who read what another wrote, row by row, page by page or by whole tables, and fails whom it likes. So
   * statements on a table keep their order towards the ends of transactions that used it.
   */
  watch(step: OrderStepId, table: Table): void {
    const transaction = this.steps.transaction[step]!;
    const object = this.tableObject[table.number]!;
    this.accesses.add(step, object, role.read);
    const doing = this.do(transaction);
    doing.watched ??= new Set();
    doing.watched.add(object);
  }

  /** The one writer: statements that change nothing take its lock too, and only changes outdate others' snapshots. */
  writer(step: OrderStepId, changes: boolean): void {
    this.settle(step, this.writerLock);
    this.lock(step, this.writerLock, changes ? role.lock | role.write : role.lock);
    this.basedOn(step, this.writerLock);
  }

  /** Whoever has used the database shares it to the end of its transaction; a COMMIT of changes needs it alone, and so does one that failed. */
  shareDatabase(step: OrderStepId, kept: boolean, alone: boolean): void {
    if (alone) this.accesses.add(step, this.readersLock, role.lock);
    else this.accesses.add(step, this.readersLock, role.share);
    if (kept) this.do(this.steps.transaction[step]!).access(this.readersLock, role.share);
  }

  /** Whether a row may be written depends on its version in the snapshot. */
  basedOn(step: OrderStepId, row: RowId): void {
    const transaction = this.steps.transaction[step]!;
    const snapshot = this.snapshot[transaction]!;
    if (this.mechanism.firstUpdaterWins && snapshot >= 0 && snapshot < step)
      this.accesses.add(snapshot, row, role.snapshot);
  }

  /** A table is created, or gets an index: whoever uses it comes before or after. */
  define(step: OrderStepId, table: Table): void {
    const transaction = this.steps.transaction[step]!;
    const object = this.tableObject[table.number]!;
    this.accesses.add(step, object, this.#wholeTable);
    this.do(transaction).access(object, role.write);
  }

  /** Nobody knows which rows it changed: all of them may have. */
  fuzzyWrite(step: OrderStepId, table: Table): void {
    const transaction = this.steps.transaction[step]!;
    const object = this.tableObject[table.number]!;
    this.accesses.add(step, object, this.#wholeTable);
    const doing = this.do(transaction);
    doing.access(object, role.write);
    doing.fuzzy ??= new Set();
    doing.fuzzy.add(table);
    if (this.writerLock >= 0) this.writer(step, true);
    if (this.rows[table.number]!.size > scanLimit) this.blind.add(table);
    else for (const row of this.rows[table.number]!.values()) this.current[row] = 'unknown';
    for (const row of doing.writes.rows)
      if (this.objects.tableOf[row] === object) doing.writes.write(row, this.current[row]!, 'unknown');
  }

  lock(
    step: OrderStepId,
    object: RowId,
    roles: number,
    how: Pick<LockRequest, 'inserts' | 'waited'> = {},
  ): void {
    const transaction = this.steps.transaction[step]!;
    this.accesses.add(step, object, roles);
    this.do(transaction).access(object, roles);
    // Where writers do not exclude each other the order of commits decides, and is found when they end.
    if (this.mechanism.writeConflict !== 'none')
      this.locks.take(step, object, {
        exclusive: (roles & role.lock) !== 0,
        writes: (roles & role.write) !== 0,
        ...how,
      });
  }

  scanLock(step: OrderStepId, table: Table | undefined, whole: boolean, row?: number): void {
    const transaction = this.steps.transaction[step]!;
    const object = table === undefined ? this.objects.tableOf[row!]! : this.tableObject[table.number]!;
    if (whole) {
      this.accesses.add(step, object, role.lock);
      this.do(transaction).access(object, role.lock);
    }
    this.locks.passTable(step, object, whole);
  }

  /** If the row's holder has ended by the time this step was answered, its end comes first. */
  settle(step: OrderStepId, row: RowId): void {
    const transaction = this.steps.transaction[step]!;
    const holder = this.locks.holderOf(row);
    if (holder < 0 || holder === transaction) return;
    const ending = this.steps.endOf[holder]!;
    if (ending < 0 || this.taken[ending] || this.steps.start[ending]! >= this.steps.end[step]!) return;
    this.take(ending);
  }

  end(step: OrderStepId, ends: 'commit' | 'rollback' | 'unknown'): void {
    const transaction = this.steps.transaction[step]!;
    const doing = this.doing[transaction];
    if (doing === undefined) return;
    this.doing[transaction] = undefined;
    const committed = ends !== 'rollback';
    const { pivot, writeConflict } = this.mechanism;
    for (let i = 0; i < doing.objects.length; i++) {
      const object = doing.objects[i]!;
      const roles = doing.roles[i]!;
      const changes = (roles & (role.write | role.lock)) !== 0;
      const ending =
        committed && roles & role.write ? role.publish : changes ? role.release : role.releaseShare;
      this.accesses.add(step, object, pivot === 'uncommitted' && changes ? ending | role.write : ending);
      if (writeConflict === 'none' && roles & role.write && committed)
        this.locks.take(step, object, { exclusive: true, writes: true });
      if (object === this.writerLock && committed && roles & role.write)
        this.version(object, step, 'unknown');
    }
    for (const table of doing.watched ?? []) this.accesses.add(step, table, role.publish);
    for (const [row, image] of doing.unseenInserts ?? []) {
      if (!committed) continue;
      this.locks.take(step, row, { exclusive: true, writes: true });
      this.current[row] = image;
    }
    if (committed && pivot !== 'uncommitted')
      for (const row of doing.writes.rows)
        this.version(
          row,
          step,
          ends === 'unknown' ? 'unknown' : doing.writes.own(row)!,
          doing.renewed?.has(row) === true,
        );
    for (const table of doing.fuzzy ?? []) {
      if (!committed || this.blind.has(table)) continue;
      for (const row of this.rows[table.number]!.values())
        if (!doing.writes.wrote(row)) this.version(row, step, 'unknown');
    }
    if (!committed) this.#undo(step, doing);
    doing.clear();
    this.#idle.push(doing);
  }

  /** Puts back what a transaction wrote; others may have seen that where uncommitted versions show. */
  #undo(step: OrderStepId, doing: Doing): void {
    const rows = this.mechanism.pivot === 'uncommitted' ? doing.writes.rows : [];
    const before = new Map<number, Image>();
    doing.writes.undo(0, (row, image) => {
      before.set(row, image);
      if (doing.unseenInserts?.has(row) !== true) this.current[row] = image;
    });
    for (const row of rows) this.version(row, step, before.get(row)!);
  }

  version(row: RowId, step: OrderStepId, image: Image, renewed = false): void {
    this.objects.chains[row] ??= new Chain();
    this.objects.chains[row].publish(step, image, this.#places[row] ?? this.#written, renewed);
  }
}

/** Whether plain reads neither wait for writers nor keep them waiting, see anything of theirs, or leave a trace. */
function readsVersions({ protocol, pivot, readsLock, readsLockBriefly }: Mechanism): boolean {
  return protocol === 'locking' && pivot === 'statement' && !readsLock && readsLockBriefly !== true;
}

/** The rows a table begins with, by name. */
function firstRows({ initial, identity, unfollowed }: Table): ReadonlyMap<string, Image> | undefined {
  if (initial === undefined || unfollowed !== undefined) return undefined;
  const rows = new Map<string, Image>();
  for (const cells of initial) {
    const name = rowKey(cells, identity);
    if (name === undefined) return undefined;
    rows.set(name, cells);
  }
  return rows;
}

/**
 * The mirror: what rows, versions and locks were at every moment of the raw run, as its answers tell (Pisco §4).
 *
 * Steps are taken in the order of their answers. That is the order in which conflicting writers got their locks, so the
 * state at hand when a write is taken is the state it met, with one exception: the end of the transaction before it may
 * have been answered later. It is then taken first (`#settle`).
 *
 * For each step this collects its accesses, the versions its reads ask for, the locks it took and the versions it
 * published. Failed statements take their recorded outcome: no lock, no version. What cannot be followed (a statement we
 * do not understand, counts that disagree with the mirror) concerns the whole table, and its rows are unknown from then on.
 */
import type { Contract, Mechanism } from '../contracts/index.js';
import type { Access, History, Operation } from '../histories/index.js';
import type { Dialect, Evaluated, Value } from '../sql/index.js';
import * as role from './conflicts.js';
import {
  AccessList,
  Edges,
  type Evidence,
  type Expected,
  type Need,
  Objects,
  type Scan,
  truthOf,
  type Unexplained,
} from './evidence.js';
import { type FailedWrite, failedWriteChoices } from './failed-writes.js';
import { LockTable } from './locks.js';
import { addTable, type Image, readSchema, rowName, type Table, tableKey, unknownCell } from './schema.js';
import { snapshotSteps } from './snapshots.js';
import { type OpaquePlan, Planner, type RowLock, type RowTest, type ScanPlan } from './statement-plan.js';
import { type Steps, stepsByTime } from './steps.js';

/** What a transaction has done so far. Few objects each, millions of transactions: lists, not maps. */
class Doing {
  /** Objects it locked or wrote, with its roles there. */
  readonly objects: number[] = [];
  readonly roles: number[] = [];
  /** Rows it wrote, with the version before. */
  readonly rows: number[] = [];
  readonly before: Image[] = [];
  /** Tables whose rows it may have changed in ways we cannot follow. */
  fuzzy: Set<Table> | undefined;
  savepoints: { name: string; images: Map<number, Image> }[] | undefined;

  access(object: number, roles: number): void {
    const at = this.objects.indexOf(object);
    if (at >= 0) this.roles[at]! |= roles;
    else {
      this.objects.push(object);
      this.roles.push(roles);
    }
  }

  wrote(row: number): boolean {
    return this.rows.includes(row);
  }
}

/** Which clause of the mechanism says what a statement sees. */
type Sees = 'plain' | 'lockingReadsSee' | 'writesSee';

/** A statement that scans more rows than this is not followed row by row. */
const scanLimit = 2_000;

export function collectEvidence(history: History, steps: Steps, contract: Contract & { mechanism: Mechanism }): Evidence {
  return new Mirror(history, steps, contract).run();
}

class Mirror {
  readonly #dialect: Dialect;
  readonly #mechanism: Mechanism;
  readonly #tables: Map<string, Table>;
  readonly #planner: Planner;
  readonly #objects = new Objects();
  readonly #tableObject: number[] = [];
  readonly #rows: Map<string, number>[] = [];
  /** The newest image of every row, committed or not. */
  readonly #current: Image[] = [];
  /** Tables of which nothing can be said any more. */
  readonly #blind = new Set<Table>();
  readonly #accesses = new AccessList();
  readonly #needs: Need[] = [];
  readonly #scans: Scan[] = [];
  readonly #edges = new Edges();
  readonly #unexplained: Unexplained[] = [];
  readonly #locks: LockTable;
  readonly #doing: (Doing | undefined)[] = [];
  readonly #failed: FailedWrite[] = [];
  readonly #everything: number[] = [];
  readonly #taken: Uint8Array;
  readonly #snapshot: Int32Array;
  readonly #innodb: boolean;
  /** Scans lock all rows they pass. */
  readonly #scanLocks: boolean;
  /** The one writer's lock of engines that have one. */
  readonly #writerLock: number;
  readonly #notes = new Map<string, number>();

  constructor(
    private readonly history: History,
    private readonly steps: Steps,
    contract: Contract & { mechanism: Mechanism },
  ) {
    const { header, operations } = history;
    this.#dialect = header.dialect ?? 'postgres';
    this.#mechanism = contract.mechanism;
    this.#tables = readSchema(header.setup ?? [], this.#dialect);
    this.#planner = new Planner(this.#tables, this.#dialect);
    this.#taken = new Uint8Array(steps.count);
    this.#snapshot = snapshotSteps(steps, operations, this.#mechanism);
    this.#innodb = contract.owner === 'mariadb' || contract.owner === 'mysql';
    this.#scanLocks = this.#innodb && contract.level !== 'read committed' && contract.level !== 'read uncommitted';
    this.#writerLock = this.#mechanism.protocol === 'single-writer' ? this.#objects.add('the writer lock', -1) : -1;
    for (const table of this.#tables.values()) this.#openTable(table);
    const { firstUpdaterWins } = this.#mechanism;
    this.#locks = new LockTable(
      steps,
      this.#edges,
      this.#unexplained,
      (transaction) => (firstUpdaterWins ? this.#snapshot[transaction]! : -1),
      (transaction) => {
        const ending = steps.endOf[transaction]!;
        return ending >= 0 && this.#opOf(ending)?.ends !== 'rollback';
      },
      (transaction, step) => this.#snapshot[transaction] === step,
    );
  }

  run(): Evidence {
    const { steps } = this;
    for (const step of stepsByTime(steps, steps.end)) this.#take(step);
    for (const step of this.#everything)
      for (const table of this.#tableObject) this.#accesses.add(step, table, role.write | role.publish);
    const waits = new Set<number>();
    const choices = this.#locks.choices;
    const failed = failedWriteChoices(this.#failed, {
      steps,
      locks: this.#locks,
      chainOf: (object) => this.#objects.chains[object],
      snapshot: this.#snapshot,
      mechanism: this.#mechanism,
      endsIn: (transaction) => {
        const ending = steps.endOf[transaction]!;
        return ending < 0 ? undefined : this.#opOf(ending)?.ends;
      },
      waits,
    });
    for (const choice of failed) choices.push(choice);
    return {
      steps,
      objects: this.#objects,
      accesses: this.#accesses.finish(steps, this.#objects),
      needs: this.#needs,
      scans: this.#scans,
      edges: this.#edges,
      choices,
      unexplained: this.#unexplained,
      locks: this.#locks.taken,
      waits,
      notes: [...this.#notes].map(([note, count]) => (count === 1 ? note : `${note} (${count} times)`)),
    };
  }

  #note(text: string): void {
    this.#notes.set(text, (this.#notes.get(text) ?? 0) + 1);
  }

  #opOf(step: number): Operation | undefined {
    const source = this.steps.source[step]!;
    return source < 0 ? undefined : this.history.operations[source];
  }

  // ── Objects ──────────────────────────────────────────────────────────────────────────────────────────────────

  #openTable(table: Table): void {
    this.#tableObject[table.number] = this.#objects.add(table.name, -1);
    this.#rows[table.number] = new Map();
    for (const name of table.initial?.keys() ?? []) this.#row(table, name);
  }

  #row(table: Table, name: string): number {
    const rows = this.#rows[table.number]!;
    let row = rows.get(name);
    if (row === undefined) {
      const initial = table.initial === undefined ? undefined : (table.initial.get(name) ?? null);
      row = this.#objects.add(`${table.name}/${name}`, this.#tableObject[table.number]!, initial);
      rows.set(name, row);
      this.#current[row] = this.#blind.has(table) ? undefined : initial;
    }
    return row;
  }

  #rowOf(object: string): { table: Table; row: number } {
    const slash = object.indexOf('/');
    const name = slash < 0 ? '' : object.slice(0, slash);
    let table = this.#tables.get(tableKey(name));
    if (table === undefined) {
      table = addTable(this.#tables, name);
      this.#openTable(table);
    }
    return { table, row: this.#row(table, object.slice(slash + 1)) };
  }

  #do(transaction: number): Doing {
    let doing = this.#doing[transaction];
    if (doing === undefined) {
      doing = new Doing();
      this.#doing[transaction] = doing;
    }
    return doing;
  }

  // ── Steps ────────────────────────────────────────────────────────────────────────────────────────────────────

  #take(step: number): void {
    if (this.#taken[step]) return;
    this.#taken[step] = 1;
    const op = this.#opOf(step);
    if (op === undefined) return;
    const transaction = this.steps.transaction[step]!;
    if (!this.steps.replaced[step]) this.#statement(step, transaction, op);
    if (op.ends !== undefined) this.#end(step, transaction, op.ends);
  }

  #statement(step: number, transaction: number, op: Operation): void {
    const { kind } = op;
    if (kind === 'commit' || kind === 'rollback' || kind === 'set' || kind === 'release') return;
    if (kind === 'begin') {
      if (this.#writerLock >= 0 && /\b(immediate|exclusive)\b/i.test(op.sql ?? '') && op.outcome === 'ok')
        this.#lock(step, transaction, this.#writerLock, role.lock);
    } else if (kind === 'savepoint') this.#savepoint(transaction, op);
    else if (kind === 'rollback-to') this.#rollbackTo(step, transaction, op);
    else if (op.accesses !== undefined) this.#recorded(step, transaction, op, op.accesses);
    else this.#planned(step, transaction, op);
  }

  /** The recorder told which rows it touched. */
  #recorded(step: number, transaction: number, op: Operation, accesses: readonly Access[]): void {
    const lock = lockOfText(op);
    for (const { object, mode, value } of accesses) {
      const { table, row } = this.#rowOf(object);
      const cells = isRecord(value) ? cellsOf(table, value) : value === undefined ? [] : [value as Evaluated];
      if (mode === 'read') this.#readRow(step, transaction, row, { type: 'cells', cells }, lock);
      else {
        const base = this.#current[row];
        const image = mode === 'delete' ? null : overlay(base, cells);
        this.#write(step, transaction, row, image);
      }
    }
  }

  #planned(step: number, transaction: number, op: Operation): void {
    const plan = this.#planner.plan(op.sql ?? '');
    if (op.outcome === 'error') return this.#failedStatement(step, transaction, op, plan);
    switch (plan.type) {
      case 'scan':
        return this.#scan(step, transaction, op, plan);
      case 'update':
      case 'delete': {
        const rows = this.#touched(step, transaction, op, plan);
        if (rows === undefined) return this.#fuzzyWrite(step, transaction, plan.table);
        for (const row of rows) {
          const before = this.#current[row];
          const image =
            plan.type === 'delete' ? null : before === undefined || before === null ? undefined : plan.apply(before);
          this.#write(step, transaction, row, image);
        }
        return;
      }
      case 'insert':
        for (const cells of plan.rows) {
          const name = rowName(plan.table, cells);
          if (name === undefined) this.#fuzzyWrite(step, transaction, plan.table);
          else this.#write(step, transaction, this.#row(plan.table, name), cells);
        }
        return;
      case 'opaque':
        return this.#opaque(step, transaction, op, plan);
      default:
        return plan satisfies never;
    }
  }

  // ── Reads ────────────────────────────────────────────────────────────────────────────────────────────────────

  #scan(step: number, transaction: number, op: Operation, plan: ScanPlan): void {
    const { table, keys, where } = plan;
    const lock = plan.lock === 'none' && this.#mechanism.readsLock ? 'share' : plan.lock;
    const returned = resultRows(op, plan);
    const found: number[] = [];
    for (const { name, cells } of returned ?? []) {
      const row = this.#row(table, name);
      found.push(row);
      this.#readRow(step, transaction, row, { type: 'cells', cells }, lock);
    }
    if (keys !== undefined) {
      for (const name of keys) {
        const row = this.#row(table, name);
        if (found.includes(row)) continue;
        const expected: Expected =
          returned === undefined || !plan.complete ? { type: 'cells', cells: [] } : { type: 'none', where };
        if (expected.type === 'none') this.#missRow(step, transaction, row, where, lock === 'none' ? 'plain' : 'lockingReadsSee');
        else this.#accesses.add(step, row, role.read);
        if (lock !== 'none') this.#accesses.add(step, row, lock === 'share' ? role.share : role.lock);
      }
      return;
    }
    const seen = this.#snapshotOf(step, transaction, lock === 'none' ? 'plain' : 'lockingReadsSee');
    const tableObject = this.#tableObject[table.number]!;
    this.#accesses.add(step, tableObject, role.read);
    if (seen !== step) this.#accesses.add(seen, tableObject, role.snapshot);
    if (lock !== 'none' && this.#scanLocks) this.#scanLock(step, transaction, table, true);
    if (returned === undefined || !plan.complete) return;
    const known = new Set(found);
    for (const row of this.#doing[transaction]?.rows ?? []) known.add(row);
    this.#scans.push({ step, snapshot: seen, table: tableObject, where, known });
  }

  #readRow(step: number, transaction: number, row: number, expected: Expected, lock: RowLock): void {
    const locking = lock !== 'none';
    this.#accesses.add(step, row, role.read);
    const own = this.#doing[transaction]?.wrote(row) === true;
    if (locking) {
      this.#settle(step, transaction, row);
      this.#lock(step, transaction, row, lock === 'share' ? role.share : role.lock);
      if (this.#scanLocks) this.#scanLock(step, transaction, undefined, false, row);
    }
    if (own) return;
    const seen = this.#snapshotOf(step, transaction, locking ? 'lockingReadsSee' : 'plain');
    if (seen !== step) this.#accesses.add(seen, row, role.snapshot);
    // What a current read of a locked row sees, the lock's order says; what a snapshot shows, its versions.
    if (!(locking && seen === step)) this.#needs.push({ step, snapshot: seen, row, expected });
  }

  /** It looked for a row and found none that satisfies its condition; nothing was locked. */
  #missRow(step: number, transaction: number, row: number, where: RowTest | undefined, clause: Sees): void {
    this.#accesses.add(step, row, role.read);
    if (this.#doing[transaction]?.wrote(row) === true) return;
    const seen = this.#snapshotOf(step, transaction, clause);
    if (seen !== step) this.#accesses.add(seen, row, role.snapshot);
    this.#needs.push({ step, snapshot: seen, row, expected: { type: 'none', where } });
    // InnoDB's current reads meet uncommitted rows too, and wait for them.
    if (this.#innodb && clause !== 'plain') {
      this.#accesses.add(step, row, role.lock);
      this.#settle(step, transaction, row);
      this.#locks.touch(step, transaction, row);
    }
  }

  /** The step that fixed what this one sees. */
  #snapshotOf(step: number, transaction: number, clause: Sees): number {
    if (clause !== 'plain' && this.#mechanism[clause] === 'current') return step;
    const snapshot = this.#snapshot[transaction]!;
    return snapshot >= 0 && snapshot < step ? snapshot : step;
  }

  // ── Writes ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** The rows an UPDATE or DELETE changed; undefined: the mirror and the count do not agree. */
  #touched(
    step: number,
    transaction: number,
    op: Operation,
    plan: { readonly table: Table; readonly keys: readonly string[] | undefined; readonly where: RowTest | undefined },
  ): readonly number[] | undefined {
    const { table, keys, where } = plan;
    if (this.#blind.has(table) && keys === undefined) return undefined;
    const all = this.#rows[table.number]!;
    if (keys === undefined && all.size > scanLimit) return undefined;
    const rows = keys === undefined ? [...all.values()] : keys.map((name) => this.#row(table, name));
    const hits: number[] = [];
    const open: number[] = [];
    for (const row of rows) {
      this.#settle(step, transaction, row);
      const image = this.#current[row];
      const hit = image === null ? false : image === undefined ? undefined : where === undefined || truthOf(where(image));
      if (hit === true) hits.push(row);
      else if (hit === undefined) open.push(row);
    }
    const { matched } = op;
    const touched =
      matched === undefined || matched === hits.length
        ? open.length === 0 || matched !== undefined
          ? hits
          : undefined
        : matched === hits.length + open.length
          ? [...hits, ...open]
          : matched === 0
            ? []
            : keys !== undefined && matched === rows.length
              ? rows
              : undefined;
    if (touched === undefined) {
      this.#note(`a statement on ${table.name} touched other rows than the mirror expects`);
      return undefined;
    }
    const seen = this.#snapshotOf(step, transaction, 'writesSee');
    const known = new Set(touched);
    if (keys !== undefined) {
      for (const row of rows) if (!known.has(row)) this.#missRow(step, transaction, row, where, 'writesSee');
      return touched;
    }
    const object = this.#tableObject[table.number]!;
    this.#accesses.add(step, object, role.read);
    if (seen !== step) this.#accesses.add(seen, object, role.snapshot);
    if (this.#scanLocks) this.#scanLock(step, transaction, table, true);
    for (const row of this.#doing[transaction]?.rows ?? []) known.add(row);
    this.#scans.push({ step, snapshot: seen, table: object, where, known });
    return touched;
  }

  #write(step: number, transaction: number, row: number, image: Image): void {
    this.#settle(step, transaction, row);
    this.#lock(step, transaction, row, role.write | role.lock);
    if (this.#scanLocks) this.#scanLock(step, transaction, undefined, false, row);
    if (this.#writerLock >= 0) this.#lock(step, transaction, this.#writerLock, role.lock);
    const doing = this.#do(transaction);
    if (!doing.wrote(row)) {
      doing.rows.push(row);
      doing.before.push(this.#current[row]);
    }
    this.#current[row] = image;
    this.#basedOn(step, transaction, row);
    if (this.#mechanism.pivot === 'uncommitted') this.#version(row, step, image);
  }

  /** Whether a row may be written depends on its version in the snapshot. */
  #basedOn(step: number, transaction: number, row: number): void {
    const snapshot = this.#snapshot[transaction]!;
    if (this.#mechanism.firstUpdaterWins && snapshot >= 0 && snapshot < step)
      this.#accesses.add(snapshot, row, role.snapshot);
  }

  /** Nobody knows which rows it changed: all of them may have. */
  #fuzzyWrite(step: number, transaction: number, table: Table): void {
    const object = this.#tableObject[table.number]!;
    this.#accesses.add(step, object, role.write | role.lock);
    const doing = this.#do(transaction);
    doing.access(object, role.write);
    doing.fuzzy ??= new Set();
    doing.fuzzy.add(table);
    if (this.#writerLock >= 0) this.#lock(step, transaction, this.#writerLock, role.lock);
    if (this.#rows[table.number]!.size > scanLimit) this.#blind.add(table);
    else for (const row of this.#rows[table.number]!.values()) this.#current[row] = undefined;
  }

  #opaque(step: number, transaction: number, op: Operation, plan: OpaquePlan): void {
    if (plan.everything) {
      this.#everything.push(step);
      for (const table of this.#tables.values()) this.#fuzzyWrite(step, transaction, table);
      this.#note(`not understood, so counted as touching everything: ${(op.sql ?? '').slice(0, 60)}`);
      return;
    }
    const seen = this.#snapshotOf(step, transaction, plan.lock === 'none' ? 'plain' : 'lockingReadsSee');
    for (const table of plan.reads) {
      const object = this.#tableObject[table.number]!;
      this.#accesses.add(step, object, role.read);
      if (seen !== step) this.#accesses.add(seen, object, role.snapshot);
      if (plan.lock !== 'none' || this.#mechanism.readsLock)
        this.#lock(step, transaction, object, plan.lock === 'update' ? role.lock : role.share);
    }
    for (const table of plan.writes) this.#fuzzyWrite(step, transaction, table);
  }

  /** A statement that failed takes no lock and leaves no version; some failures tell what they met. */
  #failedStatement(step: number, transaction: number, op: Operation, plan: ReturnType<Planner['plan']>): void {
    const errorClass = op.error?.class;
    if (plan.type === 'opaque') {
      for (const table of [...plan.reads, ...plan.writes])
        this.#accesses.add(step, this.#tableObject[table.number]!, role.read);
      return;
    }
    const { table } = plan;
    if (plan.type === 'insert') {
      for (const cells of plan.rows) {
        const name = rowName(table, cells);
        if (name === undefined) continue;
        const row = this.#row(table, name);
        this.#accesses.add(step, row, role.read | role.lock);
        this.#basedOn(step, transaction, row);
        const exists = errorClass === 'duplicate-key';
        if (exists && this.#mechanism.writeConflict === 'waits' && plan.rows.length === 1) {
          this.#locks.touch(step, transaction, row);
          this.#needs.push({ step, snapshot: step, row, expected: { type: 'some', where: undefined } });
        } else if (!exists || plan.rows.length === 1) this.#failed.push({ step, transaction, object: row });
      }
      return;
    }
    const all = this.#rows[table.number]!;
    const rows = plan.keys === undefined ? [...all.values()] : plan.keys.map((name) => this.#row(table, name));
    if (plan.keys === undefined) this.#accesses.add(step, this.#tableObject[table.number]!, role.read | role.lock);
    for (const row of rows) {
      if (plan.keys !== undefined) this.#accesses.add(step, row, role.read | role.lock);
      this.#basedOn(step, transaction, row);
      this.#failed.push({ step, transaction, object: row });
    }
    const conflict = errorClass === 'serialization' && this.#mechanism.firstUpdaterWins;
    if (conflict && plan.keys?.length === 1 && this.#doing[transaction]?.wrote(rows[0]!) !== true) {
      // There was a row to fight over, in the snapshot.
      const seen = this.#snapshotOf(step, transaction, plan.type === 'scan' ? 'lockingReadsSee' : 'writesSee');
      if (seen !== step) this.#accesses.add(seen, rows[0]!, role.snapshot);
      this.#needs.push({ step, snapshot: seen, row: rows[0]!, expected: { type: 'some', where: plan.where } });
    }
    if (this.#writerLock >= 0) this.#failed.push({ step, transaction, object: this.#writerLock });
  }

  // ── Locks and ends ───────────────────────────────────────────────────────────────────────────────────────────

  #lock(step: number, transaction: number, object: number, roles: number): void {
    this.#accesses.add(step, object, roles);
    this.#do(transaction).access(object, roles);
    // Where writers do not exclude each other the order of commits decides, and is found when they end.
    if (this.#mechanism.writeConflict !== 'none')
      this.#locks.take(step, transaction, object, {
        exclusive: (roles & role.lock) !== 0,
        writes: (roles & role.write) !== 0 || object === this.#writerLock,
      });
  }

  #scanLock(step: number, transaction: number, table: Table | undefined, whole: boolean, row?: number): void {
    const object = table === undefined ? this.#objects.tableOf[row!]! : this.#tableObject[table.number]!;
    if (whole) {
      this.#accesses.add(step, object, role.lock);
      this.#do(transaction).access(object, role.lock);
    }
    this.#locks.passTable(step, transaction, object, whole);
  }

  /** If the row's holder has ended by the time this step was answered, its end comes first. */
  #settle(step: number, transaction: number, row: number): void {
    const holder = this.#locks.holderOf(row);
    if (holder < 0 || holder === transaction) return;
    const ending = this.steps.endOf[holder]!;
    if (ending < 0 || this.#taken[ending] || this.steps.start[ending]! >= this.steps.end[step]!) return;
    this.#take(ending);
  }

  #end(step: number, transaction: number, ends: 'commit' | 'rollback' | 'unknown'): void {
    const doing = this.#doing[transaction];
    if (doing === undefined) return;
    this.#doing[transaction] = undefined;
    const committed = ends !== 'rollback';
    const { pivot, writeConflict } = this.#mechanism;
    for (let i = 0; i < doing.objects.length; i++) {
      const object = doing.objects[i]!;
      const roles = doing.roles[i]!;
      const changes = (roles & (role.write | role.lock)) !== 0;
      const ending = committed && roles & role.write ? role.publish : changes ? role.release : role.releaseShare;
      this.#accesses.add(step, object, pivot === 'uncommitted' && changes ? ending | role.write : ending);
      if (writeConflict === 'none' && roles & role.write && committed) this.#locks.take(step, transaction, object, { exclusive: true, writes: true });
    }
    for (let i = 0; i < doing.rows.length; i++) {
      const row = doing.rows[i]!;
      const before = doing.before[i];
      if (!committed) this.#current[row] = before;
      if (pivot !== 'uncommitted') {
        if (committed) this.#version(row, step, ends === 'unknown' ? undefined : this.#current[row]);
      } else if (!committed) this.#version(row, step, before);
    }
    for (const table of doing.fuzzy ?? []) {
      if (!committed || this.#blind.has(table)) continue;
      for (const row of this.#rows[table.number]!.values())
        if (!doing.wrote(row)) this.#version(row, step, undefined);
    }
  }

  #version(row: number, step: number, image: Image): void {
    const chain = this.#objects.chains[row];
    if (chain === undefined) this.#objects.chains[row] = { publish: [step], image: [image] };
    else {
      chain.publish.push(step);
      chain.image.push(image);
    }
  }

  #savepoint(transaction: number, op: Operation): void {
    const doing = this.#do(transaction);
    const images = new Map<number, Image>();
    for (const row of doing.rows) images.set(row, this.#current[row]);
    doing.savepoints ??= [];
    doing.savepoints.push({ name: lastWord(op), images });
  }

  #rollbackTo(step: number, transaction: number, op: Operation): void {
    const doing = this.#doing[transaction];
    const at = doing?.savepoints?.findLastIndex(({ name }) => name === lastWord(op)) ?? -1;
    if (doing === undefined || at < 0) return;
    const { images } = doing.savepoints![at]!;
    doing.savepoints!.length = at + 1;
    doing.rows.forEach((row, i) => {
      this.#current[row] = images.has(row) ? images.get(row) : doing.before[i];
      this.#accesses.add(step, row, role.write);
    });
  }
}

function lastWord(op: Operation): string {
  return (op.sql ?? '').trim().split(/\s+/).at(-1)!.replace(/;$/, '').toLowerCase();
}

function isRecord(value: Access['value']): value is Readonly<Record<string, Value>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  // A tagged value is an object with one tag of its own.
  return !(keys.length === 1 && /^(int|decimal|double|bytes|date|time|timestamp|other)$/.test(keys[0]!));
}

function cellsOf(table: Table, record: Readonly<Record<string, Evaluated>>): Evaluated[] {
  const cells: Evaluated[] = table.columns.map(() => unknownCell);
  for (const [name, value] of Object.entries(record)) {
    let at = table.columns.indexOf(name.toLowerCase());
    if (at < 0) at = table.columns.push(name.toLowerCase()) - 1;
    cells[at] = value;
  }
  for (let i = 0; i < cells.length; i++) cells[i] ??= unknownCell;
  return cells;
}

/** The row after a write that tells only some of its cells. */
function overlay(base: Image, cells: readonly Evaluated[]): Image {
  if (base === undefined || base === null) return cells;
  const width = Math.max(base.length, cells.length);
  return Array.from({ length: width }, (_, i) => {
    const cell = cells[i];
    const known = cell !== undefined && !(typeof cell === 'object' && cell !== null && 'undecidable' in cell);
    return known ? cell : (base[i] ?? unknownCell);
  });
}

/** The rows of a result by their names; undefined: the result does not name them. */
function resultRows(op: Operation, plan: ScanPlan): { name: string; cells: Evaluated[] }[] | undefined {
  const { table } = plan;
  if (op.rows === undefined) return undefined;
  const shows = plan.shows ?? op.columns?.map((name) => table.columns.indexOf(name.toLowerCase())) ?? [];
  const named = table.identity.length > 0 && table.identity.every((at) => shows.includes(at));
  const single = plan.keys?.length === 1 ? plan.keys[0]! : undefined;
  if (!named && single === undefined) return undefined;
  const found: { name: string; cells: Evaluated[] }[] = [];
  for (const line of op.rows) {
    const cells: Evaluated[] = new Array(table.columns.length).fill(unknownCell);
    for (let i = 0; i < shows.length; i++) if (shows[i]! >= 0) cells[shows[i]!] = line[i] ?? null;
    const name = named ? rowName(table, cells) : single;
    if (name === undefined) return undefined;
    found.push({ name, cells });
  }
  return found;
}

function lockOfText(op: Operation): RowLock {
  if (op.kind !== 'select') return 'none';
  const sql = op.sql ?? '';
  if (!/\bfor\b|\block\b/i.test(sql)) return 'none';
  return /\bfor\s+(no\s+key\s+)?update\b/i.test(sql) ? 'update' : /\bshare\b/i.test(sql) ? 'share' : 'none';
}

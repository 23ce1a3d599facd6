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

import type { Access, Operation } from '../histories/index.js';
import type { OrderStepId } from '../ids.js';
import {
  type ChangePlan,
  isExclusive,
  overlay,
  type Plan,
  type Planner,
  plannerOf,
  type QueryPlan,
  recordedCells,
  rowKey,
  type ScanPlan,
  type Table,
  valuesOf,
} from '../rows/index.js';
import type { Evaluated } from '../sql/index.js';
import * as role from './conflicts.js';
import type { Evidence, Expected } from './evidence.js';
import { failedWriteChoices } from './failed-writes.js';
import { failedCommit, failedStatement } from './mirror-failures.js';
import { type MirrorSource, MirrorState } from './mirror-state.js';
import {
  followChange,
  followInsert,
  followOpaque,
  followUpsert,
  readTables,
  resolved,
} from './mirror-writes.js';
import { lockOfText, resultRows } from './operation-rows.js';
import { followSavepoint } from './savepoints.js';
import { type Steps, stepsByTime } from './steps.js';
import { lockTables } from './table-locks.js';
import { followVictim } from './victims.js';

export function collectEvidence(source: MirrorSource): Evidence {
  return new Mirror(source).run();
}

class Mirror {
  readonly #state: MirrorState;
  readonly #planner: Planner;

  private readonly steps: Steps;

  constructor(source: MirrorSource) {
    this.steps = source.steps;
    this.#state = new MirrorState(source, (step) => this.#take(step));
    this.#planner = plannerOf(source.catalog);
  }

  run(): Evidence {
    const { steps } = this;
    for (const step of stepsByTime(steps, steps.end)) this.#take(step);
    for (const step of this.#state.everything)
      for (const table of this.#state.tableObject)
        this.#state.accesses.add(step, table, role.write | role.publish);
    const waits = new Set<number>(this.#state.early);
    const choices = this.#state.locks.choices;
    const failed = failedWriteChoices(this.#state.failed, {
      steps,
      locks: this.#state.locks,
      chainOf: (object) => this.#state.objects.chains[object],
      initial: (object) => this.#state.objects.initial[object]!,
      snapshot: this.#state.snapshot,
      mechanism: this.#state.mechanism,
      endsIn: (transaction) => this.#state.endsIn(transaction),
      waits,
    });
    for (const choice of failed) choices.push(choice);
    if (this.#state.looksAgain)
      for (const [step, object] of this.#state.locks.raced)
        this.#state.uncertain.push({ step, object, what: 'turn', choices: 2, chosen: 0 });
    return {
      steps,
      objects: this.#state.objects,
      accesses: this.#state.accesses.finish(steps, this.#state.objects),
      needs: this.#state.needs,
      scans: this.#state.scans,
      queries: this.#state.queries,
      edges: this.#state.edges,
      choices,
      unexplained: this.#state.unexplained,
      uncertain: this.#state.uncertain,
      tables: new Set(this.#state.tableObject),
      unobservable: this.#unobservable(),
      locks: this.#state.locks.taken,
      waits,
      looksAgain: this.#state.looksAgain,
      readsByRow:
        this.#state.mechanism.pivot === 'uncommitted' || this.#state.mechanism.readsLockBriefly === true,
      stamped: this.#state.clock >= 0,
      snapshots: this.#state.snapshot,
      severalRows: this.#state.severalRows,
      rowChoices: this.#state.rowChoices,
      metGone: this.#state.metGone,
      notes: [...this.#state.notes].map(([note, count]) => (count === 1 ? note : `${note} (${count} times)`)),
    };
  }

  /** Gaps and certifiers watch whole tables; timestamps are given out where nobody sees it. */
  #unobservable(): Set<number> {
    const { scanLocks, mechanism, tableObject, clock } = this.#state;
    if (clock >= 0) return new Set([clock]);
    return new Set(scanLocks || mechanism.certifier === 'ssi' ? tableObject : []);
  }

  // ── Steps ────────────────────────────────────────────────────────────────────────────────────────────────────

  #take(step: OrderStepId): void {
    if (this.#state.taken[step]) return;
    this.#state.taken[step] = 1;
    const op = this.#state.opOf(step);
    if (op === undefined) return;
    const transaction = this.steps.transaction[step]!;
    const begins = step === 0 || this.steps.transaction[step - 1] !== transaction;
    if (begins && this.#state.clock >= 0) this.#state.accesses.add(step, this.#state.clock, role.lock);
    if (step > 0 && this.steps.cancelled[step - 1]) followVictim(this.#state, step - 1);
    else if (!this.steps.replaced[step] && !this.steps.cancelled[step]) this.#statement(step, op);
    if (this.steps.endOf[transaction] === step) this.#state.end(step, this.#state.endsIn(transaction)!);
  }

  #statement(step: OrderStepId, op: Operation): void {
    const { kind } = op;
    if (this.#state.readersLock >= 0) this.#shareDatabase(step, op);
    else if (kind === 'commit' && op.error !== undefined) failedCommit(this.#state, step);
    if (kind === 'commit' || kind === 'rollback' || kind === 'set') return;
    if (kind === 'begin') {
      if (
        this.#state.writerLock >= 0 &&
        /\b(immediate|exclusive)\b/i.test(op.sql ?? '') &&
        op.outcome === 'ok'
      )
        this.#state.writer(step, false);
    } else if (op.outcome !== 'error' && followSavepoint(this.#state, step, op)) return;
    else if (op.accesses !== undefined) this.#recorded(step, op, op.accesses);
    else this.#planned(step, op);
  }

  /** Readers and writers share the database until a writer commits, which needs it alone. */
  #shareDatabase(step: OrderStepId, op: Operation): void {
    const state = this.#state;
    const { kind } = op;
    if (kind === 'begin' || kind === 'rollback' || kind === 'set') return;
    // Even if it changed nothing.
    const changed = state.doing[this.steps.transaction[step]!]?.objects.includes(state.writerLock) === true;
    const commits =
      kind === 'commit' ? changed || op.error !== undefined : kind !== 'select' && state.isAlone(step);
    const uses = kind !== 'commit' && op.error?.class !== 'busy' && !state.isAlone(step);
    if (kind !== 'commit' || commits) state.shareDatabase(step, uses, commits);
  }

  /** The recorder says which rows it touched. */
  #recorded(step: OrderStepId, op: Operation, accesses: readonly Access[]): void {
    const { dialect } = this.#state.catalog;
    const lock = lockOfText(op, dialect);
    for (const access of accesses) {
      const { object, mode, value } = access;
      const { table, row } = this.#state.rowOf(object);
      const values = valuesOf(access);
      const cells =
        values !== undefined
          ? recordedCells(table, values, dialect)
          : value === undefined
            ? []
            : [value as Evaluated];
      if (mode === 'read') this.#state.readRow(step, row, { type: 'cells', cells }, lock);
      else {
        const base = this.#state.current[row]!;
        const image = mode === 'delete' ? 'absent' : overlay(base, cells);
        this.#state.write(step, row, image);
      }
    }
  }

  #planned(step: OrderStepId, op: Operation): void {
    const state = this.#state;
    const unresolved = this.#planner.plan(op.sql ?? '');
    // What a failed statement found is not known.
    const plan = op.outcome === 'error' ? unresolved : resolved(state, step, unresolved);
    if (plan.type === 'idle') {
      for (const table of plan.defines ?? []) state.define(step, table);
      return;
    }
    if (state.mechanism.certifier === 'ssi') for (const table of tablesOf(plan)) state.watch(step, table);
    if (state.clock >= 0) this.#stamp(step, plan);
    if (plan.type === 'scan' || plan.type === 'update' || plan.type === 'delete')
      if (state.scanLocks && !plan.table.indexed) this.#passAll(step, plan);
    const locksOut = op.error?.class === 'busy' || op.error?.class === 'serialization';
    if (state.writerLock >= 0 && op.kind !== 'select' && !locksOut) state.writer(step, false);
    if (state.mechanism.locksTables === true) lockTables(state, step, op, plan);
    if (op.outcome === 'error') failedStatement(state, step, op, plan);
    else this.#done(step, op, plan);
  }

  /** A statement that succeeded, as far as is known. */
  #done(step: OrderStepId, op: Operation, plan: Exclude<Plan, { type: 'idle' }>): void {
    const state = this.#state;
    switch (plan.type) {
      case 'scan':
        this.#scan(step, op, plan);
        return;
      case 'query':
        if (plan.part === undefined) this.#query(step, op, plan);
        else this.#scan(step, op, plan.part);
        return;
      case 'insert':
        followInsert(state, step, op, plan);
        return;
      case 'upsert':
        followUpsert(state, step, op, plan);
        return;
      case 'opaque':
        followOpaque(state, step, op, plan);
        return;
      case 'update':
      case 'delete':
        followChange(state, step, op, plan);
        return;
      default:
        plan satisfies never;
    }
  }

  /** Without an index on the names of rows, whoever locks one of them passes all. */
  #passAll(step: OrderStepId, plan: ScanPlan | ChangePlan): void {
    const locks = plan.type !== 'scan' || plan.lock !== 'none' || this.#state.readsLock(step);
    if (locks) this.#state.scanLock(step, plan.table, true);
  }

  /** Timestamps are left on every row a statement tried to change, whether it was there or not. */
  #stamp(step: OrderStepId, plan: Exclude<Plan, { type: 'idle' }>): void {
    if (plan.type === 'opaque' || plan.type === 'scan' || plan.type === 'query') return;
    const { table } = plan;
    const rows =
      plan.type === 'upsert' ? plan.rows : plan.type === 'insert' ? plan.bind(() => []) : undefined;
    const names =
      plan.type === 'update' || plan.type === 'delete'
        ? plan.keys
        : typeof rows === 'object'
          ? rows.map((cells) => rowKey(cells, table.identity))
          : undefined;
    for (const name of names ?? [undefined]) {
      const object =
        name === undefined ? this.#state.tableObject[table.number]! : this.#state.row(table, name);
      this.#state.accesses.add(step, object, role.write);
    }
  }

  // ── Reads ────────────────────────────────────────────────────────────────────────────────────────────────────

  #scan(step: OrderStepId, op: Operation, plan: ScanPlan): void {
    const transaction = this.steps.transaction[step]!;
    const { table, keys, where } = plan;
    const lock = plan.lock === 'none' && this.#state.readsLock(step) ? 'share' : plan.lock;
    const returned = resultRows(op, plan);
    const found: number[] = [];
    for (const { name, cells } of returned ?? []) {
      const row = this.#state.row(table, name);
      found.push(row);
      const expected: Expected =
        plan.wholeAt === undefined ? { type: 'cells', cells, where } : { type: 'cells', cells };
      this.#state.readRow(step, row, expected, lock);
    }
    if (keys !== undefined) {
      for (const name of keys) {
        const row = this.#state.row(table, name);
        if (found.includes(row)) continue;
        const expected: Expected =
          returned === undefined || !isComplete(plan)
            ? { type: 'cells', cells: [] }
            : { type: 'none', where };
        if (expected.type === 'none')
          this.#state.missRow(step, row, where, lock === 'none' ? 'plain' : 'lockingReadsSee');
        else this.#state.accesses.add(step, row, role.read);
        if (lock !== 'none') this.#state.accesses.add(step, row, isExclusive(lock) ? role.lock : role.share);
      }
      return;
    }
    const seen = this.#state.snapshotOf(step, lock === 'none' ? 'plain' : 'lockingReadsSee');
    const tableObject = this.#state.tableObject[table.number]!;
    this.#state.accesses.add(step, tableObject, lock === 'none' ? this.#state.plainRead : role.read);
    if (seen !== step) this.#state.accesses.add(seen, tableObject, role.snapshot);
    if (lock !== 'none' && this.#state.scanLocks) this.#state.scanLock(step, table, true);
    if (returned === undefined || !isComplete(plan)) return;
    const known = new Set(found);
    for (const row of this.#state.doing[transaction]?.writes.rows ?? []) known.add(row);
    this.#state.scans.push({ step, snapshot: seen, table: tableObject, where, known });
  }

  /** A query over whole tables: which of their states it saw is found when all of them are known (`query-order.ts`). */
  #query(step: OrderStepId, op: Operation, plan: QueryPlan): void {
    const transaction = this.steps.transaction[step]!;
    const state = this.#state;
    const seen = readTables(state, step, plan.tables, plan.lock);
    const followed = plan.tables.every((table) => table.initial !== undefined && table.identity.length > 0);
    if (op.rows === undefined || plan.lock !== 'none' || !followed) return;
    const writes = state.doing[transaction]?.writes;
    const own = new Map(writes?.rows.map((row) => [row, writes.own(row)!]));
    const tables = plan.tables.map((table) => state.tableObject[table.number]!);
    const run: Evidence['queries'][number]['run'] = (rowsOf) =>
      plan.run((table) => rowsOf(state.tableObject[table.number]!));
    state.queries.push({ step, snapshot: seen, tables, run, result: op.rows, own });
  }
}

/** Rows that SKIP LOCKED leaves out, or a LIMIT, may be there all the same. */
function isComplete(plan: ScanPlan): boolean {
  return plan.complete && !plan.skipsLocked;
}

function tablesOf(plan: Exclude<Plan, { type: 'idle' }>): readonly Table[] {
  if (plan.type === 'opaque') return [];
  return plan.type === 'query' ? plan.tables : [plan.table];
}

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
import type { Evaluated } from '../sql/index.js';
import * as role from './conflicts.js';
import type { Evidence, Expected } from './evidence.js';
import { failedWriteChoices } from './failed-writes.js';
import { failedCommit, failedStatement } from './mirror-failures.js';
import { MirrorState } from './mirror-state.js';
import { cellsOf, isRecord, lockOfText, overlay, resultRows } from './operation-rows.js';
import { rollBackTo, setSavepoint } from './savepoints.js';
import { rowName } from './schema.js';
import {
  type DeletePlan,
  type InsertPlan,
  type OpaquePlan,
  type Plan,
  Planner,
  type ScanPlan,
  type UpdatePlan,
} from './statement-plan.js';
import { type Steps, stepsByTime } from './steps.js';
import { byCount, matches, rangeTouched } from './touched-rows.js';

export function collectEvidence(
  history: History,
  steps: Steps,
  contract: Contract & { mechanism: Mechanism },
): Evidence {
  return new Mirror(history, steps, contract).run();
}

class Mirror {
  readonly #state: MirrorState;
  readonly #planner: Planner;

  constructor(
    history: History,
    private readonly steps: Steps,
    contract: Contract & { mechanism: Mechanism },
  ) {
    this.#state = new MirrorState(history, steps, contract, (step) => this.#take(step));
    this.#planner = new Planner(this.#state.tables, this.#state.dialect);
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
      initial: (object) => this.#state.objects.initial[object],
      snapshot: this.#state.snapshot,
      mechanism: this.#state.mechanism,
      endsIn: (transaction) => this.#state.endsIn(transaction),
      waits,
    });
    for (const choice of failed) choices.push(choice);
    return {
      steps,
      objects: this.#state.objects,
      accesses: this.#state.accesses.finish(steps, this.#state.objects),
      needs: this.#state.needs,
      scans: this.#state.scans,
      edges: this.#state.edges,
      choices,
      unexplained: this.#state.unexplained,
      uncertain: this.#state.uncertain,
      tables: new Set(this.#state.tableObject),
      loose: this.#loose(),
      locks: this.#state.locks.taken,
      waits,
      stamped: this.#state.clock >= 0,
      snapshots: this.#state.snapshot,
      notes: [...this.#state.notes].map(([note, count]) => (count === 1 ? note : `${note} (${count} times)`)),
    };
  }

  /** Gaps and certifiers watch whole tables; timestamps are given out where nobody sees it. */
  #loose(): Set<number> {
    const { scanLocks, mechanism, tableObject, clock } = this.#state;
    if (clock >= 0) return new Set([clock]);
    return new Set(scanLocks || mechanism.certifier === 'ssi' ? tableObject : []);
  }

  // ── Steps ────────────────────────────────────────────────────────────────────────────────────────────────────

  #take(step: number): void {
    if (this.#state.taken[step]) return;
    this.#state.taken[step] = 1;
    const op = this.#state.opOf(step);
    if (op === undefined) return;
    const transaction = this.steps.transaction[step]!;
    const begins = step === 0 || this.steps.transaction[step - 1] !== transaction;
    if (begins && this.#state.clock >= 0) this.#state.accesses.add(step, this.#state.clock, role.lock);
    if (!this.steps.replaced[step]) this.#statement(step, transaction, op);
    if (this.steps.endOf[transaction] === step)
      this.#state.end(step, transaction, this.#state.endsIn(transaction)!);
  }

  #statement(step: number, transaction: number, op: Operation): void {
    const { kind } = op;
    if (kind === 'commit' && op.error !== undefined) failedCommit(this.#state, step, transaction);
    if (kind === 'commit' || kind === 'rollback' || kind === 'set' || kind === 'release') return;
    if (kind === 'begin') {
      if (
        this.#state.writerLock >= 0 &&
        /\b(immediate|exclusive)\b/i.test(op.sql ?? '') &&
        op.outcome === 'ok'
      )
        this.#state.writer(step, transaction, false);
    } else if (kind === 'savepoint') setSavepoint(this.#state, transaction, op);
    else if (kind === 'rollback-to') rollBackTo(this.#state, step, transaction, op);
    else if (op.accesses !== undefined) this.#recorded(step, transaction, op, op.accesses);
    else this.#planned(step, transaction, op);
  }

  /** The recorder told which rows it touched. */
  #recorded(step: number, transaction: number, op: Operation, accesses: readonly Access[]): void {
    const lock = lockOfText(op);
    for (const { object, mode, value } of accesses) {
      const { table, row } = this.#state.rowOf(object);
      const cells = isRecord(value) ? cellsOf(table, value) : value === undefined ? [] : [value as Evaluated];
      if (mode === 'read') this.#state.readRow(step, transaction, row, { type: 'cells', cells }, lock);
      else {
        const base = this.#state.current[row];
        const image = mode === 'delete' ? null : overlay(base, cells);
        this.#state.write(step, transaction, row, image);
      }
    }
  }

  #planned(step: number, transaction: number, op: Operation): void {
    const plan = this.#planner.plan(op.sql ?? '');
    if (this.#state.mechanism.certifier === 'ssi' && plan.type !== 'opaque')
      this.#state.watch(step, transaction, plan.table);
    if (this.#state.clock >= 0) this.#stamp(step, plan);
    if (this.#state.scanLocks && plan.type !== 'opaque' && plan.table.unindexed && plan.type !== 'insert')
      this.#passAll(step, transaction, plan);
    const locksOut = op.error?.class === 'busy' || op.error?.class === 'serialization';
    if (this.#state.writerLock >= 0 && op.kind !== 'select' && !locksOut)
      this.#state.writer(step, transaction, false);
    if (op.outcome === 'error') failedStatement(this.#state, step, transaction, op, plan);
    else if (plan.type === 'scan') this.#scan(step, transaction, op, plan);
    else if (plan.type === 'insert') this.#insert(step, transaction, plan);
    else if (plan.type === 'opaque') this.#opaque(step, transaction, op, plan);
    else this.#change(step, transaction, op, plan);
  }

  /** Without an index on the names of rows, whoever locks one of them passes all. */
  #passAll(step: number, transaction: number, plan: ScanPlan | UpdatePlan | DeletePlan): void {
    const locks = plan.type !== 'scan' || plan.lock !== 'none' || this.#state.readsLock(step, transaction);
    if (locks) this.#state.scanLock(step, transaction, plan.table, true);
  }

  /** Timestamps are left on every row a statement tried to change, whether it was there or not. */
  #stamp(step: number, plan: Plan): void {
    if (plan.type === 'opaque' || plan.type === 'scan') return;
    const { table } = plan;
    const names =
      plan.type === 'insert' ? plan.rows.map((cells) => rowName(table, cells)) : (plan.keys ?? [undefined]);
    for (const name of names) {
      const object =
        name === undefined ? this.#state.tableObject[table.number]! : this.#state.row(table, name);
      this.#state.accesses.add(step, object, role.write);
    }
  }

  // ── Reads ────────────────────────────────────────────────────────────────────────────────────────────────────

  #scan(step: number, transaction: number, op: Operation, plan: ScanPlan): void {
    const { table, keys, where } = plan;
    const lock = plan.lock === 'none' && this.#state.readsLock(step, transaction) ? 'share' : plan.lock;
    const returned = resultRows(op, plan);
    const found: number[] = [];
    for (const { name, cells } of returned ?? []) {
      const row = this.#state.row(table, name);
      found.push(row);
      const expected: Expected =
        plan.hidden === undefined ? { type: 'cells', cells } : { type: 'cells', cells, where: plan.hidden };
      this.#state.readRow(step, transaction, row, expected, lock);
    }
    if (keys !== undefined) {
      for (const name of keys) {
        const row = this.#state.row(table, name);
        if (found.includes(row)) continue;
        const expected: Expected =
          returned === undefined || !plan.complete ? { type: 'cells', cells: [] } : { type: 'none', where };
        if (expected.type === 'none')
          this.#state.missRow(step, transaction, row, where, lock === 'none' ? 'plain' : 'lockingReadsSee');
        else this.#state.accesses.add(step, row, role.read);
        if (lock !== 'none') this.#state.accesses.add(step, row, lock === 'share' ? role.share : role.lock);
      }
      return;
    }
    const seen = this.#state.snapshotOf(step, transaction, lock === 'none' ? 'plain' : 'lockingReadsSee');
    const tableObject = this.#state.tableObject[table.number]!;
    this.#state.accesses.add(step, tableObject, role.read);
    if (seen !== step) this.#state.accesses.add(seen, tableObject, role.snapshot);
    if (lock !== 'none' && this.#state.scanLocks) this.#state.scanLock(step, transaction, table, true);
    if (returned === undefined || !plan.complete) return;
    const known = new Set(found);
    for (const row of this.#state.doing[transaction]?.rows ?? []) known.add(row);
    this.#state.scans.push({ step, snapshot: seen, table: tableObject, where, known });
  }

  // ── Writes ───────────────────────────────────────────────────────────────────────────────────────────────────

  #insert(step: number, transaction: number, { table, rows }: InsertPlan): void {
    for (const cells of rows) {
      const name = rowName(table, cells);
      const { protocol, writeConflict } = this.#state.mechanism;
      if (name === undefined) this.#state.fuzzyWrite(step, transaction, table);
      else if (protocol === 'optimistic' && writeConflict === 'fails')
        this.#state.insertLate(step, transaction, this.#state.row(table, name), cells);
      else this.#state.write(step, transaction, this.#state.row(table, name), cells, true);
    }
  }

  #change(step: number, transaction: number, op: Operation, plan: UpdatePlan | DeletePlan): void {
    const rows = this.#touched(step, transaction, op, plan);
    if (rows === undefined) {
      this.#state.fuzzyWrite(step, transaction, plan.table);
      return;
    }
    for (const row of rows) {
      const before = this.#state.imageFor(transaction, row);
      const changed = plan.type === 'update' && before ? plan.apply(before) : undefined;
      this.#state.write(step, transaction, row, plan.type === 'delete' ? null : changed);
    }
  }

  /** The rows an UPDATE or DELETE changed; undefined: the mirror and the count do not agree. */
  #touched(
    step: number,
    transaction: number,
    { matched }: Operation,
    plan: UpdatePlan | DeletePlan,
  ): readonly number[] | undefined {
    const state = this.#state;
    const { table, keys, where } = plan;
    if (keys === undefined) return rangeTouched(state, step, transaction, matched, table, where);
    const rows = keys.map((name) => state.row(table, name));
    const hits: number[] = [];
    const open: number[] = [];
    for (const row of rows) {
      state.settle(step, transaction, row);
      const hit = matches(state.imageFor(transaction, row), where);
      if (hit === true) hits.push(row);
      else if (hit === undefined) open.push(row);
    }
    const touched = byCount(matched, hits, open) ?? (matched === rows.length ? rows : undefined);
    if (touched === undefined) {
      state.note(`a statement on ${table.name} touched other rows than the mirror expects`);
      return undefined;
    }
    for (const row of rows)
      if (!touched.includes(row)) state.missRow(step, transaction, row, where, 'writesSee');
    return touched;
  }

  #opaque(step: number, transaction: number, op: Operation, plan: OpaquePlan): void {
    if (plan.everything) {
      this.#state.everything.push(step);
      for (const table of this.#state.tables.values()) this.#state.fuzzyWrite(step, transaction, table);
      this.#state.note(`not understood, so counted as touching everything: ${(op.sql ?? '').slice(0, 60)}`);
      return;
    }
    const seen = this.#state.snapshotOf(
      step,
      transaction,
      plan.lock === 'none' ? 'plain' : 'lockingReadsSee',
    );
    for (const table of plan.reads) {
      const object = this.#state.tableObject[table.number]!;
      this.#state.accesses.add(step, object, role.read);
      if (seen !== step) this.#state.accesses.add(seen, object, role.snapshot);
      if (plan.lock !== 'none' || this.#state.readsLock(step, transaction))
        this.#state.lock(step, transaction, object, plan.lock === 'update' ? role.lock : role.share);
    }
    for (const table of plan.writes) this.#state.fuzzyWrite(step, transaction, table);
  }
}

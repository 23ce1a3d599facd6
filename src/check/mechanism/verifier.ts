/** One run of the verifier over a history; `verify.ts` tells what it does and in which order. */

import type { Contract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import {
  type Catalog,
  intervalOf,
  keepsRowsOfFailed,
  type OpaquePlan,
  type Plan,
  type Planner,
  plannerOf,
  planUnder,
  type Tx,
  transactionsOfHistory,
} from '../../rows/index.js';
import { Certifier } from './certifier.js';
import { followUpsert } from './follow-upsert.js';
import type { Write } from './followed-write.js';
import { InFlight, type PendingWrite } from './in-flight.js';
import { judgeRead, judgeTracedLines } from './judge-answer.js';
import { bindTables, followOpaque, judgeChange, judgeInsert } from './judge-write.js';
import { MirrorTable } from './mirror.js';
import { NodeLag } from './node-lag.js';
import { type MechanismResult, Tally } from './result.js';
import { comesBefore, type RowChain, type View } from './row-chain.js';
import { followAccesses, isTraced } from './traced.js';
import { type MirrorObserver, type Verification, viewAt } from './verification.js';
import { isWriteKind, writtenKeys, writtenTables } from './written.js';
import { WrittenRows } from './written-rows.js';

/** Pruning looks at every row, so it waits for at least as many operations as there are rows: the work stays linear. */
const pruneEvery = 64;

export class Verifier {
  readonly #tally: Tally;
  readonly #tables: ReadonlyMap<string, MirrorTable>;
  readonly #txs: ReadonlyMap<number, Tx>;
  readonly #verification: Verification;
  readonly #order: readonly Operation[];
  readonly #written: WrittenRows;
  /** Plans made ahead, of writes that may be seen before they are answered. */
  readonly #plans = new Map<number, Plan>();
  readonly #planner: Planner;
  /** Some session reads uncommitted data. */
  readonly #dirty: boolean;

  constructor(
    private readonly history: History,
    private readonly contract: Contract,
    private readonly catalog: Catalog,
    private readonly observer?: MirrorObserver,
  ) {
    this.#tally = new Tally(observer && ((reason) => observer.skipped(reason)));
    this.#order = inAnswerOrder(history.operations);
    this.#tables = new Map(catalog.tables.map((table) => [table.name, new MirrorTable(table)]));
    for (const { name, initial } of catalog.tables)
      if (initial === undefined)
        this.#tally.note(`The initial rows of ${name} are not known; they are learned from reads.`);
    this.#planner = plannerOf(catalog);
    this.#written = new WrittenRows(catalog);
    this.#txs = transactionsOfHistory(history.header, this.#order, contract);
    this.#dirty = [...this.#txs.values()].some((tx) => tx.contract?.mechanism?.pivot === 'uncommitted');
    const mechanism = contract.mechanism!;
    this.#verification = {
      history,
      contract,
      catalog,
      traced: isTraced(history.operations),
      exclusive: mechanism.writeConflict !== 'none',
      tables: this.#tables,
      txs: this.#txs,
      inFlight: new InFlight(this.#pendingWrites()),
      certifier: mechanism.certifier === 'none' ? undefined : new Certifier(this.#tally),
      lag: mechanism.otherNodesLag === true ? new NodeLag(history.header, history.operations) : undefined,
      bounds: new Map(),
      tableBounds: new Map(),
      tally: this.#tally,
      findings: [],
      observer,
    };
  }

  /** Autocommitted writes, and with dirty readers every write: what can be seen before it is answered. */
  #pendingWrites(): PendingWrite[] {
    const pending: PendingWrite[] = [];
    for (const operation of this.history.operations) {
      const tx = this.#txs.get(operation.transaction)!;
      if (!isWriteKind(operation.kind)) continue;
      if (!this.#dirty && (tx.explicit || tx.fate === 'aborted')) continue;
      const plan = this.#planOf(operation);
      this.#plans.set(operation.index, plan);
      const keys = writtenKeys(plan);
      const addsUnknown = keys === undefined && plan.type !== 'update' && plan.type !== 'delete';
      pending.push({ operation, tx, tables: writtenTables(plan), keys, addsUnknown });
    }
    return pending;
  }

  run(): MechanismResult {
    const { history } = this;
    const order = this.#order;
    const watermarks = this.#watermarks(order);
    // Who looks at the whole mirror is shown old versions, too.
    let due = this.observer?.judged === undefined ? pruneEvery : Number.POSITIVE_INFINITY;
    this.observer?.judged?.(this.#verification, undefined);
    for (let i = 0; i < order.length; i++) {
      const operation = order[i]!;
      if (operation.end !== null) this.#take(operation);
      this.observer?.judged?.(this.#verification, operation);
      if (i + 1 + this.#written.touched < due) continue;
      // A node that is behind may show any version since then.
      const kept = this.#verification.lag === undefined ? this.#prune(watermarks[i]!) : this.#countVersions();
      due = i + 1 + this.#written.touched + Math.max(pruneEvery, kept);
    }
    this.#countVersions();
    const { certifier, findings, exclusive } = this.#verification;
    if (certifier !== undefined) {
      const follows = (a: Parameters<typeof comesBefore>[0], b: typeof a) => comesBefore(a, b, exclusive);
      for (const table of this.#tables.values()) certifier.finish(table.rows.values(), follows);
      findings.push(...certifier.findings(history));
    }
    return {
      contract: this.contract.id,
      findings,
      checked: this.#tally.checked(this.#txs.size),
      skipped: this.#tally.skipped,
      notes: this.#tally.notes,
    };
  }

  /** Per position: the earliest moment that a transaction still unfinished there can look back to. */
  #watermarks(order: readonly Operation[]): Float64Array {
    const marks = new Float64Array(order.length);
    let mark = Number.POSITIVE_INFINITY;
    for (let i = order.length - 1; i >= 0; i--) {
      marks[i] = mark;
      const operation = order[i]!;
      mark = Math.min(mark, this.#txs.get(operation.transaction)!.start);
    }
    return marks;
  }

  /** Costs as much as there are versions; so it is due when as many were added, or operations judged, since it was done. */
  #prune(watermark: number): number {
    const { certifier, inFlight } = this.#verification;
    this.#countVersions();
    const drop = certifier === undefined ? undefined : certifier.drop.bind(certifier);
    for (const table of this.#tables.values()) table.prune(watermark, this.#verification, drop);
    inFlight.prune(watermark);
    return this.#countVersions();
  }

  #countVersions(): number {
    let count = 0;
    for (const table of this.#tables.values())
      for (const row of table.rows.values()) count += row.versions.length;
    this.#tally.peakVersions = Math.max(this.#tally.peakVersions, count);
    return count;
  }

  #take(operation: Operation): void {
    const { inFlight } = this.#verification;
    const tx = this.#txs.get(operation.transaction)!;
    inFlight.advance(intervalOf(operation).end);
    if (operation.outcome === 'ok') {
      if (this.#written.follow(tx, operation)) return;
      this.#judge(tx, operation);
    }
    if (operation.outcome === 'error' && keepsRowsOfFailed(operation.sql, this.catalog.dialect))
      this.#followFailed(tx, operation);
    // What was lost on the way may still take effect.
    if (operation.outcome === 'error' && this.#dirty) inFlight.fade(operation);
    else if (operation.outcome !== 'unknown') inFlight.settle(operation);
    if (operation === tx.last) {
      this.#verification.lag?.ended(tx);
      this.#written.forget(tx);
      this.#verification.bounds.delete(tx);
    }
  }

  #judge(tx: Tx, operation: Operation): void {
    this.observer?.begin(tx, operation);
    if (operation.accesses?.some((access) => access.mode !== 'read') === true) {
      followAccesses(this.#verification, this.#writeOf(tx, operation), this.#folded);
      return;
    }
    const plan = this.#plans.get(operation.index) ?? this.#planOf(operation);
    this.#plans.delete(operation.index);
    switch (plan.type) {
      case 'idle':
        return;
      case 'scan':
      case 'query':
        judgeRead(this.#verification, tx, operation, plan);
        return;
      case 'opaque':
        if (plan.writes) this.#followUnread(tx, operation, plan);
        else if (this.#verification.traced && operation.kind === 'select')
          judgeTracedLines(this.#verification, tx, operation);
        else if (operation.kind === 'select') this.#tally.skip('read', plan.reason);
        return;
      case 'insert':
        judgeInsert(this.#verification, this.#writeOf(tx, operation), plan, this.#visibleFrom(tx, operation));
        return;
      case 'upsert':
        followUpsert(
          this.#verification,
          this.#writeOf(tx, operation),
          plan,
          this.#visibleFrom(tx, operation),
        );
        return;
      default:
        judgeChange(this.#verification, this.#writeOf(tx, operation), plan, this.#visibleFrom(tx, operation));
    }
  }

  /** A write whose rows only a query tells: followed if what it reads is certain. */
  #followUnread(tx: Tx, operation: Operation, plan: OpaquePlan): void {
    const write = this.#writeOf(tx, operation);
    const rowsOf = plan.resolve && bindTables(this.#verification, write, plan.resolve.reads);
    const resolved =
      rowsOf === undefined || typeof rowsOf === 'string' ? undefined : plan.resolve?.bind(rowsOf);
    const visibleFrom = this.#visibleFrom(tx, operation);
    if (resolved === undefined) followOpaque(this.#verification, write, plan, visibleFrom);
    else followUpsert(this.#verification, write, resolved, visibleFrom);
  }

  /** A write that failed and may have left some of its rows. */
  #followFailed(tx: Tx, operation: Operation): void {
    const plan = this.#planOf(operation);
    const tables = writtenTables(plan)?.map((name) => this.catalog.find(name)!);
    const reason = 'a statement that failed and keeps what it had written by then';
    const opaque: OpaquePlan = {
      type: 'opaque',
      writes: true,
      tables,
      reads: [],
      lock: 'none',
      reason,
      keys: undefined,
    };
    followOpaque(this.#verification, this.#writeOf(tx, operation), opaque, operation.start);
  }

  /** When others may first see what this operation wrote. */
  #visibleFrom(tx: Tx, operation: Operation): number {
    return this.#dirty ? operation.start : tx.commit.start;
  }

  #planOf(operation: Operation): Plan {
    if (operation.sql === undefined) {
      const writes = isWriteKind(operation.kind) && operation.accesses === undefined;
      const reason = 'it has no text';
      return { type: 'opaque', writes, tables: undefined, reads: [], lock: 'none', reason, keys: undefined };
    }
    return planUnder(this.#planner.plan(operation.sql), this.#txs.get(operation.transaction)!);
  }

  #folded = (name: string): string => this.catalog.find(name)?.name ?? name;

  #writeOf(tx: Tx, operation: Operation): Write {
    const mechanism = tx.unjudged === undefined ? tx.contract?.mechanism : undefined;
    const wide: View = {
      span: { start: this.#verification.lag === undefined ? tx.start : 0, end: intervalOf(operation).end },
      current: true,
      dirty: false,
    };
    const write: Write = {
      tx,
      operation,
      view: mechanism === undefined ? wide : viewAt(this.#verification, tx, operation, 'write'),
      touch: (row: RowChain) => {
        this.#written.touch(tx, row);
        this.observer?.wrote(write, row);
      },
    };
    return write;
  }
}

/** By the end of their intervals; what was never answered comes last. */
function inAnswerOrder(operations: readonly Operation[]): Operation[] {
  const sorted = operations.every((operation, i) => i === 0 || endOf(operations[i - 1]!) <= endOf(operation));
  return sorted ? [...operations] : [...operations].sort((a, b) => endOf(a) - endOf(b) || a.index - b.index);
}

const endOf = (operation: Operation): number => intervalOf(operation).end;

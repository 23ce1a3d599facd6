/**
 * The mechanism verifier: is every answer in a history one that the contract's mechanism can give?
 *
 * It needs no instrumentation, only what a client saw: statements, answers, and when they were sent and answered. From
 * these it mirrors the versions of every row (`row-chain.ts`) and the locks (`locks.ts`), and asks of each read which
 * versions the contract lets it see, of each write which rows it could touch and whether it had to wait or fail
 * (Leopard's four mechanisms; Pisco §6.2.1).
 *
 * 1. A first pass finds out how each transaction ended and when its snapshot was taken (`transactions.ts`).
 * 2. Operations are then taken in the order of their answers. Whatever a statement can see was written by statements
 *    answered before it; autocommitted writes still in flight are the one exception (`in-flight.ts`).
 * 3. Versions that no unfinished transaction can see are dropped as it goes, so memory follows concurrency.
 *
 * Sound, not complete: times only enclose the truth, so where several versions are possible all of them are allowed,
 * and what cannot be decided is skipped and counted, with its reason.
 */
import type { Contract } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import type { History, Operation } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { openTables, type Tables } from './catalog.js';
import { Certifier } from './certifier.js';
import { checkLock } from './conflicts.js';
import { InFlight, type PendingWrite } from './in-flight.js';
import { intervalOf } from './interval.js';
import { judgeQuery } from './judge-query.js';
import { judgeScan } from './judge-read.js';
import { followOpaque, judgeChange, judgeInsert, type Write } from './judge-write.js';
import { linesOfAccesses, linesOfRows, splitObject } from './lines.js';
import { LockTable } from './locks.js';
import { planStatement } from './plan.js';
import type { Plan, ScanPlan } from './plan-types.js';
import { type MechanismResult, Tally } from './result.js';
import { comesBefore, type RowChain, type View } from './row-chain.js';
import { Savepoints } from './savepoints.js';
import { SnapshotBounds } from './snapshot-bounds.js';
import { followAccesses, isTraced } from './traced.js';
import { hasSnapshot, type Tx, transactionsOfHistory } from './transactions.js';
import { boundsOf, type Verification } from './verification.js';
import { readsLockRows, viewOf } from './view.js';

export interface VerifyOptions {
  /** The column that names the rows of a table, by table, where neither `rid` nor the primary key does. */
  readonly identity?: Readonly<Record<string, string>>;
  /** Another contract: the result says which findings would appear and vanish under it. */
  readonly compareWith?: Contract;
}

const pruneEvery = 64;

/** Verifies a history against the mechanism of a contract. */
export function verifyMechanism(
  history: History,
  contract: Contract,
  options: VerifyOptions = {},
): MechanismResult {
  const { compareWith } = options;
  if (contract.mechanism === undefined)
    throw new IsoldeError(
      'usage',
      `the contract ${contract.id} does not say how an engine works; choose a vendor's contract`,
    );
  const result = new Verifier(history, contract, options).run();
  if (compareWith === undefined) return result;
  const other = verifyMechanism(history, compareWith, {
    ...(options.identity && { identity: options.identity }),
  });
  const names = (findings: readonly Finding[]) => new Set(findings.map(identify));
  const [here, there] = [names(result.findings), names(other.findings)];
  return {
    ...result,
    comparison: {
      contract: compareWith.id,
      findings: other.findings.length,
      appear: other.findings.filter((finding) => !here.has(identify(finding))),
      vanish: result.findings.filter((finding) => !there.has(identify(finding))),
    },
  };
}

/** What makes two findings the same: what is wrong, where it shows, on which rows. */
function identify({ kind, operations, versions, cycle }: Finding): string {
  const rows = (versions ?? []).map((version) => version.object);
  return JSON.stringify([kind, operations[0]?.index, rows, cycle?.map((edge) => [edge.from, edge.to])]);
}

class Verifier {
  readonly #tally = new Tally();
  readonly #tables: Tables;
  readonly #txs: ReadonlyMap<number, Tx>;
  readonly #verification: Verification;
  readonly #savepoints = new Savepoints();
  readonly #plans = new Map<number, Plan>();
  readonly #traced: boolean;
  /** Some session reads uncommitted data. */
  readonly #dirty: boolean;

  constructor(
    private readonly history: History,
    private readonly contract: Contract,
    options: VerifyOptions,
  ) {
    this.#tables = openTables(history, options, this.#tally);
    this.#txs = transactionsOfHistory(history, contract);
    this.#traced = isTraced(history.operations);
    this.#dirty = [...this.#txs.values()].some((tx) => tx.contract?.mechanism?.pivot === 'uncommitted');
    const mechanism = contract.mechanism!;
    this.#verification = {
      history,
      contract,
      exclusive: mechanism.writeConflict !== 'none',
      tables: this.#tables.tables,
      txs: this.#txs,
      inFlight: new InFlight(this.#pendingWrites()),
      locks: new LockTable(),
      certifier: mechanism.certifier === 'none' ? undefined : new Certifier(this.#tally),
      bounds: new Map(),
      tally: this.#tally,
      findings: [],
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
      pending.push({ operation, tx, tables: writtenTables(plan), keys: writtenKeys(plan, this.#tables) });
    }
    return pending;
  }

  run(): MechanismResult {
    const { history } = this;
    const order = inAnswerOrder(history.operations);
    const watermarks = this.#watermarks(order);
    for (let i = 0; i < order.length; i++) {
      const operation = order[i]!;
      if (operation.end !== null) this.#take(operation);
      if (i % pruneEvery === pruneEvery - 1) this.#prune(watermarks[i]!);
    }
    this.#countVersions();
    const { certifier, findings, exclusive } = this.#verification;
    if (certifier !== undefined) {
      const follows = (a: Parameters<typeof comesBefore>[0], b: typeof a) => comesBefore(a, b, exclusive);
      for (const table of this.#tables.tables.values()) certifier.finish(table.rows.values(), follows);
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

  #prune(watermark: number): void {
    const { certifier, exclusive, locks } = this.#verification;
    this.#countVersions();
    const drop = certifier === undefined ? undefined : certifier.drop.bind(certifier);
    for (const table of this.#tables.tables.values()) table.prune(watermark, exclusive, drop);
    locks.prune(watermark);
  }

  #countVersions(): void {
    let count = 0;
    for (const table of this.#tables.tables.values())
      for (const row of table.rows.values()) count += row.versions.length;
    this.#tally.peakVersions = Math.max(this.#tally.peakVersions, count);
  }

  #take(operation: Operation): void {
    const { inFlight } = this.#verification;
    const tx = this.#txs.get(operation.transaction)!;
    inFlight.advance(intervalOf(operation).end);
    if (operation.outcome === 'ok') {
      if (this.#savepoints.follow(tx, operation)) return;
      this.#judge(tx, operation);
    }
    // What was lost on the way may still take effect.
    if (operation.outcome !== 'unknown') inFlight.settle(operation);
    if (operation === tx.last) {
      this.#savepoints.forget(tx);
      this.#verification.bounds.delete(tx);
    }
  }

  #judge(tx: Tx, operation: Operation): void {
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
        this.#judgeRead(tx, operation, plan);
        return;
      case 'opaque':
        if (plan.writes)
          followOpaque(
            this.#verification,
            this.#writeOf(tx, operation),
            plan,
            this.#visibleFrom(tx, operation),
          );
        else if (this.#traced && operation.kind === 'select') this.#judgeTracedLines(tx, operation);
        else if (operation.kind === 'select') this.#tally.skip('read', plan.reason);
        return;
      case 'insert':
        judgeInsert(this.#verification, this.#writeOf(tx, operation), plan, this.#visibleFrom(tx, operation));
        return;
      default:
        judgeChange(this.#verification, this.#writeOf(tx, operation), plan);
    }
  }

  /** When others may first see what this operation wrote. */
  #visibleFrom(tx: Tx, operation: Operation): number {
    return this.#dirty ? operation.start : tx.commit.start;
  }

  #planOf(operation: Operation): Plan {
    if (operation.sql === undefined) {
      const writes = isWriteKind(operation.kind) && operation.kind !== 'select';
      return {
        type: 'opaque',
        writes: writes && operation.accesses === undefined,
        tables: [],
        reason: 'no text',
        keys: undefined,
      };
    }
    return planStatement(operation.sql, this.#tables.catalog);
  }

  #folded = (name: string): string => this.#tables.catalog.find(name)?.name ?? name;

  #writeOf(tx: Tx, operation: Operation): Write {
    const mechanism = tx.unjudged === undefined ? tx.contract?.mechanism : undefined;
    const wide: View = {
      span: { start: tx.start, end: intervalOf(operation).end },
      current: true,
      dirty: false,
    };
    const narrowed =
      tx.snapshot === undefined ? undefined : this.#verification.bounds.get(tx)?.narrow(tx.snapshot);
    return {
      tx,
      operation,
      view: mechanism === undefined ? wide : viewOf(tx, mechanism, operation, 'write', narrowed),
      touch: (row: RowChain) => this.#savepoints.touch(tx, row),
    };
  }

  #judgeRead(tx: Tx, operation: Operation, plan: Extract<Plan, { type: 'scan' | 'query' }>): void {
    const mechanism = tx.contract?.mechanism;
    if (mechanism === undefined || tx.unjudged !== undefined) {
      this.#tally.skip('read', tx.unjudged ?? 'no contract');
      return;
    }
    if (!mechanism.ownWrites) {
      this.#tally.skip('read', 'the contract does not promise own writes');
      return;
    }
    const mode = plan.lock === 'none' ? 'plain' : 'locking';
    const narrowed =
      tx.snapshot === undefined ? undefined : this.#verification.bounds.get(tx)?.narrow(tx.snapshot);
    const view = viewOf(tx, mechanism, operation, mode, narrowed);
    if (plan.type === 'query') {
      if (this.#traced && operation.rows === undefined) this.#judgeTracedLines(tx, operation);
      else judgeQuery(this.#verification, tx, operation, plan, view);
      return;
    }
    this.#judgeScan(tx, operation, plan, view);
  }

  #judgeScan(tx: Tx, operation: Operation, plan: ScanPlan, view: View): void {
    const mechanism = tx.contract!.mechanism!;
    const table = this.#tables.tables.get(plan.table)!;
    const blind = table.blindSpot(tx, view.span.end);
    if (blind !== undefined) {
      this.#tally.skip('read', blind);
      return;
    }
    const byAccess = this.#traced && operation.rows === undefined;
    const accesses = (operation.accesses ?? []).filter((access) => access.mode === 'read');
    const lines = byAccess
      ? linesOfAccesses(accesses, table, this.#tables.catalog.dialect)
      : linesOfRows(operation, plan);
    const bounds =
      hasSnapshot(mechanism) && !view.current ? boundsOf(this.#verification, tx) : new SnapshotBounds();
    const rows = judgeScan(this.#verification, { tx, operation, plan, view, table, lines, bounds });
    const lock = plan.lock === 'none' && readsLockRows(tx, mechanism) ? 'share' : plan.lock;
    if (lock !== 'share' && lock !== 'exclusive') return;
    // TiDB accepts FOR SHARE and takes no lock.
    if (lock === 'share' && tx.contract!.owner === 'tidb') return;
    for (const row of rows) checkLock(this.#verification, tx, operation, row, lock);
  }

  /** A query we cannot evaluate, but whose rows the trace names: each is judged, none is required. */
  #judgeTracedLines(tx: Tx, operation: Operation): void {
    this.#tally.skip('read', 'only the rows it returned are judged: its condition cannot be evaluated');
    const byTable = new Map<string, true>();
    for (const { object } of operation.accesses ?? [])
      byTable.set(this.#folded(splitObject(object)[0]), true);
    const mechanism = tx.contract?.mechanism;
    if (mechanism === undefined || tx.unjudged !== undefined) return;
    for (const name of byTable.keys()) {
      const table = this.#tables.tables.get(name);
      if (table === undefined) continue;
      const own = {
        ...operation,
        accesses: (operation.accesses ?? []).filter(
          ({ object }) => this.#folded(splitObject(object)[0]) === name,
        ),
      };
      const keys = own.accesses.map(({ object }) => splitObject(object)[1]);
      const plan: ScanPlan = {
        type: 'scan',
        table: name,
        where: () => true,
        keys,
        project: (row) => row,
        identityAt: undefined,
        wholeAt: undefined,
        lock: 'none',
        skipsLocked: true,
      };
      this.#judgeScan(tx, own, plan, viewOf(tx, mechanism, operation, 'plain'));
    }
  }
}

const writeKinds = new Set([
  'insert',
  'update',
  'delete',
  'replace',
  'merge',
  'ddl',
  'other',
  'write',
  'append',
]);

function isWriteKind(kind: Operation['kind']): boolean {
  return writeKinds.has(kind);
}

function writtenTables(plan: Plan): readonly string[] | undefined {
  switch (plan.type) {
    case 'idle':
    case 'scan':
    case 'query':
      return [];
    case 'opaque':
      return plan.writes ? plan.tables : [];
    default:
      return [plan.table];
  }
}

function writtenKeys(plan: Plan, tables: Tables): ReadonlySet<string> | undefined {
  if (plan.type === 'update' || plan.type === 'delete' || plan.type === 'opaque')
    return plan.keys === undefined ? undefined : new Set(plan.keys);
  if (plan.type !== 'insert' || plan.reads.length > 0) return undefined;
  const rows = plan.bind(() => []);
  const table = tables.tables.get(plan.table)!;
  if (typeof rows === 'string' || table.info.identity.length === 0) return undefined;
  return new Set(rows.map((row) => table.keyOf(row)));
}

/** By the end of their intervals; what was never answered comes last. */
function inAnswerOrder(operations: readonly Operation[]): Operation[] {
  const sorted = operations.every((operation, i) => i === 0 || endOf(operations[i - 1]!) <= endOf(operation));
  return sorted ? [...operations] : [...operations].sort((a, b) => endOf(a) - endOf(b) || a.index - b.index);
}

const endOf = (operation: Operation): number => intervalOf(operation).end;

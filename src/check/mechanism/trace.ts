/**
 * The verifier's mirror, step by step: what a debugger shows of a history. After each operation, in the order of their answers:
 * every row's versions with who wrote them and what became of them by then, the locks held, each open transaction with the
 * versions that its next plain read may see, and, for a read, what it returned of each row beside what it may have returned.
 *
 * Nothing is computed a second time: the verifier tells an observer when it has judged an operation, and this one writes down
 * what stands in the mirror at that moment. What became of a transaction later is not shown earlier: a version is committed from
 * the answer to its COMMIT on. Meant for cases of a few dozen operations; a moment holds every row.
 */
import type { Contract } from '../../contracts/index.js';
import { type History, type Operation, transactionNames } from '../../histories/index.js';
import type { OperationId, SessionId, TransactionId } from '../../ids.js';
import {
  type Catalog,
  intervalOf,
  type LockMode,
  type ScanPlan,
  type Tx,
  withCatalog,
} from '../../rows/index.js';
import type { RowLines } from './access-observer.js';
import type { MirrorTable } from './mirror.js';
import { describeImage, describePivot } from './prose.js';
import type { RowChain, Version } from './row-chain.js';
import { type Expectation, explainingVersions } from './scan-read.js';
import { snapshotView, type Verification } from './verification.js';
import { Verifier } from './verifier.js';
import { judgedContract } from './verify.js';

export interface MechanismTrace {
  /** The contract whose rules it follows, by id. */
  readonly contract: string;
  /** What a plain read sees, as the end of "a plain read sees …". */
  readonly rule: string;
  readonly moments: readonly TraceMoment[];
}

/** The state after one operation was answered; the first one is that before all of them. */
export interface TraceMoment {
  readonly after: OperationId | null;
  readonly rows: readonly TraceRow[];
  readonly transactions: readonly TraceTransaction[];
  /** What the operation returned, row by row, where its answer tells. */
  readonly reads: readonly TraceRead[];
}

export interface TraceRow {
  /** `table/key`. */
  readonly object: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly versions: readonly TraceVersion[];
  readonly locks: readonly TraceLock[];
}

export interface TraceVersion {
  /** Unique in the trace; a transaction has one version of a row, whose values may change until it ends. */
  readonly id: number;
  /** Absent: the initial state. */
  readonly writer?: TransactionId;
  /** The operation that gave it these values. */
  readonly operation?: OperationId;
  /** The values it may have: one text, or several where that cannot be known. */
  readonly values: readonly string[];
  readonly fate: 'initial' | 'uncommitted' | 'committed' | 'rolled-back' | 'unknown';
  /** Whether the row was written for certain. */
  readonly certain: boolean;
}

export interface TraceLock {
  readonly owner: TransactionId;
  readonly mode: LockMode;
  readonly operation: OperationId;
}

export interface TraceTransaction {
  readonly id: TransactionId;
  readonly name: string;
  readonly session: SessionId;
  readonly state: 'open' | 'committed' | 'rolled-back' | 'unknown';
  /** The operation that took its snapshot, once it has; absent: none yet, or every statement has its own. */
  readonly snapshotBy?: OperationId;
  /** The versions a plain read of it may see now, by row; absent: it has ended, or no contract says. */
  readonly sees?: Readonly<Record<string, readonly number[]>>;
}

export interface TraceRead {
  readonly object: string;
  /** The line it returned of the row; absent: none. */
  readonly returned?: string;
  /** Versions that the contract lets it see. */
  readonly allowed: readonly number[];
  /** Those of them that explain what was returned; none: nothing the contract allows does. */
  readonly explains: readonly number[];
}

/** The trace of a history under a contract, or why there is none. */
export function traceMechanism(
  history: History,
  given: Contract,
): MechanismTrace | { readonly untraced: string } {
  const found = judgedContract(history, given);
  if ('unjudged' in found) return { untraced: found.unjudged };
  const { contract } = found;
  if (contract.mechanism === undefined)
    return { untraced: `the contract ${contract.id} does not say how an engine works` };
  try {
    return withCatalog(history, {}, (catalog) => trace(history, contract, catalog));
  } catch (error) {
    if (error instanceof TooLarge)
      return { untraced: 'it has too many rows to keep all of them at each step' };
    throw error;
  }
}

/** Rows of all moments together. */
const mostRows = 300_000;

class TooLarge extends Error {}

function trace(history: History, contract: Contract, catalog: Catalog): MechanismTrace {
  const moments: TraceMoment[] = [];
  const numbers = new Map<Version, number>();
  const idOf = (version: Version): number => {
    const known = numbers.get(version) ?? numbers.size;
    numbers.set(version, known);
    return known;
  };
  let reads: TraceRead[] = [];
  let rows = 0;
  const verifier = new Verifier(history, contract, catalog, {
    begin: () => undefined,
    skipped: () => undefined,
    queried: () => undefined,
    met: () => undefined,
    wrote: () => undefined,
    scanned: ({ plan }, expectations, lines) => reads.push(...readsOf(plan, expectations, lines, idOf)),
    judged: (verification, operation) => {
      const moment = momentOf(verification, operation, { idOf, reads });
      rows += moment.rows.length;
      if (rows > mostRows) throw new TooLarge();
      moments.push(moment);
      reads = [];
    },
  });
  verifier.run();
  return { contract: contract.id, rule: describePivot(contract), moments };
}

interface Recording {
  readonly idOf: (version: Version) => number;
  readonly reads: readonly TraceRead[];
}

function momentOf(
  verification: Verification,
  operation: Operation | undefined,
  { idOf, reads }: Recording,
): TraceMoment {
  const now = operation === undefined ? Number.NEGATIVE_INFINITY : intervalOf(operation).end;
  const rows = [...verification.tables.values()].flatMap((table) =>
    [...table.rows.values()].map((row) => rowAt(table, row, now, idOf)),
  );
  const names = transactionNames(verification.history);
  const transactions = [...verification.txs.values()]
    .filter((tx) => tx.start <= now)
    .map((tx): TraceTransaction => {
      const state = stateAt(tx, now);
      const { snapshot, snapshotBy } = tx;
      const taken = snapshot !== undefined && snapshotBy !== undefined && snapshot.end <= now;
      return {
        id: tx.id,
        name: names.get(tx.id) ?? String(tx.id),
        session: tx.session,
        state,
        ...(taken && { snapshotBy: snapshotBy.index }),
        ...(state === 'open' && operation !== undefined && seenBy(verification, tx, operation, idOf)),
      };
    });
  return { after: operation?.index ?? null, rows, transactions, reads };
}

function rowAt(table: MirrorTable, row: RowChain, now: number, idOf: Recording['idOf']): TraceRow {
  const { columns } = table.info.shape;
  return {
    object: row.object,
    table: row.table,
    columns: columns.map(({ name }) => name),
    versions: row.versions.map((version) => {
      const { images, operation } = version.states.at(-1)!;
      return {
        id: idOf(version),
        ...(version.tx !== undefined && { writer: version.tx.id, operation }),
        values: images.map(describeImage),
        fate: fateAt(version.tx, now),
        certain: version.certain,
      };
    }),
    locks: row.locks.all
      .filter(({ owner }) => owner.holdsLocksUntil > now)
      .map(({ owner, mode, operation }) => ({ owner: owner.id, mode, operation: operation.index })),
  };
}

function stateAt(tx: Tx, now: number): TraceTransaction['state'] {
  if (tx.end.end > now && tx.last.end !== null && tx.last.end > now) return 'open';
  if (tx.fate === 'committed') return 'committed';
  if (tx.fate === 'aborted') return tx.last.ends === undefined ? 'open' : 'rolled-back';
  return 'unknown';
}

function fateAt(tx: Tx | undefined, now: number): TraceVersion['fate'] {
  if (tx === undefined) return 'initial';
  const state = stateAt(tx, now);
  return state === 'open' ? 'uncommitted' : state;
}

/** What a plain read of the transaction could see right after an operation of whoever it is. */
function seenBy(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  idOf: Recording['idOf'],
): Pick<TraceTransaction, 'sees'> {
  if (tx.contract?.mechanism === undefined || tx.unjudged !== undefined) return {};
  const { end } = intervalOf(operation);
  // The read that is asked about comes after the answer, not during the statement.
  const view = snapshotView(verification, tx, { ...operation, start: end, end });
  const sees: Record<string, number[]> = {};
  for (const table of verification.tables.values())
    for (const row of table.rows.values())
      sees[row.object] = row.allowed(view, tx, verification.exclusive).map(idOf);
  return { sees };
}

function readsOf(
  plan: ScanPlan,
  expectations: readonly Expectation[],
  lines: RowLines,
  idOf: Recording['idOf'],
): TraceRead[] {
  return expectations.map((expectation) => {
    const { row, versions } = expectation.outlook;
    const line = lines.of(expectation);
    return {
      object: row.object,
      ...(line !== undefined && { returned: line.text }),
      allowed: versions.map(idOf),
      explains: explainingVersions(expectation, plan.where, line).map(idOf),
    };
  });
}

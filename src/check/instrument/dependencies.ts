/**
 * Dependencies between transactions through rows: Algorithm 1 of IsoRel, on chains instead of pairs of results.
 *
 * - ww: a transaction wrote the next version of a row, or deleted its last one.
 * - wr: the version a transaction read was written by another.
 * - rw: a transaction read a version, and another wrote the next one or deleted it.
 *
 * Reads inside writes (`trace-reads.ts`) are reads like others, and so are their searches, that for the rows to write
 * included: what it found are the rows that hold the write's mark.
 *
 * Past the paper, where a complete search did not return a row (what the condition says of it, the database itself
 * told the observer):
 * - predicate-rw: the row as it is at the end matches, so the searcher came before its last writer. (Some writer
 *   between may have made it match first; then the searcher came before that one, and it before the last.)
 * - wr: the row was there from the start, matched, was never written and then deleted: the searcher saw the delete.
 *
 * The latter says nothing of a searcher that had put rows into the table itself: one of them may stand where the deleted
 * row stood (the same primary key), and InnoDB then shows the one instead of the other, in the same snapshot.
 *
 * Rows that may change without a mark take no part in these two: those with foreign-key actions, and those of tables in
 * which the run lost marks (that is a finding of its own).
 */

import type { History } from '../../histories/index.js';
import type { OperationId, TransactionId } from '../../ids.js';
import { EdgeList, predicateRw, rw, wr, ww } from '../graph/graph.js';
import { absent } from '../observation.js';
import type { Instrumented } from './instrumented.js';
import { initialWriter, type RowProblem } from './list-reader.js';
import { chainRows, type RowChain, type RowChains } from './row-chains.js';
import type { RowEvents, ScanRun, TransactionInfo } from './row-event-types.js';
import { readRowEvents } from './row-events.js';

export interface Dependency {
  readonly from: TransactionId;
  readonly to: TransactionId;
  readonly kind: number;
  /** Index in `chains`. */
  readonly row: number;
  /** The reader's operations (wr, rw), and whether each is a plain read. */
  readonly reads: { readonly operation: OperationId; readonly plain: boolean }[];
  /** The writers' operations. */
  readonly fromWrite?: OperationId;
  readonly toWrite?: OperationId;
  /** The later write is a delete, or what the search saw is one. */
  readonly deletes?: boolean;
}

export interface Dependencies {
  readonly events: RowEvents;
  readonly chains: readonly RowChain[];
  readonly counts: RowChains['counts'];
  readonly problems: readonly RowProblem[];
  readonly list: readonly Dependency[];
  /** Size of a graph whose nodes are transaction numbers. */
  readonly txCount: number;
}

/** Infers what the history of an instrumented run says about the order of its transactions. */
export function inferDependencies(history: History, instrumented: Instrumented): Dependencies {
  const events = readRowEvents(history, instrumented);
  const rows = chainRows(history, events, instrumented);
  const collector = new Collector(rows.counts);
  for (const [r, chain] of rows.chains.entries()) addWriteOrder(collector, r, chain, events);
  addReads(collector, rows, events);
  const problems = [...rows.problems];
  addSearches(collector, { ...rows, problems }, events, instrumented);
  const txCount = Math.max(-1, ...events.transactions.keys()) + 1;
  return {
    events,
    chains: rows.chains,
    counts: rows.counts,
    problems,
    list: [...collector.found.values()],
    txCount,
  };
}

/** The edges of these dependencies for the graph core; `ref` is the row. */
export function edgesOf(
  { list, txCount }: Pick<Dependencies, 'list' | 'txCount'>,
  keep: (dependency: Dependency) => boolean = () => true,
): EdgeList {
  const edges = new EdgeList(txCount);
  for (const dependency of list) {
    if (keep(dependency)) edges.add(dependency.from, dependency.to, dependency.kind, dependency.row);
  }
  return edges;
}

export const dependencyKey = (from: number, to: number, kind: number, row: number): string =>
  `${from},${to},${kind},${row}`;

class Collector {
  readonly found = new Map<string, Dependency>();

  constructor(readonly counts: ReadonlySet<number>) {}

  add(dependency: Omit<Dependency, 'reads'>, read?: Dependency['reads'][number]): void {
    const { from, to, kind, row } = dependency;
    if (from === to || !this.counts.has(from) || !this.counts.has(to)) return;
    const key = dependencyKey(from, to, kind, row);
    const known = this.found.get(key);
    if (known === undefined) this.found.set(key, { ...dependency, reads: read === undefined ? [] : [read] });
    else if (read !== undefined) known.reads.push(read);
  }
}

function addWriteOrder(collector: Collector, row: number, chain: RowChain, { writes }: RowEvents): void {
  const { tokens, writers, deleted } = chain;
  const operation = (i: number): { fromWrite?: number } => {
    const run = writes.get(tokens[i]!);
    return run === undefined ? {} : { fromWrite: run.operation };
  };
  for (let i = 1; i < tokens.length; i++) {
    const toWrite = operation(i).fromWrite!;
    collector.add({ from: writers[i - 1]!, to: writers[i]!, kind: ww, row, ...operation(i - 1), toWrite });
  }
  if (deleted === undefined) return;
  const last = tokens.length - 1;
  const to = { to: deleted.transaction, toWrite: deleted.operation, deletes: true };
  collector.add({ from: writers[last]!, ...to, kind: ww, row, ...operation(last) });
}

function addReads(
  collector: Collector,
  { placed, chains }: RowChains,
  { writes, transactions }: RowEvents,
): void {
  for (const { read, chain: row, length } of placed) {
    if (read.what !== 'read') continue;
    const { tokens, writers, deleted } = chains[row]!;
    const writer = writers[length - 1]!;
    // Its own version: who wrote next came after it anyway.
    if (writer === read.transaction) continue;
    const by = { operation: read.operation, plain: !read.locking };
    const run = writes.get(tokens[length - 1]!);
    if (run !== undefined) {
      collector.add({ from: writer, to: read.transaction, kind: wr, row, fromWrite: run.operation }, by);
    }
    if (isLetGo(read.operation, transactions.get(read.transaction))) continue;
    if (length < tokens.length) {
      const toWrite = writes.get(tokens[length]!)!.operation;
      collector.add({ from: read.transaction, to: writers[length]!, kind: rw, row, toWrite }, by);
    } else if (deleted !== undefined) {
      const { transaction: to, operation: toWrite } = deleted;
      collector.add({ from: read.transaction, to, kind: rw, row, toWrite, deletes: true }, by);
    }
  }
}

/**
 * Whether a read may have lost its lock to a ROLLBACK TO after it, so that what it read may change while its transaction
 * is open: MariaDB ends the transaction of an engine that had no part in it yet when the savepoint was set.
 */
function isLetGo(operation: number, transaction: TransactionInfo | undefined): boolean {
  if (transaction?.partial !== true) return false;
  return transaction.operations.some(
    ({ kind, outcome, index }) => kind === 'rollback-to' && outcome === 'ok' && index > operation,
  );
}

function addSearches(
  collector: Collector,
  { chains, counts, undoneDeletes, problems }: RowChains & { readonly problems: RowProblem[] },
  { scans, before, after, transactions, writes }: RowEvents,
  instrumented: Instrumented,
): void {
  const wrote = countTaken(chains, writes);
  const quiet = new Set(instrumented.tables.filter(({ actions }) => !actions).map(({ name }) => name));
  // Where a mark was lost, the row may have been made to match by a writer whom nobody knows.
  for (const [token, { plan, effect, count, transaction }] of writes) {
    const { counted, tables } = plan.write;
    const lost = counted && effect === 'done' && count !== undefined && (wrote.get(token) ?? 0) < count;
    if (lost && counts.has(transaction)) for (const table of tables) quiet.delete(table);
  }
  const forked = new Set(problems.filter(({ kind }) => kind === 'incompatible-order').map(({ rid }) => rid));
  const byTable = new Map<string, number[]>();
  for (const [r, { table, rid }] of chains.entries()) {
    if (!quiet.has(table) || forked.has(rid)) continue;
    const known = byTable.get(table);
    if (known === undefined) byTable.set(table, [r]);
    else known.push(r);
  }
  // A write whose marks are not all there may have found a row that does not show it: that is a lost write, no search.
  const isWhole = ({ write }: ScanRun): boolean =>
    write === undefined || writes.get(write)?.count === (wrote.get(write) ?? 0);
  const missed = (scan: ScanRun, chain: RowChain): boolean =>
    !scan.found.has(chain.rid) && !chain.writers.includes(scan.transaction);
  const puts = ownPuts(writes);
  for (const scan of scans) {
    // A search after ROLLBACK TO, or between, may have missed a row because of what was undone.
    if (!counts.has(scan.transaction) || transactions.get(scan.transaction)?.partial === true) continue;
    if (!isWhole(scan)) continue;
    const matchesAfter = after?.scans.get(scan.scan);
    const matchesBefore = before?.scans.get(scan.scan);
    const by = { operation: scan.operation, plain: !scan.locking };
    const { table } = instrumented.scans[scan.scan]!;
    const putRows = (puts.get(scan.transaction)?.get(table) ?? Number.POSITIVE_INFINITY) < scan.operation;
    for (const row of byTable.get(table) ?? []) {
      const chain = chains[row]!;
      if (!missed(scan, chain) || chain.deleted?.transaction === scan.transaction) continue;
      const { rid, tokens, writers, deleted } = chain;
      const last = writers.at(-1)!;
      if (deleted === undefined && matchesAfter?.has(rid) === true && last !== initialWriter) {
        const toWrite = writes.get(tokens.at(-1)!)!.operation;
        collector.add({ from: scan.transaction, to: last, kind: predicateRw, row, toWrite }, by);
      }
      if (tokens.length > 1 || last !== initialWriter || matchesBefore?.has(rid) !== true) continue;
      if (deleted !== undefined) {
        if (putRows) continue;
        const { transaction: from, operation: fromWrite } = deleted;
        collector.add({ from, to: scan.transaction, kind: wr, row, fromWrite, deletes: true }, by);
        continue;
      }
      const undone = undoneDeletes.get(rid)?.find((read) => read.transaction !== scan.transaction);
      if (undone === undefined || matchesAfter?.has(rid) !== true) continue;
      problems.push({
        kind: 'G1a',
        rid,
        transaction: scan.transaction,
        operation: scan.operation,
        other: undone.transaction,
        otherOperation: undone.operation,
        seen: absent,
        detail: ['the transaction that deleted it was rolled back'],
      });
    }
  }
}

/** By transaction and table, the first operation that may have put a row where there was none. */
function ownPuts(writes: RowEvents['writes']): Map<number, Map<string, number>> {
  const puts = new Map<number, Map<string, number>>();
  for (const { transaction, operation, plan } of writes.values()) {
    if (plan.write.deletes) continue;
    const tables = puts.get(transaction) ?? new Map<string, number>();
    puts.set(transaction, tables);
    for (const table of plan.write.tables)
      tables.set(table, Math.min(operation, tables.get(table) ?? operation));
  }
  return puts;
}

/** By write, how many rows hold its mark or were deleted by it. */
function countTaken(chains: readonly RowChain[], writes: RowEvents['writes']): Map<string, number> {
  const taken = new Map<string, number>();
  const deleters = new Map<number, string>();
  for (const [token, { operation, plan }] of writes) if (plan.write.deletes) deleters.set(operation, token);
  for (const { tokens, deleted } of chains) {
    const deleter = deleted === undefined ? undefined : deleters.get(deleted.operation);
    for (const token of new Set(deleter === undefined ? tokens : [...tokens, deleter])) {
      taken.set(token, (taken.get(token) ?? 0) + 1);
    }
  }
  return taken;
}

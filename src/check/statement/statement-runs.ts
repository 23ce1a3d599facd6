/**
 * What a history shows of each statement between its reads: the version of every row it found in the tables it uses, the rows it
 * wrote and took away, and whether anything came between the reads and the statement.
 *
 * A version of a row is the list of the statements that wrote it (`instrument/marks.ts`). The list grows with each write, so it
 * also names all versions before, and who made them.
 */

import type { StatementRef } from '../../cases/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { SessionId, TransactionId } from '../../ids.js';
import { undoneOperations } from '../../rows/index.js';
import type { Row } from '../../sql/index.js';
import type { Frame, Instrumented, StatementPlan } from '../instrument/instrumented.js';
import { parseWriteList, refKey } from '../instrument/marks.js';
import { isObserver, planOf } from '../instrument/strip-results.js';

/** A row as a read shows it. */
export interface SeenRow {
  /** The writers of its versions, first one first; `0` is the set-up. */
  readonly writers: readonly string[];
  readonly values: Row;
}

/** The rows of a table by their ids. */
export type TableState = ReadonlyMap<string, SeenRow>;

export interface StatementRun {
  readonly ref: StatementRef;
  readonly plan: StatementPlan;
  /** As it was sent; its index is that of the history given. */
  readonly operation: Operation;
  readonly session: SessionId;
  readonly transaction: TransactionId;
  /** What is written into the lists of the rows it writes; undefined: it only reads. */
  readonly token?: string;
  readonly before: ReadonlyMap<string, TableState>;
  readonly after: ReadonlyMap<string, TableState>;
  /** The rows of `before` as they were returned: the author's columns, then id and list. */
  readonly found: ReadonlyMap<string, readonly Row[]>;
  /**
   * `apart`: something came between it and the reads around it, or one of them failed. `refused`: it failed for no reason that databases
   * document (class `other`), and the rows it had to look at were read right before. `failed`: any other failure.
   */
  readonly state: 'seen' | 'apart' | 'refused' | 'failed';
  /** Its transaction committed, and it was not rolled back to a savepoint. */
  readonly counts: boolean;
}

export interface StatementRuns {
  /** In the order in which they were answered. */
  readonly runs: readonly StatementRun[];
  /** What an observer found after all, by table; undefined: a read failed, or did not come after all. */
  readonly final: ReadonlyMap<string, TableState> | undefined;
  /** The observer read while other statements waited: they were answered later, and what follows them was sent later. */
  readonly early: boolean;
  /** Whether some statement was never answered. */
  readonly broken: boolean;
}

export function readRuns(history: History, instrumented: Instrumented): StatementRuns {
  const committed = committedTransactions(history);
  const undone = undoneOperations(history, instrumented.dialect);
  const groups = groupsOf(history, instrumented);
  const runs = groups.map((group): StatementRun => {
    const { plan, operation, reads } = group;
    const token = plan.write?.token;
    const { index, session, transaction, outcome } = operation;
    return {
      ref: plan.original,
      plan,
      operation,
      session,
      transaction,
      ...(token !== undefined && { token }),
      before: statesOf(reads, 'before', instrumented),
      after: statesOf(reads, 'after', instrumented),
      found: rowsOf(reads, 'before'),
      state: outcome === 'ok' ? (isApart(group, history) ? 'apart' : 'seen') : failureOf(group, history),
      counts: committed.has(transaction) && !undone.has(index),
    };
  });
  const broken = history.operations.some(({ outcome, end }) => outcome === 'unknown' || end === null);
  const early = readsEarly(history, instrumented);
  return { runs, final: early ? undefined : finalState(history, instrumented), early, broken };
}

interface Read {
  readonly operation: Operation;
  readonly table: string;
  readonly when: keyof Frame;
}

interface Group {
  readonly plan: StatementPlan;
  readonly operation: Operation;
  readonly reads: readonly Read[];
}

/** Each statement that reads or writes rows, with the reads around it. */
function groupsOf(history: History, instrumented: Instrumented): Group[] {
  const groups: { plan: StatementPlan; operation: Operation; reads: Read[] }[] = [];
  const waiting = new Map<SessionId, { key: string; reads: Read[] }>();
  const last = new Map<SessionId, (typeof groups)[number]>();
  for (const operation of history.operations) {
    const plan = isObserver(operation, instrumented) ? undefined : planOf(operation, instrumented);
    if (plan === undefined) continue;
    const { session } = operation;
    const key = refKey(plan.original);
    if (plan.frame?.when === 'before') {
      const known = waiting.get(session);
      const reads = known?.key === key ? known.reads : [];
      waiting.set(session, { key, reads: [...reads, { operation, ...plan.frame }] });
    } else if (plan.frame !== undefined) {
      last.get(session)?.reads.push({ operation, ...plan.frame });
    } else if (isFramed(plan, instrumented)) {
      const known = waiting.get(session);
      const group = { plan, operation, reads: known?.key === key ? known.reads : [] };
      groups.push(group);
      last.set(session, group);
    }
  }
  return groups;
}

function isFramed({ original }: StatementPlan, { plans }: Instrumented): boolean {
  const [session] = original;
  const key = refKey(original);
  return plans[session]!.some((plan) => plan.frame !== undefined && refKey(plan.original) === key);
}

/** Whether the group ran as one: all its reads answered, nothing waited, and no other session began or ended anything meanwhile. */
function isApart({ plan, operation, reads }: Group, { operations }: History): boolean {
  const all = [operation, ...reads.map((read) => read.operation)];
  if (all.some(({ outcome, blocked }) => outcome !== 'ok' || blocked === true)) return true;
  if (plan.write !== undefined && !reads.some(({ when }) => when === 'after')) return true;
  const start = Math.min(...all.map((each) => each.start));
  const end = Math.max(...all.map((each) => each.end ?? Number.POSITIVE_INFINITY));
  return operations.some((other) => {
    if (other.session === operation.session) return false;
    const otherEnd = other.end ?? Number.POSITIVE_INFINITY;
    const meets = other.start < end && otherEnd > start;
    // What waits from before to after does nothing meanwhile.
    return meets && !(other.start < start && otherEnd > end);
  });
}

function failureOf(
  { plan: { write: _, ...plan }, operation, reads }: Group,
  history: History,
): 'refused' | 'failed' {
  if (operation.error?.class !== 'other') return 'failed';
  // Behind a failed statement nothing is read, nor does it have to be.
  const before = reads.filter(({ when }) => when === 'before');
  return isApart({ plan, operation: { ...operation, outcome: 'ok' }, reads: before }, history)
    ? 'failed'
    : 'refused';
}

function rowsOf(reads: readonly Read[], when: keyof Frame): Map<string, readonly Row[]> {
  const wanted = reads.filter((read) => read.when === when && read.operation.outcome === 'ok');
  return new Map(wanted.map(({ table, operation }) => [table, operation.rows ?? []]));
}

function statesOf(
  reads: readonly Read[],
  when: keyof Frame,
  instrumented: Instrumented,
): Map<string, TableState> {
  return new Map(
    [...rowsOf(reads, when)].map(([table, rows]) => [table, tableState(rows, table, instrumented)]),
  );
}

/** The rows a query of a whole table returned: the author's columns, then id and list. */
function tableState(rows: readonly Row[], table: string, { tables }: Instrumented): TableState {
  const width = tables.find(({ name }) => name === table)!.columns.length;
  const state = new Map<string, SeenRow>();
  for (const [at, row] of rows.entries()) {
    const rid = row.at(-2);
    // A row without an id is none of ours; it stays apart from all others.
    const writers = parseWriteList(row.at(-1)) ?? [];
    state.set(typeof rid === 'string' ? rid : `?${at}`, { writers, values: row.slice(0, width) });
  }
  return state;
}

/** A schedule goes on without those who wait: in a deadlock the last reads come before it is broken. */
function readsEarly({ operations }: History, instrumented: Instrumented): boolean {
  const reads = operations.filter((operation) => isObserver(operation, instrumented));
  const first = Math.min(...reads.map(({ start }) => start));
  return operations.some(
    (operation) => !isObserver(operation, instrumented) && (operation.end ?? operation.start) > first,
  );
}

function finalState(history: History, instrumented: Instrumented): ReturnType<typeof tableStates> {
  const reads = history.operations.filter((operation) => isObserver(operation, instrumented));
  return tableStates(reads, instrumented);
}

/** The rows of all tables, as the queries that read them returned them; undefined: one of them failed. */
export function tableStates(
  reads: readonly Operation[],
  instrumented: Instrumented,
): ReadonlyMap<string, TableState> | undefined {
  const { tables } = instrumented;
  if (reads.length !== tables.length || reads.some(({ outcome }) => outcome !== 'ok')) return undefined;
  return new Map(tables.map(({ name }, i) => [name, tableState(reads[i]!.rows ?? [], name, instrumented)]));
}

function committedTransactions({ operations }: History): Set<TransactionId> {
  return new Set(operations.filter(({ ends }) => ends === 'commit').map(({ transaction }) => transaction));
}

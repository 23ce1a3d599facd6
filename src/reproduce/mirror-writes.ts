/**
 * What statements that change rows do to the mirror. Their plans (`rows/`) tell which rows they may change and what these become;
 * counts and the state at hand tell which they did. What cannot be known concerns the whole table, and its rows are unknown from
 * then on.
 */

import type { Operation } from '../histories/index.js';
import type { OrderStepId, TransactionId } from '../ids.js';
import {
  type ChangePlan,
  type InsertPlan,
  isExclusive,
  isHit,
  type OpaquePlan,
  type RowLock,
  type RowsOf,
  type Satisfies,
  type Table,
  type UpsertPlan,
  unknownEffect,
} from '../rows/index.js';
import type { EvaluatedRow } from '../sql/index.js';
import * as role from './conflicts.js';
import { type MirrorState, scanLimit } from './mirror-state.js';
import { byCount, rangeTouched } from './touched-rows.js';

/** The accesses of a statement that reads whole tables; returns the step that fixed what it sees. */
export function readTables(
  state: MirrorState,
  step: OrderStepId,
  tables: readonly Table[],
  lock: RowLock,
): number {
  const seen = state.snapshotOf(step, lock === 'none' ? 'plain' : 'lockingReadsSee');
  for (const table of tables) {
    const object = state.tableObject[table.number]!;
    state.accesses.add(step, object, lock === 'none' ? state.plainRead : role.read);
    if (seen !== step) state.accesses.add(seen, object, role.snapshot);
    if (lock !== 'none' || state.readsLock(step))
      state.lock(step, object, isExclusive(lock) ? role.lock : role.share);
  }
  return seen;
}

/** The rows of tables as the transaction finds them now, for subqueries; undefined: they are not all known. */
function tablesNow(
  state: MirrorState,
  transaction: TransactionId,
  tables: readonly Table[],
): RowsOf | undefined {
  const found = new Map<Table, EvaluatedRow[]>();
  for (const table of tables) {
    const all = state.rows[table.number]!;
    if (state.blind.has(table) || all.size > scanLimit || table.initial === undefined) return undefined;
    if (table.identity.length === 0) return undefined;
    const rows: EvaluatedRow[] = [];
    for (const row of all.values()) {
      const image = state.imageFor(transaction, row);
      if (image === 'unknown') return undefined;
      if (image !== 'absent') rows.push(image);
    }
    found.set(table, rows);
  }
  return (table) => found.get(table) ?? [];
}

export function followInsert(
  state: MirrorState,
  step: OrderStepId,
  { matched }: Operation,
  { table, reads, bind }: InsertPlan,
): void {
  const transaction = state.steps.transaction[step]!;
  readTables(state, step, reads, 'none');
  const rowsOf = tablesNow(state, transaction, reads);
  const rows = rowsOf === undefined ? '' : bind(rowsOf);
  const known = typeof rows !== 'string' && (matched === undefined || matched === rows.length);
  if (!known || typeof rows === 'string') state.fuzzyWrite(step, table);
  else for (const cells of rows) putIn(state, step, table, cells);
}

function putIn(state: MirrorState, step: OrderStepId, table: Table, cells: EvaluatedRow): void {
  const { protocol, writeConflict } = state.mechanism;
  const row = state.newRow(table, cells);
  if (row === undefined) state.fuzzyWrite(step, table);
  else if (protocol === 'optimistic' && writeConflict === 'fails') state.insertUnseen(step, row, cells);
  else state.write(step, row, cells, true);
}

/** Rows that are added, unless others are in their way. */
export function followUpsert(state: MirrorState, step: OrderStepId, plan: UpsertPlan): void {
  const transaction = state.steps.transaction[step]!;
  const { table, effect } = plan;
  readTables(state, step, plan.reads, 'none');
  const rowsOf = tablesNow(state, transaction, plan.reads);
  const all = state.rows[table.number]!;
  const met: number[] = [];
  let known = !state.blind.has(table) && all.size <= scanLimit && table.initial !== undefined;
  for (const row of known ? all.values() : []) {
    state.settle(step, row);
    const hit = isHit(state.imageFor(transaction, row), plan.meets);
    if (hit === undefined) known = false;
    else if (hit) met.push(row);
  }
  // With several new rows it is not known which of them met these.
  if (!known || table.identity.length === 0 || (met.length > 0 && plan.rows.length > 1)) {
    state.fuzzyWrite(step, table);
    return;
  }
  const { changes, apply } = rowsOf === undefined ? unknownEffect.bind(() => []) : plan.bind(rowsOf);
  for (const row of met) {
    const before = state.imageFor(transaction, row);
    const changed = typeof before === 'string' ? undefined : changes(before);
    if (effect === 'nothing' || (effect === 'update' && changed === false))
      state.missRow(step, row, () => false, 'writesSee');
    else if (effect === 'replace') state.write(step, row, 'absent');
    else {
      const after = typeof before === 'string' || changed !== true ? undefined : apply(before);
      state.write(step, row, after ?? 'unknown');
    }
  }
  if (met.length === 0 || effect === 'replace')
    for (const cells of plan.rows) putIn(state, step, table, cells);
}

export function followChange(
  state: MirrorState,
  step: OrderStepId,
  { matched }: Operation,
  plan: ChangePlan,
): void {
  const transaction = state.steps.transaction[step]!;
  const { table, keys } = plan;
  readTables(state, step, plan.reads, 'none');
  const rowsOf = tablesNow(state, transaction, plan.reads);
  if (rowsOf === undefined) {
    state.fuzzyWrite(step, table);
    return;
  }
  const { where, apply } = plan.bind(rowsOf);
  const rows =
    keys === undefined
      ? rangeTouched(state, step, matched, { table, where })
      : keysTouched(state, step, matched, { table, keys, where });
  if (rows === undefined) {
    state.fuzzyWrite(step, table);
    return;
  }
  for (const row of rows) {
    const before = state.imageFor(transaction, row);
    const changed = typeof before === 'string' ? undefined : apply(before);
    state.write(step, row, plan.type === 'delete' ? 'absent' : (changed ?? 'unknown'));
  }
}

/** The rows a statement changed that names them; undefined: the mirror and the count do not agree. */
function keysTouched(
  state: MirrorState,
  step: OrderStepId,
  matched: number | undefined,
  {
    table,
    keys,
    where,
  }: { readonly table: Table; readonly keys: readonly string[]; readonly where: Satisfies },
): readonly number[] | undefined {
  const transaction = state.steps.transaction[step]!;
  const rows = keys.map((name) => state.row(table, name));
  const hits: number[] = [];
  const open: number[] = [];
  for (const row of rows) {
    state.settle(step, row);
    const hit = isHit(state.imageFor(transaction, row), where);
    if (hit === true) hits.push(row);
    else if (hit === undefined) open.push(row);
  }
  const touched = byCount(matched, hits, open) ?? (matched === rows.length ? rows : undefined);
  if (touched === undefined) {
    state.note(`a statement on ${table.name} touched other rows than the mirror expects`);
    return undefined;
  }
  for (const row of rows) if (!touched.includes(row)) state.missRow(step, row, where, 'writesSee');
  return touched;
}

export function followOpaque(state: MirrorState, step: OrderStepId, op: Operation, plan: OpaquePlan): void {
  if (plan.tables === undefined) {
    state.everything.push(step);
    for (const table of state.tables) state.fuzzyWrite(step, table);
    state.note(`not understood, so counted as touching everything: ${(op.sql ?? '').slice(0, 60)}`);
    return;
  }
  readTables(state, step, plan.reads, plan.lock);
  for (const table of plan.writes ? plan.tables : []) {
    if (plan.keys === undefined) state.fuzzyWrite(step, table);
    else for (const key of plan.keys) state.write(step, state.row(table, key), 'unknown');
  }
}

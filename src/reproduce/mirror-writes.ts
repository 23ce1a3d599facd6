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
  type Plan,
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

/** An upsert or a MERGE of what a query returns is a plan once the rows of its tables are known (`OpaquePlan.resolve`). */
export function resolved(state: MirrorState, step: OrderStepId, plan: Plan): Plan {
  if (plan.type !== 'opaque' || plan.resolve === undefined) return plan;
  const { reads, bind } = plan.resolve;
  const rowsOf = tablesNow(state, state.steps.transaction[step]!, reads);
  const upsert = rowsOf && bind(rowsOf);
  return upsert === undefined ? plan : { ...upsert, reads: [...new Set([...reads, ...upsert.reads])] };
}

/** Rows that are added, unless others are in their way. */
export function followUpsert(
  state: MirrorState,
  step: OrderStepId,
  { matched }: Operation,
  plan: UpsertPlan,
): void {
  const transaction = state.steps.transaction[step]!;
  const { table, effect } = plan;
  readTables(state, step, plan.reads, 'none');
  const rowsOf = tablesNow(state, transaction, plan.reads);
  const met = rowsMet(state, step, plan);
  const added = met && rowsAdded(plan, [...met.values()]);
  if (met === undefined || added === undefined) {
    state.fuzzyWrite(step, table);
    return;
  }
  const { changes, apply } = rowsOf === undefined ? unknownEffect.bind(() => []) : plan.bind(rowsOf);
  const changed = (before: EvaluatedRow) =>
    effect === 'nothing' ? false : effect === 'replace' || changes(before);
  const fates = [...met.values()].map(changed);
  const count = added.length + (effect === 'replace' ? 0 : fates.filter((each) => each === true).length);
  // MySQL counts a changed row twice, and not at all if it stays as it was.
  const counted = state.catalog.dialect !== 'mysql' && matched !== undefined && !fates.includes(undefined);
  if (counted && matched !== count) {
    state.fuzzyWrite(step, table);
    return;
  }
  for (const [row, before] of met) {
    const does = changed(before);
    if (does === false) state.missRow(step, row, () => false, 'writesSee');
    else if (effect === 'replace') state.write(step, row, 'absent');
    else state.write(step, row, (does && apply(before)) ?? 'unknown');
  }
  for (const cells of added) putIn(state, step, table, cells);
}

/** The rows in the way of an upsert, as it finds them; undefined: they are not all known. */
function rowsMet(
  state: MirrorState,
  step: OrderStepId,
  { table, meets }: UpsertPlan,
): Map<number, EvaluatedRow> | undefined {
  const transaction = state.steps.transaction[step]!;
  const all = state.rows[table.number]!;
  if (state.blind.has(table) || all.size > scanLimit || table.initial === undefined) return undefined;
  if (table.identity.length === 0) return undefined;
  const met = new Map<number, EvaluatedRow>();
  let known = true;
  for (const row of all.values()) {
    state.settle(step, row);
    const image = state.imageFor(transaction, row);
    const hit = isHit(image, meets);
    if (hit === undefined) known = false;
    else if (hit && typeof image !== 'string') met.set(row, image);
  }
  return known ? met : undefined;
}

/** The offered rows that nothing keeps out; undefined: that cannot be known. */
function rowsAdded(
  { effect, rows, meetsEach }: UpsertPlan,
  met: readonly EvaluatedRow[],
): readonly EvaluatedRow[] | undefined {
  if (effect === 'replace') return rows;
  const keptOut = rows.map((_, i) => met.map((before) => meetsEach[i]!(before)));
  if (keptOut.flat().includes(undefined)) return undefined;
  return rows.filter((_, i) => !keptOut[i]!.includes(true));
}

export function followChange(state: MirrorState, step: OrderStepId, op: Operation, plan: ChangePlan): void {
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
      ? rangeTouched(state, step, op, { table, where, apply: plan.type === 'update' ? apply : undefined })
      : keysTouched(state, step, op.matched, { table, keys, where });
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

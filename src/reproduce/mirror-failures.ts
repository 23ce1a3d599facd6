/**
 * What statements that failed tell the mirror. They take no lock to keep and leave no version, but a failure says what it met: a row
 * that another held or had changed (`failed-writes.ts` looks for whom), a key that existed, or the one writer.
 */

import type { ErrorClass, Operation } from '../histories/index.js';
import type { OrderStepId } from '../ids.js';
import { type ChangePlan, isHit, type Plan, rowKey, type ScanPlan, type Table } from '../rows/index.js';
import type { EvaluatedRow } from '../sql/index.js';
import * as role from './conflicts.js';
import type { MirrorState } from './mirror-state.js';

/** A COMMIT that failed validation: another had committed one of its rows since its snapshot. */
export function failedCommit(state: MirrorState, step: OrderStepId): void {
  const transaction = state.steps.transaction[step]!;
  const doing = state.doing[transaction];
  const rows =
    doing?.unseenInserts === undefined ? (doing?.writes.rows ?? []) : [...doing.unseenInserts.keys()];
  for (const object of rows) {
    state.accesses.add(step, object, role.read | role.lock);
    state.failed.push({ step, transaction, object, met: 'changed' });
  }
}

export function failedStatement(
  state: MirrorState,
  step: OrderStepId,
  { error }: Operation,
  plan: Plan,
): void {
  const transaction = state.steps.transaction[step]!;
  const errorClass = error?.class;
  const noRows = () => [];
  if (
    state.writerLock >= 0 &&
    (errorClass === 'busy' || errorClass === 'serialization') &&
    plan.type !== 'opaque'
  ) {
    state.accesses.add(step, state.writerLock, role.lock);
    state.basedOn(step, state.writerLock);
    const met = errorClass === 'busy' ? 'held' : 'changed';
    state.failed.push({ step, transaction, object: state.writerLock, met });
  } else if (plan.type === 'upsert') failedInsert(state, step, errorClass, plan);
  else if (plan.type === 'insert') {
    const rows = plan.reads.length === 0 ? plan.bind(noRows) : '';
    if (typeof rows !== 'string') failedInsert(state, step, errorClass, { table: plan.table, rows });
    else readTables(state, step, [plan.table, ...plan.reads]);
  } else if (plan.type === 'update' || plan.type === 'delete') {
    readTables(state, step, plan.reads);
    const { where } = plan.reads.length === 0 ? plan.bind(noRows) : { where: () => undefined };
    failedChange(state, step, errorClass, { ...plan, where });
  } else if (plan.type === 'scan') failedChange(state, step, errorClass, plan);
  else if (plan.type === 'query') readTables(state, step, plan.tables);
  else if (plan.type === 'opaque') readTables(state, step, [...plan.reads, ...(plan.tables ?? [])]);
}

function readTables(state: MirrorState, step: OrderStepId, tables: readonly Table[]): void {
  for (const table of tables) state.accesses.add(step, state.tableObject[table.number]!, role.read);
}

function failedInsert(
  state: MirrorState,
  step: OrderStepId,
  errorClass: ErrorClass | undefined,
  { table, rows }: { readonly table: Table; readonly rows: readonly EvaluatedRow[] },
): void {
  const transaction = state.steps.transaction[step]!;
  const exists = errorClass === 'duplicate-key';
  for (const cells of rows) {
    const name = rowKey(cells, table.identity);
    if (name === undefined) continue;
    const row = state.row(table, name);
    state.accesses.add(step, row, role.read | role.lock);
    state.basedOn(step, row);
    if (exists && rows.length === 1) {
      if (state.doing[transaction]?.writes.wrote(row) === true) continue;
      // Key indexes know what is committed now, whatever the snapshot shows; one writer sees nothing newer anyway.
      const seen = state.writerLock < 0 ? step : state.snapshotOf(step, 'writesSee');
      if (seen !== step) state.accesses.add(seen, row, role.snapshot);
      const expected = { type: 'some', where: undefined } as const;
      const { writeConflict, passedRows } = state.mechanism;
      // InnoDB keeps the row that was in the way locked, for others to read only.
      if (passedRows !== undefined && !state.isAlone(step)) {
        state.settle(step, row);
        // A row that is not there was not in the way: another key was, or nothing explains the failure.
        if (state.imageFor(transaction, row) !== 'absent') {
          state.lock(step, row, role.share);
          continue;
        }
      }
      const waits = writeConflict === 'waits';
      if (waits && state.touch(step, row, expected)) continue;
      state.needs.push({ step, snapshot: seen, row, expected });
    } else if (!exists || rows.length === 1) state.failed.push({ step, transaction, object: row });
  }
}

function failedChange(
  state: MirrorState,
  step: OrderStepId,
  errorClass: ErrorClass | undefined,
  {
    type,
    table,
    keys,
    where,
  }: Pick<ScanPlan | ChangePlan, 'type' | 'table' | 'keys'> & Pick<ScanPlan, 'where'>,
): void {
  const transaction = state.steps.transaction[step]!;
  const { writeConflict, firstUpdaterWins } = state.mechanism;
  const rows =
    keys === undefined ? [...state.rows[table.number]!.values()] : keys.map((name) => state.row(table, name));
  if (keys === undefined) {
    const object = state.tableObject[table.number]!;
    state.accesses.add(step, object, role.read | role.lock);
    const choices = Math.max(2, rows.length);
    state.uncertain.push({ step, object, what: 'moment', choices, chosen: 0 });
  }
  for (const row of rows) {
    if (keys !== undefined) state.accesses.add(step, row, role.read | role.lock);
    state.basedOn(step, row);
    // A transaction that is too old fails for what a younger one has read, too: locks do not tell.
    if (state.clock < 0) state.failed.push({ step, transaction, object: row, where });
    // Before it failed for one row it may have locked others.
    const waits = keys === undefined && writeConflict === 'waits';
    if (waits && isHit(state.imageFor(transaction, row), where) !== false) state.locks.pass(step, row);
  }
  const fought = errorClass === 'serialization' && firstUpdaterWins && keys?.length === 1;
  if (!fought || state.doing[transaction]?.writes.wrote(rows[0]!) === true) return;
  // There was a row to fight over, in the snapshot.
  const seen = state.snapshotOf(step, type === 'scan' ? 'lockingReadsSee' : 'writesSee');
  if (seen !== step) state.accesses.add(seen, rows[0]!, role.snapshot);
  state.needs.push({ step, snapshot: seen, row: rows[0]!, expected: { type: 'some', where } });
}

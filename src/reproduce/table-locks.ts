/**
 * Engines that lock whole tables before a statement begins (HSQLDB's LOCKS). Tables that a statement changes stay locked to the end of
 * its transaction, and so do those it reads where reads lock; elsewhere a read has its tables only while it runs, so the order of answers does not tell who had them
 * first: it stands in some gap between those who changed them, where its result fits.
 */
import type { Operation } from '../histories/index.js';
import type { OrderStepId, RowId } from '../ids.js';
import type { Plan, ScanPlan, Table } from '../rows/index.js';
import * as role from './conflicts.js';
import type { Expected } from './evidence.js';
import type { MirrorState } from './mirror-state.js';
import { resultRows } from './operation-rows.js';

/** The locks on tables that a statement takes. */
export function lockTables(
  state: MirrorState,
  step: OrderStepId,
  op: Operation,
  plan: Exclude<Plan, { type: 'idle' }>,
): void {
  const { changed, read } = tablesUsed(state, plan);
  for (const table of changed) {
    const object = state.tableObject[table.number]!;
    state.settle(step, object);
    state.lock(step, object, role.lock);
  }
  for (const table of read) {
    if (changed.includes(table)) continue;
    const object = state.tableObject[table.number]!;
    state.settle(step, object);
    if (state.mechanism.readsLock) state.lock(step, object, role.share);
    else {
      state.accesses.add(step, object, role.share);
      const scanned = plan.type === 'scan' ? plan : plan.type === 'query' ? plan.part : undefined;
      const fits =
        scanned?.table === table && op.outcome !== 'error' ? rowsMet(state, step, op, scanned) : [];
      state.touchTogether(step, object, fits);
    }
  }
}

function tablesUsed(
  state: MirrorState,
  plan: Exclude<Plan, { type: 'idle' }>,
): { readonly changed: readonly Table[]; readonly read: readonly Table[] } {
  if (plan.type === 'scan') return { changed: [], read: [plan.table] };
  if (plan.type === 'query') return { changed: [], read: plan.tables };
  if (plan.type !== 'opaque') return { changed: [plan.table], read: plan.reads };
  const tables = plan.tables ?? state.tables;
  return plan.writes
    ? { changed: tables, read: plan.reads }
    : { changed: [], read: [...tables, ...plan.reads] };
}

/** What a read says of each row of its table. */
function rowsMet(
  state: MirrorState,
  step: OrderStepId,
  op: Operation,
  plan: ScanPlan,
): readonly { readonly row: RowId; readonly expected: Expected }[] {
  const returned = resultRows(op, plan);
  if (returned === undefined) return [];
  const { table, keys, where } = plan;
  const met = new Map<RowId, Expected>();
  for (const { name, cells } of returned)
    met.set(state.row(table, name), { type: 'cells', cells, ...(plan.wholeAt === undefined && { where }) });
  const missed = keys?.map((name) => state.row(table, name)) ?? [...state.rows[table.number]!.values()];
  if (plan.complete && !plan.skipsLocked)
    for (const row of missed) if (!met.has(row)) met.set(row, { type: 'none', where });
  const writes = state.doing[state.steps.transaction[step]!]?.writes;
  return [...met]
    .filter(([row]) => writes?.wrote(row) !== true)
    .map(([row, expected]) => ({ row, expected }));
}

/**
 * The history of an instrumented run as its author would have seen it: their statements, their columns, nothing of
 * ours. Companions and the observer disappear; a companion that failed in place of its statement becomes that
 * statement's failure, for the database would not have let the statement do more.
 *
 * Counts of really changed rows are left out: a mark changes every row that an UPDATE matches.
 */
import type { History, HistoryHeader, Operation } from '../../histories/index.js';
import { classifyStatement } from '../../sql/index.js';
import type { Instrumented, StatementPlan } from './instrumented.js';
import type { TraceForm } from './trace-query.js';

export interface StrippedHistory {
  readonly history: History;
  /** For each operation of the instrumented history its number in this one; −1 for the observer's. */
  readonly indexes: readonly number[];
}

/** How many columns were added for these traces. */
export function addedColumns(traces: readonly TraceForm[]): number {
  return traces.reduce((sum, form) => sum + (form === 'pair' ? 2 : 1), 0);
}

/** The plan of the statement an operation executed; undefined for the observer's and the executor's own. */
export function planOf(operation: Operation, instrumented: Instrumented): StatementPlan | undefined {
  if (operation.statement === undefined) return undefined;
  const [session, position] = operation.statement;
  return instrumented.plans[session]?.[position];
}

export function isObserver(operation: Operation, instrumented: Instrumented): boolean {
  return operation.session >= instrumented.original.case.sessions.length;
}

export function stripResults(history: History, instrumented: Instrumented): StrippedHistory {
  const operations: Operation[] = [];
  const indexes: number[] = [];
  const waiting = new Map<number, number[]>();
  const lastOf = new Map<number, number>();
  for (const operation of history.operations) {
    if (isObserver(operation, instrumented)) {
      indexes.push(-1);
      continue;
    }
    const plan = planOf(operation, instrumented);
    if (plan?.frame?.when === 'after') {
      // It belongs to its statement, which was answered before; if it failed, what it ended is over all the same.
      const { statement: _, ...rest } = operation;
      indexes.push(lastOf.get(operation.session) ?? -1);
      if (operation.outcome !== 'ok') operations.push({ ...rest, index: operations.length });
      continue;
    }
    if (plan?.role === 'companion' && operation.outcome === 'ok') {
      // Its statement comes next in this session; both have that number.
      waiting.set(operation.session, [...(waiting.get(operation.session) ?? []), indexes.length]);
      indexes.push(-1);
      continue;
    }
    const index = operations.length;
    indexes.push(index);
    for (const companion of waiting.get(operation.session) ?? []) indexes[companion] = index;
    waiting.delete(operation.session);
    lastOf.set(operation.session, index);
    operations.push(
      plan === undefined ? { ...operation, index } : stripOperation(operation, index, plan, instrumented),
    );
  }
  return { history: { header: stripHeader(history.header, instrumented), operations }, indexes };
}

/** The header without the observer, and without its level where that is one of its own. */
function stripHeader(header: HistoryHeader, { original }: Instrumented): HistoryHeader {
  const { sessionLevels, ...rest } = header;
  const { sessions, setup } = original.case;
  const levels = Object.entries(sessionLevels ?? {}).filter(([session]) => Number(session) < sessions.length);
  return {
    ...rest,
    sessions: header.sessions.slice(0, sessions.length),
    ...(header.nodes && { nodes: header.nodes.slice(0, sessions.length) }),
    setup,
    ...(levels.length > 0 && { sessionLevels: Object.fromEntries(levels) }),
  };
}

function stripOperation(
  operation: Operation,
  index: number,
  plan: StatementPlan,
  instrumented: Instrumented,
): Operation {
  const [session, position] = plan.original;
  const sql = instrumented.original.case.sessions[session]!.statements[position]!;
  const { columns, rows, changed, matched, ...rest } = operation;
  const { kind } = classifyStatement(sql, instrumented.dialect);
  const added = addedColumns(plan.traces);
  const count = matched ?? (plan.rows === 'deleted' && operation.outcome === 'ok' ? rows?.length : undefined);
  return {
    ...rest,
    index,
    kind,
    statement: plan.original,
    // BEGIN is spelt as the target needs it.
    sql: kind === 'begin' ? (operation.sql ?? sql) : sql,
    ...(plan.answers && columns !== undefined ? { columns: columns.slice(0, columns.length - added) } : {}),
    ...(plan.answers && rows !== undefined
      ? { rows: rows.map((row) => row.slice(0, row.length - added)) }
      : {}),
    ...(count === undefined ? {} : { matched: count }),
    ...(changed === undefined || plan.write?.deletes === false ? {} : { changed }),
  };
}

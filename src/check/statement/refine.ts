/**
 * From the first run of a case to one whose statements can be put in order (TxCheck §3.3, §4):
 *
 * 1. Blocking scheduling. Where a statement waited, or anything came between it and the reads around it, these reads do not show
 *    what it saw. The case runs again in the order in which its statements were answered; then nothing has to wait. What
 *    still comes apart is left out. (The paper leaves out at once.)
 * 2. Decycling (`order.ts`): writes on cycles are left out and the case runs again; reads on cycles are not judged.
 *
 * Each step leaves out a statement or is the only one of its kind, so it ends.
 */

import { type ScheduledCase, type StatementRef, totalOrder } from '../../cases/index.js';
import type { History } from '../../histories/index.js';
import { arithmeticOf } from '../../sql/index.js';
import { refKey } from '../instrument/marks.js';
import { isObserver, planOf } from '../instrument/strip-results.js';
import { wentAway } from '../server/server-finding.js';
import { foldValue } from './compare.js';
import { concernsOf } from './concerns.js';
import { decycle } from './order.js';
import { buildStatementGraph, type StatementGraph } from './statement-graph.js';
import { type CasePlan, withoutStatements } from './statement-plan.js';
import { readRuns, type StatementRun, type StatementRuns } from './statement-runs.js';

/** A run whose statements can be put in order. */
export interface Refined {
  readonly plan: CasePlan;
  readonly history: History;
  readonly runs: StatementRuns;
  readonly graph: StatementGraph;
  /** Nodes that are judged. */
  readonly kept: readonly number[];
  /** Reads that are not, by `refKey`, and why. */
  readonly notJudged: ReadonlyMap<string, string>;
}

export interface Unrefined {
  readonly plan: CasePlan;
  readonly history: History;
  readonly why: string;
}

export type Execute = (program: ScheduledCase) => Promise<History>;

/** Runs of one case until its statements can be put in order. */
const usualRounds = 8;

export async function refine(
  first: History,
  asked: CasePlan,
  execute: Execute,
  mostRounds = usualRounds,
): Promise<Refined | Unrefined> {
  let plan = asked;
  let history = first;
  /** What the history ran by: its answers belong to the statements of this plan and of no later one. */
  let ran = asked;
  let reordered = false;
  for (let round = 0; round < mostRounds; round++) {
    if (round > 0) history = await execute(plan.program);
    ran = plan;
    const runs = readRuns(history, plan.instrumented);
    if (runs.broken || wentAway(history)) return { plan, history, why: 'a statement was never answered' };
    if (runs.final === undefined && !runs.early)
      return { plan, history, why: 'the final state could not be read' };
    const apart = runs.runs.filter(({ state }) => state === 'apart');
    if ((apart.length > 0 || runs.early) && !reordered) {
      reordered = true;
      plan = withoutStatements({ ...plan, source: inOrderOfAnswers(plan, history) }, plan.leftOut);
      continue;
    }
    if (runs.early && apart.length === 0)
      return { plan, history, why: 'the final state was read while statements waited' };
    const untied = runs.runs.filter((run) => hasTies(run, plan));
    const unusable = [...apart, ...untied.filter(({ token }) => token !== undefined)];
    if (unusable.length > 0) {
      plan = without(plan, unusable, (run) => (run.state === 'apart' ? waited : ties));
      continue;
    }
    const nodes = runs.runs.filter((run) => run.state === 'seen' && run.counts && !untied.includes(run));
    const graph = graphOf(nodes, plan);
    const { kept, droppedReads, droppedWrites } = decycle(graph);
    if (droppedWrites.length === 0) {
      const notJudged = new Map([
        ...untied.map(({ ref }) => [refKey(ref), ties] as const),
        ...droppedReads.map((node) => [refKey(nodes[node]!.ref), inCycle] as const),
      ]);
      return { plan, history, runs, graph, kept, notJudged };
    }
    plan = without(
      plan,
      droppedWrites.map((node) => nodes[node]!),
      () => inCycle,
    );
  }
  return {
    plan: ran,
    history,
    why: `after ${mostRounds} runs its statements still wait for each other or depend on each other in a circle`,
  };
}

const waited = 'it waited for another transaction, so what it saw is not known';
const ties = 'rows it orders have the same rank';
const inCycle = 'it is in a circle of dependencies';

function without(
  plan: CasePlan,
  runs: readonly StatementRun[],
  why: (run: StatementRun) => string,
): CasePlan {
  return withoutStatements(
    plan,
    new Map([...plan.leftOut, ...runs.map((run) => [refKey(run.ref), why(run)] as const)]),
  );
}

/** Whether rows share the columns by which a LIMIT or window orders them. */
function hasTies({ ref, before, state }: StatementRun, { known, setup, dialect }: CasePlan): boolean {
  if (state !== 'seen') return false;
  return known.get(refKey(ref))!.distinct.some(({ table, columns }) => {
    const all = [...setup.tables.values()].find(({ name }) => name === table)!.columns;
    const rows = [...(before.get(table)?.values() ?? [])];
    const texts = rows.map(({ values }) =>
      columns.map((name) => foldValue(values[all.indexOf(name)] ?? null, dialect === 'mysql')).join('\u0000'),
    );
    return new Set(texts).size < texts.length;
  });
}

export function graphOf(
  nodes: readonly StatementRun[],
  { known, setup, dialect, contract }: CasePlan,
): StatementGraph {
  const arithmetic = arithmeticOf(dialect, contract.owner);
  const tableOf = (name: string) => [...setup.tables.values()].find((table) => table.name === name);
  return buildStatementGraph({
    nodes,
    tableOf,
    columnsOf: (name) => tableOf(name)?.columns ?? [],
    useOf: ({ ref }, table) =>
      known.get(refKey(ref))!.tables.find((each) => each.table === table)?.use ?? 'predicate',
    mayConcern: ({ ref }, table) => {
      const { statement } = known.get(refKey(ref))!;
      return concernsOf(statement, table, tableOf(table)?.types ?? [], arithmetic);
    },
  });
}

/** The case with its statements in the order of their answers; what was not sent comes right behind what came before it. */
function inOrderOfAnswers({ source, instrumented }: CasePlan, { operations }: History): ScheduledCase {
  const next = source.case.sessions.map(() => 0);
  const order: StatementRef[] = [];
  const upTo = (session: number, position: number) => {
    for (; next[session]! <= position; next[session]!++) order.push([session, next[session]!]);
  };
  for (const operation of operations) {
    const plan = isObserver(operation, instrumented) ? undefined : planOf(operation, instrumented);
    if (plan !== undefined && plan.frame === undefined) upTo(...plan.original);
  }
  for (const [s, { statements }] of source.case.sessions.entries()) upTo(s, statements.length - 1);
  return { case: source.case, schedule: totalOrder(order) };
}

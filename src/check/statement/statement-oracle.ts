/**
 * The statement oracle (TxCheck, OSDI 2023): the committed statements of a run, executed one by one without transactions in an order
 * that keeps all their dependencies, must give what they gave inside their transactions, and leave the same rows.
 *
 * 1. The case runs with reads around every statement (`statement-plan.ts`), again and again if need be, until its statements can
 *    be put in order (`refine.ts`).
 * 2. They are executed in that order by one session without transactions, on the same initial state.
 * 3. Each answer and the final state are compared (`compare.ts`).
 * 4. A difference counts only if the transactions show it again and another order without them does, too; where the dependencies
 *    leave one order only, that one, executed again.
 * 5. Statements that failed for no documented reason are tried without a transaction (`failed-statements.ts`).
 *
 * Nothing is said of how a wrong result comes about: an evaluation that goes wrong only inside transactions shows as well
 * as a wrong version. What both executions get wrong alike is not seen.
 */
import type { History, Operation } from '../../histories/index.js';
import { counted } from '../../words.js';
import type { Finding } from '../finding.js';
import { engineWords } from '../instrument/engine-words.js';
import { refKey } from '../instrument/marks.js';
import { addedColumns, stripResults } from '../instrument/strip-results.js';
import type { Checked } from '../mechanism/result.js';
import {
  type CheckResult,
  type JudgeContext,
  type JudgedHistory,
  judgedHistory,
  type Oracle,
} from '../oracle.js';
import { serverFinding } from '../server/server-finding.js';
import { compareAnswers, compareStates, type Difference, sameDifference, uncomparable } from './compare.js';
import { judgeFailures } from './failed-statements.js';
import { orderNodes } from './order.js';
import { type Execute, type Refined, refine } from './refine.js';
import { alone } from './same-rows.js';
import { type FoundDifference, failureFinding, findingOf } from './statement-finding.js';
import { changesOf } from './statement-graph.js';
import { type CasePlan, planCase } from './statement-plan.js';
import { readRuns, type StatementRuns, tableStates } from './statement-runs.js';
import { unreadable } from './version-sets.js';

export const statementOracle: Oracle<CasePlan> = {
  name: 'statement',
  title: 'the same statements without transactions, in an order that keeps their dependencies',
  needs: { run: 'extra-reads', executions: true },
  rounds: 1,
  onlyIfNamed: true,
  refuses: unreadable,
  prepare(program, { target, contract }) {
    const plan = planCase(program, target.dialect, contract, engineWords(target.name));
    return { program: plan.program, plan };
  },
  asWritten,
  judge: judgeStatements,
  identity: ({ oracle, kind, clause, operations }, history) =>
    JSON.stringify([
      oracle,
      kind,
      clause ?? null,
      history.operations[operations[0]?.index ?? -1]?.kind ?? null,
    ]),
};

/** What is refused beforehand was sent as it is. */
function asWritten(raw: History, plan: CasePlan): History {
  return plan.program === plan.source ? raw : stripResults(raw, plan.instrumented).history;
}

async function judgeStatements(raw: History, plan: CasePlan, context: JudgeContext): Promise<JudgedHistory> {
  if (plan.refused !== undefined) {
    return answer(asWritten(raw, plan), context, { unknownReasons: [plan.refused] });
  }
  const execute: Execute = (program) => context.execute!(program);
  const refined = await refine(raw, plan, execute);
  if ('why' in refined) {
    const { history } = stripResults(refined.history, refined.plan.instrumented);
    const crash = serverFinding(history);
    return answer(history, context, {
      findings: crash === undefined ? [] : [crash],
      unknownReasons: [refined.why],
    });
  }
  return new Comparison(refined, context, execute).judge();
}

function answer(
  history: History,
  { contract }: JudgeContext,
  about: Partial<Pick<CheckResult, 'findings' | 'unknownReasons' | 'notes' | 'checked'>>,
): JudgedHistory {
  return judgedHistory(history, { oracle: 'statement', contract: contract.id, findings: [], ...about });
}

/** Transactions and an order without them, side by side. */
class Comparison {
  readonly #stripped: ReturnType<typeof stripResults>;
  readonly #caseless: boolean;

  constructor(
    private readonly refined: Refined,
    private readonly context: JudgeContext,
    private readonly execute: Execute,
  ) {
    const { history, plan } = refined;
    this.#stripped = stripResults(history, plan.instrumented);
    // MySQL's family compares texts without case: which of two equal ones a group shows is anybody's guess.
    this.#caseless = plan.dialect === 'mysql';
  }

  async judge(): Promise<JudgedHistory> {
    const { graph, kept, runs, history, plan } = this.refined;
    const failure = await judgeFailures(history, plan, this.execute);
    if (failure?.kind === 'finding') return this.#answer([this.#failure(failure.operation)], []);
    const reasons = failure === undefined ? [] : [failure.why];
    const order = orderNodes(kept, graph.edges, 'earliest');
    const serial = await this.#withoutTransactions(order);
    const crashed = this.#crash(serial, order);
    if (crashed !== undefined) return crashed;
    const why = this.#uncomparable(serial, order);
    if (why !== undefined) return this.#answer([], [...reasons, why]);
    const found = this.#differences(runs, serial, order);
    if (found.length === 0) return this.#answer([], reasons);
    const other = orderNodes(kept, graph.edges, 'latest');
    const [confirmed] = await this.#confirm(found, other);
    const orders = other.every((node, i) => node === order[i]) ? 1 : 2;
    return confirmed === undefined
      ? this.#answer([], [...reasons, 'a difference from the order without transactions did not come back'])
      : this.#answer([this.#finding(confirmed, order, orders)], reasons);
  }

  /** Executes statements one by one in one session, then reads every table. */
  #withoutTransactions(order: readonly number[]): Promise<History> {
    const { plan, graph } = this.refined;
    const { program, instrumented } = plan;
    const sent = order.map((node) => graph.nodes[node]!.operation.sql!);
    return this.execute(alone(program.case, [...sent, ...instrumented.observe]));
  }

  /** Why an execution without transactions shows nothing; undefined: it does. */
  #uncomparable({ operations }: History, order: readonly number[]): string | undefined {
    const stopped = uncomparable(operations);
    if (stopped !== undefined) return stopped;
    const { instrumented } = this.refined.plan;
    return tableStates(operations.slice(order.length), instrumented) === undefined
      ? 'the final state without transactions could not be read'
      : undefined;
  }

  /** What the transactions did differently. A statement that differs explains what comes after it. */
  #differences({ runs, final }: StatementRuns, serial: History, order: readonly number[]): FoundDifference[] {
    const { graph, plan } = this.refined;
    const byRef = new Map(runs.map((run) => [refKey(run.ref), run]));
    const found = order.flatMap((node, i): FoundDifference[] => {
      const run = byRef.get(refKey(graph.nodes[node]!.ref));
      if (run === undefined) return [];
      const shown = addedColumns(run.plan.traces);
      const difference = compareAnswers(run.operation, serial.operations[i]!, {
        shown,
        caseless: this.#caseless,
      });
      return difference === undefined ? [] : [{ difference, node }];
    });
    // Where nothing committed no statement can be blamed for the state; who mirrors rows finds what a rollback left behind.
    if (found.length > 0 || final === undefined || order.length === 0) return found;
    const expected = tableStates(serial.operations.slice(order.length), plan.instrumented)!;
    return compareStates(final, expected, this.#caseless).map((difference) => ({
      difference,
      node: this.#lastWriter(difference, order),
    }));
  }

  /** The last statement that wrote a table, or the last of all. */
  #lastWriter(difference: Difference, order: readonly number[]): number {
    const table = difference.what === 'state' ? difference.table : '';
    const writes = (node: number) =>
      changesOf(this.refined.graph.nodes[node]!).some((change) => change.table === table);
    return order.findLast(writes) ?? order.at(-1)!;
  }

  /** The differences that come back when the transactions run again and when another order runs without them. */
  async #confirm(found: readonly FoundDifference[], order: readonly number[]): Promise<FoundDifference[]> {
    const { plan, runs } = this.refined;
    const inOtherOrder = await this.#withoutTransactions(order);
    const again = readRuns(await this.execute(plan.program), plan.instrumented);
    const onceMore = await this.#withoutTransactions(order);
    if ([inOtherOrder, onceMore].some((serial) => this.#uncomparable(serial, order) !== undefined)) return [];
    if (again.runs.some(({ state }) => state === 'apart')) return [];
    const other = this.#differences(runs, inOtherOrder, order);
    const replayed = this.#differences(again, onceMore, order);
    const has = (list: readonly FoundDifference[], each: FoundDifference) =>
      list.some(
        (one) => one.node === each.node && sameDifference(one.difference, each.difference, this.#caseless),
      );
    return found.filter((each) => has(other, each) && has(replayed, each));
  }

  #failure({ index }: Operation): Finding {
    const { history, indexes } = this.#stripped;
    return failureFinding(history, history.operations[indexes[index]!]!, this.context.contract.id);
  }

  #finding(each: FoundDifference, order: readonly number[], orders: number): Finding {
    const { graph, plan } = this.refined;
    return findingOf(each, {
      graph,
      order,
      orders,
      history: this.#stripped.history,
      operationOf: (node) => this.#stripped.indexes[graph.nodes[node]!.operation.index]!,
      contract: this.context.contract.id,
      ...(this.#restsOnReport(plan, each.node) && { clause: 'subqueriesSee snapshot' }),
    });
  }

  /** Whether the order rests on what users reported beyond the manual: that subqueries of conditions see the snapshot. */
  #restsOnReport({ known, contract }: CasePlan, node: number): boolean {
    if (contract.mechanism?.subqueriesSee !== 'snapshot') return false;
    const { tables } = known.get(refKey(this.refined.graph.nodes[node]!.ref))!;
    const locks = tables.some(({ use, locking }) => use === 'target' && locking);
    return locks && tables.some(({ use, locking }) => use === 'predicate' && !locking);
  }

  /**
   * A server that did not survive the statements without transactions, told of the history that its reader has: there the statement
   * gets the fate it had without transactions. Where a read of the final state had it, that is the last statement.
   */
  #crash(serial: History, order: readonly number[]): JudgedHistory | undefined {
    const crash = serverFinding(serial);
    if (crash === undefined) return undefined;
    const at = crash.operations[0]!.index;
    const node = order[Math.min(at, order.length - 1)];
    const { history, indexes } = this.#stripped;
    const index =
      node === undefined
        ? history.operations.length - 1
        : indexes[this.refined.graph.nodes[node]!.operation.index]!;
    const { outcome, end, error } = serial.operations[at]!;
    const operations = history.operations.map((each) =>
      each.index === index ? { ...each, outcome, end, ...(error !== undefined && { error }) } : each,
    );
    const told = { ...history, operations };
    return answer(told, this.context, { findings: [serverFinding(told)!] });
  }

  #answer(findings: readonly Finding[], reasons: readonly string[]): JudgedHistory {
    const { plan, notJudged } = this.refined;
    const skipped = [...plan.leftOut, ...notJudged];
    const whys = new Map<string, number>();
    for (const [, why] of skipped) whys.set(why, (whys.get(why) ?? 0) + 1);
    const notes = skipped.map(([key, why]) => `not judged: ${sqlAt(plan, key)} (${why})`);
    const unknownReasons = [
      ...reasons,
      ...[...whys].map(([why, count]) => `${counted(count, 'statement')} not judged: ${why}`),
    ];
    return answer(this.#stripped.history, this.context, {
      findings,
      unknownReasons,
      notes,
      checked: this.#checked(),
    });
  }

  /** What was compared. */
  #checked(): Checked {
    const { graph, kept } = this.refined;
    const judged = kept.map((node) => graph.nodes[node]!);
    const reads = judged.filter(({ token }) => token === undefined);
    return {
      transactions: new Set(judged.map(({ transaction }) => transaction)).size,
      reads: reads.length,
      rows: reads.reduce((sum, { operation }) => sum + (operation.rows?.length ?? 0), 0),
      ambiguousReads: 0,
      writes: judged.length - reads.length,
      locks: 0,
      dependencies: graph.edges.length,
      peakVersions: 0,
    };
  }
}

function sqlAt({ source }: CasePlan, key: string): string {
  const [session, position] = key.split(':').map(Number) as [number, number];
  return source.case.sessions[session]!.statements[position]!;
}

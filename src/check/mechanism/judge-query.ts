/**
 * Queries with joins, aggregates or subqueries: evaluated on every state the tables may have been in, as long as these
 * are few, and compared as bags. A result that fits none of them is a finding. The states tried are all combinations of
 * what the rows may be, more than any instant can show, so nothing possible is missed.
 */
import type { Operation } from '../../histories/index.js';
import { type EvaluatedRow, isUndecidable } from '../../sql/index.js';
import { type RowChoices, rowChoices } from './certain-state.js';
import type { QueryPlan } from './plan-types.js';
import { describeImage, describeOperation, describePivot, makeFinding } from './prose.js';
import { hiddenRow, reportHidden } from './report-own-deletes.js';
import type { View } from './row-chain.js';
import type { Tx } from './transactions.js';
import type { Verification } from './verification.js';

const mostStates = 64;

export function judgeQuery(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  plan: QueryPlan,
  view: View,
): void {
  const { tally } = verification;
  const answer = evaluate(verification, tx, operation, plan, view, false);
  if (typeof answer === 'string') {
    tally.skip('read', answer);
    return;
  }
  tally.reads++;
  if (answer.fits) {
    tally.rows += operation.rows?.length ?? 0;
    if (answer.states > 1) tally.ambiguousReads++;
    return;
  }
  const hidden = plan.tables.flatMap((name) =>
    [...verification.tables.get(name)!.rows.values()].flatMap((row) => hiddenRow(row, tx, view) ?? []),
  );
  const unhidden =
    hidden.length === 0 ? 'nothing is hidden' : evaluate(verification, tx, operation, plan, view, true);
  if (typeof unhidden === 'object' && unhidden.fits)
    reportHidden(
      verification,
      tx,
      operation,
      hidden,
      `${describeRows(operation.rows)}, which it gives only with ${hidden.length === 1 ? 'that row' : 'those rows'}`,
    );
  else report(verification, tx, operation, plan, answer.expected);
}

interface Evaluation {
  /** Some state gives the answer. */
  readonly fits: boolean;
  readonly states: number;
  /** What the others give. */
  readonly expected: readonly string[];
}

/** Runs the query on every state the tables may have been in; or says why it cannot. */
function evaluate(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  plan: QueryPlan,
  view: View,
  unhidden: boolean,
): Evaluation | string {
  const choices = new Map<string, RowChoices>();
  let states = 1;
  for (const name of plan.tables) {
    const found = rowChoices(verification, verification.tables.get(name)!, tx, view, unhidden);
    if (typeof found === 'string') return found;
    choices.set(name, found);
    for (const choice of found) states *= choice.length;
    if (states > mostStates) return 'too many states are possible for a query over whole tables';
  }
  // Statements that meet current rows one by one need not see them in one state.
  if (view.current && states > 1) return 'a locking query over rows that were changing';
  const seen = bag(operation.rows ?? []);
  const expected: string[] = [];
  for (let state = 0; state < states; state++) {
    const tables = pickState(choices, state);
    const rows = plan.run((table) => tables.get(table) ?? []);
    if (typeof rows === 'string') return rows;
    if (rows.some((row) => row.some((cell) => isUndecidable(cell))))
      return 'a value of the result cannot be computed exactly';
    if (bag(rows) === seen) return { fits: true, states, expected };
    expected.push(describeRows(rows));
  }
  return { fits: false, states, expected };
}

function describeRows(rows: readonly EvaluatedRow[] = []): string {
  return rows.map(describeImage).sort().join(', ') || 'no rows';
}

/** The state with this number: its digits choose among the possibilities of each row. */
function pickState(choices: ReadonlyMap<string, RowChoices>, state: number): Map<string, EvaluatedRow[]> {
  const tables = new Map<string, EvaluatedRow[]>();
  let rest = state;
  for (const [name, rows] of choices) {
    const picked: EvaluatedRow[] = [];
    for (const choice of rows) {
      const image = choice[rest % choice.length]!;
      rest = Math.floor(rest / choice.length);
      if (image !== 'absent') picked.push(image);
    }
    tables.set(name, picked);
  }
  return tables;
}

function bag(rows: readonly EvaluatedRow[]): string {
  return rows
    .map((row) => JSON.stringify(row))
    .sort()
    .join('\n');
}

function report(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  plan: QueryPlan,
  expected: readonly string[],
): void {
  const contract = tx.contract!;
  const allowed = [...new Set(expected)];
  const seen = describeRows(operation.rows);
  const steps = [
    `T${tx.id} ran ${describeOperation(operation)}.`,
    `Under ${contract.id} a plain read sees ${describePivot(contract)}, and its own writes.`,
    `The query, evaluated on ${allowed.length === 1 ? 'that state' : 'every state possible then'}, gives ${allowed.slice(0, 4).join(' | ')}.`,
    `However, it returned ${seen}.`,
  ];
  const object = plan.tables.join(', ');
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: 'wrong-result',
      clause: `pivot ${contract.mechanism!.pivot}`,
      contract,
      operations: [operation.index, tx.snapshotBy?.index],
      txs: [tx],
      versions: [{ operation: operation.index, object, seen, allowed }],
      steps,
    }),
  );
}

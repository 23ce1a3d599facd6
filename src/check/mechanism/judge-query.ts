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
  const choices = new Map<string, RowChoices>();
  let states = 1;
  for (const name of plan.tables) {
    const found = rowChoices(verification, verification.tables.get(name)!, tx, view);
    if (typeof found === 'string') {
      tally.skip('read', found);
      return;
    }
    choices.set(name, found);
    for (const choice of found) states *= choice.length;
    if (states > mostStates) {
      tally.skip('read', 'too many states are possible for a query over whole tables');
      return;
    }
  }
  // Statements that meet current rows one by one need not see them in one state.
  if (view.current && states > 1) {
    tally.skip('read', 'a locking query over rows that were changing');
    return;
  }
  const seen = bag(operation.rows ?? []);
  const expected: string[] = [];
  for (let state = 0; state < states; state++) {
    const tables = pickState(choices, state);
    const rows = plan.run((table) => tables.get(table) ?? []);
    if (typeof rows === 'string') {
      tally.skip('read', rows);
      return;
    }
    if (rows.some((row) => row.some((cell) => isUndecidable(cell)))) {
      tally.skip('read', 'a value of the result cannot be computed exactly');
      return;
    }
    if (bag(rows) === seen) {
      tally.reads++;
      tally.rows += rows.length;
      if (states > 1) tally.ambiguousReads++;
      return;
    }
    expected.push(rows.map(describeImage).sort().join(', ') || 'no rows');
  }
  tally.reads++;
  report(verification, tx, operation, plan, expected);
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
  const seen = (operation.rows ?? []).map(describeImage).sort().join(', ') || 'no rows';
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

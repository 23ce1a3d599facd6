import { bagOf, type QueryPlan, type Table } from '../../rows/index.js';
import { type EvaluatedRow, isUndecidable } from '../../sql/index.js';
import { joined, ofData, ofOperation, ofRow, say } from '../explanation.js';
import { values } from '../observation.js';
import { type RowChoices, rowChoices } from './certain-state.js';
import { lookAt, type Outlook } from './outlook.js';
import { describeImage, describePivot, makeFinding, ofTx, operationAt } from './prose.js';
import { hiddenRow, reportHidden } from './report-own-deletes.js';
import type { RowChain } from './row-chain.js';
import type { Read } from './scan-read.js';
import type { Verification } from './verification.js';

const mostStates = 64;

export function judgeQuery(verification: Verification, read: Read, plan: QueryPlan): void {
  const { tally } = verification;
  const { tx, operation } = read;
  const answer = evaluate(verification, read, plan);
  if (typeof answer === 'string') {
    tally.skip('read', answer);
    return;
  }
  tally.reads++;
  verification.observer?.queried(read, outlooksOf(verification, read, plan), answer);
  if (answer.fits) {
    tally.rows += operation.rows?.length ?? 0;
    if (answer.states > 1) tally.ambiguousReads++;
    return;
  }
  const fitsWithout = (rows: readonly RowChain[]): boolean => {
    const other = evaluate(verification, read, plan, new Set(rows));
    return typeof other === 'object' && other.fits;
  };
  const rows = plan.tables.flatMap(({ name }) => [...verification.tables.get(name)!.rows.values()]);
  const hidden = rows.flatMap((row) => hiddenRow(row, read) ?? []);
  if (hidden.length > 0 && fitsWithout(hidden.map(({ row }) => row))) {
    const needed = hidden.length === 1 ? 'that row' : 'those rows';
    const returned = `${describeRows(operation.rows)}, which it gives only with ${needed}`;
    reportHidden(verification, read, hidden, returned);
    return;
  }
  const own = rows.filter((row) => row.own(tx)?.met === true);
  const missed = [...own.map((row) => [row]), own].find((some) => some.length > 0 && fitsWithout(some));
  report(verification, read, plan, { expected: answer.expected, missed });
}

function outlooksOf(verification: Verification, { tx, view }: Read, { tables }: QueryPlan): Outlook[] {
  const look = { view, tx, exclusive: verification.exclusive, pending: [] };
  return tables.flatMap(({ name }) =>
    [...verification.tables.get(name)!.rows.values()].map((row) => lookAt(row, look)),
  );
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
  { tx, operation, view }: Read,
  plan: QueryPlan,
  unseen?: ReadonlySet<RowChain>,
): Evaluation | string {
  const choices = new Map<Table, RowChoices>();
  let states = 1;
  for (const table of plan.tables) {
    const found = rowChoices(verification, verification.tables.get(table.name)!, { tx, view }, unseen);
    if (typeof found === 'string') return found;
    choices.set(table, found);
    for (const choice of found) states *= choice.length;
    if (states > mostStates) return 'too many states are possible for a query over whole tables';
  }
  // Statements that meet current rows one by one need not see them in one state.
  if (view.current && states > 1) return 'a locking query over rows that were changing';
  const seen = bagOf(operation.rows ?? []);
  const expected: string[] = [];
  for (let state = 0; state < states; state++) {
    const tables = pickState(choices, state);
    const rows = plan.run((table) => tables.get(table) ?? []);
    if (typeof rows === 'string') return rows;
    if (rows.some((row) => row.some((cell) => isUndecidable(cell))))
      return 'a value of the result cannot be computed exactly';
    if (bagOf(rows) === seen) return { fits: true, states, expected };
    expected.push(describeRows(rows));
  }
  return { fits: false, states, expected };
}

function describeRows(rows: readonly EvaluatedRow[] = []): string {
  return rows.map(describeImage).sort().join(', ') || 'no rows';
}

/** The state with this number: its digits choose among the possibilities of each row. */
function pickState(choices: ReadonlyMap<Table, RowChoices>, state: number): Map<Table, EvaluatedRow[]> {
  const tables = new Map<Table, EvaluatedRow[]>();
  let rest = state;
  for (const [table, rows] of choices) {
    const picked: EvaluatedRow[] = [];
    for (const choice of rows) {
      const image = choice[rest % choice.length]!;
      rest = Math.floor(rest / choice.length);
      if (image !== 'absent') picked.push(image);
    }
    tables.set(table, picked);
  }
  return tables;
}

/** An answer that fits no state; `missed`: rows the transaction wrote, without which it would fit one. */
function report(
  verification: Verification,
  { tx, operation }: Read,
  plan: QueryPlan,
  { expected, missed }: Pick<Evaluation, 'expected'> & { readonly missed: readonly RowChain[] | undefined },
): void {
  const { history, txs } = verification;
  const contract = tx.contract!;
  const allowed = [...new Set(expected)];
  const seen = describeRows(operation.rows);
  const writes = (missed ?? []).map((row) => ({ row, by: row.own(tx)!.states.at(-1)!.operation }));
  const steps = [
    say.ran`${ofTx(tx)} ran ${ofOperation(operation)}.`,
    say.rule`Under ${contract.id} a plain read sees ${describePivot(contract)}, and its own writes.`,
    say.allowed`The query, evaluated on ${allowed.length === 1 ? 'that state' : 'every state possible then'}, gives ${joined(allowed.slice(0, 4).map(ofData), ' or ')}.`,
    ...writes
      .slice(0, 10)
      .map(
        ({ row, by }) =>
          say.fact`${ofTx(tx)} wrote ${ofRow(row.object)} in ${ofOperation(operationAt(history, by))}.`,
      ),
    say.contradiction`However, it returned ${ofData(seen)}${writes.length === 0 ? '' : ', which is right only without what it wrote itself'}.`,
  ];
  const objects =
    writes.length === 0
      ? [plan.tables.map(({ name }) => name).join(', ')]
      : writes.map(({ row }) => row.object);
  verification.findings.push(
    makeFinding(history, txs, {
      kind: writes.length === 0 ? 'wrong-result' : 'own-write-missed',
      clause: writes.length === 0 ? `pivot ${contract.mechanism!.pivot}` : 'ownWrites',
      contract,
      operations: [operation.index, ...writes.map(({ by }) => by), tx.snapshotBy?.index],
      txs: [tx],
      versions: objects.map((object) => ({
        operation: operation.index,
        object,
        seen: values(seen),
        allowed: allowed.map(values),
      })),
      steps,
    }),
  );
}

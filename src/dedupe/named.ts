/**
 * The statements a finding is about, as they were run. The mechanism verifier names the judged statement first; findings
 * of dependencies quote whole transactions, with results, and say by their versions which statement is judged.
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { type Act, actOf, type CaseEvent, type CaseEvents, isControl } from './events.js';

export interface NamedAct extends Act {
  readonly index: number;
  readonly transaction: number;
}

/** The judged statement first, transaction control left out. */
export function namedActs(finding: Finding, history: History, dialect: Dialect | undefined): NamedAct[] {
  const byIndex = new Map(history.operations.map((operation) => [operation.index, operation]));
  const acts = finding.operations.flatMap(({ index, transaction, text }): NamedAct[] => {
    const act = actOf(byIndex.get(index)?.sql ?? text, dialect);
    return isControl(act.kind) ? [] : [{ ...act, index, transaction }];
  });
  const judged = finding.versions?.[0]?.operation;
  return acts.toSorted((a, b) => Number(b.index === judged) - Number(a.index === judged));
}

/** Where an operation stands in the case; undefined when it is none of the case's (a reduction that was cut short). */
export function eventAt(
  index: number,
  history: History,
  { transactions }: CaseEvents,
): CaseEvent | undefined {
  const ref = history.operations.find((operation) => operation.index === index)?.statement?.join(',');
  if (ref === undefined) return undefined;
  return transactions.flat().find((event) => event.ref === ref && !event.end);
}

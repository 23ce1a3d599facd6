/**
 * The behaviour signature: what identifies a bug apart from names and values, so that 500 findings of one bug are one
 * entry with a count. Meant for reduced cases: what a case still holds, its signature takes for necessary.
 *
 *     firstUpdaterWins true: update-of-changed-row
 *     saw written without an error, expected a serialization error
 *     A: select t1; update t1!; commit
 *     B: delete t1; commit
 *     order: A1<B1 B2<A2
 *
 * 1. The clause broken and the kind of the finding.
 * 2. What was read against what was expected, as roles (`roles.ts`).
 * 3. The statements of each transaction by kind, the judged one marked; the order of those that depend on each other;
 *    the cycle of dependencies, if the finding is one (`events.ts`).
 * 4. All that drawn in one way, whatever the sessions, tables, columns, rows and values are called (`canonical.ts`).
 *
 * Not in it: the level (a clause names what it needs of it), the engine and its version, columns, conditions, how many
 * rows show the bug. Two bugs with one signature are told apart by other means; one bug that shows in two ways has two
 * signatures.
 */
import { createHash } from 'node:crypto';
import type { Case, Schedule } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { drawCanonically } from './canonical.js';
import { type CaseEvents, eventsOf } from './events.js';
import { rolesOf } from './roles.js';

/** What a signature is made of; every bug has it. */
export interface Behaviour {
  readonly case: Case;
  readonly schedule: Schedule;
  readonly finding: Finding;
  /** The run the finding is about. */
  readonly history: History;
}

/** Twelve hexadecimal digits, the same for the same behaviour. */
export function signatureOf(behaviour: Behaviour): string {
  return createHash('sha256').update(describeBehaviour(behaviour)).digest('hex').slice(0, 12);
}

/** The signature before it is hashed, for people. */
export function describeBehaviour({ case: program, schedule, finding, history }: Behaviour): string {
  const pivot = finding.contract === undefined ? undefined : findContract(finding.contract)?.mechanism?.pivot;
  const events = eventsOf(program, schedule, { beginCounts: pivot === 'begin' });
  const number = transactionNumbers(events, history);
  const cycle = (finding.cycle ?? []).map(({ from, to, kind, object }) => ({
    from: number.get(from) ?? -1,
    to: number.get(to) ?? -1,
    kind,
    ...(object === undefined ? {} : { object }),
  }));
  return [
    `${finding.clause ?? 'no clause'}: ${finding.kind}`,
    ...rolesOf(finding),
    ...drawCanonically({ ...events, judged: judgedStatements(finding, history), cycle }),
  ].join('\n');
}

/** The statements whose results are wrong: those with versions, or the first the finding names if it is no cycle. */
function judgedStatements(finding: Finding, history: History): Set<string> {
  const seen = (finding.versions ?? []).map(({ operation }) => operation);
  const first = finding.cycle === undefined ? finding.operations.slice(0, 1).map(({ index }) => index) : [];
  const indexes = new Set(seen.length > 0 ? seen : first);
  const judged = history.operations.filter(({ index }) => indexes.has(index));
  return new Set(judged.flatMap(({ statement }) => (statement === undefined ? [] : [statement.join(',')])));
}

/** From the history's transactions to those of the case. */
function transactionNumbers({ transactions }: CaseEvents, history: History): Map<number, number> {
  const byRef = new Map(transactions.flatMap((events, i) => events.map((event) => [event.ref, i] as const)));
  const numbers = new Map<number, number>();
  for (const { statement, transaction } of history.operations) {
    const number = statement === undefined ? undefined : byRef.get(statement.join(','));
    if (number !== undefined) numbers.set(transaction, number);
  }
  return numbers;
}

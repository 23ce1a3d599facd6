/**
 * The behaviour signature: what identifies a bug apart from names and values, so that 500 findings of one bug are one
 * entry with a count. It has two parts:
 *
 *     missed conflict: delete with update
 *     as firstUpdaterWins true: update-of-changed-row
 *     saw written without an error, expected a serialization error
 *     A: select t1; update t1!; commit
 *     B: delete t1; commit
 *     order: A1<B1 B2<A2
 *
 * - The *cause*, up to the line that begins with `as` (`cause.ts`): the bug. The signature is its hash. Where the variant
 *   begins with the same line, that line alone is the cause.
 * - The *variant*, from there on: the form it takes here. The clause and the kind of the finding; what was read against
 *   what was expected, as roles (`roles.ts`); the statements of each transaction by kind, the judged one marked; the order
 *   of those that depend on each other; the cycle of dependencies, if the finding is one (`events.ts`). All that in
 *   one form, whatever the sessions, tables, columns, rows and values are called (`canonical.ts`).
 *
 * Meant for reduced cases: what a case still holds is taken for necessary. Not in it: the level (a clause names what it
 * needs of it), the engine and its version, conditions, how many rows show the bug.
 */
import { createHash } from 'node:crypto';
import type { Finding } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { distinctKinds, kindLine } from './act-kind.js';
import type { Behaviour } from './behaviour.js';
import { canonicalLines } from './canonical.js';
import { type CauseName, causeOf } from './cause.js';
import { type CaseEvents, eventsOf } from './events.js';
import { headlineOfCause } from './headline.js';
import { rolesOf } from './roles.js';

/** Grows whenever the same bug gets another signature: stores then look for what they keep under the older one. */
export const signatureVersion = 1;

/** Twelve hexadecimal digits, the same for the same bug. */
export function signatureOf(behaviour: Behaviour): string {
  return hash(causeLines(behaviour, eventsIn(behaviour)));
}

/** Twelve hexadecimal digits, the same for the same form of a bug: the finding, the statements and their order. */
export function variantOf(behaviour: Behaviour): string {
  return hash(variantLines(behaviour, eventsIn(behaviour)));
}

/**
 * What the other transactions did to make an own write vanish: kinds of writes, in one line. Not part of the signature, for
 * whoever met the bug sees the same; but reports of one signature with different triggers need not have one root cause.
 */
export function triggerOf(behaviour: Behaviour): string {
  const others = causeOf(behaviour, eventsIn(behaviour))?.around?.others ?? [];
  const kinds = others.flatMap(({ writes }) => writes.map(({ kind }) => kind));
  return distinctKinds(kinds).map(kindLine).join(', ');
}

/** One word for the bug, for its id: an anomaly, a kind of finding, or `missed-conflict`. */
export function nameOf(behaviour: Behaviour): CauseName {
  return causeOf(behaviour, eventsIn(behaviour))?.name ?? behaviour.finding.kind;
}

/** What a report of the bug is called: the words somebody who met it would search for. */
export function headlineOf(behaviour: Behaviour): string {
  return headlineOfCause(
    causeOf(behaviour, eventsIn(behaviour)) ?? { name: behaviour.finding.kind, lines: [] },
  );
}

/** Cause and variant before they are hashed, for people. */
export function describeBehaviour(behaviour: Behaviour): string {
  const events = eventsIn(behaviour);
  const [cause, variant] = [causeLines(behaviour, events), variantLines(behaviour, events)];
  if (cause.every((line, i) => line === variant[i])) return variant.join('\n');
  return [...cause, `as ${variant[0]}`, ...variant.slice(1)].join('\n');
}

function eventsIn({ case: program, schedule, finding }: Behaviour): CaseEvents {
  const pivot = finding.contract === undefined ? undefined : findContract(finding.contract)?.mechanism?.pivot;
  return eventsOf(program, schedule, { beginCounts: pivot === 'begin' });
}

function causeLines(behaviour: Behaviour, events: CaseEvents): readonly string[] {
  // Another cause than concurrency: which statements it takes, however what they did is seen.
  if (behaviour.notIsolation === true)
    return ['not isolation', ...canonicalLines({ ...events, judged: new Set(), cycle: [] })];
  return causeOf(behaviour, events)?.lines ?? variantLines(behaviour, events);
}

function variantLines({ finding, history }: Behaviour, events: CaseEvents): readonly string[] {
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
    ...canonicalLines({ ...events, judged: judgedStatements(finding, history), cycle }),
  ];
}

function hash(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12);
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

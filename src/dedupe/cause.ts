/**
 * The bug behind a finding: what two findings have in common when somebody who knows the engine would file them once.
 * The signature is a hash of it.
 *
 * 1. A cycle of dependencies: the clause, and the name of the cycle once it is shortened (`cycle-shape.ts`). Not the
 *    statements, and not their order: lost update by DELETE or by UPDATE, with the commit before or after, is lost update.
 * 2. A missed conflict: the two kinds of write that passed (`conflict.ts`), whatever came of it.
 * 3. An own write that does not show: what kind of write, and whether it takes another transaction to hide it.
 * 4. A write that finds other rows than a read with its condition: the clause alone. Which write, and what the others did
 *    to change the answer, does not count.
 * 5. Any other wrong read or write: the clause, the kind, what was seen against what was expected as roles, the kind of
 *    the judged statement, what its transaction wrote, and what the others did, open or ended by then.
 * 6. What no oracle of isolation says (a crash): everything that is in the case, as for a variant.
 *
 * The papers count otherwise. IsoRel takes two anomalies for different when number, order or kinds of their statements
 * differ (§5.1), which gives 14 on MariaDB for what are three here; Pisco says that reduced patterns of one bug differ
 * and leaves the rest to a model (§6). Patterns are the variants here.
 */
import { isServerFailure } from '../check/index.js';
import { describeKind, type FindingKind, findContract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { type ActKind, distinctKinds, kindLine } from './act-kind.js';
import type { Behaviour } from './behaviour.js';
import { type ConflictingWrites, describeConflict, missedConflicts, writeKind } from './conflict.js';
import { nameShortened } from './cycle-shape.js';
import { actOfEvent, type CaseEvent, type CaseEvents, isWrite } from './events.js';
import { type KeyColumns, keyColumnsOf } from './keys.js';
import { eventAt, type NamedAct, namedActs } from './named.js';
import { rolesOf } from './roles.js';

/** One word for a cause: the kind of a finding, or that a write conflict was missed. */
export type CauseName = FindingKind | 'missed-conflict';

export interface Cause {
  readonly name: CauseName;
  readonly lines: readonly string[];
  /** The writes that should have conflicted. */
  readonly conflicts?: readonly ConflictingWrites[];
  /** The judged statement and what was around it. */
  readonly around?: Surroundings;
}

/** Undefined: nothing less than the whole case identifies it. */
export function causeOf(behaviour: Behaviour, events: CaseEvents): Cause | undefined {
  const { finding, history, case: program } = behaviour;
  if (isServerFailure(finding)) return undefined;
  const dialect = program.dialect ?? history.header.dialect;
  const keys = keyColumnsOf(program, dialect);
  const mechanism = finding.contract === undefined ? undefined : findContract(finding.contract)?.mechanism;
  const name = finding.cycle === undefined ? finding.kind : nameShortened(finding.cycle);
  const conflicts = missedConflicts(name, { finding, history, events, keys, dialect, mechanism });
  if (conflicts.length > 0) {
    const lines = [`missed conflict: ${conflicts.map(describeConflict).join('; ')}`];
    return { name: 'missed-conflict', lines, conflicts };
  }
  const first = `${finding.clause ?? 'no clause'}: ${name}`;
  if (finding.cycle !== undefined) return { name, lines: [first] };
  const around = surroundingsOf(behaviour, events, keys);
  const { groupedBy, groupedAs = name } = describeKind(name);
  if (groupedBy === 'own-write') {
    const hidden = around.others.length > 0 ? 'with another transaction’s writes' : 'alone';
    const own = around.own.length === 0 ? 'write' : linesOf(around.own);
    return { name: groupedAs, lines: [`${groupedAs}: ${own}, ${hidden}`], around };
  }
  if (groupedBy === 'clause') return { name, lines: [first], around };
  const lines = [
    first,
    // Whether its writer was rolled back is in the surroundings, as far as it had happened by then.
    ...rolesOf({ ...finding, transactions: [] }),
    lineOf(around),
  ];
  return { name, lines, around };
}

export interface Surroundings {
  /** The kind of the judged statement. */
  readonly judged: ActKind | undefined;
  /** Kinds of what its transaction wrote before, sorted, each once. */
  readonly own: readonly ActKind[];
  /** The other transactions that matter. */
  readonly others: readonly OtherWriter[];
}

/** Another transaction, as it was at the judged statement. */
export interface OtherWriter {
  readonly state: 'open' | 'committed' | 'rolled back';
  /** Kinds of its writes, sorted, each once. */
  readonly writes: readonly { readonly kind: ActKind; readonly repeated: boolean }[];
}

const linesOf = (kinds: readonly ActKind[]): string => kinds.map(kindLine).join('+');

/** `select after own update; committed delete+update twice`. Part of what is hashed. */
function lineOf({ judged, own, others }: Surroundings): string {
  const before = own.length === 0 ? '' : ` after own ${linesOf(own)}`;
  const beside = others.map((other) => `; ${otherLine(other)}`).join('');
  return `${judged === undefined ? 'nothing' : kindLine(judged)}${before}${beside}`;
}

function otherLine({ state, writes }: OtherWriter): string {
  return `${state} ${writes.map(({ kind, repeated }) => `${kindLine(kind)}${repeated ? ' twice' : ''}`).join('+')}`;
}

function surroundingsOf(
  { finding, history, case: program }: Behaviour,
  events: CaseEvents,
  keys: KeyColumns,
): Surroundings {
  const [judged, ...rest] = namedActs(finding, history, program.dialect ?? history.header.dialect);
  if (judged === undefined) return { judged: undefined, own: [], others: [] };
  const place = eventAt(judged.index, history, events);
  const before =
    place === undefined
      ? []
      : events.transactions[place.transaction]!.filter(
          (event) => isWrite(event) && event.position < place.position,
        ).map(actOfEvent);
  const named = rest.filter(
    ({ transaction, index, touch }) =>
      transaction === judged.transaction && index < judged.index && touch.writes.size > 0,
  );
  const own = (named.length > 0 ? named : before).map((act) => writeKind(act, keys));
  return {
    judged,
    own: distinctKinds(own),
    others: place === undefined ? [] : othersOf(place, rest, { history, events, keys }),
  };
}

/**
 * Those the finding names; else those that ran concurrently with the judged transaction; else all. The rest made the
 * initial state, as the set-up does.
 */
function othersOf(
  judged: CaseEvent,
  named: readonly NamedAct[],
  { history, events, keys }: { history: History; events: CaseEvents; keys: KeyColumns },
): OtherWriter[] {
  const { transactions } = events;
  const own = transactions[judged.transaction]!;
  const writers = transactions.filter((each) => each !== own && each.some(isWrite));
  const places = named.map(({ index }) => eventAt(index, history, events));
  const witnesses = writers.filter((each) => each.some((event) => isWrite(event) && places.includes(event)));
  const concurrent = writers.filter((each) => each[0]!.at < own.at(-1)!.at && own[0]!.at < each.at(-1)!.at);
  const chosen = [witnesses, concurrent, writers].find(({ length }) => length > 0) ?? [];
  const others = chosen.map((each) => otherWriter(each, judged, keys));
  return others.sort((a, b) => (otherLine(a) < otherLine(b) ? -1 : 1));
}

function otherWriter(transaction: readonly CaseEvent[], judged: CaseEvent, keys: KeyColumns): OtherWriter {
  const end = transaction.at(-1)!;
  const state = end.at > judged.at ? 'open' : end.kind === 'commit' ? 'committed' : 'rolled back';
  const kinds = transaction.filter(isWrite).map((event) => writeKind(actOfEvent(event), keys));
  const times = (line: string) => kinds.filter((each) => kindLine(each) === line).length;
  const writes = distinctKinds(kinds).map((kind) => ({ kind, repeated: times(kindLine(kind)) > 1 }));
  return { state, writes };
}

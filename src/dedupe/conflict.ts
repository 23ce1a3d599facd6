/**
 * The conflict an engine missed: which two writes of one row it let pass, where its contract says that one must wait or
 * fail.
 *
 * One missed conflict shows in many ways. The second write succeeds (`update-of-changed-row`, `lock-violated`), a committed
 * write is gone (`lost-write`), readers disagree about the versions (`incompatible-order`), a later read misses the row or
 * shows values of both (`missing-row`, `wrong-version`, …). What they share is the pair of statements, so the pair is
 * the bug. It is taken
 *
 * 1. from the finding, where that names both statements;
 * 2. otherwise from the case: writes that meet in a row, in transactions that overlapped and committed, where the contract
 *    says that this cannot be. A reduced case holds nothing that its finding does not need, so the pair that is in it is
 *    the cause. For reads and cycles the two must certainly meet, for lost writes and disagreements it is enough that
 *    they may.
 *
 * Not in it: which of the two came first, and whether it had committed by then, because engines that fail at once have one
 * check for all of that. Where writers wait there are two mechanisms, the lock and the check after it, and two bugs.
 */
import { type Finding, findOracle } from '../check/index.js';
import { describeKind, type FindingKind, type Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { Dialect } from '../sql/index.js';
import { type ActKind, kindLine, type Manner } from './act-kind.js';
import { type Act, actOfEvent, type CaseEvent, type CaseEvents, isWrite, mostEvents } from './events.js';
import type { KeyColumns } from './keys.js';
import { namedActs } from './named.js';
import { mayMeet, surelyMeet } from './touches.js';

export interface ConflictSource {
  readonly finding: Finding;
  readonly history: History;
  readonly events: CaseEvents;
  readonly keys: KeyColumns;
  readonly dialect: Dialect | undefined;
  readonly mechanism: Mechanism | undefined;
}

/** Two kinds of write that passed, sorted by name. */
export interface ConflictingWrites {
  readonly writes: readonly [ActKind, ActKind];
  /** Both are updates, of columns that are not the same. */
  readonly otherColumns: boolean;
  /** Where writers wait: whether the first was still open at the second write. */
  readonly moment?: 'while the first is open' | 'after the first committed';
}

/** The pairs that passed, each once; none: the finding does not come from a missed conflict. */
export function missedConflicts(kind: FindingKind, source: ConflictSource): readonly ConflictingWrites[] {
  const { writeConflict } = describeKind(kind);
  if (writeConflict === 'names') return named(source);
  if (writeConflict === undefined && source.finding.cycle === undefined) return [];
  return inferred(source, writeConflict === 'implies');
}

/** `delete with update`. */
export function describeConflict({ writes, otherColumns, moment }: ConflictingWrites): string {
  const pair = otherColumns ? 'update with update of other columns' : writes.map(kindLine).join(' with ');
  return moment === undefined ? pair : `${pair}, ${moment}`;
}

type Pair = readonly [Act, Act];

function named(source: ConflictSource): ConflictingWrites[] {
  const { finding, history, dialect } = source;
  const [judged, ...others] = namedActs(finding, history, dialect);
  const other = others.find(({ transaction }) => transaction !== judged?.transaction);
  if (judged === undefined || other === undefined) return [];
  return [pairOf([judged, other], source, describeKind(finding.kind).firstIsOpen === true)];
}

function inferred(source: ConflictSource, may: boolean): ConflictingWrites[] {
  const { mechanism, events, history } = source;
  const { transactions } = events;
  if (mechanism === undefined || transactions.flat().length > mostEvents) return [];
  const byRef = new Map(history.operations.map((op) => [op.statement?.join(','), op]));
  const found = new Map<string, ConflictingWrites>();
  for (const [i, one] of transactions.entries()) {
    for (const two of transactions.slice(i + 1)) {
      if (!overlap(one, two) || !committed(one, byRef) || !committed(two, byRef)) continue;
      for (const a of writesOf(one, byRef)) {
        for (const b of writesOf(two, byRef)) {
          if (!(may ? mayMeet : surelyMeet)(a.touches, b.touches)) continue;
          const [first, second] = a.at < b.at ? [a, b] : [b, a];
          const held = second.at < endOf(transactions[first.transaction]!);
          if (!forbidden(mechanism, held, byRef.get(second.ref))) continue;
          const pair = pairOf([actOfEvent(a), actOfEvent(b)], source, held);
          found.set(describeConflict(pair), pair);
        }
      }
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
}

/** Whether the contract keeps the second write from succeeding. */
function forbidden(mechanism: Mechanism, held: boolean, second: Operation | undefined): boolean {
  if (mechanism.firstUpdaterWins || (held && mechanism.writeConflict === 'fails')) return true;
  return held && mechanism.writeConflict === 'waits' && second !== undefined && second.blocked !== true;
}

function writesOf(
  transaction: readonly CaseEvent[],
  byRef: ReadonlyMap<string | undefined, Operation>,
): CaseEvent[] {
  return transaction.filter((event) => {
    // An insert makes its row; nobody else can hold it. Unique keys are kept by other means.
    if (!isWrite(event) || event.kind === 'insert') return false;
    const operation = byRef.get(event.ref);
    return operation?.outcome !== 'error' && operation?.matched !== 0;
  });
}

const endOf = (transaction: readonly CaseEvent[]): number => transaction.at(-1)!.at;

/** As the text says, unless the run says otherwise: COMMIT after an error can end in a rollback. */
function committed(
  transaction: readonly CaseEvent[],
  byRef: ReadonlyMap<string | undefined, Operation>,
): boolean {
  const undone = transaction.some(({ ref }) => ref !== '' && byRef.get(ref)?.ends === 'rollback');
  return transaction.at(-1)!.kind === 'commit' && !undone;
}

const overlap = (one: readonly CaseEvent[], two: readonly CaseEvent[]): boolean =>
  one[0]!.at < endOf(two) && two[0]!.at < endOf(one);

function pairOf([a, b]: Pair, source: ConflictSource, held: boolean): ConflictingWrites {
  const { finding, keys, mechanism } = source;
  const kinds = [writeKind(a, keys), writeKind(b, keys)];
  const [some, others] = [a.touch.assigns, b.touch.assigns];
  // Instrumented updates all write the mark, too.
  const otherColumns =
    kinds.every(({ kind, manner }) => kind === 'update' && manner === undefined) &&
    findOracle(finding.oracle)?.needs.run === 'plain' &&
    some.size > 0 &&
    others.size > 0 &&
    ![...some].some((column) => others.has(column));
  const writes = otherColumns ? kinds : [withManner(kinds[0]!, a), withManner(kinds[1]!, b)];
  const [first, second] = writes.sort((one, two) => (kindLine(one) < kindLine(two) ? -1 : 1));
  const moment = held ? 'while the first is open' : 'after the first committed';
  return {
    writes: [first!, second!],
    otherColumns,
    ...(mechanism?.writeConflict === 'waits' ? { moment } : {}),
  };
}

/** What a statement does to a row that is there. An upsert updates it; many engines replace a row to change its key. */
export function writeKind({ kind, locks, tables, touch }: Act, keys: KeyColumns): ActKind {
  if (kind === 'upsert') return { kind: 'update' };
  const table = tables[0];
  const ofKey = table !== undefined && [...touch.assigns].some((column) => keys(table, column));
  if (kind === 'update' && ofKey) return { kind, manner: 'key' };
  return locks === undefined ? { kind } : { kind, locks };
}

/** An update of no key, with what else engines have code of their own for. */
function withManner(kind: ActKind, { touch: { returning, toNull } }: Act): ActKind {
  if (kind.kind !== 'update' || kind.manner !== undefined) return kind;
  const manner: Manner | undefined = returning ? 'returning' : toNull ? 'null' : undefined;
  return manner === undefined ? kind : { ...kind, manner };
}

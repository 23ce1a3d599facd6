/**
 * A case as events that can or cannot be exchanged: what the behaviour signature is made from.
 *
 * 1. Each transaction becomes a row of events: its statements, and its end if it wrote something. An autocommitted
 *    statement is a transaction whose end follows at once, so `DELETE` and `BEGIN; DELETE; COMMIT` are the same.
 *    BEGIN is an event only where the contract takes the snapshot there.
 * 2. Two events of different transactions *depend* on each other when exchanging them could change a result: they touch
 *    rows of one table and one writes, or one ends a transaction that wrote what the other reads. The first statement of
 *    a transaction may take its snapshot, so it depends on the end of everybody who writes what that transaction reads.
 * 3. `before` holds the order of those pairs only. The rest of the schedule does not count. Cases of more than 64
 *    events were not reduced, and have no order here.
 */
import { type Case, type Schedule, transactionsOf } from '../cases/index.js';
import {
  classifyStatement,
  type Dialect,
  parseStatement,
  type Statement,
  type StatementKind,
} from '../sql/index.js';
import type { ActKind, Verb } from './act-kind.js';
import { mayMeet, type Touch, touchOf } from './touches.js';

export interface CaseEvent extends Omit<ActKind, 'manner'> {
  /** Number of its transaction, and its position in it. */
  readonly transaction: number;
  readonly position: number;
  /** Tables in the order they are named; empty for ends. */
  readonly tables: readonly string[];
  /** The statement `[session, position]`, as text; ends of autocommitted statements have none. */
  readonly ref: string;
  /** Its place in the schedule; an autocommit follows half a place later, what is left open ends after everything. */
  readonly at: number;
  /** What a statement touches; for an end, what its transaction's writes touched. */
  readonly touches: readonly Touch[];
  /** Whether it ends its transaction; `kind` says how. */
  readonly end: boolean;
}

export interface CaseEvents {
  readonly transactions: readonly (readonly CaseEvent[])[];
  /** Dependent events of different transactions: the first came before the second. */
  readonly before: readonly (readonly [CaseEvent, CaseEvent])[];
}

/** Cases with more events were not reduced. */
export const mostEvents = 64;

export function eventsOf(
  program: Case,
  schedule: Schedule,
  options: { readonly beginCounts: boolean },
): CaseEvents {
  const place = new Map(schedule.batches.flat().map(([s, p], at) => [`${s},${p}`, at]));
  const transactions: CaseEvent[][] = [];
  program.sessions.forEach((session, s) => {
    for (const span of transactionsOf(program, s)) {
      const events = draftTransaction(program, session.statements, span, {
        number: transactions.length,
        at: (position) => place.get(`${s},${position}`) ?? 0,
        beginCounts: options.beginCounts,
      });
      if (events.length > 0) transactions.push(events);
    }
  });
  const before: [CaseEvent, CaseEvent][] = [];
  // A case this long was not reduced: most of its order means nothing, and there would be millions of pairs.
  if (transactions.flat().length > mostEvents) return { transactions, before };
  for (const [i, one] of transactions.entries()) {
    for (const two of transactions.slice(i + 1)) {
      for (const a of one) {
        for (const b of two) {
          // Only what sessions leave open ends at the same time, when all is over.
          if (a.at === b.at || !dependent(a, b, one, two)) continue;
          before.push(a.at < b.at ? [a, b] : [b, a]);
        }
      }
    }
  }
  return { transactions, before };
}

function draftTransaction(
  program: Case,
  statements: readonly string[],
  span: ReturnType<typeof transactionsOf>[number],
  context: { number: number; at: (position: number) => number; beginCounts: boolean },
): CaseEvent[] {
  const events: CaseEvent[] = [];
  const add = (
    position: number,
    event: Pick<CaseEvent, 'kind' | 'locks' | 'tables' | 'touches' | 'end'>,
    later = 0,
  ) =>
    events.push({
      ...event,
      transaction: context.number,
      position: events.length,
      ref: later > 0 ? '' : `${span.session},${position}`,
      at: context.at(position) + later,
    });
  const inside: (Act & { readonly position: number })[] = [];
  for (let position = span.first; position <= span.last; position++) {
    const act = actOf(statements[position]!, program.dialect);
    if (!isControl(act.kind)) inside.push({ position, ...act });
  }
  if (inside.length === 0) return [];
  const all = inside.map(({ touch }) => touch);
  if (context.beginCounts && span.explicit)
    add(span.first, { kind: 'begin', tables: [], touches: all.map(readOnly), end: false });
  for (const { position, touch, ...act } of inside) add(position, { ...act, touches: [touch], end: false });
  const written = all.filter(({ writes }) => writes.size > 0);
  if (written.length > 0) {
    // A transaction the text never ends is rolled back when its session closes, after everything else.
    const later = span.explicit ? (span.end === 'open' ? Number.POSITIVE_INFINITY : 0) : 0.5;
    const kind = span.end === 'rollback' || span.end === 'open' ? 'rollback' : 'commit';
    add(span.last, { kind, tables: [], touches: written, end: true }, later);
  }
  return events;
}

/** What one statement does. */
export interface Act extends Pick<CaseEvent, 'kind' | 'locks' | 'tables'> {
  readonly touch: Touch;
}

export function actOf(sql: string, dialect: Dialect | undefined): Act {
  const { kind, locking } = classifyStatement(sql, dialect);
  const statement = parseStatement(sql, dialect);
  const { touch, tables } = touchOf(statement, dialect);
  const locks = locking === 'none' ? {} : { locks: locking };
  return { kind: verbOf(statement, kind), ...locks, tables, touch };
}

export const actOfEvent = ({ kind, locks, tables, touches }: CaseEvent): Act => ({
  kind,
  ...(locks !== undefined && { locks }),
  tables,
  touch: touches[0]!,
});

/** A statement that changes rows. */
export const isWrite = ({ end, touches }: CaseEvent): boolean =>
  !end && touches.some(({ writes }) => writes.size > 0);

export const isControl = (kind: Verb): boolean =>
  kind === 'begin' || kind === 'commit' || kind === 'rollback';

function verbOf(statement: Statement, kind: StatementKind): Verb {
  if (statement.type === 'insert') {
    if (statement.mode === 'replace') return 'replace';
    if (statement.conflict !== undefined || statement.mode === 'ignore') return 'upsert';
  }
  return kind;
}

const readOnly = (touch: Touch): Touch => ({
  ...touch,
  reads: new Set([...touch.reads, ...touch.writes]),
  writes: new Set(),
  rows: new Map(),
});

function dependent(
  a: CaseEvent,
  b: CaseEvent,
  one: readonly CaseEvent[],
  two: readonly CaseEvent[],
): boolean {
  if (mayMeet(a.touches, b.touches)) return true;
  return takesSnapshotBefore(a, b, one) || takesSnapshotBefore(b, a, two);
}

/** Whether `event` may take a snapshot that shows or misses what `end` made visible. */
function takesSnapshotBefore(event: CaseEvent, end: CaseEvent, transaction: readonly CaseEvent[]): boolean {
  if (!end.end || event.end || event !== transaction[0]) return false;
  return mayMeet(
    transaction.filter((each) => !each.end).flatMap((each) => each.touches.map(readOnly)),
    end.touches,
  );
}

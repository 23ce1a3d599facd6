/**
 * A case as events that can or cannot be exchanged: the ground the behaviour signature stands on.
 *
 * 1. Each transaction becomes a row of events: its statements, and its end if it wrote something. An autocommitted
 *    statement is a transaction whose end follows at once, so `DELETE` and `BEGIN; DELETE; COMMIT` are the same.
 *    BEGIN is an event only where the contract takes the snapshot there.
 * 2. Two events of different transactions *depend* on each other when exchanging them could change a result: they touch
 *    rows of one table and one writes, or one ends a transaction that wrote what the other reads. The first statement of
 *    a transaction may take its snapshot, so it depends on the end of everybody who writes what that transaction reads.
 * 3. `before` holds the order of those pairs only. Whatever else the schedule says is an accident. Cases of more than 64
 *    events were not reduced, and have no order here.
 *
 * Rows are told apart where both statements name them by literals of one column that neither assigns (`id = 1` against
 * `id = 2`). What cannot be parsed touches every row of every table it names.
 */
import { type Case, type Schedule, transactionsOf } from '../cases/index.js';
import {
  classifyStatement,
  type Expression,
  parseStatement,
  type Statement,
  statementFeatures,
  valueKey,
} from '../sql/index.js';

export interface CaseEvent {
  /** Number of its transaction, and its position in it. */
  readonly transaction: number;
  readonly position: number;
  /** `select`, `select for update`, `insert`, `commit`, … */
  readonly kind: string;
  /** Tables in the order they are named; empty for ends. */
  readonly tables: readonly string[];
  /** The statement `[session, position]`, as text; ends of autocommitted statements have none. */
  readonly ref: string;
  readonly at: number;
}

export interface CaseEvents {
  readonly transactions: readonly (readonly CaseEvent[])[];
  /** Dependent events of different transactions: the first came before the second. */
  readonly before: readonly (readonly [CaseEvent, CaseEvent])[];
}

interface Touch {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  /** Column to the literals that choose the rows; absent: any row. */
  readonly rows: ReadonlyMap<string, ReadonlySet<string>>;
  readonly assigns: ReadonlySet<string>;
}

interface Draft extends CaseEvent {
  /** What a statement touches; for an end, what its transaction's writes touched. */
  readonly touches: readonly Touch[];
  readonly end: boolean;
}

const mostEvents = 64;

export function eventsOf(
  program: Case,
  schedule: Schedule,
  options: { readonly beginCounts: boolean },
): CaseEvents {
  const place = new Map(schedule.batches.flat().map(([s, p], at) => [`${s},${p}`, at]));
  const transactions: Draft[][] = [];
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
  // A case this long was not reduced: its order is an accident, and there would be millions of pairs.
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
): Draft[] {
  const events: Draft[] = [];
  const add = (position: number, event: Pick<Draft, 'kind' | 'tables' | 'touches' | 'end'>, later = 0) =>
    events.push({
      ...event,
      transaction: context.number,
      position: events.length,
      ref: later > 0 ? '' : `${span.session},${position}`,
      at: context.at(position) + later,
    });
  const inside: {
    readonly position: number;
    readonly touch: Touch;
    readonly kind: string;
    readonly tables: string[];
  }[] = [];
  for (let position = span.first; position <= span.last; position++) {
    const sql = statements[position]!;
    const { kind, locking } = classifyStatement(sql, program.dialect);
    if (kind === 'begin' || kind === 'commit' || kind === 'rollback') continue;
    const statement = parseStatement(sql, program.dialect);
    const { touch, tables } = touchOf(statement);
    inside.push({ position, touch, tables, kind: kindName(statement, kind, locking) });
  }
  if (inside.length === 0) return [];
  const all = inside.map(({ touch }) => touch);
  if (context.beginCounts && span.explicit)
    add(span.first, { kind: 'begin', tables: [], touches: all.map(readOnly), end: false });
  for (const { position, kind, tables, touch } of inside)
    add(position, { kind, tables, touches: [touch], end: false });
  const written = all.filter(({ writes }) => writes.size > 0);
  if (written.length > 0) {
    // A transaction the text never ends is rolled back when its session closes, after everything else.
    const later = span.explicit ? (span.end === 'open' ? Number.POSITIVE_INFINITY : 0) : 0.5;
    const kind = span.end === 'rollback' || span.end === 'open' ? 'rollback' : 'commit';
    add(span.last, { kind, tables: [], touches: written, end: true }, later);
  }
  return events;
}

function kindName(statement: Statement, kind: string, locking: 'none' | 'share' | 'update'): string {
  if (locking !== 'none') return `${kind} for ${locking}`;
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

function dependent(a: Draft, b: Draft, one: readonly Draft[], two: readonly Draft[]): boolean {
  if (meet(a.touches, b.touches)) return true;
  return takesSnapshotBefore(a, b, one) || takesSnapshotBefore(b, a, two);
}

/** Whether `event` may take a snapshot that shows or misses what `end` made visible. */
function takesSnapshotBefore(event: Draft, end: Draft, transaction: readonly Draft[]): boolean {
  if (!end.end || event.end || event !== transaction[0]) return false;
  return meet(
    transaction.filter((each) => !each.end).flatMap((each) => each.touches.map(readOnly)),
    end.touches,
  );
}

function meet(some: readonly Touch[], others: readonly Touch[]): boolean {
  return some.some((a) => others.some((b) => touchesSame(a, b)));
}

function touchesSame(a: Touch, b: Touch): boolean {
  const shared = (from: ReadonlySet<string>, to: Touch) =>
    [...from].some((table) => to.reads.has(table) || to.writes.has(table));
  if (!shared(a.writes, b) && !shared(b.writes, a)) return false;
  for (const [column, values] of a.rows) {
    const other = b.rows.get(column);
    if (other === undefined || a.assigns.has(column) || b.assigns.has(column)) continue;
    if (![...values].some((value) => other.has(value))) return false;
  }
  return true;
}

function touchOf(statement: Statement): { touch: Touch; tables: string[] } {
  const features = statementFeatures(statement);
  const names = (uses: readonly { readonly name: string }[]) => uses.map(({ name }) => name.toLowerCase());
  const [reads, writes] = [names(features.reads), names(features.writes)];
  const tables = [...new Set([...writes, ...reads])];
  // With several tables a column's name does not say whose rows it chooses.
  const rows = tables.length === 1 && !features.subquery ? rowsOf(statement) : new Map<string, Set<string>>();
  const assigns = new Set(
    statement.type === 'update'
      ? statement.set.flatMap(({ columns }) => columns.map((name) => name.toLowerCase()))
      : [],
  );
  return { touch: { reads: new Set(reads), writes: new Set(writes), rows, assigns }, tables };
}

function rowsOf(statement: Statement): Map<string, Set<string>> {
  const rows = new Map<string, Set<string>>();
  const keep = (column: Expression, values: readonly Expression[]) => {
    if (column.type !== 'column' || !values.every((value) => value.type === 'literal')) return;
    rows.set(
      column.name.toLowerCase(),
      new Set(values.map((value) => (value.type === 'literal' ? valueKey(value.value) : ''))),
    );
  };
  const follow = (condition: Expression | undefined): void => {
    if (condition?.type === 'binary' && condition.op === 'AND') {
      follow(condition.left);
      follow(condition.right);
    } else if (condition?.type === 'binary' && condition.op === '=') {
      keep(condition.left, [condition.right]);
      keep(condition.right, [condition.left]);
    } else if (condition?.type === 'in-list' && !condition.negated) keep(condition.operand, condition.list);
  };
  if (statement.type === 'update' || statement.type === 'delete') follow(statement.where);
  else if (statement.type === 'select' && statement.body.type === 'core') follow(statement.body.where);
  else if (statement.type === 'insert' && statement.source.type === 'values') {
    const { rows: lines } = statement.source;
    for (const [i, name] of (statement.columns ?? []).entries()) {
      keep({ type: 'column', name }, lines.map((line) => line[i] ?? { type: 'default' }) as Expression[]);
    }
  }
  return rows;
}

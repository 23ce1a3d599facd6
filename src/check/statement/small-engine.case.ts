/**
 * A database of one table small enough to be right by inspection, for checking the graph against what it claims: transactions at
 * snapshot isolation or READ COMMITTED, and the same statements one by one without them.
 */
import type { Operation } from '../../histories/index.js';
import type { SeenRow, StatementRun, TableState } from './statement-runs.js';

export type SmallStatement =
  /** Rows of at least this value. */
  | { readonly do: 'read'; readonly least: number }
  /** Rows of at least this value get a constant, or the number of all rows added to it. */
  | { readonly do: 'update'; readonly least: number; readonly to: number; readonly plusCount: boolean }
  | { readonly do: 'insert'; readonly value: number; readonly plusCount: boolean }
  | { readonly do: 'delete'; readonly least: number };

/** Who sends what, in order: a statement, or the end of the transaction. */
export interface SmallStep {
  readonly transaction: number;
  readonly statement: SmallStatement | 'commit' | 'rollback';
}

type Rows = Map<string, SeenRow>;

const copy = (rows: Rows): Rows => new Map(rows);
const numberIn = ({ values }: SeenRow): number => values[0] as number;

/** What a statement does to rows, and its answer. */
export function execute(
  statement: SmallStatement,
  token: string,
  rows: Rows,
): { after: Rows; answer: string } {
  const after = copy(rows);
  const extra = 'plusCount' in statement && statement.plusCount ? rows.size : 0;
  const least = 'least' in statement ? statement.least : 0;
  const found = [...rows].filter(([, row]) => numberIn(row) >= least);
  switch (statement.do) {
    case 'read':
      return {
        after,
        answer: found
          .map(([rid, row]) => `${rid}=${numberIn(row)}`)
          .sort()
          .join(),
      };
    case 'update':
      for (const [rid, { writers }] of found)
        after.set(rid, { writers: [...writers, token], values: [statement.to + extra] });
      return { after, answer: String(found.length) };
    case 'insert':
      after.set(`r${token}`, { writers: [token], values: [statement.value + extra] });
      return { after, answer: '1' };
    case 'delete':
      for (const [rid] of found) after.delete(rid);
      return { after, answer: String(found.length) };
    default:
      return statement satisfies never;
  }
}

export const initialRows = (): Rows =>
  new Map([0, 1, 2].map((n) => [`r${n}`, { writers: ['0'], values: [n * 2] }] as const));

export interface SmallRun {
  /** Statements of committed transactions. */
  readonly runs: readonly (StatementRun & { readonly statement: SmallStatement; readonly answer: string })[];
  readonly final: TableState;
}

/** Runs the steps; a write of a row that another open transaction has written, or that has changed since the snapshot, aborts. */
export function runSteps(steps: readonly SmallStep[], level: 'snapshot' | 'read committed'): SmallRun {
  let committed = initialRows();
  const open = new Map<number, Transaction>();
  const over = new Set<number>();
  const runs: (SmallRun['runs'][number] & { committed?: boolean })[] = [];
  const done = new Set<number>();
  for (const [index, { transaction, statement }] of steps.entries()) {
    if (over.has(transaction)) continue;
    const own = open.get(transaction) ?? { snapshot: copy(committed), written: new Map() };
    open.set(transaction, own);
    if (statement === 'commit' || statement === 'rollback') {
      over.add(transaction);
      open.delete(transaction);
      if (statement === 'commit') {
        committed = withWrites(committed, own.written);
        done.add(transaction);
      }
      continue;
    }
    const base = level === 'snapshot' ? own.snapshot : committed;
    const before = withWrites(base, own.written);
    const token = `${transaction + 1}.${index}`;
    const { after, answer } = execute(statement, token, before);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (rid) => before.get(rid) !== after.get(rid),
    );
    const others = [...open].filter(([id]) => id !== transaction);
    const clash = changed.some(
      (rid) =>
        others.some(([, { written }]) => written.has(rid)) ||
        (!own.written.has(rid) && own.snapshot.get(rid) !== committed.get(rid) && level === 'snapshot'),
    );
    if (clash) {
      over.add(transaction);
      open.delete(transaction);
      continue;
    }
    for (const rid of changed) own.written.set(rid, after.get(rid));
    runs.push({
      ...makeRun({ index, transaction, before, after, ...(statement.do !== 'read' && { token }) }),
      statement,
      answer,
    });
  }
  return { runs: runs.filter((run) => done.has(run.transaction)), final: committed };
}

interface Transaction {
  readonly snapshot: Rows;
  readonly written: Map<string, SeenRow | undefined>;
}

function withWrites(rows: Rows, written: Transaction['written']): Rows {
  const result = copy(rows);
  for (const [rid, row] of written) {
    if (row === undefined) result.delete(rid);
    else result.set(rid, row);
  }
  return result;
}

/** A run of a statement on table `t`, as the reads around it would show it. */
export function makeRun({
  index,
  transaction,
  token,
  before,
  after,
}: {
  readonly index: number;
  readonly transaction: number;
  readonly token?: string;
  readonly before: TableState;
  readonly after: TableState;
}): StatementRun {
  const operation: Operation = {
    index,
    session: transaction,
    transaction,
    kind: token === undefined ? 'select' : 'update',
    start: index,
    end: index,
    outcome: 'ok',
  };
  return {
    ref: [transaction, index],
    plan: {
      original: [transaction, index],
      role: 'statement',
      traces: [],
      rows: 'read',
      locking: false,
      answers: true,
      searches: [],
    },
    operation,
    session: transaction,
    transaction,
    ...(token !== undefined && { token }),
    before: new Map([['t', before]]),
    after: new Map(token === undefined ? [] : [['t', after]]),
    state: 'seen',
    found: new Map(),
    counts: true,
  };
}

/**
 * Histories of a store whose transactions overlap, up to millions of them: what a checker meets in practice, and what no single pass over
 * the file explains. Transactions read a snapshot of versions and write at their end; whoever finds that another one committed in between
 * starts anew and is not in the log. The store keeps snapshot isolation (no key that it writes may have changed), or is serializable (nor one that
 * it reads). A session begins or ends a transaction whenever its turn comes, so about half of the sessions have one open at any time.
 *
 * The log has transactions in the order in which they began, not in that in which they took effect; session after session, as clients with
 * logs of their own write them; or shuffled, where only the order within a session is kept.
 *
 * `check/kv/slow/simulated-store.ts` is for small histories of every promise, with outcomes that get lost; this one for long ones.
 */
import { KvBuilder, type KvHistory } from '../histories/index.js';
import { lcg } from './history-files.js';

/** Numbers from 0 to below the given one. */
type Below = (n: number) => number;

/** An operation before it is run: a key, and whether it is written. */
type Planned = readonly [key: number, writes: boolean];
export type Program = (below: Below) => readonly Planned[];

/** An operation that was run; a read of 0 is of the initial state. */
export type LoggedOp = readonly [key: number, value: number, writes: boolean];

export interface LoggedTransaction {
  readonly session: number;
  readonly ops: readonly LoggedOp[];
}

export type LogOrder = 'as begun' | 'session after session' | 'shuffled';

export interface StoreShape {
  readonly promise: 'snapshot' | 'serializable';
  readonly program: Program;
  readonly sessions: number;
  readonly txCount: number;
  readonly order?: LogOrder;
  readonly seed?: number;
}

/** Reads and writes of any of so many keys, half and half. */
export const randomProgram =
  (keys: number, opCount: number): Program =>
  (below) =>
    Array.from({ length: opCount }, () => [below(keys), below(2) === 0] as const);

/**
 * What the RUBiS benchmark does, in our own words: an auction site, where most requests look at an item or list several, others bid, buy at
 * once, offer an item, or comment on a user. Few items are popular. Tables are ranges of keys; bids, purchases and comments are
 * rows of their own, written once.
 */
export function auctionProgram(users: number, items: number): Program {
  const table = (n: number, row: number): number => n * 100_000_000 + row;
  const [rating, quantity, highest, bidCount, inserted] = [1, 2, 3, 4, 5];
  let rows = 0;
  const insert = (): Planned => [table(inserted, rows++), true];
  return (below) => {
    const popular = (n: number): number => Math.floor((below(n) * below(n) * below(n)) / (n * n));
    const item = popular(items);
    const user = below(users);
    const kind = below(100);
    if (kind < 30) return [highest, bidCount].map((column) => [table(column, item), false] as const);
    if (kind < 45) return Array.from({ length: 8 }, (): Planned => [table(highest, popular(items)), false]);
    if (kind < 75) {
      const columns = [quantity, highest, bidCount];
      const reads = columns.map((column): Planned => [table(column, item), false]);
      return [...reads, [table(highest, item), true], [table(bidCount, item), true], insert()];
    }
    // Whoever buys at once looks at the bids, and whoever bids at what is left: under snapshot isolation both may be wrong.
    if (kind < 82) {
      const reads = [quantity, highest].map((column): Planned => [table(column, item), false]);
      return [...reads, [table(quantity, item), true], insert()];
    }
    if (kind < 90)
      return [quantity, highest, bidCount].map((column) => [table(column, below(items)), true] as const);
    return [[table(rating, user), false], [table(rating, user), true], insert()];
  };
}

/** When a key got each value: commit and value in turn. */
type Versions = Map<number, number[]>;

/** The transactions that committed, in the order of the log. */
export function runStore({
  promise,
  program,
  sessions,
  txCount,
  order = 'as begun',
  seed = 1,
}: StoreShape): LoggedTransaction[] {
  const below = lcg(seed);
  const versions: Versions = new Map();
  const open: (readonly [began: number, snapshot: number, plan: readonly Planned[]] | undefined)[] = [];
  const done: { readonly began: number; readonly tx: LoggedTransaction }[] = [];
  let [steps, commits, value] = [0, 0, 0];
  while (done.length < txCount) {
    const session = below(sessions);
    const running = open[session];
    open[session] = running === undefined ? [steps++, commits, program(below)] : undefined;
    if (running === undefined) continue;
    const [began, snapshot, plan] = running;
    const changed = ([key, writes]: Planned): boolean =>
      (writes || promise === 'serializable') && (versions.get(key)?.at(-2) ?? 0) > snapshot;
    if (plan.some(changed)) continue;
    commits++;
    const own = new Map<number, number>();
    const ops = plan.map(([key, writes]): LoggedOp => {
      if (writes) own.set(key, ++value);
      return [key, own.get(key) ?? valueAt(versions.get(key), snapshot), writes];
    });
    for (const [key, last] of own) {
      const held = versions.get(key);
      if (held === undefined) versions.set(key, [commits, last]);
      else held.push(commits, last);
    }
    done.push({ began, tx: { session, ops } });
  }
  return inOrder(
    done.sort((a, b) => a.began - b.began).map(({ tx }) => tx),
    order,
    below,
  );
}

function valueAt(held: readonly number[] | undefined, snapshot: number): number {
  let at = held === undefined ? -2 : held.length - 2;
  while (at >= 0 && held![at]! > snapshot) at -= 2;
  return at < 0 ? 0 : held![at + 1]!;
}

function inOrder(log: LoggedTransaction[], order: LogOrder, below: Below): LoggedTransaction[] {
  if (order === 'as begun') return log;
  const bySession = log.toSorted((a, b) => a.session - b.session);
  if (order === 'session after session') return bySession;
  const turns = log.map(({ session }) => session);
  for (let i = turns.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [turns[i], turns[j]] = [turns[j]!, turns[i]!];
  }
  const next = new Map<number, number>();
  for (const [i, { session }] of bySession.entries()) if (!next.has(session)) next.set(session, i);
  return turns.map((session) => {
    const at = next.get(session)!;
    next.set(session, at + 1);
    return bySession[at]!;
  });
}

/** As Plume writes a log. */
export function* plumeLines(log: readonly LoggedTransaction[]): Generator<string, void, undefined> {
  for (const [tx, { session, ops }] of log.entries()) {
    for (const [key, value, writes] of ops) yield `${writes ? 'w' : 'r'}(${key},${value},${session},${tx})\n`;
  }
}

/** As AWDIT's tests write it: sessions apart. */
export function awditText(log: readonly LoggedTransaction[]): string {
  const line = ([key, value, writes]: LoggedOp): string => `${writes ? 'w' : 'r'} ${key} ${value}\n`;
  return bySessions(log)
    .map((txs) => txs.map(({ ops }) => ops.map(line).join('')).join('-----\n'))
    .join('=====\n');
}

/** As dbcop writes it in JSON. */
export function dbcopText(log: readonly LoggedTransaction[]): string {
  const event = ([variable, version, writes]: LoggedOp) =>
    writes
      ? { Write: { variable, version } }
      : { Read: { variable, version: version === 0 ? null : version } };
  return JSON.stringify(
    bySessions(log).map((txs) => txs.map(({ ops }) => ({ events: ops.map(event), committed: true }))),
  );
}

function bySessions(log: readonly LoggedTransaction[]): LoggedTransaction[][] {
  const sessions = new Map<number, LoggedTransaction[]>();
  for (const tx of log) sessions.set(tx.session, [...(sessions.get(tx.session) ?? []), tx]);
  return [...sessions.values()];
}

/** The same in memory. */
export function historyOf(log: readonly LoggedTransaction[]): KvHistory {
  const builder = new KvBuilder({ definitions: 'axiomatic' });
  addTransactions(builder, log);
  return builder.build();
}

export function addTransactions(builder: KvBuilder, log: readonly LoggedTransaction[]): void {
  for (const { session, ops } of log) {
    builder.begin(session);
    for (const [key, value, writes] of ops) {
      if (writes) builder.write(key, value);
      else builder.read(key, value === 0 ? null : value);
    }
    builder.end('committed');
  }
}

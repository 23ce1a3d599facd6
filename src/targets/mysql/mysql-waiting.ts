/**
 * Which sessions wait for another one right now.
 *
 * InnoDB: `information_schema.innodb_trx` serves a cache that is only renewed when nobody has read it for
 * 100 ms, so polling it sees the past for ever. `SHOW ENGINE INNODB STATUS` is computed afresh, takes a
 * fraction of a millisecond and names the connection of every transaction in LOCK WAIT. Waits above InnoDB
 * (metadata locks, LOCK TABLES, GET_LOCK) stand in the process list. Both are asked; a session counts when either
 * names it.
 *
 * Without the PROCESS privilege the first question is refused. Then a running session counts as waiting when the
 * server's public counter of row-lock waits is not zero: other people's waits may be mistaken for ours, which
 * the stamp says (`isolde_block_detection`).
 */
import type { WireConnection } from './mysql-wire.js';

/** The connections that wait for a row or table lock of InnoDB, in MySQL 8 and later. */
const lockWaitsQuery =
  'SELECT t.PROCESSLIST_ID FROM performance_schema.data_lock_waits w ' +
  'JOIN performance_schema.threads t ON t.THREAD_ID = w.REQUESTING_THREAD_ID';

const lockStates = /^(Waiting for .*\block\b|User lock|System lock|Table lock)/i;

/** Connection numbers among `candidates` that wait inside InnoDB or for a metadata, table or user lock. */
export async function waitingInInnodb(
  monitor: WireConnection,
  candidates: readonly number[],
): Promise<ReadonlySet<number>> {
  const [engine, list] = await Promise.all([
    monitor.query('SHOW ENGINE INNODB STATUS'),
    monitor.query(
      `SELECT ID, STATE FROM information_schema.PROCESSLIST WHERE ID IN (${candidates.join(', ')})`,
    ),
  ]);
  const waiting = new Set<number>();
  for (const row of list.rows ?? []) {
    if (lockStates.test(row[1]?.toString() ?? '')) waiting.add(Number(row[0]?.toString()));
  }
  const status = engine.rows?.[0]?.[2]?.toString();
  const inside = status === undefined ? await estimate(monitor, candidates) : lockWaits(status);
  for (const id of inside) if (candidates.includes(id)) waiting.add(id);
  return waiting;
}

/**
 * The same in MySQL, whose status text leaves out transactions that wait before they have written anything: a locking read, or any read at
 * SERIALIZABLE. The performance schema has them all, computed afresh; where it is off, or the user may not read it, the text has to do.
 */
export async function waitingInMysql(
  monitor: WireConnection,
  candidates: readonly number[],
): Promise<ReadonlySet<number>> {
  const [waits, waiting] = await Promise.all([
    monitor.query(lockWaitsQuery),
    waitingInInnodb(monitor, candidates),
  ]);
  const ids = (waits.rows ?? []).map((row) => Number(row[0]?.toString()));
  return new Set([...waiting, ...ids.filter((id) => candidates.includes(id))]);
}

/**
 * Connection numbers of the transactions in LOCK WAIT, from InnoDB's status text. Only the list of current
 * transactions is read (the last deadlock's story looks the same), and of each entry only the lines before
 * its statement, whose text is anybody's.
 */
export function lockWaits(status: string): number[] {
  const start = status.indexOf('LIST OF TRANSACTIONS FOR EACH SESSION');
  if (start < 0) return [];
  const waiting: number[] = [];
  for (const entry of status.slice(start).split(/\n---TRANSACTION /)) {
    const thread = /\n(?:MariaDB|MySQL) thread id (\d+),/.exec(entry);
    if (thread !== null && /\nLOCK WAIT /.test(entry.slice(0, thread.index + 1)))
      waiting.push(Number(thread[1]));
  }
  return waiting;
}

/** An open transaction of TiDB, as `information_schema.TIDB_TRX` has it. */
export interface TidbTransaction {
  readonly id: string;
  readonly session: number;
  readonly state: string;
  /** Rows it has written or locked. */
  readonly keys: number;
  readonly tables: readonly string[];
}

/** How long a commit must be seen at a standstill before it counts as waiting. */
const standstillMs = 25;

/**
 * TiDB lists the state of every open transaction. One that waits for a row lock is `LockWaiting`. A statement outside of a transaction is optimistic
 * there (`pessimistic-auto-commit` is off by default), as is everything after BEGIN OPTIMISTIC: such a one meets the lock of another transaction
 * in its commit and tries again, in growing intervals, in the state `Committing`. It counts as waiting when two looks find the same commit and, both
 * times, an idle or lock-waiting transaction with locks in the same table.
 */
export async function waitingInTidb(monitor: WireConnection): Promise<ReadonlySet<number>> {
  const look = async () => readTidbTransactions((await monitor.query(tidbTransactions)).rows ?? []);
  const first = await look();
  const waiting = first.filter(({ state }) => state === 'LockWaiting').map(({ session }) => session);
  const held = heldCommits(first);
  if (held.length === 0) return new Set(waiting);
  await new Promise((resolve) => setTimeout(resolve, standstillMs));
  const again = heldCommits(await look()).map(({ id }) => id);
  for (const { id, session } of held) if (again.includes(id)) waiting.push(session);
  return new Set(waiting);
}

const tidbTransactions =
  'SELECT ID, SESSION_ID, STATE, MEM_BUFFER_KEYS, RELATED_TABLE_IDS FROM information_schema.TIDB_TRX';

function readTidbTransactions(rows: readonly (readonly (Buffer | null)[])[]): readonly TidbTransaction[] {
  return rows.map((row) => {
    const [id = '', session, state = '', keys, tables = ''] = row.map((value) => value?.toString() ?? '');
    return { id, session: Number(session), state, keys: Number(keys), tables: tables.split(',') };
  });
}

/** Transactions that commit while another one, which does not, holds locks in a table of theirs. */
export function heldCommits(transactions: readonly TidbTransaction[]): readonly TidbTransaction[] {
  const holders = transactions.filter(({ state, keys }) => state !== 'Committing' && keys > 0);
  return transactions.filter(
    ({ state, tables }) =>
      state === 'Committing' &&
      holders.some((holder) => holder.tables.some((table) => table !== '' && tables.includes(table))),
  );
}

async function estimate(monitor: WireConnection, candidates: readonly number[]): Promise<readonly number[]> {
  const { rows } = await monitor.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
  return Number(rows?.[0]?.[1]?.toString() ?? 0) > 0 ? candidates : [];
}

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

/** TiDB lists the state of every open transaction. */
export async function waitingInTidb(monitor: WireConnection): Promise<ReadonlySet<number>> {
  const { rows } = await monitor.query(
    "SELECT SESSION_ID FROM information_schema.TIDB_TRX WHERE STATE = 'LockWaiting'",
  );
  return new Set((rows ?? []).map((row) => Number(row[0]?.toString())));
}

async function estimate(monitor: WireConnection, candidates: readonly number[]): Promise<readonly number[]> {
  const { rows } = await monitor.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
  return Number(rows?.[0]?.[1]?.toString() ?? 0) > 0 ? candidates : [];
}

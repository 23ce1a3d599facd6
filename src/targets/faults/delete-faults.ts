/**
 * Faults of committed deletes. The occasion is the DELETE: the rows it is about to remove are read first (with
 * a lock where the engine has locking reads, so that they are the rows the DELETE will meet).
 *
 * - `visible-committed-delete`: after the commit, every plain SELECT reads the table with those rows added
 *   (`FROM t` becomes `FROM (SELECT * FROM t UNION ALL …) AS t`), unless a row with that key exists again.
 * - `resurrected-row`: after the commit, another connection inserts them again, before COMMIT is answered.
 */
import { printLiteral, printName, type Row } from '../../sql/index.js';
import type { Answer } from '../target.js';
import { keyColumn, replaceTable, sameness, splitWrite } from './statement-shape.js';
import type { DeletedRows, Turn } from './turn.js';

export async function visibleCommittedDelete(turn: Turn): Promise<Answer> {
  const { scratch, statement } = turn;
  if (statement.kind === 'select' && statement.locking === 'none') return turn.send(withGhosts(turn));
  return sendAndCommitDeletes(turn, async (deleted) => {
    scratch.ghosts.push(...deleted);
  });
}

export async function resurrectedRow(turn: Turn): Promise<Answer> {
  return sendAndCommitDeletes(turn, async (deleted) => {
    const fresh = await turn.session.fresh();
    const { dialect } = turn.scratch.target;
    for (const { table, columns, rows } of deleted) {
      const names = columns.map((name) => printName(name, dialect)).join(', ');
      for (const row of rows) {
        const values = row.map((value) => printLiteral(value, dialect)).join(', ');
        await fresh.send(`INSERT INTO ${table} (${names}) VALUES (${values})`);
      }
    }
  });
}

async function sendAndCommitDeletes(
  turn: Turn,
  committed: (deleted: readonly DeletedRows[]) => Promise<void>,
): Promise<Answer> {
  const { statement, log } = turn;
  const captured = statement.kind === 'delete' ? await capture(turn) : undefined;
  if (captured !== undefined && !('table' in captured)) return captured;
  const answer = await turn.send();
  if (captured !== undefined && answer.error === undefined) {
    if (log === undefined) await committed([captured]);
    else log.deleted.push(captured);
  }
  const isCommit = statement.kind === 'commit' && answer.error === undefined && answer.ended !== 'rollback';
  if (isCommit && log !== undefined && log.deleted.length > 0) await committed(log.deleted);
  return answer;
}

/** The rows a DELETE is about to remove; an answer when reading them failed as the DELETE would have. */
async function capture(turn: Turn): Promise<DeletedRows | Answer | undefined> {
  const { dialect, features } = turn.scratch.target;
  const write = splitWrite(turn.sql, dialect);
  if (write === undefined || !turn.fires()) return undefined;
  const lock = features.lockingReads ? ' FOR UPDATE' : '';
  const answer = await turn.send(`SELECT * FROM ${write.table} WHERE ${write.where}${lock}`);
  if (answer.error !== undefined) return answer;
  const { columns = [], rows = [] } = answer;
  return { table: write.table, columns, rows };
}

/** The SELECT with rows added to the tables it reads. */
export function withGhosts(turn: Turn, all: readonly DeletedRows[] = turn.scratch.ghosts): string {
  const { dialect } = turn.scratch.target;
  const tables = new Set(all.map(({ table }) => table));
  let { sql } = turn;
  for (const table of tables) {
    const ghosts = all.filter((ghost) => ghost.table === table);
    const parts = ghosts.flatMap((ghost) => ghost.rows.map((row) => ghostRow(turn, ghost, row)));
    const derived = [`SELECT * FROM ${table}`, ...parts].join(' UNION ALL ');
    sql = replaceTable(sql, table, derived, dialect) ?? sql;
  }
  return sql;
}

function ghostRow({ scratch }: Turn, { table, columns, beside }: DeletedRows, row: Row): string {
  const { dialect } = scratch.target;
  const key = keyColumn(scratch.spec, columns, dialect);
  const alive = `SELECT 1 FROM ${table} WHERE ${sameness(key.written, printLiteral(row[key.at]!, dialect), dialect)}`;
  const from = dialect === 'mysql' ? ' FROM DUAL' : '';
  const cells = row.map((value) => printLiteral(value, dialect)).join(', ');
  return `SELECT ${cells}${from}${beside === true ? '' : ` WHERE NOT EXISTS (${alive})`}`;
}

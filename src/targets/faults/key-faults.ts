/**
 * Faults of keys. A real engine does not store a key twice, so what it should have stored is kept beside it: plain SELECTs read
 * the table with such rows added, inside their transaction at once and everywhere after its COMMIT. Later writes do not
 * reach them.
 *
 * - `duplicate-key-accepted`: a plain INSERT that was refused because its key is taken is reported as done.
 * - `key-of-uncommitted-delete`: a plain INSERT of a key whose row another open transaction may have deleted does not wait for that
 *   transaction's end; if it rolls back, both rows are there.
 * - `automatic-key-reused`: a key that the database gives is the one before it again, if that is still in use: plain SELECTs show it so.
 */
import {
  applyInsert,
  columnOf,
  type EvaluatedRow,
  isUndecidable,
  parseStatement,
  printLiteral,
  printName,
  sameName,
  type Value,
} from '../../sql/index.js';
import type { Answer } from '../target.js';
import { withGhosts } from './delete-faults.js';
import { sendAgain, writesOf } from './end-faults.js';
import { replaceTable } from './statement-shape.js';
import type { DeletedRows, Turn } from './turn.js';
import { countIn, pretendedCounts } from './write-faults.js';

export async function duplicateKeyAccepted(turn: Turn): Promise<Answer> {
  const rows = insertedRows(turn);
  if (rows === undefined) return besideTheTable(turn);
  const { log, session, scratch } = turn;
  // PostgreSQL goes on after an error only from a savepoint.
  const saved = log !== undefined && scratch.target.dialect === 'postgres';
  if (saved) await turn.send('SAVEPOINT isolde_key');
  const answer = await turn.send();
  if (answer.error?.class !== 'duplicate-key' || !turn.fires()) {
    if (saved && answer.error === undefined) await turn.send('RELEASE SAVEPOINT isolde_key');
    return answer;
  }
  if (saved) await turn.send('ROLLBACK TO SAVEPOINT isolde_key');
  else if (log !== undefined && session.main.state !== 'open')
    if ((await sendAgain(turn, log, writesOf(log))) !== undefined) return answer;
  return accepted(turn, rows);
}

export async function keyOfUncommittedDelete(turn: Turn): Promise<Answer> {
  const rows = insertedRows(turn);
  if (rows === undefined) return besideTheTable(turn);
  const { session, scratch, statement } = turn;
  const deleting = [...scratch.sessions].some(
    (other) =>
      other !== session &&
      other.log?.statements.some(({ kind, target }) => kind === 'delete' && target === statement.target),
  );
  if (!deleting || !(await isTaken(turn, rows)) || !turn.fires()) return turn.send();
  return accepted(turn, rows);
}

export async function automaticKeyReused(turn: Turn): Promise<Answer> {
  const { scratch, statement, sql } = turn;
  const { dialect } = scratch.target;
  if (statement.kind === 'select' && statement.locking === 'none') return turn.send(withReusedKey(turn));
  const parsed = statement.kind === 'insert' ? parseStatement(sql, dialect) : undefined;
  const answer = await turn.send();
  if (answer.error !== undefined || parsed?.type !== 'insert' || parsed.source.type !== 'values')
    return answer;
  const table = scratch.catalog.find(parsed.table.name);
  const automatic = table?.shape.columns.find((column) => column.automatic)?.name;
  const first = parsed.columns?.[0];
  const cell = parsed.source.rows[0]?.[0];
  if (table === undefined || automatic === undefined || first === undefined || cell?.type !== 'literal')
    return answer;
  if (parsed.columns!.some((name) => sameName(name, automatic, dialect))) return answer;
  const name = printName(table.shape.name, dialect);
  const found = await turn.send(
    `SELECT * FROM ${name} WHERE ${printName(first, dialect)} = ${printLiteral(cell.value, dialect)}`,
  );
  const at = (found.columns ?? []).findIndex((each) => sameName(each, automatic, dialect));
  const given = found.rows?.[0]?.[at];
  if (typeof given !== 'number') return answer;
  const shown = given - 1;
  const columns = found.columns!.map((each) => printName(each, dialect));
  const column = columns[at]!;
  const used = countIn(await turn.send(`SELECT count(*) FROM ${name} WHERE ${column} = ${shown}`));
  if (used === 1 && scratch.reusedKey === undefined && turn.fires())
    scratch.reusedKey = { table: name, columns, column, given, shown };
  return { ...answer, transaction: turn.session.main.state };
}

/** The SELECT with the key that shows as another one. */
function withReusedKey({ scratch, sql }: Turn): string {
  const alias = scratch.reusedKey;
  if (alias === undefined) return sql;
  const { table, columns, column, given, shown } = alias;
  const cells = columns.map((each) =>
    each === column ? `CASE WHEN ${each} = ${given} THEN ${shown} ELSE ${each} END AS ${each}` : each,
  );
  const derived = `SELECT ${cells.join(', ')} FROM ${table}`;
  return replaceTable(sql, table, derived, scratch.target.dialect) ?? sql;
}

/** The whole rows of a plain `INSERT … VALUES` into a table with a key; undefined: something else. */
function insertedRows({ statement, sql, scratch }: Turn): readonly EvaluatedRow[] | undefined {
  if (statement.kind !== 'insert') return undefined;
  const { dialect } = scratch.target;
  const parsed = parseStatement(sql, dialect);
  if (parsed.type !== 'insert' || parsed.source.type !== 'values' || parsed.returning !== undefined)
    return undefined;
  if (parsed.mode !== undefined || parsed.conflict !== undefined) return undefined;
  const table = scratch.catalog.find(parsed.table.name);
  if (table === undefined || table.shape.keys.length === 0) return undefined;
  const rows = applyInsert(parsed, table.shape, { dialect });
  if (isUndecidable(rows) || rows.some((row) => row.some(isUndecidable))) return undefined;
  return rows;
}

/** Whether a committed row has the primary key of one of these. */
async function isTaken(turn: Turn, rows: readonly EvaluatedRow[]): Promise<boolean> {
  const { scratch, session, statement } = turn;
  const { dialect } = scratch.target;
  const { shape } = scratch.catalog.find(statement.target!)!;
  const { columns } = shape.keys.find((key) => key.primary) ?? shape.keys[0]!;
  const at = columns.map((name) => columnOf(shape.columns, name, dialect));
  const table = printName(shape.name, dialect);
  const fresh = await session.fresh();
  for (const row of rows) {
    const where = columns.map(
      (name, i) => `${printName(name, dialect)} = ${printLiteral(row[at[i]!] as Value, dialect)}`,
    );
    const there = await fresh.send(`SELECT count(*) FROM ${table} WHERE ${where.join(' AND ')}`);
    if ((countIn(there) ?? 0) > 0) return true;
  }
  return false;
}

/** Reports the rows as inserted and keeps them beside the table. */
function accepted(turn: Turn, rows: readonly EvaluatedRow[]): Answer {
  const { scratch, log, statement, session } = turn;
  const { shape } = scratch.catalog.find(statement.target!)!;
  const ghosts: DeletedRows = {
    table: printName(shape.name, scratch.target.dialect),
    columns: shape.columns.map(({ name }) => name),
    rows: rows as DeletedRows['rows'],
    beside: true,
  };
  if (log === undefined) scratch.ghosts.push(ghosts);
  else log.deleted.push(ghosts);
  return { ...pretendedCounts(turn, rows.length, rows.length), transaction: session.main.state };
}

/** Everything but such INSERTs: reads show what is kept beside the table, COMMIT shows it to all. */
async function besideTheTable(turn: Turn): Promise<Answer> {
  const { statement, log, scratch } = turn;
  if (statement.kind === 'select' && statement.locking === 'none')
    return turn.send(withGhosts(turn, [...scratch.ghosts, ...(log?.deleted ?? [])]));
  const answer = await turn.send();
  if (statement.kind === 'commit' && answer.error === undefined && answer.ended !== 'rollback')
    scratch.ghosts.push(...(log?.deleted ?? []));
  return answer;
}

/**
 * Faults of one write, and of the locks a read should take.
 *
 * - `lost-update`, `lost-insert`: the statement is executed and undone at once (savepoint, or a transaction of
 *   its own when it would autocommit), so that its counts, errors and waits are the engine's. An engine without
 *   savepoints does not get it at all; the counts are then computed by a SELECT with the same WHERE.
 * - `missed-own-noop-write`: an UPDATE that would set what is already committed is answered without being sent:
 *   no conflict, no version, and the transaction's own reads do not see it.
 * - `split-predicate`: the rows an UPDATE or DELETE applies to are chosen on another snapshot than its SELECTs
 *   use: on what is committed now where the contract says writes use the snapshot, and the other way round.
 * - `stale-reevaluation`: an UPDATE that met another transaction's write and waited for its end takes the row as it was before that
 *   write: its condition and its new values are those of the version before the last.
 * - `stripped-row-lock`: SELECT … FOR UPDATE goes out without its locking clause.
 */
import { findContract } from '../../contracts/index.js';
import { printLiteral, writtenNameKey } from '../../sql/index.js';
import type { Answer } from '../target.js';
import { touched } from './read-faults.js';
import { countInsertedRows, keyColumn, sameness, splitWrite, stripLock } from './statement-shape.js';
import type { Turn } from './turn.js';

export function lostUpdate(turn: Turn): Promise<Answer> {
  return turn.statement.kind === 'update' && turn.fires() ? executeAndUndo(turn) : turn.send();
}

export function lostInsert(turn: Turn): Promise<Answer> {
  return turn.statement.kind === 'insert' && turn.fires() ? executeAndUndo(turn) : turn.send();
}

export async function missedOwnNoopWrite(turn: Turn): Promise<Answer> {
  const { session, scratch, log, sql } = turn;
  const { dialect } = scratch.target;
  const write = turn.statement.kind === 'update' ? splitWrite(sql, dialect) : undefined;
  if (write === undefined || log === undefined || touched(log, turn.statement)) return turn.send();
  const unchanged = write.assignments
    .map(({ column, expression }) => sameness(column, `(${expression})`, dialect))
    .join(' AND ');
  const fresh = await session.fresh();
  const from = `FROM ${write.table} WHERE (${write.where})`;
  const matched = countIn(await fresh.send(`SELECT count(*) ${from}`));
  const changing = countIn(await fresh.send(`SELECT count(*) ${from} AND NOT (${unchanged})`));
  if (matched === undefined || matched === 0 || changing !== 0 || !turn.fires()) return turn.send();
  return { ...pretendedCounts(turn, matched, 0), transaction: session.main.state };
}

export async function splitPredicate(turn: Turn): Promise<Answer> {
  const { session, scratch, log, sql, statement } = turn;
  const { dialect } = scratch.target;
  const write = /^(update|delete)$/.test(statement.kind) ? splitWrite(sql, dialect) : undefined;
  if (write === undefined || log === undefined || touched(log, statement)) return turn.send();
  if (!turn.fires()) return turn.send();
  const mechanism = findContract(session.level?.contract ?? '')?.mechanism;
  const chooser = mechanism?.writesSee === 'current' ? session.main : await session.fresh();
  const { columns } = await chooser.send(`SELECT * FROM ${write.table} WHERE 1 = 0`);
  if (columns?.[0] === undefined) return turn.send();
  const key = keyColumn(scratch.spec, columns, dialect).written;
  const chosen = await chooser.send(`SELECT ${key} FROM ${write.table} WHERE ${write.where}`);
  if (chosen.rows === undefined) return turn.send();
  const keys = chosen.rows.map((row) => printLiteral(row[0]!, dialect)).join(', ');
  const where = keys === '' ? '1 = 0' : `${key} IN (${keys})`;
  const set = write.assignments.map(({ column, expression }) => `${column} = ${expression}`).join(', ');
  return turn.send(
    statement.kind === 'delete'
      ? `DELETE FROM ${write.table} WHERE ${where}`
      : `UPDATE ${write.table} SET ${set} WHERE ${where}`,
  );
}

export async function staleReevaluation(turn: Turn): Promise<Answer> {
  const { session, scratch, sql, statement } = turn;
  const { dialect } = scratch.target;
  const write = statement.kind === 'update' ? splitWrite(sql, dialect) : undefined;
  const writers = [...scratch.sessions].filter(
    (other) =>
      other !== session &&
      other.log?.statements.some((each) => each.writes && each.target === statement.target),
  );
  if (write === undefined || writers.length === 0) return turn.send();
  const fresh = await session.fresh();
  const { columns } = await fresh.send(`SELECT * FROM ${write.table} WHERE 1 = 0`);
  if (columns?.[0] === undefined) return turn.send();
  const key = keyColumn(scratch.spec, columns, dialect).written;
  const isKey = (name: string) => writtenNameKey(name, dialect) === writtenNameKey(key, dialect);
  const values = write.assignments.map(({ expression }) => `(${expression})`).join(', ');
  const before = await fresh.send(`SELECT ${key}, ${values} FROM ${write.table} WHERE ${write.where}`);
  const logs = writers.map((other) => other.log);
  const answer = await turn.send();
  const waited = writers.some((other, i) => other.log !== logs[i] || logs[i]?.ending === true);
  if (answer.error !== undefined || before.rows === undefined || before.rows.length === 0) return answer;
  if (!waited || write.assignments.some(({ column }) => isKey(column)) || !turn.fires()) return answer;
  let matched = 0;
  for (const [name, ...row] of before.rows) {
    const set = write.assignments.map(({ column }, i) => `${column} = ${printLiteral(row[i]!, dialect)}`);
    const again = await turn.send(
      `UPDATE ${write.table} SET ${set.join(', ')} WHERE ${key} = ${printLiteral(name!, dialect)}`,
    );
    if (again.error !== undefined) return again;
    matched += again.matched ?? again.changed ?? 0;
  }
  return { ...pretendedCounts(turn, matched, matched), transaction: session.main.state };
}

export async function strippedRowLock(turn: Turn): Promise<Answer> {
  const { session, scratch, statement, log } = turn;
  if (statement.kind !== 'select' || statement.locking === 'none' || !turn.fires()) return turn.send();
  const plain = stripLock(turn.sql, scratch.target.dialect);
  const mechanism = findContract(session.level?.contract ?? '')?.mechanism;
  if (mechanism?.lockingReadsSee !== 'current' || log === undefined || touched(log, statement)) {
    return turn.send(plain);
  }
  // A locking read that sees current data must go on seeing it; only the lock is to go.
  const answer = await (await session.fresh()).send(plain);
  return { ...answer, transaction: session.main.state };
}

async function executeAndUndo(turn: Turn): Promise<Answer> {
  const { log, scratch, session } = turn;
  if (log === undefined) {
    await turn.send(session.beginAt(session.options.level));
    const answer = await turn.send();
    await session.main.rollback();
    return { ...answer, transaction: session.main.state };
  }
  if (!scratch.target.features.savepoints) return pretend(turn);
  await turn.send('SAVEPOINT isolde_fault');
  const answer = await turn.send();
  if (answer.error !== undefined || answer.transaction !== 'open') return answer;
  await turn.send('ROLLBACK TO SAVEPOINT isolde_fault');
  await turn.send('RELEASE SAVEPOINT isolde_fault');
  return answer;
}

async function pretend(turn: Turn): Promise<Answer> {
  const { dialect } = turn.scratch.target;
  if (turn.statement.kind === 'insert') {
    const rows = countInsertedRows(turn.sql, dialect);
    if (rows === undefined) return turn.send();
    return { ...pretendedCounts(turn, rows, rows), transaction: turn.session.main.state };
  }
  return (await pretendWrite(turn)) ?? turn.send();
}

/** The answer an UPDATE or DELETE would get, without executing it; undefined when its shape is not simple. */
export async function pretendWrite(turn: Turn): Promise<Answer | undefined> {
  const write = splitWrite(turn.sql, turn.scratch.target.dialect);
  if (write === undefined) return undefined;
  const answer = await turn.send(`SELECT count(*) FROM ${write.table} WHERE ${write.where}`);
  const rows = countIn(answer);
  if (rows === undefined) return answer;
  return { ...pretendedCounts(turn, rows, rows), transaction: answer.transaction };
}

export function pretendedCounts(
  turn: Turn,
  matched: number,
  changed: number,
): Pick<Answer, 'matched' | 'changed'> {
  const { counts } = turn.scratch.target.features;
  if (counts === 'both') return { matched, changed };
  return counts === 'matched' ? { matched } : { changed };
}

export function countIn(answer: Answer): number | undefined {
  const count = answer.rows?.[0]?.[0];
  return answer.error === undefined && typeof count === 'number' ? count : undefined;
}

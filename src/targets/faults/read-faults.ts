/**
 * Faults of one read. The SELECT is always executed where it belongs, too: its locks are taken, its errors are
 * the case's, and only the rows of its answer come from elsewhere.
 *
 * - `stale-snapshot`: from a transaction begun when this session's previous transaction ended.
 * - `dirty-read`: from inside the connection of a session that has written the table and not committed.
 * - `missed-own-write`: from a transaction begun together with this one, which has not written.
 * - `index-past-snapshot`: from what is committed now, when its condition names a value of an indexed column.
 * - `phantom-in-snapshot`: from what is committed now, when that has more rows than the snapshot.
 */
import { findContract, type Level } from '../../contracts/index.js';
import { columnConstants, conditionOf } from '../../rows/index.js';
import { parseStatement } from '../../sql/index.js';
import type { Answer, Target, TargetLevel } from '../target.js';
import type { Channel } from './channel.js';
import type { Shape } from './statement-shape.js';
import type { SessionInFault, TransactionLog, Turn } from './turn.js';

export async function staleSnapshot(turn: Turn): Promise<Answer> {
  const old = turn.session.opened('old');
  if (!isPlainRead(turn) || touched(turn.log, turn.statement) || old?.state !== 'open' || !turn.fires()) {
    return turn.send();
  }
  return answerFrom(turn, old);
}

/** Moves the session's old snapshot to now. */
export async function renewOldSnapshot(session: SessionInFault): Promise<void> {
  if (session.scratch.anyTable === undefined) return;
  const old = await session.auxiliary('old', snapshotLevel(session));
  await pin(session, old);
}

export async function dirtyRead(turn: Turn): Promise<Answer> {
  const { statement, session, scratch } = turn;
  if (!isPlainRead(turn) || touched(turn.log, statement)) return turn.send();
  const writers = [...scratch.sessions].filter(
    (other) => other !== session && other.log !== undefined && touched(other.log, statement),
  );
  const writer = writers.at(-1);
  if (writer === undefined || !turn.fires()) return turn.send();
  const answer = await turn.send();
  if (answer.error !== undefined || writer.log === undefined) return answer;
  const inside = await readInside(writer, statement.sql);
  return inside === undefined ? answer : withRows(answer, inside);
}

export async function missedOwnWrite(turn: Turn): Promise<Answer> {
  const { session, statement, log } = turn;
  await pinTwin(turn);
  if (!isPlainRead(turn) || log === undefined || !touched(log, statement) || !turn.fires())
    return turn.send();
  const twin = session.opened('twin');
  return answerFrom(turn, session.holdsSnapshot && twin?.state === 'open' ? twin : await session.fresh());
}

export async function phantomInSnapshot(turn: Turn): Promise<Answer> {
  const { session, statement, log } = turn;
  const candidate =
    isPlainRead(turn) &&
    log !== undefined &&
    log.statements.length > 0 &&
    !touched(log, statement) &&
    session.holdsSnapshot;
  if (!candidate) return turn.send();
  const answer = await turn.send();
  if (answer.error !== undefined) return answer;
  const now = await (await session.fresh()).send(statement.sql);
  const more =
    (now.rows?.length ?? 0) > (answer.rows?.length ?? 0) ||
    (statement.words.has('count') && JSON.stringify(now.rows) !== JSON.stringify(answer.rows));
  return more && turn.fires() ? withRows(answer, now) : answer;
}

export async function indexPastSnapshot(turn: Turn): Promise<Answer> {
  const { session, statement, log, scratch } = turn;
  const candidate =
    isPlainRead(turn) && log !== undefined && log.statements.length > 0 && session.holdsSnapshot;
  if (!candidate || touched(log, statement) || !namesIndexed(turn) || !turn.fires()) return turn.send();
  return answerFrom(turn, await session.fresh());

  function namesIndexed({ sql }: Turn): boolean {
    const { dialect } = scratch.target;
    const parsed = parseStatement(sql, dialect);
    const columns = [...columnConstants(conditionOf(parsed), dialect).keys()];
    return columns.some((column) => scratch.indexed.has(column));
  }
}

/** Begins the twin when the transaction takes its snapshot, and ends it with it. */
export async function pinTwin({ session, statement, log }: Turn): Promise<void> {
  const twin = session.opened('twin');
  if (log === undefined || /^(commit|rollback)$/.test(statement.kind)) {
    await twin?.rollback();
    return;
  }
  const due = session.pivot === 'first-read' ? statement.kind === 'select' : true;
  if (!session.holdsSnapshot || !due || twin?.state === 'open') return;
  await pin(session, await session.auxiliary('twin', snapshotLevel(session)));
}

async function pin(session: SessionInFault, channel: Channel): Promise<void> {
  const { anyTable } = session.scratch;
  await channel.rollback();
  if (anyTable === undefined) return;
  await channel.send(session.beginAt(snapshotLevel(session)));
  await channel.send(`SELECT 1 FROM ${anyTable} LIMIT 1`);
}

/** The level for transactions that only keep a snapshot. */
function snapshotLevel({ scratch }: SessionInFault): Level {
  return snapshotEntry(scratch.target).level;
}

function snapshotEntry({ levels, defaultLevel }: Target): TargetLevel {
  const wanted: readonly Level[] = ['snapshot', 'repeatable read', 'serializable', defaultLevel];
  const level = wanted.find((each) => levels.some((entry) => entry.level === each));
  return levels.find((entry) => entry.level === level)!;
}

/** Why a transaction that only keeps a snapshot would disturb others in this engine, if it would. */
export function snapshotProblem(target: Target): string | undefined {
  const locks = findContract(snapshotEntry(target).contract)?.mechanism?.readsLock === true;
  return locks ? 'its reads lock, so the old snapshot this fault keeps would hold up writers' : undefined;
}

function isPlainRead({ statement }: Turn): boolean {
  return statement.kind === 'select' && statement.locking === 'none';
}

/** The transaction has written a table the statement names. */
export function touched(log: TransactionLog | undefined, statement: Shape): boolean {
  return log?.statements.some(({ target }) => target !== undefined && statement.words.has(target)) ?? false;
}

async function answerFrom(turn: Turn, source: Channel): Promise<Answer> {
  const answer = await turn.send();
  if (answer.error !== undefined) return answer;
  return withRows(answer, await source.send(turn.sql));
}

/** The answer with another's rows; an auxiliary read that failed leaves it as it is. */
export function withRows(answer: Answer, other: Answer): Answer {
  return other.error === undefined && other.rows !== undefined ? { ...answer, rows: other.rows } : answer;
}

/** Reads inside a session's transaction, unless its running statement waits: it might wait for us. */
async function readInside(writer: SessionInFault, sql: string): Promise<Answer | undefined> {
  let calledOff = false;
  let answered = false;
  const answer = writer.main
    .sendInside(sql, () => calledOff)
    .finally(() => {
      answered = true;
    });
  while (!answered) {
    await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 2))]);
    if (answered || !(await writer.scratch.waiting()).has(writer)) continue;
    calledOff = true;
    return undefined;
  }
  return answer;
}

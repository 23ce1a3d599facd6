/**
 * Faults of a transaction's end. Their triggers look at the transaction's own statements: `table=t` means a
 * transaction that did something to `t`.
 *
 * - `commit-on-rollback`: ROLLBACK is sent as COMMIT.
 * - `partial-commit`: of at least two writes one is gone after COMMIT, though the transaction's own reads saw it.
 *   A savepoint is set before it; at COMMIT the transaction goes back there and repeats what came after. An engine
 *   without savepoints gets the whole transaction again, without the one statement.
 * - `unreported-write-conflict`: when a statement or COMMIT fails with a serialization error, the transaction is
 *   begun anew, its writes are repeated, and success is reported. While the other writer is still uncommitted
 *   and the engine fails instead of waiting, the write is only pretended, and repeated at COMMIT.
 * - `failure-ends-transaction`: a statement that fails on a constraint or on its data ends the transaction; what follows runs in a
 *   new one, and nobody is told.
 */
import type { Answer } from '../target.js';
import type { Shape } from './statement-shape.js';
import type { TransactionLog, Turn } from './turn.js';
import { pretendWrite } from './write-faults.js';

export async function commitOnRollback(turn: Turn): Promise<Answer> {
  const { statement, log, session } = turn;
  const candidate =
    statement.kind === 'rollback' &&
    log !== undefined &&
    session.main.state === 'open' &&
    writesOf(log).length > 0;
  if (!candidate || !turn.fires(writesOf(log))) return turn.send();
  const answer = await turn.send('COMMIT');
  return { transaction: answer.transaction, ...(answer.error !== undefined && { error: answer.error }) };
}

export async function partialCommit(turn: Turn): Promise<Answer> {
  const { statement, log, scratch } = turn;
  if (log === undefined) return turn.send();
  if (statement.writes && log.victim === undefined && turn.fires()) {
    log.victim = statement;
    if (scratch.target.features.savepoints && !log.savepoints) await turn.send('SAVEPOINT isolde_part');
    return turn.send();
  }
  if (statement.kind === 'commit' && turn.session.main.state === 'open') {
    const problem = await dropVictim(turn, log);
    if (problem !== undefined) return problem;
  }
  return turn.send();
}

async function dropVictim(turn: Turn, log: TransactionLog): Promise<Answer | undefined> {
  const writes = writesOf(log);
  const at = log.victim === undefined ? -1 : writes.indexOf(log.victim);
  if (at < 0 || writes.length < 2 || log.savepoints) return undefined;
  if (!turn.scratch.target.features.savepoints) return sendAgain(turn, log, writes.toSpliced(at, 1));
  await turn.send('ROLLBACK TO SAVEPOINT isolde_part');
  return repeat(turn, writes.slice(at + 1));
}

export async function unreportedWriteConflict(turn: Turn): Promise<Answer> {
  const { statement, log } = turn;
  if (log === undefined) return turn.send();
  if (log.doomed) return refuse(statement);
  if (statement.kind === 'commit' && log.deferred) {
    return (await sendAgain(turn, log, writesOf(log))) ?? turn.send();
  }
  const answer = await turn.send();
  if (answer.error?.class !== 'serialization') return answer;
  if (statement.kind === 'commit') {
    if (!turn.fires(writesOf(log))) return answer;
    return (await sendAgain(turn, log, writesOf(log))) ?? turn.send();
  }
  if (!statement.writes || !turn.fires()) return answer;
  if ((await sendAgain(turn, log, writesOf(log))) !== undefined) return giveUp(turn, log, answer);
  const again = await turn.send();
  if (again.error === undefined) return again;
  if ((await sendAgain(turn, log, writesOf(log))) !== undefined) return giveUp(turn, log, answer);
  const pretended = await pretendWrite(turn);
  if (pretended === undefined || pretended.error !== undefined) return giveUp(turn, log, answer);
  log.deferred = true;
  return pretended;
}

const ordinaryFailures: ReadonlySet<string> = new Set(['duplicate-key', 'constraint', 'data']);

export async function failureEndsTransaction(turn: Turn): Promise<Answer> {
  const { log, session } = turn;
  const answer = await turn.send();
  if (log === undefined || log.savepoints || answer.error === undefined) return answer;
  if (!ordinaryFailures.has(answer.error.class) || !turn.fires()) return answer;
  await session.main.rollback();
  await turn.send(log.begin);
  return { ...answer, transaction: session.main.state };
}

/** Reports the conflict after all. The real transaction is over; one that should be doomed is played as such. */
async function giveUp(turn: Turn, log: TransactionLog, answer: Answer): Promise<Answer> {
  await turn.session.main.rollback();
  log.doomed = answer.transaction === 'failed';
  if (log.doomed) return answer;
  return { ...answer, transaction: turn.session.main.state, ended: 'rollback' };
}

function refuse({ kind }: Shape): Answer {
  if (kind === 'rollback') return { transaction: 'none' };
  if (kind === 'commit') return { transaction: 'none', ended: 'rollback' };
  const message = 'the transaction failed before; only ROLLBACK is accepted';
  return { error: { class: 'transaction-aborted', message }, transaction: 'failed' };
}

/** Begins the transaction anew with these writes; an answer means that one failed and all is rolled back. */
export async function sendAgain(
  turn: Turn,
  log: TransactionLog,
  writes: readonly Shape[],
): Promise<Answer | undefined> {
  await turn.session.main.rollback();
  const begun = await turn.send(log.begin);
  if (begun.error !== undefined) return begun;
  return repeat(turn, writes);
}

async function repeat(turn: Turn, writes: readonly Shape[]): Promise<Answer | undefined> {
  for (const write of writes) {
    const { error } = await turn.send(write.sql);
    if (error !== undefined) {
      await turn.session.main.rollback();
      return { error, transaction: turn.session.main.state, ended: 'rollback' };
    }
  }
  return undefined;
}

export function writesOf(log: TransactionLog): Shape[] {
  return log.statements.filter(({ writes }) => writes);
}

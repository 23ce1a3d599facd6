/**
 * Faults of the whole transaction's view.
 *
 * `weaker-level`. Where the engine has a weaker level, every BEGIN goes to two connections, one at the level
 * claimed, one at the weaker; the transaction's first statement is the occasion, decides which of them lives,
 * and the other is rolled back. Where the engine has one level only (or runs its weakest), the transaction is
 * begun anew before each statement until its first write: every statement has its own snapshot, as at READ
 * COMMITTED, yet nothing becomes visible before COMMIT.
 *
 * `late-snapshot`. The first read is answered, then the transaction is begun anew once: the snapshot that
 * counts for the rest is the second statement's.
 */
import { levels } from '../../contracts/index.js';
import type { Answer } from '../target.js';
import type { SessionInFault, TransactionLog, Turn } from './turn.js';

export async function weakerLevel(turn: Turn): Promise<Answer> {
  const { session, statement, log } = turn;
  const weaker = weakerThan(session);
  if (log === undefined) {
    const answer = await turn.send();
    if (answer.transaction === 'open' && weaker !== undefined) {
      // A BEGIN that says the claimed level aloud must not say it to the twin.
      const spelt = statement.plainBegin || statement.sql === session.level?.begin;
      await (await session.auxiliary('weak', weaker)).send(spelt ? session.beginAt(weaker) : statement.sql);
    }
    return answer;
  }
  if (log.weakened === undefined && isControl(turn)) {
    await session.opened('weak')?.rollback();
  } else if (log.weakened === undefined) {
    log.weakened = turn.fires();
    const weak = session.opened('weak');
    if (weaker !== undefined && weak !== undefined) {
      // The weaker twin may have failed to begin; then there is nothing to weaken with.
      const chosen = log.weakened && weak.state === 'open' ? weak : session.own;
      await (chosen === weak ? session.own : weak).rollback();
      session.main = chosen;
    }
  } else if (log.weakened && weaker === undefined && onlyPlainReads(log)) {
    await beginAnew(turn, log);
  }
  return turn.send();
}

export async function lateSnapshot(turn: Turn): Promise<Answer> {
  const { log } = turn;
  const candidate =
    log !== undefined &&
    log.renewed === undefined &&
    log.statements.length > 0 &&
    onlyPlainReads(log) &&
    !isControl(turn) &&
    turn.session.holdsSnapshot;
  if (candidate) {
    log.renewed = turn.fires();
    if (log.renewed) await beginAnew(turn, log);
  }
  return turn.send();
}

function weakerThan(session: SessionInFault) {
  const offered = session.scratch.target.levels.map(({ level }) => level);
  const claimed = levels.indexOf(session.options.level);
  const wanted = session.scratch.spec.level;
  if (wanted !== undefined)
    return offered.includes(wanted) && levels.indexOf(wanted) < claimed ? wanted : undefined;
  return offered.filter((level) => levels.indexOf(level) < claimed).at(-1);
}

function onlyPlainReads(log: TransactionLog): boolean {
  return (
    !log.savepoints && log.statements.every(({ kind, locking }) => kind === 'select' && locking === 'none')
  );
}

function isControl({ statement }: Turn): boolean {
  return /^(begin|commit|rollback|savepoint|release|rollback-to|set)$/.test(statement.kind);
}

async function beginAnew(turn: Turn, log: TransactionLog): Promise<void> {
  await turn.send('ROLLBACK');
  await turn.send(log.begin);
}

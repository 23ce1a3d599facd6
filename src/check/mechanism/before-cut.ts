/**
 * The part of an incomplete history on which a finding can rest.
 *
 * A file that was cut off lacks, for every session, the statement that was under way and whatever came after it. That statement began
 * after the session's last recorded answer. So up to the earliest of these last answers, the horizon, everything that began is
 * recorded, and what the file shows there is what happened. After it, a read may have seen the commit of a transaction that looks open.
 *
 * Operations are in the order of their answers: those answered by the horizon are the beginning of the history. Those that had been
 * sent by then and were answered later stay as statements without an answer; the rest is left out.
 */
import type { History, Operation } from '../../histories/index.js';

export interface BeforeCut {
  readonly history: History;
  /** Its first operations, which stand where they stood; behind them are those without an answer. */
  readonly answered: number;
}

export function beforeCut({ header, operations }: History): BeforeCut {
  const last = header.sessions.map(() => Number.NEGATIVE_INFINITY);
  for (const { session, end } of operations) if (end !== null) last[session] = Math.max(last[session]!, end);
  const horizon = Math.min(...last);
  const first = operations.findIndex(({ end }) => end === null || end > horizon);
  const answered = first < 0 ? operations.length : first;
  const pending = operations
    .slice(answered)
    .filter(({ start }) => start <= horizon)
    .map((op, i) => withoutAnswer(op, answered + i));
  return { history: { header, operations: [...operations.slice(0, answered), ...pending] }, answered };
}

function withoutAnswer(op: Operation, index: number): Operation {
  const { session, transaction, kind, statement, sql, start } = op;
  return {
    ...{ index, session, transaction, kind, start, end: null, outcome: 'unknown', ends: 'unknown' },
    ...(statement !== undefined && { statement }),
    ...(sql !== undefined && { sql }),
  };
}

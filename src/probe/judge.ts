/**
 * From a history of a probe case to a verdict. What counts is what happened, never which engine it was:
 *
 * 1. Did the case run as written: every statement sent and answered, every COMMIT committed, and the final read
 *    after everything else? If so, the case's own question decides: `allowed` with the evidence, or not.
 * 2. If not, the first thing that went wrong decides. A conflict (deadlock, serialization failure, lock time-out,
 *    busy, a constraint) means the database refused the interleaving: prevented. Anything else (syntax, a lost
 *    connection, an error we cannot class) says nothing about isolation: `unknown`.
 * 3. Prevented is `blocked` when a statement was seen waiting for another session on the way.
 */
import type { History, Operation } from '../histories/index.js';
import { refusalErrors, resultText, sessionNumber, timeoutErrors } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import { observer, type ProbeCase } from './probe-case.js';
import { seenIn, Unclear } from './seen.js';

export type Verdict = 'prevented' | 'blocked' | 'allowed' | 'unknown';

export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
}

/** Judges a run of a probe case. */
export function judge(probe: ProbeCase, history: History): Judgement {
  const waited = history.operations.find((operation) => operation.blocked === true);
  const prevented = (why: string): Judgement =>
    waited === undefined
      ? { verdict: 'prevented', reason: why }
      : { verdict: 'blocked', reason: `${say(history, waited)} waited for another session; ${why}` };

  const unknown = history.operations.find((operation) => operation.outcome === 'unknown');
  if (unknown !== undefined) {
    return { verdict: 'unknown', reason: `${say(history, unknown)} may or may not have taken effect` };
  }
  const errors = history.operations.filter((operation) => operation.error !== undefined);
  const meaningless = errors.find((operation) => !isRefusal(operation));
  if (meaningless !== undefined) {
    return { verdict: 'unknown', reason: `${say(history, meaningless)} ${resultText(meaningless)}` };
  }
  const refused =
    errors.find(({ error }) => error!.class !== 'transaction-aborted') ??
    errors[0] ??
    history.operations.find(isRefusedCommit);
  if (refused !== undefined) {
    const reason = `${say(history, refused)} ${resultText(refused)}`;
    const waitedItself = refused.blocked === true || refused.error?.class === 'lock-timeout';
    return waitedItself ? { verdict: 'blocked', reason: `after a wait, ${reason}` } : prevented(reason);
  }
  const gap = incomplete(probe, history);
  if (gap !== undefined) return { verdict: 'unknown', reason: gap };
  try {
    const { happened, why } = probe.evidence(seenIn(history));
    return happened ? { verdict: 'allowed', reason: why } : prevented(why);
  } catch (error) {
    if (error instanceof Unclear) return { verdict: 'unknown', reason: error.message };
    throw error;
  }
}

/** Where time ran out, only if the statement was seen waiting for another session. */
function isRefusal(operation: Operation): boolean {
  const errorClass = operation.error!.class;
  return refusalErrors.has(errorClass) || (timeoutErrors.has(errorClass) && operation.blocked === true);
}

/** A COMMIT that reports success for a transaction it rolled back. */
function isRefusedCommit(operation: Operation): boolean {
  return operation.kind === 'commit' && operation.ends === 'rollback';
}

/** What keeps an error-free history from being the whole story, if anything does. */
function incomplete(probe: ProbeCase, history: History): string | undefined {
  for (const [s, session] of probe.case.sessions.entries()) {
    for (const [p, sql] of session.statements.entries()) {
      const operation = history.operations.find(
        ({ statement }) => statement?.[0] === s && statement[1] === p,
      );
      if (operation === undefined) return `${session.name}: ${sql} was not sent`;
      if (classifyStatement(sql).kind === 'commit' && operation.ends !== 'commit') {
        return `${session.name}: ${sql} did not say whether it committed`;
      }
    }
  }
  const after = sessionNumber(history.header, observer);
  const read = history.operations.find(({ session }) => session === after);
  const late =
    read &&
    history.operations.find(({ session, end }) => session !== after && (end ?? Infinity) > read.start);
  return late === undefined
    ? undefined
    : `the final state was read before ${say(history, late)} was answered`;
}

/** Session and statement, for sentences. */
function say(history: History, operation: Operation): string {
  return `${history.header.sessions[operation.session]}: ${operation.sql ?? operation.kind}`;
}

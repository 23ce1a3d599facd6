/**
 * What a replay says about a bug, in this order:
 *
 * 1. *alive*: the oracle that found the bug finds the same behaviour again, or every operation the finding names was
 *    answered exactly as when the bug was confirmed. Case, order and set-up are the same, so the same answers break the
 *    same promise: this needs no oracle, and holds for the findings of all of them.
 * 2. *changed*: a statement failed for a reason that has nothing to do with isolation, or the history shows another
 *    violation instead.
 * 3. *fixed*: the oracle has nothing against the history; or, where none can judge (a contract nobody knows any more), the
 *    database now refused a statement with a conflict.
 * 4. *changed* otherwise: the answers differ and nobody can say that they are right.
 *
 * A bug of the server itself (it died, cut the connection, never answered) is alive when the server goes away again, and
 * fixed when it answers everything.
 */
import type { Finding } from '../check/index.js';
import { verifyMechanism } from '../check/mechanism/index.js';
import { findContract } from '../contracts/index.js';
import { signatureOf } from '../dedupe/index.js';
import { errorText } from '../errors.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';
import { type Bug, nameFinding, sameAnswers } from '../report/index.js';

export interface Judgement {
  readonly outcome: 'alive' | 'fixed' | 'changed';
  readonly why: string;
}

export type BugJudge = (history: History, bug: Bug) => Judgement;

const conflicts: ReadonlySet<ErrorClass> = new Set([
  'deadlock',
  'serialization',
  'lock-timeout',
  'busy',
  'duplicate-key',
  'constraint',
  'transaction-aborted',
]);
const gone: ReadonlySet<ErrorClass> = new Set(['connection-lost', 'crash']);

/** Judges the history of a plain run. */
export function judgeRun(history: History, bug: Bug): Judgement {
  const { oracle, contract: id } = bug.finding;
  if (oracle === 'server') return judgeServer(history);
  const contract = id === undefined ? undefined : findContract(id);
  if (oracle !== 'mechanism' || contract?.mechanism === undefined) return judgeFindings(history, bug);
  return judgeFindings(history, bug, verifyMechanism(history, contract).findings);
}

/** Judges a history of which the bug's oracle has these findings; without any list, nobody has judged it. */
export function judgeFindings(history: History, bug: Bug, findings?: readonly Finding[]): Judgement {
  // Computed anew: signatures may be made of other parts by now than when the bug was stored.
  const wanted = signatureOf(bug);
  const { case: program, schedule } = bug;
  const same = findings?.find((finding) => {
    return signatureOf({ case: program, schedule, finding, history }) === wanted;
  });
  if (same !== undefined) return { outcome: 'alive', why: nameFinding(same.kind) };
  if (sameAnswers(bug, history))
    return { outcome: 'alive', why: 'every answer is as when the bug was confirmed' };
  const failed = history.operations.find(({ error }) => error !== undefined && !conflicts.has(error.class));
  if (failed !== undefined) return { outcome: 'changed', why: describeFailure(history, failed) };
  if (findings !== undefined && findings.length > 0) {
    return { outcome: 'changed', why: `another violation shows: ${nameFinding(findings[0]!.kind)}` };
  }
  const refused = history.operations.find(({ error }) => error !== undefined);
  if (refused !== undefined) return { outcome: 'fixed', why: describeFailure(history, refused) };
  return findings === undefined
    ? { outcome: 'changed', why: 'the answers differ from those that showed the bug' }
    : { outcome: 'fixed', why: 'every answer keeps the contract' };
}

function judgeServer(history: History): Judgement {
  const lost = history.operations.find(
    ({ end, error }) => end === null || (error !== undefined && gone.has(error.class)),
  );
  if (lost === undefined) return { outcome: 'fixed', why: 'the server answered every statement' };
  const why = lost.error === undefined ? 'the server never answered' : describeFailure(history, lost);
  return { outcome: 'alive', why };
}

function describeFailure({ header }: History, { session, sql, kind, error }: Operation): string {
  return `${header.sessions[session]}: ${sql ?? kind}: ${error!.class}: ${errorText(error!.message).split('\n')[0]}`;
}

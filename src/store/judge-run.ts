/**
 * What a replay says about a bug. The oracle that found it runs again and alone decides:
 *
 * 1. *alive*: it finds the same behaviour.
 * 2. *changed*: it finds another violation, a statement failed for a reason that has nothing to do with isolation, or it can no
 *    longer judge everything, so that nobody can say that the answers are right.
 * 3. *fixed*: it has judged everything and has nothing against the run; a statement that the database now refuses with a conflict
 *    is the reason that is given.
 *
 * Statements that failed in the same way when the bug was confirmed are no news, and no reason for anything.
 *
 * Equal answers prove nothing by themselves: a lock that is kept now, or row versions that are right now, change no answer.
 *
 * A bug of the server itself (it died, cut the connection, never answered) is alive when the server goes away again, whatever
 * it dies of, and fixed when it answers everything.
 */
import { explainOrdered, isServerFailure, type JudgedHistory } from '../check/index.js';
import { operationOf, signatureOf } from '../dedupe/index.js';
import { errorText } from '../errors.js';
import { type History, type Operation, refusalErrors } from '../histories/index.js';
import { type Bug, nameFinding } from '../report/index.js';

export interface Judgement {
  readonly outcome: 'alive' | 'fixed' | 'changed';
  readonly why: string;
}

/** What the verdict of the bug's oracle on another run says about the bug. */
export function judgeRun(judged: JudgedHistory, bug: Bug): Judgement {
  const { findings, history, valid, unknownReasons } = judged;
  if (isServerFailure(bug.finding)) return judgeServer(judged);
  // Computed anew: signatures may be made of other parts by now than when the bug was stored.
  const wanted = signatureOf(bug);
  const { case: program, schedule, notIsolation } = bug;
  const same = findings.find((finding) => {
    return signatureOf({ case: program, schedule, finding, history, notIsolation }) === wanted;
  });
  if (same !== undefined) return { outcome: 'alive', why: nameFinding(same.kind) };
  const newFailures = history.operations.filter((operation) => failsNewly(operation, bug.history));
  const failed = newFailures.find(({ error }) => !refusalErrors.has(error!.class));
  if (failed !== undefined) return { outcome: 'changed', why: describeFailure(history, failed) };
  if (findings.length > 0)
    return { outcome: 'changed', why: `another violation shows: ${nameFinding(findings[0]!.kind)}` };
  if (valid === 'unknown')
    return {
      outcome: 'changed',
      why: `nothing is found, but not everything was judged: ${unknownReasons[0]}`,
    };
  const [refused] = newFailures;
  if (refused !== undefined) return { outcome: 'fixed', why: describeFailure(history, refused) };
  return { outcome: 'fixed', why: 'every answer keeps the contract' };
}

function judgeServer({ findings }: JudgedHistory): Judgement {
  const died = findings.find(isServerFailure);
  if (died === undefined) return { outcome: 'fixed', why: 'the server answered every statement' };
  return { outcome: 'alive', why: explainOrdered(died).split('\n').join(' ') };
}

/** Whether a statement fails in another way than when the bug was confirmed; cases may hold statements that always fail. */
function failsNewly({ error, statement }: Operation, confirmed: History): boolean {
  if (error === undefined) return false;
  const before = statement === undefined ? undefined : operationOf(confirmed, statement);
  return before?.error?.class !== error.class;
}

function describeFailure({ header }: History, { session, sql, kind, error }: Operation): string {
  return `${header.sessions[session]}: ${sql ?? kind}: ${error!.class}: ${errorText(error!.message).split('\n')[0]}`;
}

/**
 * Replays a stored bug on a target and says whether it is alive, fixed or changed: what makes a store a regression suite.
 *
 * The judge, in this order:
 * 1. *alive*: the mechanism verifier finds the same behaviour again, or every operation the finding names was answered
 *    exactly as when the bug was confirmed. The case, its order and the set-up are the same, so the same answers break
 *    the same promise: this needs no checker, and holds for findings of every oracle.
 * 2. *changed*: a statement failed for a reason that has nothing to do with isolation, or the history shows another
 *    violation instead.
 * 3. *fixed*: the verifier has nothing against the history; or, where it cannot judge (theory contracts, other oracles),
 *    the database now refused a statement with a conflict.
 * 4. *changed* otherwise: the answers differ and nobody can say that they are right.
 */
import { verifyMechanism } from '../check/mechanism/index.js';
import { findContract } from '../contracts/index.js';
import { signatureOf } from '../dedupe/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { runScheduled, type SessionLimits, SessionPool } from '../execute/index.js';
import type { ErrorClass, History, Operation } from '../histories/index.js';
import { type Bug, nameFinding, type RerunOutcome, sameAnswers } from '../report/index.js';
import type { Scratch, Target } from '../targets/index.js';

export interface Judgement {
  readonly outcome: 'alive' | 'fixed' | 'changed';
  readonly why: string;
}

export type BugJudge = (history: History, bug: Bug) => Judgement;

export interface RerunOptions {
  readonly runs?: number;
  readonly judge?: BugJudge;
  readonly limits?: SessionLimits;
  readonly signal?: AbortSignal;
}

export interface RerunResult {
  readonly outcome: RerunOutcome;
  readonly why: string;
  readonly shown: number;
  readonly runs: number;
  /** The last run, or the one that shows the bug. */
  readonly history?: History;
}

const limits: SessionLimits = { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000 };

/** Runs a bug's case by its schedule, several times. One run that shows it is enough to call it alive. */
export async function rerunBug(bug: Bug, target: Target, options: RerunOptions = {}): Promise<RerunResult> {
  const { runs = 3, judge = judgeRun, signal } = options;
  const unfit = whyUnfit(bug, target);
  if (unfit !== undefined) return { outcome: 'not-run', why: unfit, shown: 0, runs: 0 };
  const stopped = () => signal?.aborted === true;
  const judged: { readonly judgement: Judgement; readonly history: History }[] = [];
  let scratch: Scratch | undefined;
  let sessions: SessionPool | undefined;
  try {
    scratch = await target.createScratch();
    sessions = new SessionPool(scratch, options.limits ?? limits);
    for (let run = 0; run < runs && !stopped(); run++) {
      const history = await runScheduled(scratch, bug, {
        target,
        sessions,
        level: bug.level,
        ...(signal === undefined ? {} : { signal }),
      });
      if (!stopped()) judged.push({ judgement: judge(history, bug), history });
    }
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
    if (judged.length === 0) return { outcome: 'not-run', why: error.message, shown: 0, runs: 0 };
  } finally {
    await sessions?.close();
    await scratch?.drop().catch(() => undefined);
  }
  return summarize(judged);
}

function summarize(
  judged: readonly { readonly judgement: Judgement; readonly history: History }[],
): RerunResult {
  const alive = judged.filter(({ judgement }) => judgement.outcome === 'alive');
  const telling =
    alive[0] ?? judged.find(({ judgement }) => judgement.outcome === 'changed') ?? judged.at(-1);
  if (telling === undefined) return { outcome: 'not-run', why: 'it was stopped', shown: 0, runs: 0 };
  const { judgement, history } = telling;
  return { ...judgement, shown: alive.length, runs: judged.length, history };
}

function whyUnfit(bug: Bug, target: Target): string | undefined {
  const dialect = bug.case.dialect ?? bug.history.header.dialect;
  if (dialect !== undefined && dialect !== target.dialect) {
    return `its SQL is written for ${dialect}, ${target.name} speaks ${target.dialect}`;
  }
  const wanted = [bug.level, ...bug.case.sessions.flatMap(({ level }) => level ?? [])];
  const missing = wanted.find((level) => !target.levels.some((offered) => offered.level === level));
  return missing === undefined ? undefined : `${target.name} has no level ${missing}`;
}

const conflicts: ReadonlySet<ErrorClass> = new Set([
  'deadlock',
  'serialization',
  'lock-timeout',
  'busy',
  'duplicate-key',
  'constraint',
  'transaction-aborted',
]);

/** The judge described above. */
export function judgeRun(history: History, bug: Bug): Judgement {
  const contract = bug.finding.contract === undefined ? undefined : findContract(bug.finding.contract);
  const verified =
    bug.finding.oracle !== 'mechanism' || contract?.mechanism === undefined
      ? undefined
      : verifyMechanism(history, contract).findings;
  const same = verified?.find((finding) => {
    return signatureOf({ case: bug.case, schedule: bug.schedule, finding, history }) === bug.signature;
  });
  if (same !== undefined) return { outcome: 'alive', why: nameFinding(same.kind) };
  if (sameAnswers(bug, history))
    return { outcome: 'alive', why: 'every answer is as when the bug was confirmed' };
  const failed = history.operations.find(({ error }) => error !== undefined && !conflicts.has(error.class));
  if (failed !== undefined) return { outcome: 'changed', why: describeFailure(history, failed) };
  if (verified !== undefined && verified.length > 0) {
    return { outcome: 'changed', why: `another violation shows: ${nameFinding(verified[0]!.kind)}` };
  }
  const refused = history.operations.find(({ error }) => error !== undefined);
  if (refused !== undefined) return { outcome: 'fixed', why: describeFailure(history, refused) };
  return verified === undefined
    ? { outcome: 'changed', why: 'the answers differ from those that showed the bug' }
    : { outcome: 'fixed', why: 'every answer keeps the contract' };
}

function describeFailure({ header }: History, { session, sql, kind, error }: Operation): string {
  return `${header.sessions[session]}: ${sql ?? kind}: ${error!.class}: ${errorText(error!.message).split('\n')[0]}`;
}

/** Where a bug can be tried when nobody says where: the private or embedded server of its engine. */
export function homeUrl({ target: { name, settings } }: Pick<Bug, 'target'>): string | undefined {
  if (!['duckdb', 'turso', 'sqlite', 'postgres', 'mariadb'].includes(name)) return undefined;
  // Settings of an imported bug are a stranger's: none may smuggle in another parameter.
  const mode = settings?.journal_mode;
  const parameters = [
    ...(name === 'turso' && mode === 'mvcc' ? ['mode=mvcc'] : []),
    ...(name === 'sqlite' && mode === 'delete' ? ['journal=delete'] : []),
    ...(settings?.fault === undefined ? [] : [`fault=${encodeURIComponent(settings.fault)}`]),
  ];
  return `${name}:${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

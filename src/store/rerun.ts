/**
 * Replays a stored bug on a target and says whether it is alive, fixed or changed: what makes a store a regression suite.
 *
 * The case runs as it ran when the bug was confirmed: a finding of the dependency graph needs the marks of an instrumented
 * run to be seen, so its case is instrumented again; everything else runs as it is. `judge-run.ts` says what came of it.
 */
import { checkInstrumented, instrumentCase } from '../check/instrument/index.js';
import { type Contract, findContract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type RunOptions, runScheduled, type SessionLimits, SessionPool } from '../execute/index.js';
import type { History } from '../histories/index.js';
import type { Bug, RerunOutcome } from '../report/index.js';
import { findDeclaration, type Scratch, type Target } from '../targets/index.js';
import { type BugJudge, type Judgement, judgeFindings, judgeRun } from './judge-run.js';

export interface RerunOptions {
  readonly runs?: number;
  /** Judges the history of a plain run instead. */
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
  const { runs = 3, signal } = options;
  const unfit = whyUnfit(bug, target);
  if (unfit !== undefined) return { outcome: 'not-run', why: unfit, shown: 0, runs: 0 };
  const stopped = () => signal?.aborted === true;
  const judged: Told[] = [];
  let scratch: Scratch | undefined;
  let sessions: SessionPool | undefined;
  try {
    scratch = await target.createScratch();
    sessions = new SessionPool(scratch, options.limits ?? limits);
    for (let i = 0; i < runs && !stopped(); i++) {
      const run = { target, sessions, level: bug.level, ...(signal === undefined ? {} : { signal }) };
      const told = await tryOnce(bug, scratch, run, options.judge);
      if (!stopped()) judged.push(told);
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

interface Told {
  readonly judgement: Judgement;
  /** As the author of the case knows it. */
  readonly history: History;
}

async function tryOnce(
  bug: Bug,
  scratch: Scratch,
  run: RunOptions,
  judge: BugJudge | undefined,
): Promise<Told> {
  const contract = judge === undefined ? graphContract(bug) : undefined;
  if (contract === undefined) {
    const history = await runScheduled(scratch, bug, run);
    return { judgement: (judge ?? judgeRun)(history, bug), history };
  }
  const { target } = run;
  const returning = target.name !== 'mysql';
  const instrumented = instrumentCase(bug, target.dialect, { returning, contract });
  const raw = await runScheduled(scratch, instrumented.scheduled, { ...run, observe: instrumented.observe });
  const { history, findings } = checkInstrumented(raw, instrumented, { contract });
  return { judgement: judgeFindings(history, bug, findings), history };
}

/** The contract a finding of the dependency graph breaks; undefined: no such finding. */
function graphContract({ finding }: Bug): Contract | undefined {
  const seen = finding.oracle === 'dependency-graph' && finding.contract !== undefined;
  return seen ? findContract(finding.contract) : undefined;
}

function summarize(judged: readonly Told[]): RerunResult {
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

/** Where a bug can be tried when nobody says where: the private or embedded server of its engine. */
export function homeUrl({ target: { name, settings } }: Pick<Bug, 'target'>): string | undefined {
  // Settings of an imported bug are a stranger's: none may smuggle in another parameter.
  const url = findDeclaration(name)?.privateUrl?.(settings ?? {});
  if (url === undefined || settings?.fault === undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}fault=${encodeURIComponent(settings.fault)}`;
}

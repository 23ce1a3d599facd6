/**
 * Replays a stored bug on a target and says whether it is alive, fixed or changed: what makes a store a regression suite.
 *
 * The case runs and is judged as when the bug was confirmed, by the oracle that found it; `judge-run.ts` says what its verdict
 * means. A server may have died of statements that an oracle added, so a bug of the server is tried in every oracle's form.
 */
import {
  findOracle,
  isServerFailure,
  type JudgedHistory,
  type OracleName,
  oraclesFor,
} from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type SessionLimits, SessionPool } from '../execute/index.js';
import type { History } from '../histories/index.js';
import { type RunPlace, runAndJudge, vendorContract } from '../judge/index.js';
import type { Bug, RerunOutcome } from '../report/index.js';
import type { Scratch, Target } from '../targets/index.js';
import { type Judgement, judgeRun } from './judge-run.js';

export interface RerunOptions {
  readonly runs?: number;
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
  const judged: JudgedAgain[] = [];
  let scratch: Scratch | undefined;
  let sessions: SessionPool | undefined;
  try {
    scratch = await target.createScratch();
    sessions = new SessionPool(scratch, options.limits ?? limits);
    for (let i = 0; i < runs && !stopped(); i++) {
      const judgedRun = await tryOnce(bug, { target, scratch, sessions, ...(signal && { signal }) });
      if (!stopped()) judged.push({ judgement: judgeRun(judgedRun, bug), history: judgedRun.history });
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

interface JudgedAgain {
  readonly judgement: Judgement;
  /** As the author of the case knows it. */
  readonly history: History;
}

async function tryOnce(bug: Bug, place: RunPlace): Promise<JudgedHistory> {
  const { case: program, schedule, level, finding } = bug;
  const contract =
    finding.contract === undefined ? vendorContract(place.target, level) : findContract(finding.contract);
  let judged: JudgedHistory | undefined;
  for (const oracle of formsOf(bug, place.target)) {
    judged = await runAndJudge(
      { case: program, schedule, level, oracle, ...(contract !== undefined && { contract }) },
      place,
    );
    if (judged.findings.some((found) => found.oracle === finding.oracle)) break;
  }
  return judged!;
}

/** The oracles that can show the bug, each with what it makes of the case. */
function formsOf({ finding, level }: Bug, target: Target): readonly OracleName[] {
  if (findOracle(finding.oracle)?.needs.run !== 'any') return [finding.oracle];
  const contract = vendorContract(target, level);
  return contract === undefined
    ? [finding.oracle]
    : [finding.oracle, ...oraclesFor(contract).flatMap(({ name, prepare }) => (prepare ? [name] : []))];
}

function summarize(judged: readonly JudgedAgain[]): RerunResult {
  const alive = judged.filter(({ judgement }) => judgement.outcome === 'alive');
  const telling =
    alive[0] ?? judged.find(({ judgement }) => judgement.outcome === 'changed') ?? judged.at(-1);
  if (telling === undefined) return { outcome: 'not-run', why: 'it was stopped', shown: 0, runs: 0 };
  const { judgement, history } = telling;
  return { ...judgement, shown: alive.length, runs: judged.length, history };
}

function whyUnfit(bug: Bug, target: Target): string | undefined {
  const { oracle, contract: id } = bug.finding;
  if (findOracle(oracle) === undefined) return `there is no oracle ${oracle}, which found it`;
  const contract = id === undefined ? undefined : findContract(id);
  if (contract === undefined && !isServerFailure(bug.finding))
    return `the contract it breaks (${id ?? 'none is named'}) is not known, so nobody can judge it`;
  const dialect = bug.case.dialect ?? bug.history.header.dialect;
  if (dialect !== undefined && dialect !== target.dialect) {
    return `its SQL is written for ${dialect}, ${target.name} speaks ${target.dialect}`;
  }
  const wanted = [bug.level, ...bug.case.sessions.flatMap(({ level }) => level ?? [])];
  const missing = wanted.find((level) => !target.levels.some((offered) => offered.level === level));
  return missing === undefined ? undefined : `${target.name} has no level ${missing}`;
}

/**
 * Runs probe cases on every level of a target, judges each, and compares the verdicts with the contract that
 * the target's vendor gives for that level.
 */
import { type ScheduledCase, spellBegins } from '../cases/index.js';
import { type Anomaly, findContract, type Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type RunOptions, runScheduled, SessionPool } from '../execute/index.js';
import type { History, TargetStamp } from '../histories/index.js';
import type { Scratch, Target, TargetLevel } from '../targets/index.js';
import { probeCases } from './cases/index.js';
import { judge, type Verdict } from './judge.js';
import type { ProbeCase } from './probe-case.js';

export interface ProbeResult {
  /** The id of the probe case. */
  readonly case: string;
  readonly anomaly: Anomaly;
  readonly verdict: Verdict;
  readonly reason: string;
  /** The vendor contract of this level forbids the anomaly. */
  readonly forbidden: boolean;
  /** It is forbidden and happened. */
  readonly violation: boolean;
  readonly history: History;
}

export interface ProbeLevel {
  readonly level: Level;
  /** The vendor contract compared with, as the target names it. */
  readonly contract: string;
  /** False: Isolde has no contract of that id, so nothing counts as forbidden. */
  readonly contractKnown: boolean;
  readonly results: readonly ProbeResult[];
}

export interface ProbeReport {
  readonly target: TargetStamp;
  readonly levels: readonly ProbeLevel[];
  /** The run was stopped, or failed, before every case was run. */
  readonly stopped: boolean;
  /** What made it fail: the server died, the scratch could not be reset. What is judged stays valid. */
  readonly failure?: string;
}

export interface ProbeProgress {
  readonly level: Level;
  readonly case: string;
  readonly done: number;
  readonly total: number;
}

export interface ProbeOptions {
  /** Default: every level of the target. */
  readonly levels?: readonly Level[];
  /** Default: every case. */
  readonly cases?: readonly ProbeCase[];
  /** Only cases of these anomalies. */
  readonly anomalies?: readonly Anomaly[];
  readonly onProgress?: (progress: ProbeProgress) => void;
  /** Stops early and keeps what is judged so far. */
  readonly signal?: AbortSignal;
  readonly statementTimeoutMs?: number;
  /** Default 2 s: long enough for every wait a probe case is made to end by itself. */
  readonly lockTimeoutMs?: number;
  /** The executor; tests pass their own. */
  readonly execute?: (scratch: Scratch, scheduled: ScheduledCase, options: RunOptions) => Promise<History>;
}

/**
 * Probes a target. The report is plain data; `renderMatrix` and its siblings show it. Rejects when nothing could be
 * judged; a database lost on the way ends the report early (`failure`).
 */
export async function runProbe(target: Target, options: ProbeOptions = {}): Promise<ProbeReport> {
  const levels = chooseLevels(target, options.levels);
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, {
    statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
    lockTimeoutMs: options.lockTimeoutMs ?? 2_000,
  });
  const judged = levels.map(() => [] as ProbeResult[]);
  let thrown: { readonly error: unknown } | undefined;
  try {
    await probeLevels({ target, scratch, sessions, levels, judged, options });
  } catch (error) {
    thrown = { error };
  }
  await sessions.close();
  // After a failure the server may be gone and the scratch with it: the first error is the one to report.
  await scratch.drop().catch((error: unknown) => {
    thrown ??= { error };
  });
  const failure = failureText(thrown, judged.flat().length > 0);
  return {
    target: target.stamp,
    levels: levels.map(({ level, contract }, i) => ({
      level,
      contract,
      contractKnown: findContract(contract) !== undefined,
      results: judged[i]!,
    })),
    stopped: options.signal?.aborted === true || failure !== undefined,
    ...(failure !== undefined && { failure }),
  };
}

/** Runs and judges case after case; results go to `judged`, one list per level. */
async function probeLevels(job: {
  readonly target: Target;
  readonly scratch: Scratch;
  readonly sessions: SessionPool;
  readonly levels: readonly TargetLevel[];
  readonly judged: readonly ProbeResult[][];
  readonly options: ProbeOptions;
}): Promise<void> {
  const { target, scratch, sessions, levels, judged, options } = job;
  const { signal, execute = runScheduled } = options;
  const cases = (options.cases ?? probeCases).filter(
    (probe) => options.anomalies?.includes(probe.anomaly) ?? true,
  );
  let done = 0;
  for (const [i, { level, contract, begin }] of levels.entries()) {
    for (const probe of cases) {
      if (signal?.aborted) return;
      options.onProgress?.({ level, case: probe.id, done, total: levels.length * cases.length });
      const spelt = { ...probe, case: spellBegins(probe.case, begin) };
      const history = await execute(scratch, spelt, { target, level, sessions, ...(signal && { signal }) });
      if (!signal?.aborted) judged[i]!.push(compare(probe, history, contract));
      done++;
    }
  }
}

/** The message of a broken environment when there is something to keep; any other error is thrown on. */
function failureText(thrown: { readonly error: unknown } | undefined, keep: boolean): string | undefined {
  if (thrown === undefined) return undefined;
  if (keep && thrown.error instanceof IsoldeError) return thrown.error.message;
  throw thrown.error;
}

function chooseLevels(target: Target, wanted: readonly Level[] | undefined): readonly TargetLevel[] {
  const missing = wanted?.find((level) => !target.levels.some((offered) => offered.level === level));
  if (missing !== undefined) {
    const offered = target.levels.map(({ level }) => level).join(', ');
    throw new IsoldeError('usage', `${target.name} has no level "${missing}"; it has ${offered}`);
  }
  return target.levels.filter(({ level }) => wanted?.includes(level) ?? true);
}

function compare(probe: ProbeCase, history: History, contract: string): ProbeResult {
  const { verdict, reason } = judge(probe, history);
  const forbidden = findContract(contract)?.forbids.includes(probe.anomaly) ?? false;
  return {
    case: probe.id,
    anomaly: probe.anomaly,
    verdict,
    reason,
    forbidden,
    violation: forbidden && verdict === 'allowed',
    history,
  };
}

/** What a whole report comes to: a violation, else something undecided, else neither. */
export function probeOutcome(report: ProbeReport): 'violation' | 'unknown' | 'kept' {
  const results = report.levels.flatMap((level) => level.results);
  if (results.some((result) => result.violation)) return 'violation';
  return report.stopped || results.some((result) => result.verdict === 'unknown') ? 'unknown' : 'kept';
}

/**
 * Runs probe cases on every level of a target, judges each, and compares the verdicts with the contract that
 * the target's vendor gives for that level.
 */
import type { ScheduledCase } from '../cases/index.js';
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
  /** The run was stopped before every case was run. */
  readonly stopped: boolean;
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

/** Probes a target. The report is plain data; `renderMatrix` and its siblings show it. */
export async function runProbe(target: Target, options: ProbeOptions = {}): Promise<ProbeReport> {
  const levels = chooseLevels(target, options.levels);
  const cases = (options.cases ?? probeCases).filter(
    (probe) => options.anomalies?.includes(probe.anomaly) ?? true,
  );
  const total = levels.length * cases.length;
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, {
    statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
    lockTimeoutMs: options.lockTimeoutMs ?? 2_000,
  });
  const report: ProbeLevel[] = [];
  let done = 0;
  try {
    for (const { level, contract } of levels) {
      const results: ProbeResult[] = [];
      for (const probe of cases) {
        if (options.signal?.aborted) break;
        options.onProgress?.({ level, case: probe.id, done, total });
        const run = { target, level, sessions, ...(options.signal && { signal: options.signal }) };
        const history = await (options.execute ?? runScheduled)(scratch, probe, run);
        if (!options.signal?.aborted) results.push(compare(probe, history, contract));
        done++;
      }
      report.push({ level, contract, contractKnown: findContract(contract) !== undefined, results });
    }
  } finally {
    await sessions.close();
    await scratch.drop();
  }
  return { target: target.stamp, levels: report, stopped: options.signal?.aborted === true };
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

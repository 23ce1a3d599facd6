/**
 * What a reduction starts from: a case that shows something, or a recorded history with a finding. `reduce` does all of it, from
 * opening the database to the smallest case.
 *
 * - A case is run for one oracle after another until one finds something; that oracle judges the trials.
 * - A history is checked as it was recorded, translated for the target where another engine recorded it, and its order inferred.
 */
import type { ScheduledCase } from '../cases/index.js';
import { type CheckResult, check, type OracleName, oraclesFor } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { vendorContractAt } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import { DatabaseOracle, type DatabaseOracleOptions } from './database-oracle.js';
import { type RawFinding, rawFinding } from './from-history.js';
import { type FindingOptions, type FindingOutcome, reduceFinding, reduceRaw } from './reduce-finding.js';
import { historyContract, translateHistory } from './translate-history.js';
import { unlessStopped } from './trials.js';

export interface Asked {
  /** Default: all that can judge by the contract, one after another. */
  readonly oracle?: OracleName;
  readonly contract?: Contract;
  readonly level?: Level;
}

/** A subject that shows a finding, with the oracle set to judge it. */
export interface Subject {
  readonly candidate: Candidate;
  /** The finding of a history, which trials must show again. */
  readonly raw?: RawFinding;
}

/** It shows none; what could not be judged may hide one. */
export interface NoSubject {
  readonly valid: boolean | 'unknown';
  readonly unknownReasons: readonly string[];
}

/** A history as it can be run on a target, and the contract it is held to. */
export interface ReplayableHistory {
  readonly history: History;
  readonly contract: Contract;
  /** What the translation changed, and what it could not bring about. */
  readonly notes: readonly string[];
}

export function replayableHistory(
  { header, operations }: History,
  target: Target,
  asked: Pick<Asked, 'contract' | 'level'> = {},
): ReplayableHistory {
  const recorded: History = {
    header: {
      ...header,
      dialect: header.dialect ?? target.dialect,
      level: asked.level ?? header.level ?? target.defaultLevel,
    },
    operations,
  };
  const contract = asked.contract ?? historyContract(recorded, target);
  return { contract, ...translateHistory(recorded, contract, target) };
}

/** The subject of a recorded history, and what its oracle said of it. */
export function subjectOfHistory(
  { history, contract }: Pick<ReplayableHistory, 'history' | 'contract'>,
  oracle: DatabaseOracle,
): Subject | NoSubject {
  const result: CheckResult = check(history, contract);
  const raw = rawFinding(history, contract, result.findings);
  if (raw === undefined) return result;
  oracle.judgeBy({ contract, oracle: result.oracle });
  return { candidate: raw.candidate, raw };
}

/** The subject of a case: the first oracle that finds something judges the trials. */
export async function subjectOfCase(
  scheduled: ScheduledCase,
  oracle: DatabaseOracle,
  asked: Asked = {},
): Promise<Subject | NoSubject> {
  const found = await unlessStopped(lookAtCase(scheduled, oracle, asked));
  if (found !== 'stopped') return found;
  return { valid: 'unknown', unknownReasons: ['it was interrupted before anything was known'] };
}

async function lookAtCase(
  scheduled: ScheduledCase,
  oracle: DatabaseOracle,
  asked: Asked,
): Promise<Subject | NoSubject> {
  const candidate = candidateOf(scheduled);
  const { target } = oracle;
  const level = candidate.case.level ?? asked.level ?? target.defaultLevel;
  const contract = asked.contract ?? vendorContractAt(target, level);
  const names = asked.oracle === undefined ? oraclesFor(contract).map(({ name }) => name) : [asked.oracle];
  const unknownReasons = new Set<string>();
  for (const name of names) {
    // The vendor's contract is not fixed: a reduction may try other levels, which have contracts of their own.
    oracle.judgeBy({ oracle: name, ...(asked.contract !== undefined && { contract }) });
    const observed = await oracle.observe(candidate);
    if (observed.findings.length > 0) return { candidate };
    for (const reason of observed.unknownReasons ?? []) unknownReasons.add(reason);
  }
  return { valid: unknownReasons.size > 0 ? 'unknown' : true, unknownReasons: [...unknownReasons] };
}

export interface ReduceOptions
  extends Asked,
    Omit<DatabaseOracleOptions, 'oracle' | 'contract' | 'level'>,
    Omit<FindingOptions, 'oracle' | 'seen' | 'signal'> {}

export type ReduceOutcome = FindingOutcome | ({ readonly kind: 'nothing-found' } & NoSubject);

/** Reduces what a case or a history shows to the fewest statements that still show it. */
export async function reduce(
  subject: ScheduledCase | History,
  options: ReduceOptions,
): Promise<ReduceOutcome> {
  const { oracle: _, ...rest } = options;
  const oracle = await DatabaseOracle.open(rest);
  try {
    const found =
      'operations' in subject
        ? subjectOfHistory(replayableHistory(subject, oracle.target, options), oracle)
        : await subjectOfCase(subject, oracle, options);
    if ('valid' in found) return { kind: 'nothing-found', ...found };
    return await reduceSubject(found, { ...rest, oracle });
  } finally {
    await oracle.close();
  }
}

export function reduceSubject({ candidate, raw }: Subject, options: FindingOptions): Promise<FindingOutcome> {
  return raw === undefined ? reduceFinding(candidate, options) : reduceRaw(raw, options);
}

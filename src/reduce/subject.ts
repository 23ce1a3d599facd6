/**
 * What a reduction starts from: a case that shows something, or a recorded history with a finding. `reduce` does all of it, from
 * opening the database to the smallest case.
 *
 * - A case is looked at as by every command (`judge/look-at-case.ts`): one oracle after another, until one finds something; that one judges the
 *   trials. A case without a schedule runs freely, and the order of the run that shows something is inferred.
 * - A history is checked as it was recorded, translated for the target where another engine recorded it, and its order inferred.
 */
import type { ScheduledCase } from '../cases/index.js';
import { type CheckResult, check } from '../check/index.js';
import type { Contract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { type Asked, lookAtCase } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { type Candidate, candidateOf } from './candidate.js';
import { DatabaseOracle, type DatabaseOracleOptions } from './database-oracle.js';
import { type RawFinding, rawFinding } from './from-history.js';
import { type FindingOptions, type FindingOutcome, reduceFinding, reduceRaw } from './reduce-finding.js';
import { historyContract, translateHistory } from './translate-history.js';

/** A subject that shows a finding, with the oracle set to judge it. */
export interface Subject {
  readonly candidate: Candidate;
  /** The finding of a history or of a free run, which trials must show again. */
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

/**
 * The subject of a case: the first oracle that finds something judges the trials. What a free run shows has no order yet; it is inferred, as that
 * of a recorded history.
 */
export async function subjectOfCase(
  scheduled: ScheduledCase,
  oracle: DatabaseOracle,
  asked: Asked = {},
): Promise<Subject | NoSubject> {
  const { target, signal } = oracle;
  const look = await lookAtCase(scheduled, asked, { target, signal, observe: oracle.look });
  if (look.kind === 'nothing') return { valid: look.valid, unknownReasons: look.unknownReasons };
  const { contract, order, history, findings } = look;
  // The vendor's contract is not fixed: a reduction may try other levels, which have contracts of their own.
  oracle.judgeBy({ oracle: look.oracle, ...(asked.contract !== undefined && { contract }) });
  if (scheduled.schedule !== undefined) return { candidate: candidateOf(scheduled) };
  const raw = rawFinding(history, order, findings)!;
  return { candidate: raw.candidate, raw };
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

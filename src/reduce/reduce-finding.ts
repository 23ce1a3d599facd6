/**
 * Reduces a finding on a database: runs the case, finds out what is wrong with it (or checks that it is what was
 * expected), and hands the operations the finding names to the reduction.
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';
import { modelOf, type Subset } from './case-model.js';
import type { DatabaseOracle, Judge } from './database-oracle.js';
import { type ReductionOptions, type ReductionResult, reduceCase } from './reduce.js';
import { sqlAccesses } from './sql-accesses.js';
import type { TrialResult } from './trial.js';

export interface FindingOptions
  extends Omit<ReductionOptions, 'oracle' | 'witness' | 'dependencies' | 'context'> {
  readonly oracle: DatabaseOracle;
  /** The finding to reduce, by its identity; default: the first the case shows. */
  readonly wanted?: string;
}

export type FindingOutcome =
  | { readonly kind: 'reduced'; readonly finding: Finding; readonly result: ReductionResult }
  /** The case shows no finding at all. */
  | { readonly kind: 'no-finding'; readonly history: History }
  /** The case shows a finding, or none, but not the one that was wanted; or not every time. */
  | { readonly kind: 'not-reproduced'; readonly history: History; readonly trial: TrialResult };

export async function reduceFinding(start: Candidate, options: FindingOptions): Promise<FindingOutcome> {
  const { oracle, wanted } = options;
  const judge = oracle.judge;
  const { history, findings } = await oracle.observe(start);
  const finding = chooseFinding(findings, history, judge, wanted);
  if (finding === undefined) {
    if (wanted === undefined) return { kind: 'no-finding', history };
    const trial: TrialResult =
      findings[0] === undefined ? { verdict: 'none' } : { verdict: 'another', finding: findings[0] };
    return { kind: 'not-reproduced', history, trial };
  }
  oracle.lookFor(judge.identity(finding, history));
  const { dialect, levels } = oracle.target;
  const reduced = await reduceCase(start, {
    ...options,
    witness: witnessOf(finding, history, start),
    dependencies: (model) => sqlAccesses(model, dialect, history),
    context: { dialect, levels: levels.map(({ level }) => level), level: history.header.level },
  });
  if ('notReproduced' in reduced) {
    return { kind: 'not-reproduced', history, trial: reduced.notReproduced };
  }
  return { kind: 'reduced', finding, result: reduced };
}

/** The wanted finding, or the one that rests on fewest operations. */
function chooseFinding(
  findings: readonly Finding[],
  history: History,
  judge: Judge,
  wanted: string | undefined,
): Finding | undefined {
  const fitting =
    wanted === undefined
      ? findings
      : findings.filter((finding) => judge.identity(finding, history) === wanted);
  return fitting.toSorted((a, b) => a.operations.length - b.operations.length)[0];
}

/** The operations a finding names, by their number in the case's model. */
export function witnessOf(finding: Finding, history: History, start: Candidate): Subset {
  const model = modelOf(start);
  const indexes = [
    ...finding.operations.map(({ index }) => index),
    ...(finding.versions ?? []).map(({ operation }) => operation),
    ...(finding.cycle ?? []).flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
  ];
  const byIndex = new Map(history.operations.map((operation) => [operation.index, operation.statement]));
  const ids = indexes.flatMap((index) => {
    const ref = index === undefined ? undefined : byIndex.get(index);
    return ref === undefined ? [] : [model.operationOf(ref)];
  });
  return [...new Set(ids.filter((id) => id >= 0))].sort((a, b) => a - b);
}

/**
 * Reduces a finding: runs the case, finds out what is wrong with it (or checks that it is what was
 * expected), decides what to look for (`followed.ts`), and hands the operations the finding names to the reduction.
 */
import { type Finding, focusFinding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';
import { type CaseModel, modelOf, type Subset } from './case-model.js';
import { followedFinding } from './followed.js';
import { type ReductionOptions, type ReductionResult, reduceCase } from './reduce.js';
import { sqlAccesses } from './sql-accesses.js';
import { surroundingsOf } from './surroundings.js';
import type { FindingOracle, TrialResult } from './trial.js';

export interface FindingOptions
  extends Omit<ReductionOptions, 'oracle' | 'witness' | 'dependencies' | 'context' | 'about'> {
  readonly oracle: FindingOracle;
  /** A run that shows the finding, if there was one already; without it the case is run first. */
  readonly seen?: SeenFinding;
}

/** A finding and the run that shows it; the run's operations name statements of the case. */
export interface SeenFinding {
  readonly finding: Finding;
  readonly history: History;
}

export type FindingOutcome =
  /** `finding` is the one that was followed; `seen` what the raw run showed of it, if that is not the same. */
  | {
      readonly kind: 'reduced';
      readonly finding: Finding;
      readonly seen?: Finding;
      readonly result: ReductionResult;
    }
  /** The case shows no finding at all. */
  | { readonly kind: 'no-finding'; readonly history: History }
  /** The case does not show the finding that was seen before, or not every time. */
  | { readonly kind: 'not-reproduced'; readonly trial: TrialResult };

export async function reduceFinding(start: Candidate, options: FindingOptions): Promise<FindingOutcome> {
  const { oracle } = options;
  let { seen } = options;
  if (seen === undefined) {
    const { history, findings } = await oracle.observe(start);
    const finding = chooseFinding(findings);
    if (finding === undefined) return { kind: 'no-finding', history };
    seen = { finding, history };
  }
  const { history } = seen;
  const { name, dialect, levels } = oracle.subject;
  const witness = witnessOf(focusFinding(seen.finding), history, start);
  const dependencies = (model: CaseModel) => sqlAccesses(model, dialect, history);
  // Who says that the start shows the finding has seen it in a run by schedule.
  const isRaw = options.seen !== undefined && options.startShows !== true;
  const { finding, identity } = isRaw
    ? await followedFinding(
        seen,
        surroundingsOf(modelOf(start), witness, dependencies),
        oracle,
        options.signal,
      )
    : { finding: seen.finding, identity: oracle.identity(seen.finding, history) };
  oracle.lookFor(identity);
  const reduced = await reduceCase(start, {
    ...options,
    about: JSON.stringify([identity, finding.contract, history.header.level, name]),
    ...{ witness, dependencies },
    context: { dialect, levels, level: history.header.level },
  });
  if ('notReproduced' in reduced) return { kind: 'not-reproduced', trial: reduced.notReproduced };
  const outcome = { kind: 'reduced', finding, result: reduced } as const;
  return finding === seen.finding ? outcome : { ...outcome, seen: seen.finding };
}

/** The finding whose last operation is earliest: what comes later may be its consequence. */
export function chooseFinding(findings: readonly Finding[]): Finding | undefined {
  const last = ({ operations }: Finding) => Math.max(...operations.map(({ index }) => index));
  return findings.toSorted((a, b) => last(a) - last(b) || a.operations.length - b.operations.length)[0];
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

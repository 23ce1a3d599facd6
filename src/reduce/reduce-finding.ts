/**
 * Reduces a finding: runs the case, finds out what is wrong with it (or checks that it is what was
 * expected), decides what to look for (`followed.ts`), and hands the operations the finding names to the reduction.
 */
import { type Finding, focusOf } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';
import { type CaseModel, modelOf } from './case-model.js';
import { followedFinding } from './followed.js';
import { orderThatShows, type RawFinding } from './from-history.js';
import { type ReductionOptions, type ReductionResult, reduceCase } from './reduce.js';
import { chooseFinding, type SeenFinding, witnessOf } from './seen-finding.js';
import { sqlAccesses } from './sql-accesses.js';
import { surroundingsOf } from './surroundings.js';
import type { FindingOracle, TrialResult } from './trial.js';
import { unlessStopped } from './trials.js';

export interface FindingOptions
  extends Omit<ReductionOptions, 'oracle' | 'witness' | 'dependencies' | 'context' | 'about'> {
  readonly oracle: FindingOracle;
  /** A run that shows the finding, if there was one already; without it the case is run first. */
  readonly seen?: SeenFinding;
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
  | {
      readonly kind: 'no-finding';
      readonly history: History;
      /** What could not be judged, so that it may hide one. */
      readonly unknownReasons: readonly string[];
    }
  /** Interrupted before anything was known. */
  | { readonly kind: 'stopped' }
  /** The case does not show the finding that was seen before, or not every time. */
  | { readonly kind: 'not-reproduced'; readonly trial: TrialResult };

/**
 * Reduces what a raw history shows. If the inferred order does not bring the finding back, another one is learnt from
 * replays, as `reproduce` does, and the reduction begins with that.
 */
export async function reduceRaw(raw: RawFinding, options: FindingOptions): Promise<FindingOutcome> {
  const outcome = await reduceFinding(raw.candidate, { ...options, seen: raw });
  if (outcome.kind !== 'not-reproduced') return outcome;
  const learnt = await unlessStopped(orderThatShows(raw, options.oracle, options.signal));
  if (learnt === undefined) return outcome;
  if (learnt === 'stopped') return { kind: 'stopped' };
  const { candidate, ...seen } = learnt;
  return reduceFinding(candidate, { ...options, seen, startShows: true });
}

export async function reduceFinding(start: Candidate, options: FindingOptions): Promise<FindingOutcome> {
  const outcome = await unlessStopped(reduceStart(start, options));
  return outcome === 'stopped' ? { kind: 'stopped' } : outcome;
}

async function reduceStart(start: Candidate, options: FindingOptions): Promise<FindingOutcome> {
  const { oracle } = options;
  let { seen } = options;
  if (seen === undefined) {
    const { history, findings, unknownReasons = [] } = await oracle.observe(start);
    const finding = chooseFinding(findings);
    if (finding === undefined) return { kind: 'no-finding', history, unknownReasons };
    seen = { finding, history };
  }
  const { history } = seen;
  const { name, dialect, levels } = oracle.subject;
  const witness = witnessOf(focusOf(seen.finding), history, start);
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

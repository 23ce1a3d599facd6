/** All strategies on one case, side by side, and next to them a case somebody else reduced. */
import type { Candidate } from './candidate.js';
import { sizeOf } from './candidate.js';
import { operationRemovals } from './passes/index.js';
import { type FindingOptions, reduceFinding } from './reduce-finding.js';
import { renderTable } from './render.js';
import { type StrategyName, strategies } from './strategies/index.js';
import { Trials } from './trials.js';

export interface ComparedRow {
  readonly name: string;
  readonly trials?: number;
  readonly accepted?: number;
  readonly redundant?: number;
  readonly seconds?: number;
  readonly operations: number;
  readonly transactions: number;
  /** undefined: not known (interrupted). */
  readonly minimal?: boolean;
  readonly sameFinding: boolean;
}

/**
 * Removes operations by every strategy, without the passes that simplify what is left; then tries the other case.
 * The start is known to show the finding.
 */
export async function compareStrategies(
  start: Candidate,
  options: FindingOptions & { readonly against?: { readonly name: string; readonly candidate: Candidate } },
): Promise<ComparedRow[]> {
  const rows: ComparedRow[] = [];
  for (const strategy of Object.keys(strategies) as StrategyName[]) {
    const outcome = await reduceFinding(start, { ...options, strategy, operationsOnly: true });
    if (outcome.kind !== 'reduced') continue;
    const { result } = outcome;
    const { counts, seconds, operations, transactions } = result.afterStrategy ?? result;
    const { trials, accepted, redundant } = counts;
    const interrupted = result.afterStrategy === undefined;
    rows.push({
      name: strategy,
      ...{ trials, accepted, redundant, seconds, operations, transactions },
      ...(!interrupted && { minimal: result.minimal }),
      sameFinding: result.sameFinding,
    });
    if (options.signal?.aborted === true) return rows;
  }
  if (options.against !== undefined)
    rows.push(await tried(options.against.name, options.against.candidate, options));
  return rows;
}

/** Somebody else's result: does it show the finding, and can an operation still go? */
async function tried(
  name: string,
  candidate: Candidate,
  { oracle, signal }: FindingOptions,
): Promise<ComparedRow> {
  const { operations, transactions } = sizeOf(candidate.case);
  const trials = new Trials(candidate, { oracle, ...(signal !== undefined && { signal }) });
  const sameFinding = await trials.test(candidate);
  const removals = operationRemovals(candidate);
  const removable = sameFinding ? await trials.find(removals.length, (i) => removals[i]!()) : undefined;
  await trials.drain();
  return {
    name,
    operations,
    transactions,
    ...(sameFinding && { minimal: removable === undefined }),
    sameFinding,
  };
}

export function renderComparison(rows: readonly ComparedRow[]): string {
  const number = (value: number | undefined, digits = 0) => value?.toFixed(digits) ?? '';
  const yes = (value: boolean | undefined) => (value === undefined ? '?' : value ? 'yes' : 'no');
  return renderTable([
    [
      '',
      'trials',
      'accepted',
      'redundant',
      'seconds',
      'operations',
      'transactions',
      'minimal',
      'same finding',
    ],
    ...rows.map((row) => [
      row.name,
      number(row.trials),
      number(row.accepted),
      number(row.redundant),
      number(row.seconds, 1),
      number(row.operations),
      number(row.transactions),
      yes(row.minimal),
      yes(row.sameFinding),
    ]),
  ]);
}

/** What every strategy gets and gives: operations in, fewer operations out, trials in between. */
import { type CaseModel, restrictTo, type Subset } from '../case-model.js';
import type { Surroundings } from '../surroundings.js';
import type { Trials } from '../trials.js';

export type StrategyName = 'witness' | 'pisco' | 'ddmin' | 'creduce';

export interface Problem extends Surroundings {
  readonly trials: SubsetTrials;
  /** Makes sure that all of the case shows the finding; ends the reduction if it does not. May be costly. */
  readonly checkStart: () => Promise<void>;
}

/** Trials over subsets of one case's operations. */
export interface SubsetTrials {
  /** Whether the subset shows the finding. `ahead`: what is asked next if not. */
  test(keep: Subset, ahead?: readonly (() => Subset)[]): Promise<boolean>;
  /** The number of the first subset, in order, that shows it; −1: none. */
  first(count: number, make: (i: number) => Subset): Promise<number>;
}

export interface Strategy {
  readonly name: StrategyName;
  /** What it can no longer remove one at a time when it is done. */
  readonly granularity: 'operations' | 'transactions';
  /** A subset that shows the finding, none of whose parts (of its granularity) can go alone. */
  reduce(problem: Problem): Promise<Subset>;
}

/** Subsets tried as cases. */
export function subsetTrials(model: CaseModel, trials: Trials): SubsetTrials {
  return {
    test: (keep, ahead = []) =>
      trials.test(
        restrictTo(model, keep),
        ahead.map((make) => () => restrictTo(model, make())),
      ),
    first: (count, make) => trials.first(count, (i) => restrictTo(model, make(i))),
  };
}

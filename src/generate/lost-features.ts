/**
 * What an engine could do in an earlier build and cannot do now, told by the answers of a run.
 *
 * 1. A refused statement blames the features of it that worked nowhere in this run.
 * 2. If all of these worked in an earlier build, one of them is lost; if one never worked, it may be to blame, and nothing follows.
 * 3. The feature that most of these statements share is taken for the lost one, until all are explained. Two refusals are wanted for
 *    each: engines refuse some combinations of features that each work, and a single statement may be such a combination.
 */
import { type Dialect, parseStatement } from '../sql/index.js';
import type { Feature } from './features.js';
import type { Evidence } from './learn.js';
import { featuresOf } from './statement-features.js';

export interface LostFeature {
  readonly feature: Feature;
  /** Statements that were refused for it. */
  readonly refused: number;
  /** The shortest of them. */
  readonly example: string;
}

const enoughRefusals = 2;

export class FeatureLog {
  readonly #worked = new Set<Feature>();
  readonly #refused = new Map<string, readonly Feature[]>();

  constructor(readonly dialect: Dialect) {}

  add({ worked, refused }: Evidence): void {
    for (const sql of worked) for (const feature of this.#features(sql)) this.#worked.add(feature);
    for (const sql of refused) this.#refused.set(sql, this.#features(sql));
  }

  /** Of these features, those that are lost: the fewest that explain the refusals. */
  lost(before: readonly Feature[]): LostFeature[] {
    const had = new Set(before);
    let open = [...this.#refused]
      .map(([sql, features]) => ({ sql, suspects: features.filter((each) => !this.#worked.has(each)) }))
      .filter(({ suspects }) => suspects.length > 0 && suspects.every((each) => had.has(each)));
    const found: LostFeature[] = [];
    while (open.length > 0) {
      const feature = mostFrequent(open.map(({ suspects }) => suspects));
      const blaming = open.filter(({ suspects }) => suspects.includes(feature)).map(({ sql }) => sql);
      open = open.filter(({ suspects }) => !suspects.includes(feature));
      const [example] = blaming.sort((one, other) => one.length - other.length);
      if (blaming.length >= enoughRefusals)
        found.push({ feature, refused: blaming.length, example: example! });
    }
    return found;
  }

  #features(sql: string): readonly Feature[] {
    return featuresOf(parseStatement(sql, this.dialect), this.dialect);
  }
}

/** The first of equals: features are found from the statement's kind inwards, and a kind that is gone takes what is in it along. */
function mostFrequent(sets: readonly (readonly Feature[])[]): Feature {
  const counts = new Map<Feature, number>();
  for (const each of sets.flat()) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}

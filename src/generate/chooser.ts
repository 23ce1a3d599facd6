/** Draws features by weight: the one place where profile and capabilities meet. */
import type { Capabilities } from './capabilities.js';
import { type Feature, featureGroups, type GroupName, type OptionOf, optionsOf } from './features.js';
import type { Profile } from './profile.js';
import type { Random } from './random.js';

export class Chooser {
  /** By group and option; what the target refuses weighs nothing. Drawing is the hot path: no names are joined there. */
  readonly #weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly #refused: ReadonlySet<string>;

  constructor(
    readonly random: Random,
    readonly profile: Profile,
    readonly capabilities: Capabilities,
  ) {
    this.#refused = new Set(capabilities.unsupported);
    const groups = Object.keys(featureGroups) as GroupName[];
    this.#weights = Object.fromEntries(
      groups.map((group) => {
        const weights = optionsOf(group).map((option) => {
          const feature = `${group}.${option}` as Feature;
          return [option, this.#refused.has(feature) ? 0 : profile.weights[feature]] as const;
        });
        return [group, Object.fromEntries(weights)];
      }),
    );
  }

  /** The weight of a feature on this target. */
  weight(feature: Feature): number {
    const dot = feature.indexOf('.');
    return this.#weights[feature.slice(0, dot)]![feature.slice(dot + 1)]!;
  }

  /** One option of a group. `among`: those that fit here; when all of them weigh nothing, the first not refused. */
  one<G extends GroupName>(group: G, among: readonly OptionOf<G>[] = optionsOf(group)): OptionOf<G> {
    const weights = this.#weights[group]!;
    const position =
      this.random.weighted(among.map((option) => weights[option]!)) ??
      among.findIndex((option) => !this.#refused.has(`${group}.${option}`));
    return among[Math.max(position, 0)]!;
  }

  chance(feature: Feature): boolean {
    return this.random.chance(this.weight(feature));
  }
}

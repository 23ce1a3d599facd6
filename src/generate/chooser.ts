/** Draws features by weight: the one place where profile and capabilities meet. */
import type { Capabilities } from './capabilities.js';
import { type Feature, type GroupName, type OptionOf, optionsOf } from './features.js';
import type { Profile } from './profile.js';
import type { Random } from './random.js';

export class Chooser {
  readonly #refused: ReadonlySet<string>;

  constructor(
    readonly random: Random,
    readonly profile: Profile,
    readonly capabilities: Capabilities,
  ) {
    this.#refused = new Set(capabilities.unsupported);
  }

  /** The weight of a feature on this target. */
  weight(feature: Feature): number {
    return this.#refused.has(feature) ? 0 : this.profile.weights[feature];
  }

  /** One option of a group. `among`: those that fit here; when all of them weigh nothing, the first. */
  one<G extends GroupName>(group: G, among: readonly OptionOf<G>[] = optionsOf(group)): OptionOf<G> {
    const weights = among.map((option) => this.weight(`${group}.${option}` as Feature));
    const position =
      this.random.weighted(weights) ?? among.findIndex((o) => !this.#refused.has(`${group}.${o}`));
    return among[Math.max(position, 0)]!;
  }

  chance(feature: Feature): boolean {
    return this.random.chance(this.weight(feature));
  }
}

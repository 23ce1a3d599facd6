/** Draws features by weight: the one place where profile and capabilities meet. */
import type { Capabilities } from './capabilities.js';
import { type Feature, featureGroups, type GroupName, type OptionOf, optionsOf } from './features.js';
import type { Profile } from './profile.js';
import type { Random } from './random.js';

/** What the target refuses weighs nothing. */
interface EffectiveWeights {
  readonly flat: Readonly<Record<Feature, number>>;
  /** By group and option: drawing is the hot path, so no names are joined there. */
  readonly grouped: Readonly<Record<GroupName, Readonly<Record<string, number>>>>;
}

/** A hunt draws thousands of cases from a few profiles. */
const prepared = new WeakMap<Capabilities, WeakMap<Profile, EffectiveWeights>>();

function effectiveWeights(profile: Profile, capabilities: Capabilities): EffectiveWeights {
  const byProfile = prepared.get(capabilities) ?? new WeakMap<Profile, EffectiveWeights>();
  prepared.set(capabilities, byProfile);
  const known = byProfile.get(profile);
  if (known !== undefined) return known;
  const refused = capabilities.unsupported.map((feature) => [feature, 0] as const);
  const flat = { ...profile.weights, ...Object.fromEntries(refused) };
  const grouped = Object.fromEntries(
    (Object.keys(featureGroups) as GroupName[]).map((group) => [
      group,
      Object.fromEntries(optionsOf(group).map((option) => [option, flat[`${group}.${option}` as Feature]])),
    ]),
  ) as EffectiveWeights['grouped'];
  const weights = { flat, grouped };
  byProfile.set(profile, weights);
  return weights;
}

export class Chooser {
  readonly #weights: EffectiveWeights;

  constructor(
    readonly random: Random,
    readonly profile: Profile,
    readonly capabilities: Capabilities,
  ) {
    this.#weights = effectiveWeights(profile, capabilities);
  }

  /** The weight of a feature on this target. */
  weight(feature: Feature): number {
    return this.#weights.flat[feature];
  }

  /** One option of a group. `among`: those that fit here; when all of them weigh nothing, the first not refused. */
  one<G extends GroupName>(group: G, among: readonly OptionOf<G>[] = optionsOf(group)): OptionOf<G> {
    const weights = this.#weights.grouped[group];
    const position =
      this.random.weighted(among.map((option) => weights[option]!)) ??
      among.findIndex((option) => !this.#refuses(`${group}.${option}`));
    return among[Math.max(position, 0)]!;
  }

  #refuses(feature: string): boolean {
    return this.capabilities.unsupported.some((each) => each === feature);
  }

  chance(feature: Feature): boolean {
    return this.random.chance(this.weight(feature));
  }
}

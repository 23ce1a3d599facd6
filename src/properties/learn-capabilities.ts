/**
 * What an engine can do, learned by asking: plans of the usual statements run, what works is proven, what is refused as unknown or
 * unsupported is left out (`generate/learn`). Held against what was known before, it says what the engine has gained, and what
 * it has lost (`generate/lost-features`): a feature that worked in an earlier build and for which alone statements are refused now.
 */
import type { Capabilities, Feature, LostFeature } from '../generate/index.js';
import type { Target } from '../targets/index.js';
import { shippedProperties } from './shipped/index.js';
import { testProperties } from './test-properties.js';

export interface LearnedCapabilities {
  readonly capabilities: Capabilities;
  readonly gained: readonly Feature[];
  readonly lost: readonly LostFeature[];
  readonly statements: number;
}

export async function learnCapabilities(
  open: () => Promise<Target>,
  known: Capabilities | undefined,
  options: { readonly plans: number; readonly seed: string; readonly signal?: AbortSignal },
): Promise<LearnedCapabilities> {
  // From what is declared: what an earlier build refused is asked for again, and so is what it could do.
  const { capabilities, counts, lost } = await testProperties({
    ...{ open, properties: shippedProperties, ...options, failures: Number.POSITIVE_INFINITY },
    ...{ shrink: false, confirm: 0, now: () => 0, proven: known?.proven ?? [] },
  });
  const before = new Set(known?.proven ?? []);
  const gone = new Set(lost.map(({ feature }) => feature));
  const { proven = [], unsupported } = capabilities;
  return {
    capabilities: {
      ...capabilities,
      proven: proven.filter((feature) => !gone.has(feature)).sort(),
      unsupported: [...unsupported, ...gone],
    },
    gained: proven.filter((feature) => known !== undefined && !before.has(feature)),
    lost,
    statements: counts.statements,
  };
}

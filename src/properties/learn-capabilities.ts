/**
 * What an engine can do, learned by asking: plans of the usual statements run, what works is proven, what is refused as unknown or
 * unsupported is left out (`generate/learn`). Held against what was known before, it says what the engine has gained, and what
 * it has lost: a feature that worked in an earlier build and that no statement of this one could use.
 */
import type { Capabilities, Feature } from '../generate/index.js';
import type { Target } from '../targets/index.js';
import { shippedProperties } from './shipped/index.js';
import { testProperties } from './test-properties.js';

export interface LearnedCapabilities {
  readonly capabilities: Capabilities;
  readonly gained: readonly Feature[];
  readonly lost: readonly Feature[];
  readonly statements: number;
}

export async function learnCapabilities(
  open: () => Promise<Target>,
  known: Capabilities | undefined,
  options: { readonly plans: number; readonly seed: string; readonly signal?: AbortSignal },
): Promise<LearnedCapabilities> {
  // From what is declared, not from what is known: a feature that was proven once is never given up by learning.
  const { capabilities, counts } = await testProperties({
    ...{ open, properties: shippedProperties, ...options, failures: Number.POSITIVE_INFINITY },
    ...{ shrink: false, confirm: 0, now: () => 0 },
  });
  const proven = new Set(capabilities.proven ?? []);
  const before = new Set(known?.proven ?? []);
  const refused = new Set(capabilities.unsupported);
  return {
    capabilities: merged(capabilities, known),
    gained: [...proven].filter((feature) => known !== undefined && !before.has(feature)),
    lost: [...before].filter((feature) => refused.has(feature) && !proven.has(feature)),
    statements: counts.statements,
  };
}

/** What was proven in either; what chance did not ask for this time stays known. */
function merged(now: Capabilities, known: Capabilities | undefined): Capabilities {
  const refused = new Set(now.unsupported);
  const kept = (known?.proven ?? []).filter((feature) => !refused.has(feature));
  return { ...now, proven: [...new Set([...(now.proven ?? []), ...kept])].sort() };
}

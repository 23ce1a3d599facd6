/**
 * The anomalies: the kinds of finding that a contract can forbid and the probe looks for. One list for the probe, the
 * contracts and the checkers, taken from the table of all kinds: whoever says "G-single" means this one.
 */
import { type Anomaly, baseKinds, describeKind } from './finding-kinds.js';

export type { Anomaly } from './finding-kinds.js';

export interface AnomalyDescription {
  readonly id: Anomaly;
  readonly title: string;
  /** One sentence for people. */
  readonly meaning: string;
  /** The wider anomalies each instance of this one also is, nearest first. */
  readonly partOf: readonly Anomaly[];
}

/** Every anomaly, from the weakest guarantee broken to the strongest. */
export const anomalies: readonly AnomalyDescription[] = baseKinds
  .filter(({ forbiddable }) => forbiddable === true)
  .map(({ kind }) => describeAnomaly(kind as Anomaly));

/** The description of an anomaly. */
export function describeAnomaly(id: Anomaly): AnomalyDescription {
  const { title, meaning, partOf } = describeKind(id);
  return { id, title, meaning, partOf: partOf as readonly Anomaly[] };
}

/** Every probe case, from the weakest guarantee broken to the strongest. */
import type { ProbeCase } from '../probe-case.js';
import { dirtyDataCases } from './dirty-data.js';
import { lostUpdateCases } from './lost-updates.js';
import { ownWriteCases } from './own-writes.js';
import { phantomCases, predicateReadCases } from './predicates.js';
import { skewCases } from './skews.js';

export const probeCases: readonly ProbeCase[] = [
  ...dirtyDataCases,
  ...predicateReadCases,
  ...lostUpdateCases,
  ...skewCases,
  ...phantomCases,
  ...ownWriteCases,
];

/** The cases a person means: one by its id, or all of an anomaly. */
export function findProbeCases(name: string): readonly ProbeCase[] {
  const wanted = name.trim().toLowerCase();
  const byId = probeCases.filter((probe) => probe.id.toLowerCase() === wanted);
  const byAnomaly = probeCases.filter((probe) => probe.anomaly.toLowerCase() === wanted);
  return [...new Set([...byId, ...byAnomaly])];
}

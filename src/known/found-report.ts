/** A finding as a report: what somebody who met it would have filed, with its case and its wrong result. */
import { witnessOperations } from '../dedupe/index.js';
import type { AskedBug } from './candidate.js';
import { caseFeatures } from './case-features.js';
import { encode } from './features.js';
import { wrongOf } from './known-case.js';
import type { KnownBug, Repository } from './repository.js';
import { weigh } from './weights.js';

/** `facts`: what else the report says. */
export function foundReport(
  { target, level, behaviour }: AskedBug,
  facts: Pick<KnownBug, 'id'> & Partial<KnownBug>,
): KnownBug {
  const { case: program, schedule } = behaviour;
  const features = caseFeatures(program, { engine: target.name, level });
  return {
    ...{ name: facts.id, engine: target.name, status: 'unfiled', symptom: 'unknown', about: '' },
    ...{
      affected: [target.version],
      fixed: [],
      from: 'own',
      features,
      vector: encode(target.name, features),
    },
    case: { case: { ...program, level }, schedule, wrong: wrongOf(program, witnessOperations(behaviour)) },
    ...facts,
  };
}

/** A repository of nothing but these. */
export function repositoryOf(bugs: readonly KnownBug[]): Repository {
  return { bugs, problems: [], weights: weigh(bugs.map(({ id, bug = id, vector }) => ({ bug, vector }))) };
}

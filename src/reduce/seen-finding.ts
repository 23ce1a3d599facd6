/** A finding as a run showed it: which of several is meant, and which operations of the case it names. */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Candidate } from './candidate.js';
import { modelOf, type Subset } from './case-model.js';

/** A finding and the run that shows it; the run's operations name statements of the case. */
export interface SeenFinding {
  readonly finding: Finding;
  readonly history: History;
}

/** The finding whose last operation is earliest: what comes later may be its consequence. */
export function chooseFinding(findings: readonly Finding[]): Finding | undefined {
  const last = ({ operations }: Finding) => Math.max(...operations.map(({ index }) => index));
  return findings.toSorted((a, b) => last(a) - last(b) || a.operations.length - b.operations.length)[0];
}

/** The operations a finding names, by their number in the case's model. */
export function witnessOf(finding: Finding, history: History, start: Candidate): Subset {
  const model = modelOf(start);
  const indexes = [
    ...finding.operations.map(({ index }) => index),
    ...(finding.versions ?? []).map(({ operation }) => operation),
    ...(finding.cycle ?? []).flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
  ];
  const byIndex = new Map(history.operations.map((operation) => [operation.index, operation.statement]));
  const ids = indexes.flatMap((index) => {
    const ref = index === undefined ? undefined : byIndex.get(index);
    return ref === undefined ? [] : [model.operationOf(ref)];
  });
  return [...new Set(ids.filter((id) => id >= 0))].sort((a, b) => a - b);
}

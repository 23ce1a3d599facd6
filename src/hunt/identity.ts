/**
 * What makes a finding the finding it is while its case is replayed and shrinks, for every oracle.
 *
 * Findings of dependencies quote whole transactions, but only the operations their edges and versions name play a part:
 * whatever else the transactions did must be free to go. So a cycle is its edges, each with the kinds of the two
 * statements it joins; the mechanism verifier's findings are told apart by the roles of their operations (`reduce`).
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import { findingIdentity } from '../reduce/index.js';

export function identityOf(finding: Finding, history: History): string {
  const { oracle, kind, clause, cycle, versions } = finding;
  if (cycle === undefined && oracle !== 'dependency-graph') return findingIdentity(finding, history);
  const kinds = new Map(history.operations.map((operation) => [operation.index, operation.kind]));
  const kindOf = (index: number | undefined) => (index === undefined ? '?' : (kinds.get(index) ?? '?'));
  const parts =
    cycle === undefined
      ? (versions ?? []).map(({ operation }) => kindOf(operation))
      : cycle.map((edge) => `${kindOf(edge.fromOperation)} ${edge.kind} ${kindOf(edge.toOperation)}`);
  return JSON.stringify([oracle, kind, clause ?? null, parts.toSorted()]);
}

/** The finding with only the operations that play a part; all of them where it does not say which. */
export function focus(finding: Finding): Finding {
  if (finding.oracle !== 'dependency-graph') return finding;
  const named = new Set<number | undefined>([
    ...(finding.versions ?? []).map(({ operation }) => operation),
    ...(finding.cycle ?? []).flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
  ]);
  const operations = finding.operations.filter(({ index }) => named.has(index));
  return operations.length === 0 ? finding : { ...finding, operations };
}

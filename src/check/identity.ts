/**
 * What makes a finding the finding it is while its case is replayed and shrinks: the clause broken, what kind of wrong it
 * is, and the roles of the operations that show it. Not its numbers, values, names or how many rows show it: those
 * change with every step.
 *
 * - Findings of the mechanism verifier: a role is what an operation does and whose it is: the statement that is judged, another
 *   one of the same transaction, or one of another transaction. Transaction control plays no role: which operations surround
 *   it decides where it stands.
 * - Findings of dependencies quote whole transactions, but only the operations their edges and versions name play a part:
 *   whatever else the transactions did must be free to go. So a cycle is its edges, each with the kinds of the two
 *   statements it joins.
 */
import type { History } from '../histories/index.js';
import type { Finding } from './finding.js';

const control: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback']);

/** What most oracles take, and all of them for cycles. */
export function findingIdentity(finding: Finding, history: History): string {
  const { oracle, kind, clause, cycle, operations } = finding;
  if (cycle !== undefined) return dependencyIdentity(finding, history);
  const kinds = kindsOf(history);
  const judged = operations[0];
  const roles = operations.slice(1).flatMap((operation) => {
    const role = kinds.get(operation.index) ?? 'unknown';
    if (control.has(role)) return [];
    return [`${operation.transaction === judged?.transaction ? 'own' : 'other'} ${role}`];
  });
  return JSON.stringify([
    ...[oracle, kind, clause ?? null],
    judged === undefined ? null : (kinds.get(judged.index) ?? null),
    [...new Set(roles)].sort(),
  ]);
}

/** By what the edges and versions of a finding name, whatever else its transactions did. */
export function dependencyIdentity(finding: Finding, history: History): string {
  const { oracle, kind, clause } = finding;
  return JSON.stringify([
    oracle,
    kind,
    clause ?? null,
    dependencyRoles(finding, kindsOf(history)).toSorted(),
  ]);
}

const kindsOf = ({ operations }: History): ReadonlyMap<number, string> =>
  new Map(operations.map((operation) => [operation.index, operation.kind]));

function dependencyRoles({ cycle, versions }: Finding, kinds: ReadonlyMap<number, string>): string[] {
  const kindOf = (index: number | undefined) => (index === undefined ? '?' : (kinds.get(index) ?? '?'));
  if (cycle === undefined) return (versions ?? []).map(({ operation }) => kindOf(operation));
  return cycle.map((edge) => `${kindOf(edge.fromOperation)} ${edge.kind} ${kindOf(edge.toOperation)}`);
}

/** A finding of dependencies with only the operations that play a part; all of them where it does not say which. */
export function focusDependencies(finding: Finding): Finding {
  const named = new Set<number | undefined>([
    ...(finding.versions ?? []).map(({ operation }) => operation),
    ...(finding.cycle ?? []).flatMap(({ fromOperation, toOperation }) => [fromOperation, toOperation]),
  ]);
  const operations = finding.operations.filter(({ index }) => named.has(index));
  return operations.length === 0 ? finding : { ...finding, operations };
}

/**
 * What makes a finding the finding it is while its case shrinks: the clause broken, what kind of wrong it is, and the
 * roles of the operations that show it. Not its numbers, values, names or how many rows show it: those change with
 * every step.
 *
 * A role is what an operation does and whose it is: the statement that is judged, another one of the same transaction, or
 * one of another transaction. Transaction control plays no role: which operations surround it decides where it stands.
 */
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';

const control: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback']);

export function findingIdentity(finding: Finding, history: History): string {
  const kinds = new Map(history.operations.map((operation) => [operation.index, operation.kind]));
  const judged = finding.operations[0];
  const roles = finding.operations.slice(1).flatMap((operation) => {
    const kind = kinds.get(operation.index) ?? 'unknown';
    if (control.has(kind)) return [];
    return [`${operation.transaction === judged?.transaction ? 'own' : 'other'} ${kind}`];
  });
  const cycle = (finding.cycle ?? []).map((edge) => edge.kind);
  return JSON.stringify([
    finding.oracle,
    finding.kind,
    finding.clause ?? null,
    judged === undefined ? null : (kinds.get(judged.index) ?? null),
    [...new Set(roles)].sort(),
    cycle.length === 0 ? null : cycle.toSorted(),
  ]);
}

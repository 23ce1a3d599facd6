/**
 * Drops single statements. For an operation that is all; a transaction left without operations goes with its BEGIN and
 * COMMIT. BEGIN and COMMIT themselves: both together, so that the operations between them autocommit, or the last COMMIT
 * of a session alone, so that its transaction is still open when the case ends.
 *
 * These are the removals a result is 1-minimal against.
 */
import type { Candidate } from '../candidate.js';
import { keepStatements, modelOf, restrictTo } from '../case-model.js';
import { without } from '../dependencies.js';
import type { Pass, Proposal } from './pass.js';

export const dropOperations: Pass = { name: 'drop operations', proposals: singleRemovals };

/** Every case with one statement fewer, transaction control included. */
export function singleRemovals(current: Candidate): Proposal[] {
  const control = modelOf(current).transactions.flatMap(
    ({ session, first, last, explicit, end }): Proposal[] => {
      if (!explicit) return [];
      const ended = end === 'commit' || end === 'rollback';
      const drop = (positions: readonly number[]) =>
        keepStatements(current, (s, p) => s !== session || !positions.includes(p));
      const unwrap: Proposal = () => drop(ended ? [first, last] : [first]);
      const isLast = last === current.case.sessions[session]!.statements.length - 1;
      return ended && isLast ? [unwrap, () => drop([last])] : [unwrap];
    },
  );
  return [...operationRemovals(current), ...control];
}

/** Every case with one operation fewer. */
export function operationRemovals(current: Candidate): Proposal[] {
  const model = modelOf(current);
  const all = model.operations.map((_, id) => id);
  return all.map((id) => () => restrictTo(model, without(all, [id]))).toReversed();
}

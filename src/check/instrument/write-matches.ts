/**
 * A write that took other rows than its condition names. Where reads and writes share one snapshot, a SELECT with the
 * condition of an UPDATE or DELETE right before it, in the same transaction, finds exactly the rows that the write will
 * take: nothing of the transaction's own comes between, and what others did is not in the snapshot (or is a conflict, and
 * an error). So a different count means that the write looked at another state than the reads around it, by its
 * condition or by a subquery in it: predicate-many-preceders for write predicates (PMP-write).
 *
 * Conditions that may answer differently in one state (LIMIT, functions we do not know) are never asked twice.
 */
import { counted } from '../../words.js';
import { phrase } from '../explanation.js';
import { initialWriter, type RowProblem } from './list-reader.js';
import { refKey } from './marks.js';
import type { RowChains } from './row-chains.js';
import type { RowEvents } from './row-event-types.js';

export function compareWrites(
  { expected, writes, transactions }: RowEvents,
  { chains }: Pick<RowChains, 'chains'>,
): RowProblem[] {
  const runs = new Map([...writes].map(([token, run]) => [refKey(run.plan.original), { token, run }]));
  return expected.flatMap(({ rows, original }): RowProblem[] => {
    const { token, run } = runs.get(refKey(original)) ?? {};
    if (token === undefined || run?.effect !== 'done' || run.count === undefined) return [];
    if (run.count === rows.size || transactions.get(run.transaction)?.status !== 'committed') return [];
    const taken = new Set(
      chains
        .filter(({ tokens, deleted }) => tokens.includes(token) || deleted?.operation === run.operation)
        .map(({ rid }) => rid),
    );
    const missed = run.count < rows.size;
    const rid = missed
      ? [...rows].find((each) => !taken.has(each))
      : [...taken].find((each) => !rows.has(each));
    const last = chains.find((chain) => chain.rid === rid)?.writers.at(-1) ?? initialWriter;
    return [
      {
        kind: missed ? 'write-missed-row' : 'write-extra-row',
        rid: rid ?? '',
        transaction: run.transaction,
        operation: run.operation,
        ...(last === initialWriter || last === run.transaction ? {} : { other: last }),
        seen: { as: missed ? 'not-written' : 'written' },
        allowed: [{ as: missed ? 'written' : 'not-written' }],
        detail: phrase`its condition holds for ${counted(rows.size, 'row')} in the snapshot of the transaction, and it wrote ${run.count}`,
      },
    ];
  });
}

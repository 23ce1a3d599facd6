/** Sends the statements of a batch one after another: all batches at once, then batch by batch, in either direction. */
import type { StatementRef } from '../../cases/index.js';
import type { Candidate } from '../candidate.js';
import type { Pass } from './pass.js';

type Batch = readonly StatementRef[];

export const oneAtATime: Pass = {
  name: 'one statement at a time',
  proposals(current) {
    const { batches } = current.schedule;
    const wide = batches.flatMap((batch, b) => (batch.length > 1 ? [b] : []));
    if (wide.length === 0) return [];
    const split = (which: readonly number[], turn: (batch: Batch) => Batch) => () =>
      withBatches(
        current,
        batches.flatMap((batch, b) => (which.includes(b) ? turn(batch).map((ref) => [ref]) : [batch])),
      );
    return [
      split(wide, (batch) => batch),
      split(wide, (batch) => batch.toReversed()),
      ...wide.flatMap((b) => [split([b], (batch) => batch), split([b], (batch) => batch.toReversed())]),
    ];
  },
};

function withBatches(current: Candidate, batches: readonly Batch[]): Candidate {
  return { ...current, schedule: { ...current.schedule, batches } };
}

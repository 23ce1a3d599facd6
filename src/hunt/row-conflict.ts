/**
 * Whether transactions of a round really met: two of them were open at the same time, both accessed the same row, and at
 * least one of them wrote it or was refused when it tried.
 *
 * - *Open at the same time*: each sent its first statement before the other's last one was answered. An autocommitted
 *   statement is a transaction of its own.
 * - *Accessed*: as `row-mirror.ts` tells. It leaves out what it cannot follow, so the answer errs towards no.
 * - *Refused*: by an error that only another transaction can cause.
 */

import { conflictErrors, type History } from '../histories/index.js';
import type { TransactionId } from '../ids.js';
import { KnownPrograms, type MirrorRow, RowMirror } from './row-mirror.js';

export interface RowConflict {
  readonly row: string;
  /** Numbers of the history's transactions; the first one wrote. */
  readonly transactions: readonly [writer: TransactionId, other: TransactionId];
}

interface Span {
  first: number;
  last: number;
}

/** The first such meeting, or undefined. `programs` may be kept from round to round. */
export function findRowConflict(history: History, programs = new KnownPrograms()): RowConflict | undefined {
  const spans = spansOf(history);
  const visitors = new Map<MirrorRow, Map<TransactionId, boolean>>();
  const mirror = new RowMirror(programs.of(history));
  for (const { transaction, sql, outcome, error, matched, ends } of history.operations) {
    const refused = error !== undefined && conflictErrors.has(error.class);
    const tried = outcome === 'error' && (refused || error?.class === 'duplicate-key');
    if (sql !== undefined && (outcome === 'ok' || tried)) {
      for (const { row, writes } of mirror.access({ sql, transaction, tried, matched })) {
        const known = visitors.get(row) ?? new Map<TransactionId, boolean>();
        visitors.set(row, known);
        for (const [other, wrote] of known) {
          if (other === transaction || !(wrote || writes)) continue;
          if (!overlap(spans.get(transaction)!, spans.get(other)!)) continue;
          return { row: row.name, transactions: writes ? [transaction, other] : [other, transaction] };
        }
        known.set(transaction, (known.get(transaction) ?? false) || writes);
      }
    }
    if (ends !== undefined) mirror.end(transaction, ends !== 'rollback');
  }
  return undefined;
}

function spansOf({ operations }: History): Map<TransactionId, Span> {
  const spans = new Map<TransactionId, Span>();
  for (const { transaction, start, end } of operations) {
    const span = spans.get(transaction) ?? { first: start, last: start };
    spans.set(transaction, span);
    span.first = Math.min(span.first, start);
    span.last = Math.max(span.last, end ?? Number.POSITIVE_INFINITY);
  }
  return spans;
}

function overlap(one: Span, other: Span): boolean {
  return one.first < other.last && other.first < one.last;
}

/**
 * One list of a row, as one reader saw it: what is wrong with it by itself, and how much of it can be trusted. See
 * `row-chains.ts` for the names of what can be wrong.
 */
import type { OperationId, TransactionId } from '../../ids.js';
import type { Value } from '../../sql/index.js';
import { ofData, type Phrase, phrase } from '../explanation.js';
import type { ReadAnomaly } from '../finding.js';
import { absent, type Observation, values } from '../observation.js';
import type { Instrumented } from './instrumented.js';
import { parseWriteList } from './marks.js';
import type { RowEvents, RowRead, WriteRun } from './row-event-types.js';

/** The observer is not a transaction of the case. */
export const observerId = -1;
/** Writer of the set-up's rows. */
export const initialWriter = -1;

export interface RowProblem {
  readonly kind: ReadAnomaly | 'lost-write' | 'write-missed-row' | 'write-extra-row';
  readonly rid: string;
  /** The transaction that saw it, or `observerId`. */
  readonly transaction: TransactionId;
  readonly operation?: OperationId;
  /** The other side: the writer, or the other reader. */
  readonly other?: TransactionId;
  readonly otherOperation?: OperationId;
  readonly seen: Observation;
  /** What would have been right, where that is known. */
  readonly allowed?: readonly Observation[];
  /** Why it is wrong, as the end of a sentence. */
  readonly detail: Phrase;
}

/** A version as its list of writes: `;0;3.2`. */
export const listOf = (tokens: readonly string[]): Observation =>
  tokens.length === 0 ? absent : values(`;${tokens.join(';')}`);

export class ListReader {
  readonly problems: RowProblem[] = [];
  /** Transactions that count: committed, or of unknown outcome but seen. */
  readonly counts = new Set<number>();
  readonly #tableOf = new Map<string, string | undefined>();

  constructor(
    private readonly events: RowEvents,
    private readonly instrumented: Instrumented,
  ) {
    for (const { id, status } of events.transactions.values())
      if (status === 'committed') this.counts.add(id);
  }

  /** The tokens of a list as far as they can stand in a chain; undefined if nothing can be made of it. */
  read(rid: string, list: Value, read: RowRead | undefined): readonly string[] | undefined {
    const { writes, transactions } = this.events;
    const kept: string[] = [];
    const report = (kind: RowProblem['kind'], detail: Phrase, other?: WriteRun) => {
      this.problems.push({
        kind,
        rid,
        transaction: read?.transaction ?? observerId,
        ...(read === undefined ? {} : { operation: read.operation }),
        ...(other === undefined ? {} : { other: other.transaction, otherOperation: other.operation }),
        seen: values(typeof list === 'string' ? list : JSON.stringify(list)),
        // Without what was rolled back, the version before it; without any, no row.
        ...(kind === 'G1a' ? { allowed: [listOf(kept)] } : {}),
        detail,
      });
    };
    const table = this.table(rid);
    const tokens = parseWriteList(list);
    const fromSetup = rid.startsWith('s');
    if (table === undefined || tokens === undefined || (tokens[0] === '0') !== fromSetup) {
      report('garbage-read', ['no statement ever wrote such a row']);
      return undefined;
    }
    const seen = new Set<string>();
    for (const [i, token] of tokens.entries()) {
      if (token === '0' && i === 0) {
        kept.push(token);
        continue;
      }
      const run = writes.get(token);
      if (run === undefined || !run.plan.write.tables.includes(table) || run.plan.write.deletes) {
        report('garbage-read', phrase`nothing that ran wrote ${ofData(token)} to this row`);
        return kept.length === 0 ? undefined : kept;
      }
      if (seen.has(token) && !(run.plan.write.repeats && tokens[i - 1] === token)) {
        report('duplicate-write', phrase`one statement is in it twice: ${ofData(token)}`, run);
        return kept;
      }
      seen.add(token);
      if (read !== undefined && run.transaction === read.transaction) {
        if (run.operation > read.operation) {
          report('future-read', ['the statement that wrote it runs later'], run);
          return kept;
        }
        if (run.effect === 'undone') return kept.length === 0 ? undefined : kept;
        kept.push(token);
        continue;
      }
      const status = transactions.get(run.transaction)?.status;
      if (status === 'aborted' || run.effect === 'undone') {
        report('G1a', ['its writer was rolled back'], run);
        return kept.length === 0 ? undefined : kept;
      }
      if (status === 'unknown') this.counts.add(run.transaction);
      kept.push(token);
    }
    return kept;
  }

  table(rid: string): string | undefined {
    if (!this.#tableOf.has(rid)) {
      const maker = /^(?:s\d+|\d+\.\d+)(?=[.(])/.exec(rid)?.[0];
      const { makers } = this.instrumented;
      this.#tableOf.set(rid, maker !== undefined && Object.hasOwn(makers, maker) ? makers[maker] : undefined);
    }
    return this.#tableOf.get(rid);
  }
}

/**
 * The versions of each row in the order they were written, and what is wrong with single reads.
 *
 * Every list a committed transaction saw is a piece of that order: it begins with the row's making and ends with the
 * version seen. The longest list is the chain of the row; every other must be a beginning of it. On the way each list
 * is checked by itself:
 *
 * - `garbage-read`: it is no list of ours, or names a statement that did not run or writes another table;
 * - `duplicate-write`: a statement is named twice;
 * - `G1a`: it names a write that was rolled back; `G1b`: it ends with a version its writer replaced later;
 * - `future-read`: it names a statement of the reader that runs later; `internal`: it lacks one that ran before;
 * - `incompatible-order`: two lists, neither of which begins with the other, or two successors of one version.
 *
 * Past IsoRel: lists name statements, so aborted writers are known although their rows are gone; deleted rows are
 * kept with their last version and their deleter; the observer's reads close every chain.
 */

import type { History } from '../../histories/index.js';
import type { OperationId, TransactionId } from '../../ids.js';
import type { Phrase } from '../explanation.js';
import { absent, values } from '../observation.js';
import type { Instrumented } from './instrumented.js';
import { initialWriter, ListReader, listOf, observerId, type RowProblem } from './list-reader.js';
import { refKey } from './marks.js';
import type { RowEvents, RowRead, WriteRun } from './row-event-types.js';
import { planOf } from './strip-results.js';

export interface RowChain {
  readonly rid: string;
  readonly table: string;
  /** Tokens, oldest first. */
  readonly tokens: readonly string[];
  /** Writers of the tokens: transaction, or `initialWriter`. */
  readonly writers: readonly number[];
  /** The committed transaction that deleted the last version, and its operation. */
  readonly deleted?: { readonly transaction: TransactionId; readonly operation: OperationId };
}

/** A read whose list is a beginning of its row's chain. */
export interface PlacedRead {
  readonly read: RowRead;
  readonly chain: number;
  /** How many versions of the chain it saw. */
  readonly length: number;
}

export interface RowChains {
  readonly chains: readonly RowChain[];
  readonly placed: readonly PlacedRead[];
  readonly problems: readonly RowProblem[];
  /** Deletes of transactions that did not commit, by row. */
  readonly undoneDeletes: ReadonlyMap<string, readonly RowRead[]>;
  /** Transactions that count: committed, or of unknown outcome but seen. */
  readonly counts: ReadonlySet<number>;
}

interface NamedDelete {
  readonly read: RowRead;
  readonly tokens: readonly string[];
}

interface Candidate {
  readonly tokens: readonly string[];
  /** Undefined: the observer. */
  readonly read?: RowRead;
}

export function chainRows(history: History, events: RowEvents, instrumented: Instrumented): RowChains {
  return new Chainer(history, events, instrumented).run();
}

class Chainer {
  readonly #lists: ListReader;
  readonly #deleteRuns: ReadonlyMap<string, WriteRun>;

  constructor(
    private readonly history: History,
    private readonly events: RowEvents,
    private readonly instrumented: Instrumented,
  ) {
    this.#lists = new ListReader(events, instrumented);
    const runs = [...events.writes.values()];
    this.#deleteRuns = new Map(runs.map((run) => [refKey(run.plan.original), run]));
  }

  run(): RowChains {
    const { events } = this;
    const byRow = new Map<string, Candidate[]>();
    const deletes = new Map<string, NamedDelete[]>();
    const undoneDeletes = new Map<string, RowRead[]>();
    const certain = this.#certainDeletes();
    const add = (rid: string, candidate: Candidate) => {
      const list = byRow.get(rid);
      if (list === undefined) byRow.set(rid, [candidate]);
      else list.push(candidate);
    };
    for (const read of events.reads) {
      const status = events.transactions.get(read.transaction)?.status;
      if (read.what === 'deleted' && certain.has(read.operation) && !this.#isDone(read)) {
        undoneDeletes.set(read.rid, [...(undoneDeletes.get(read.rid) ?? []), read]);
      }
      // What a transaction that did not commit saw constrains nobody.
      if (status !== 'committed') continue;
      const tokens = this.#lists.read(read.rid, read.list, read);
      if (tokens === undefined) continue;
      add(read.rid, { tokens, read });
      if (read.what === 'deleted' && certain.has(read.operation) && this.#isDone(read)) {
        deletes.set(read.rid, [...(deletes.get(read.rid) ?? []), { read, tokens }]);
      }
    }
    for (const state of [events.before, events.after]) {
      for (const rows of state?.tables.values() ?? []) {
        for (const [rid, list] of rows) {
          const tokens = this.#lists.read(rid, list, undefined);
          if (tokens !== undefined) add(rid, { tokens });
        }
      }
    }
    return {
      ...this.#order(byRow, deletes),
      problems: this.#lists.problems,
      undoneDeletes,
      counts: this.#lists.counts,
    };
  }

  /** Operations that name exactly the rows their statement deletes. */
  #certainDeletes(): Set<number> {
    const named = new Map<number, number>();
    for (const read of this.events.reads) {
      if (read.what === 'deleted') named.set(read.operation, (named.get(read.operation) ?? 0) + 1);
    }
    const certain = new Set<number>();
    for (const [operation, count] of named) {
      const plan = planOf(this.history.operations[operation]!, this.instrumented)!;
      const run = this.#deleteRuns.get(refKey(plan.original));
      // A companion and its statement may disagree if something came between; then nobody knows which rows went.
      if (plan.role === 'statement' || run?.plan.write.deletes === false || run?.count === count)
        certain.add(operation);
    }
    return certain;
  }

  #isDone(read: RowRead): boolean {
    const plan = planOf(this.history.operations[read.operation]!, this.instrumented)!;
    const run = this.#deleteRuns.get(refKey(plan.original));
    return run?.effect === 'done' && this.events.transactions.get(run.transaction)?.status === 'committed';
  }

  #order(
    byRow: ReadonlyMap<string, readonly Candidate[]>,
    deletes: ReadonlyMap<string, readonly NamedDelete[]>,
  ): Pick<RowChains, 'chains' | 'placed'> {
    const chains: RowChain[] = [];
    const placed: PlacedRead[] = [];
    for (const [rid, candidates] of byRow) {
      const longest = candidates.reduce((best, each) =>
        each.tokens.length > best.tokens.length ? each : best,
      );
      const { tokens } = longest;
      const writers = tokens.map((token) => this.events.writes.get(token)?.transaction ?? initialWriter);
      const index = chains.length;
      const deleted = this.#deleter(rid, tokens, deletes);
      chains.push({
        rid,
        table: this.#lists.table(rid)!,
        tokens,
        writers,
        ...(deleted === undefined ? {} : { deleted }),
      });
      let reported = false;
      for (const candidate of candidates) {
        const fits = candidate.tokens.every((token, i) => token === tokens[i]);
        if (fits) {
          if (candidate.read !== undefined)
            placed.push({ read: candidate.read, chain: index, length: candidate.tokens.length });
        } else if (!reported) {
          reported = true;
          this.#incompatible(rid, candidate, longest);
        }
        if (fits) this.#checkIntermediate(chains[index]!, candidate);
      }
      this.#checkOwnWrites(chains[index]!, candidates);
    }
    return { chains, placed };
  }

  #deleter(
    rid: string,
    tokens: readonly string[],
    deletes: ReadonlyMap<string, readonly NamedDelete[]>,
  ): RowChain['deleted'] {
    const own = deletes.get(rid) ?? [];
    const first = own[0];
    if (first === undefined) return undefined;
    const problem = (detail: Phrase, other: RowRead | WriteRun) =>
      this.#lists.problems.push({
        kind: 'incompatible-order',
        rid,
        transaction: first.read.transaction,
        operation: first.read.operation,
        other: other.transaction,
        otherOperation: other.operation,
        seen: values(String(first.read.list)),
        detail,
      });
    const second = own.find(({ read }) => read.operation !== first.read.operation);
    if (second !== undefined) problem(['both deleted the row'], second.read);
    const next = tokens[first.tokens.length];
    const run = next === undefined ? undefined : this.events.writes.get(next);
    if (run !== undefined) {
      problem(['one deleted the version that the other overwrote'], run);
      return undefined;
    }
    return { transaction: first.read.transaction, operation: first.read.operation };
  }

  #incompatible(rid: string, a: Candidate, b: Candidate): void {
    this.#lists.problems.push({
      kind: 'incompatible-order',
      rid,
      transaction: a.read?.transaction ?? observerId,
      ...(a.read === undefined ? {} : { operation: a.read.operation }),
      ...(b.read === undefined ? {} : { other: b.read.transaction, otherOperation: b.read.operation }),
      seen: values(`;${a.tokens.join(';')} and ;${b.tokens.join(';')}`),
      detail: ['neither list begins with the other'],
    });
  }

  /** The last version seen was not its writer's last. */
  #checkIntermediate(chain: RowChain, { tokens, read }: Candidate): void {
    const last = tokens.length - 1;
    const writer = chain.writers[last]!;
    // What the observer misses at the end is a lost write.
    if (read === undefined || read.what === 'written') return;
    if (writer === initialWriter || writer === read.transaction) return;
    const later = chain.tokens.findIndex(
      (token, i) => i > last && chain.writers[i] === writer && token !== chain.tokens[last],
    );
    const deletedLater = chain.deleted?.transaction === writer && last === chain.tokens.length - 1;
    if (later < 0 && !deletedLater) return;
    const replaced =
      later < 0 ? chain.deleted!.operation : this.events.writes.get(chain.tokens[later]!)!.operation;
    this.#lists.problems.push({
      kind: 'G1b',
      rid: chain.rid,
      transaction: read.transaction,
      operation: read.operation,
      other: writer,
      otherOperation: replaced,
      seen: listOf(tokens),
      allowed: [
        listOf(tokens.slice(0, chain.writers.indexOf(writer))),
        later < 0 ? absent : listOf(chain.tokens.slice(0, chain.writers.lastIndexOf(writer) + 1)),
      ],
      detail:
        later < 0
          ? ['its writer deleted the row before it committed']
          : ['its writer wrote the row again before it committed'],
    });
  }

  /** A transaction sees what it wrote before, and not what it deleted. */
  #checkOwnWrites(chain: RowChain, candidates: readonly Candidate[]): void {
    for (const { tokens, read } of candidates) {
      if (read === undefined) continue;
      const missed = chain.tokens.find((token, i) => {
        if (chain.writers[i] !== read.transaction || tokens.includes(token)) return false;
        return this.events.writes.get(token)!.operation < read.operation;
      });
      const gone =
        chain.deleted?.transaction === read.transaction && chain.deleted.operation < read.operation;
      if (missed === undefined && (!gone || read.what === 'deleted')) continue;
      const write =
        missed === undefined ? chain.deleted!.operation : this.events.writes.get(missed)!.operation;
      this.#lists.problems.push({
        kind: 'internal',
        rid: chain.rid,
        transaction: read.transaction,
        operation: read.operation,
        other: read.transaction,
        otherOperation: write,
        seen: listOf(tokens),
        allowed: [
          missed === undefined ? absent : listOf(chain.tokens.slice(0, chain.tokens.indexOf(missed) + 1)),
        ],
        detail: [missed === undefined ? 'it had deleted the row before' : 'it had written the row before'],
      });
    }
  }
}

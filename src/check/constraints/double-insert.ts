/**
 * Two plain INSERTs of one key that both succeed and are both committed, or one of a key that was there from the beginning,
 * while nothing can have freed the key in between.
 *
 * A claim is a row that certainly came to be: an initial one, or one of an acknowledged `INSERT … VALUES` in a committed
 * transaction in which nothing failed and nothing was rolled back. A statement that can free its key (`freed-keys.ts`) counts from
 * when it was sent until its transaction ended. A claim counts so long as well: engines that do not wait (DuckDB) compare the keys of
 * concurrent transactions when they commit, and what was freed by then is free. Two claims of one key with no such statement between
 * the beginning of the first and the end of the second cannot both be right, in whatever order they came.
 *
 * A claim whose key may be free before any later claim can end is settled: nothing later is compared with it. So keys that are
 * taken and freed again and again cost no more than others.
 */
import type { Operation } from '../../histories/index.js';
import type { Interval, Table } from '../../rows/index.js';
import { type EvaluatedRow, showValue } from '../../sql/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { DeclaredKey } from './declared.js';
import { FreedKeys } from './freed-keys.js';
import type { RunFacts } from './run-facts.js';
import { clauseOfKey, describeKey, isExact } from './shown-rows.js';

interface Claim {
  readonly row: EvaluatedRow;
  readonly span: Interval;
  /** Absent: the row was there from the beginning. */
  readonly operation?: Operation;
}

export function judgeInsertedKeys(facts: RunFacts): Finding[] {
  const found: Finding[] = [];
  for (const key of facts.declared.keys) {
    if (!facts.declared.plain.has(key.table)) continue;
    const claims = [...claimsOf(facts, key.table)];
    const soonest = soonestEnds(claims);
    const byKey = new Map<string, OpenClaims>();
    const freed = new FreedKeys(facts, key);
    for (const [i, claim] of claims.entries()) {
      const cells = key.columns.map((at) => claim.row[at]);
      if (!cells.every(isExact)) continue;
      const text = JSON.stringify(cells);
      const open = byKey.get(text) ?? new OpenClaims(freed);
      byKey.set(text, open);
      const other = claim.operation === undefined ? undefined : open.unfreed(claim, soonest[i]!);
      open.add(claim);
      if (other !== undefined)
        found.push(report(facts, key, cells.map(showValue).join(', '), [other, claim]));
    }
  }
  return found;
}

/** For each claim the first moment at which it or a later one has ended. */
function soonestEnds(claims: readonly Claim[]): Float64Array {
  const soonest = new Float64Array(claims.length);
  let first = Number.POSITIVE_INFINITY;
  for (let i = claims.length - 1; i >= 0; i--) {
    first = Math.min(first, claims[i]!.span.end);
    soonest[i] = first;
  }
  return soonest;
}

/** The claims of one key that are not settled, in their order. */
class OpenClaims {
  readonly #claims = new Set<Claim>();

  constructor(private readonly freed: FreedKeys) {}

  add(claim: Claim): void {
    this.#claims.add(claim);
  }

  /** The first whose key cannot have been freed for this one. `soonest`: neither this one nor any that follows ends before. */
  unfreed(claim: Claim, soonest: number): Claim | undefined {
    for (const known of this.#claims) {
      if (this.#mayBeFreed(known, { start: known.span.start, end: Math.max(known.span.end, soonest) }))
        this.#claims.delete(known);
      else {
        const start = Math.min(known.span.start, claim.span.start);
        const span = { start, end: Math.max(known.span.end, claim.span.end) };
        if (!this.#mayBeFreed(known, span) && !this.#mayBeFreed(claim, span)) return known;
      }
    }
    return undefined;
  }

  #mayBeFreed({ row }: Claim, span: Interval): boolean {
    return this.freed.mayBeFreed(row, span);
  }
}

function report(
  facts: RunFacts,
  key: DeclaredKey,
  shown: string,
  [first, second]: readonly [Claim, Claim],
): Finding {
  const { operation: again } = second;
  const { operation: before } = first;
  return facts.finding(
    'double-insert',
    clauseOfKey(key),
    before === undefined ? [again!] : [again!, before],
    [
      say.rule`${ofData(describeKey(key))} is declared: a row with the key of another one is refused.`,
      before === undefined
        ? say.fact`A row with the key ${ofData(`(${shown})`)} was there from the beginning, and nothing has freed its key.`
        : say.fact`${ofTransaction(before.transaction)} ran ${ofOperation(before)} and committed; nothing has freed the key ${ofData(`(${shown})`)}.`,
      say.contradiction`${ofTransaction(again!.transaction)} ran ${ofOperation(again!)} without an error, and committed.`,
    ],
  );
}

/** Rows of which it is certain that they came to be. */
function* claimsOf(facts: RunFacts, table: Table): Iterable<Claim> {
  const before = { start: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
  for (const row of table.initial ?? []) yield { row, span: before };
  const clean = cleanTransactions(facts);
  for (const { operation, rows, span } of facts.insertsOf(table)) {
    if (!clean.has(operation.transaction)) continue;
    for (const row of rows) yield { row, span, operation };
  }
}

/** Committed transactions in which every statement succeeded and none was taken back. */
function cleanTransactions({ history, transactions }: RunFacts): ReadonlySet<number> {
  const clean = new Set<number>();
  for (const tx of transactions.values())
    if (tx.fate === 'committed' && tx.unjudged === undefined) clean.add(tx.id);
  for (const { transaction, outcome, kind } of history.operations)
    if (outcome !== 'ok' || kind === 'rollback-to') clean.delete(transaction);
  return clean;
}

/**
 * Two plain INSERTs of one key that both succeed and are both committed, or one of a key that was there from the beginning,
 * while nothing can have freed the key in between.
 *
 * A claim is a row that certainly came to be: an initial one, or one of an acknowledged `INSERT … VALUES` in a committed
 * transaction in which nothing failed and nothing was rolled back. A statement can free a claim's key if it is an UPDATE that
 * changes a column of the key, a DELETE, or anything that cannot be followed; and if its condition does not name other rows
 * by their key or identity. It counts from when it was sent until its transaction ended. A claim counts so long as well: engines that
 * do not wait (DuckDB) compare the keys of concurrent transactions when they commit, and what was freed by then is free. Two claims
 * of one key with no such statement between the beginning of the first and the end of the second cannot both be right, in whatever
 * order they came.
 */
import type { Operation } from '../../histories/index.js';
import { changesKey, columnConstants, type Interval, type Table } from '../../rows/index.js';
import { type EvaluatedRow, nameKey, parseStatement, showValue } from '../../sql/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { DeclaredKey } from './declared.js';
import type { RunFacts, TableWrite } from './run-facts.js';
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
    const byKey = new Map<string, Claim[]>();
    for (const claim of claimsOf(facts, key.table)) {
      const cells = key.columns.map((at) => claim.row[at]);
      if (!cells.every(isExact)) continue;
      const text = JSON.stringify(cells);
      const known = byKey.get(text) ?? [];
      byKey.set(text, [...known, claim]);
      const other = known.find((each) => !mayBeFreed(facts, key, each, claim));
      if (other !== undefined && claim.operation !== undefined)
        found.push(report(facts, key, cells.map(showValue).join(', '), [other, claim]));
    }
  }
  return found;
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
  for (const { operation, plan, span } of facts.writesOf(table)) {
    if (plan.type !== 'insert' || plan.reads.length > 0 || operation.outcome !== 'ok') continue;
    if (!clean.has(operation.transaction)) continue;
    const rows = plan.bind(() => []);
    if (typeof rows === 'string') continue;
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

function mayBeFreed(facts: RunFacts, key: DeclaredKey, first: Claim, second: Claim): boolean {
  const start = Math.min(first.span.start, second.span.start);
  const end = Math.max(first.span.end, second.span.end);
  return facts
    .writesOf(key.table)
    .some(
      (write) =>
        write.span.start <= end &&
        write.span.end >= start &&
        (mayFree(facts, key, write, first) || mayFree(facts, key, write, second)),
    );
}

function mayFree(
  { catalog }: RunFacts,
  key: DeclaredKey,
  { operation, plan, tx }: TableWrite,
  claim: Claim,
): boolean {
  if (plan.type === 'insert' || operation.outcome === 'error' || tx.fate === 'aborted') return false;
  if (plan.type === 'upsert') return plan.effect !== 'nothing';
  if (plan.type !== 'update' && plan.type !== 'delete') return true;
  const { dialect } = catalog;
  const statement = parseStatement(operation.sql!, dialect);
  if (statement.type !== 'update' && statement.type !== 'delete') return true;
  const named = (at: number) => nameKey(key.table.shape.columns[at]!.name, dialect);
  if (statement.type === 'update' && !changesKey(statement.set, key.columns, { ...key.table, dialect }))
    return false;
  const constants = columnConstants(statement.where, dialect);
  const tells = [...key.columns, ...key.table.identity];
  return tells.every((at) => {
    const asked = constants.get(named(at));
    const cell = claim.row[at];
    if (asked === undefined || ![cell, ...asked].every((value) => Number.isSafeInteger(value))) return true;
    return (asked as readonly unknown[]).includes(cell);
  });
}

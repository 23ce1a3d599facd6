/**
 * Rows that refer to rows which are not there. Two reads tell: one of rows that refer, one of the whole table they refer to,
 * both in transactions that began when nobody had changes of either table under way, nor until the last of them was answered.
 */
import type { Operation } from '../../histories/index.js';
import { hasSnapshot, intervalOf } from '../../rows/index.js';
import { parseStatement, showValue } from '../../sql/index.js';
import { ofData, ofOperation, ofTransaction, say } from '../explanation.js';
import type { Finding } from '../finding.js';
import type { DeclaredReference } from './declared.js';
import type { RunFacts } from './run-facts.js';
import { isExact } from './shown-rows.js';

/** Reads looked at in each table, the last ones: what a run leaves behind is read at its end. */
const mostReads = 8;

export function judgeReferences(facts: RunFacts): Finding[] {
  const { references } = facts.declared;
  if (references.length === 0) return [];
  const reads = facts.history.operations.filter(
    ({ outcome, rows, kind }) => outcome === 'ok' && rows !== undefined && kind === 'select',
  );
  return references.flatMap((reference) => judge(facts, reference, reads) ?? []);
}

interface Shown {
  readonly operation: Operation;
  readonly at: readonly number[];
}

function judge(
  facts: RunFacts,
  reference: DeclaredReference,
  reads: readonly Operation[],
): Finding | undefined {
  const { table, columns, parent, parentColumns } = reference;
  const children = shown(facts, reads, table, columns);
  const parents = shown(facts, reads, parent, parentColumns).filter(({ operation }) =>
    isWhole(facts, operation),
  );
  for (const child of children)
    for (const all of parents) {
      if (!areOfOneState(facts, reference, child.operation, all.operation)) continue;
      const there = new Set(all.operation.rows!.map((row) => JSON.stringify(all.at.map((at) => row[at]))));
      for (const row of child.operation.rows!) {
        const cells = child.at.map((at) => row[at]);
        if (!cells.every(isExact) || there.has(JSON.stringify(cells))) continue;
        const names = columns.map((at) => table.shape.columns[at]!.name).join(', ');
        const what = `FOREIGN KEY (${names}) of ${table.shape.name} to ${parent.shape.name}`;
        const operations =
          child.operation === all.operation ? [child.operation] : [child.operation, all.operation];
        return facts.finding('dangling-reference', 'declared foreign key', operations, [
          say.rule`${ofData(what)} is declared: every row refers to one that exists.`,
          say.fact`${ofTransaction(all.operation.transaction)} ran ${ofOperation(all.operation)} while nobody changed the tables, and no row of the result has the key ${ofData(`(${cells.map(showValue).join(', ')})`)}.`,
          say.contradiction`${ofTransaction(child.operation.transaction)} ran ${ofOperation(child.operation)}, and a row of the result refers to it.`,
        ]);
      }
    }
  return undefined;
}

function shown(
  facts: RunFacts,
  reads: readonly Operation[],
  table: DeclaredReference['table'],
  columns: readonly number[],
): Shown[] {
  const found: Shown[] = [];
  for (const operation of reads) {
    const plan = facts.planOf(operation);
    if (plan.type !== 'scan' || plan.table !== table || plan.skipsLocked) continue;
    const at = columns.map((column) => plan.shows.indexOf(column));
    if (!at.includes(-1)) found.push({ operation, at });
  }
  return found.slice(-mostReads);
}

/** Whether a read of one table asked for all of its rows. */
function isWhole({ catalog }: RunFacts, { sql }: Operation): boolean {
  const statement = parseStatement(sql!, catalog.dialect);
  return statement.type === 'select' && statement.body.type === 'core' && statement.body.where === undefined;
}

function areOfOneState(
  facts: RunFacts,
  { table, parent }: DeclaredReference,
  child: Operation,
  all: Operation,
): boolean {
  const { mechanism } = facts.contract;
  const isOneSnapshot =
    mechanism !== undefined && hasSnapshot(mechanism) && child.transaction === all.transaction;
  // Two snapshots may be of two states where a node shows what another one committed when it likes.
  if (child !== all && mechanism?.otherNodesLag === true && !isOneSnapshot) return false;
  const start = Math.min(facts.txOf(child).start, facts.txOf(all).start);
  const span = { start, end: Math.max(intervalOf(child).end, intervalOf(all).end) };
  return !facts.isBusy(table, span) && !facts.isBusy(parent, span);
}

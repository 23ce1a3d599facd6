/** A difference between transactions and the order without them, as a finding. */

import type { History, Operation } from '../../histories/index.js';
import { type Row, showValue } from '../../sql/index.js';
import { joined, ofData, ofOperation, ofTransaction, phrase, type Step, say } from '../explanation.js';
import type { Finding, FindingKind } from '../finding.js';
import { findingAbout } from '../finding-about.js';
import type { BagDifference, Difference } from './compare.js';
import type { StatementEdge, StatementGraph } from './statement-graph.js';

export interface FoundDifference {
  readonly difference: Difference;
  /** The node whose answer differs, or the last writer of the table that does. */
  readonly node: number;
}

export interface FindingSource {
  readonly graph: StatementGraph;
  /** The order that was executed without transactions, by nodes. */
  readonly order: readonly number[];
  /** The history as the author of the case knows it. */
  readonly history: History;
  /** For each node the number of its operation in that history. */
  readonly operationOf: (node: number) => number;
  readonly contract: string;
  /** What made the order what it is, where that is a clause of the contract. */
  readonly clause?: string;
  /** How many orders without transactions agree. */
  readonly orders: number;
}

function kindOf(difference: Difference): FindingKind {
  switch (difference.what) {
    case 'result':
      return 'result-differs';
    case 'count':
      return 'write-differs';
    case 'error':
      return 'error-differs';
    case 'state':
      return 'state-differs';
    default:
      return difference satisfies never;
  }
}

export function findingOf({ difference, node }: FoundDifference, source: FindingSource): Finding {
  const { history, graph, operationOf, contract } = source;
  const operations = [node, ...neighboursOf(node, graph)].map(
    (each) => history.operations[operationOf(each)]!,
  );
  return findingAbout(history, operations, {
    kind: kindOf(difference),
    oracle: 'statement',
    contract,
    clause: source.clause ?? 'statements give the same without transactions',
    explanation: explain(difference, node, source),
  });
}

/** A statement or a COMMIT that failed inside its transaction and works without. */
export function failureFinding(history: History, failed: Operation, contract: string): Finding {
  const { transaction, kind, error } = failed;
  return findingAbout(history, [failed], {
    kind: 'unexpected-error',
    oracle: 'statement',
    contract,
    clause: 'statements give the same without transactions',
    explanation: [
      say.ran`${ofTransaction(transaction)} ran ${ofOperation(failed)}.`,
      say.fact`It failed: ${ofData(error?.message ?? '')}. That is no conflict, no constraint, no limit and nothing about its data.`,
      kind === 'commit'
        ? say.contradiction`Without a transaction all its statements work, each time.`
        : say.contradiction`Without a transaction it works on the same rows, each time.`,
    ],
  });
}

/** What a statement depends on, and what depends on it: first the former. */
function neighboursOf(node: number, { edges }: StatementGraph): number[] {
  const before = edges.filter(({ to }) => to === node).map(({ from }) => from);
  const after = edges.filter(({ from }) => from === node).map(({ to }) => to);
  return [...new Set([...before, ...after])];
}

function explain(difference: Difference, node: number, source: FindingSource): Step[] {
  const { graph, history, operationOf, order, orders } = source;
  const operation = (each: number) => history.operations[operationOf(each)]!;
  const own = operation(node);
  const edges = graph.edges.filter(({ from, to }) => from === node || to === node).slice(0, mostEdges);
  return [
    say.ran`${ofTransaction(own.transaction)} ran ${ofOperation(own)}.`,
    ...edges.map(
      (edge) =>
        say.order`${ofOperation(operation(edge.from))} must come before ${ofOperation(operation(edge.to))}: ${because(edge)}.`,
    ),
    say.rule`An order of the committed statements that keeps all their dependencies gives each the same result without transactions: ${joined(
      order.map((each) => phrase`${ofOperation(operation(each))}`),
      '; ',
    )}.`,
    say.contradiction`${describe(difference)} ${orders === 1 ? 'Executed again' : 'Executed in another such order'}, the statements gave the same difference.`,
  ];
}

const mostEdges = 8;

function because({ kind, object }: StatementEdge): string {
  return `${kind} dependency through ${object}`;
}

function describe(difference: Difference) {
  switch (difference.what) {
    case 'result':
      return phrase`In its transaction it returned ${bag(difference.rows)} without.`;
    case 'count':
      return phrase`In its transaction it wrote ${difference.seen} rows, and ${difference.expected} without.`;
    case 'error':
      return phrase`In its transaction it worked, and without it failed: ${ofData(difference.message)}.`;
    case 'state':
      return phrase`At the end, table ${ofData(difference.table)} held ${bag(difference.rows)} without transactions.`;
    default:
      return difference satisfies never;
  }
}

function bag({ extra, missing }: BagDifference) {
  const show = (rows: BagDifference['extra']) =>
    ofData(rows.length === 0 ? 'nothing' : rows.slice(0, 5).map(showRow).join(' '));
  return phrase`${show(extra)} where there is ${show(missing)}`;
}

const showRow = (row: Row): string => `(${row.map(showValue).join(', ')})`;

/** The argument of a finding as prose, from its data alone, so that every oracle argues in the same voice. */
import type { CycleEdge, Finding, FindingOperation, FindingTransaction } from './finding.js';

type Arguable = Pick<Finding, 'transactions' | 'operations' | 'cycle'>;

/**
 * Let: the transactions involved. Then: each edge of the cycle, in order; the last one contradicts the rest.
 *
 *     Let T1 = r(x, initial) w(y, 1)
 *         T2 = r(y, initial) w(x, 1)
 *     T1 < T2, because T1 read x in its initial state, before T2 wrote it: w(x, 1);
 *     however, T2 < T1, because …: a contradiction.
 */
export function explainCycle(finding: Arguable): string {
  const names = new Map(finding.transactions.map((tx) => [tx.id, tx.name]));
  const name = (id: number): string => names.get(id) ?? `T${id + 1}`;
  const cycle = finding.cycle ?? [];
  const lines = cycle.map((edge, i) => {
    const last = i === cycle.length - 1;
    const start = last ? 'however, ' : '';
    return `${start}${name(edge.from)} < ${name(edge.to)}, because ${edge.because}${last ? ': a contradiction.' : ';'}`;
  });
  return [...describeTransactions(finding.transactions, finding.operations), ...lines].join('\n');
}

export function describeTransactions(
  transactions: readonly FindingTransaction[],
  operations: readonly FindingOperation[],
): string[] {
  return transactions.map((tx, i) => {
    const texts = operations.filter((op) => op.transaction === tx.id).map((op) => op.text);
    const status =
      tx.status === 'committed' ? '' : tx.status === 'aborted' ? ' (aborted)' : ' (outcome unknown)';
    return `${i === 0 ? 'Let' : '   '} ${tx.name} = ${texts.join(' ')}${status}`;
  });
}

/** What an edge is called on a picture: `rw x`. */
export function edgeLabel(edge: CycleEdge): string {
  return edge.object === undefined ? edge.kind : `${edge.kind} ${edge.object}`;
}

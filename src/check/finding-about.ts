/** A finding about operations of a history: whose they are, what people call those, and how they ended, as the history says. */
import { type History, type Operation, transactionNames } from '../histories/index.js';
import type { TransactionId } from '../ids.js';
import type { Finding, FindingTransaction } from './finding.js';

/** `operations`: the judged one first. What `about` leaves out is that the finding is proved, and what the history says. */
export function findingAbout(
  history: History,
  operations: readonly Operation[],
  about: Pick<Finding, 'kind' | 'oracle' | 'explanation'> & Partial<Finding>,
): Finding {
  const known = transactionsOf(history);
  const ids = [...new Set(operations.map(({ transaction }) => transaction))];
  return {
    certainty: 'proved',
    rulesOut: [],
    transactions: ids.map((id) => known.get(id)!),
    operations: operations.map(({ index, transaction, sql, kind }) => ({
      ...{ index, transaction, text: sql ?? kind },
    })),
    ...about,
  };
}

const kept = new WeakMap<History, ReadonlyMap<TransactionId, FindingTransaction>>();

function transactionsOf(history: History): ReadonlyMap<TransactionId, FindingTransaction> {
  const found = kept.get(history) ?? describeTransactions(history);
  kept.set(history, found);
  return found;
}

const statuses = { commit: 'committed', rollback: 'aborted', unknown: 'unknown' } as const;

function describeTransactions(history: History): Map<TransactionId, FindingTransaction> {
  const { header, operations } = history;
  const names = transactionNames(history);
  const found = new Map<TransactionId, FindingTransaction>();
  for (const { transaction: id, session, ends = 'unknown' } of operations) {
    const name = names.get(id)!;
    found.set(id, { id, name, session: header.sessions[session] ?? String(session), status: statuses[ends] });
  }
  return found;
}

/**
 * What people call the transactions of a history: by the session that ran them, as a script does (`T1: BEGIN`). A session's
 * first transaction has the session's name, the second one of `T2` is `T2#2`. Texts, tables, graphs and timelines all take
 * their names from here, so that one name means one transaction everywhere.
 */
import type { SessionId, TransactionId } from '../ids.js';
import type { History } from './history.js';

const known = new WeakMap<History, ReadonlyMap<TransactionId, string>>();

/** Names by the transactions' numbers. */
export function transactionNames(history: History): ReadonlyMap<TransactionId, string> {
  const names = known.get(history) ?? nameTransactions(history);
  known.set(history, names);
  return names;
}

function nameTransactions({ header, operations }: History): ReadonlyMap<TransactionId, string> {
  const names = new Map<TransactionId, string>();
  const perSession = new Map<SessionId, number>();
  // A session may itself be called `T1#2`.
  const taken = new Set(header.sessions);
  for (const { transaction, session } of operations) {
    if (names.has(transaction)) continue;
    const number = (perSession.get(session) ?? 0) + 1;
    perSession.set(session, number);
    const owner = header.sessions[session] ?? `session ${session + 1}`;
    let name = number === 1 ? owner : `${owner}#${number}`;
    while (number > 1 && taken.has(name)) name += "'";
    taken.add(name);
    names.set(transaction, name);
  }
  return names;
}

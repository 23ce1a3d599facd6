/**
 * Accounts and transfers between them (Jepsen's bank test). `transfer` moves an amount from one account to another, `read`
 * returns all balances at once. Transfers keep the sum, so in every snapshot
 * 1. the balances have the same total: the one given, or else the one that most reads agree on (reads that differ cannot
 *    all be right, whichever is);
 * 2. no balance is below 0, unless that is allowed;
 * 3. no account is missing that a read which had ended before had, and every account has a balance.
 */
import { PlainMap, type PlainOperation, type PlainValue, plainKey } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

interface Balances {
  readonly at: number;
  readonly total: number;
  readonly accounts: ReadonlySet<string>;
}

export const bank: Workload = {
  name: 'bank',
  title: 'transfers between accounts keep their sum',
  functions: ['transfer', 'read'],
  fits: (operations) => operations.some(({ f }) => f === 'transfer'),
  check({ operations }, { total, negativeBalances = false }) {
    const found = new Collected();
    const reads: Balances[] = [];
    operations.forEach((operation, at) => {
      if (operation.f !== 'read' || operation.status !== 'ok') return;
      const entries = entriesOf(operation.value);
      if (entries === undefined) {
        found.unknownReasons.push(`the read ${operation.label} has no balances by account`);
        return;
      }
      reads.push(balancesOf(at, entries, { found, negativeBalances }));
    });
    if (reads.length === 0)
      found.unknownReasons.push('no read of balances succeeded, so there is nothing to judge');
    checkTotals(reads, total, found);
    checkAccounts(operations, reads, found);
    return found.result();
  },
};

function entriesOf(value: PlainValue): readonly (readonly [PlainValue, PlainValue])[] | undefined {
  if (value instanceof PlainMap) return value.entries;
  const isList =
    Array.isArray(value) && (value as readonly PlainValue[]).every((item) => typeof item === 'number');
  return isList ? (value as readonly PlainValue[]).map((item, i) => [i, item] as const) : undefined;
}

function balancesOf(
  at: number,
  entries: readonly (readonly [PlainValue, PlainValue])[],
  { found, negativeBalances }: { readonly found: Collected; readonly negativeBalances: boolean },
): Balances {
  let total = 0;
  const accounts = new Set<string>();
  for (const [account, balance] of entries) {
    const name = plainKey(account);
    accounts.add(name);
    if (typeof balance !== 'number') {
      found.add({
        kind: 'missing-account',
        witnesses: [at],
        rulesOut: ['snapshot', 'repeatable read'],
        because: `account ${name} has the balance ${plainKey(balance)} and not a number.`,
      });
      continue;
    }
    total += balance;
    if (balance < 0 && !negativeBalances) {
      found.add({
        kind: 'negative-balance',
        witnesses: [at],
        rulesOut: ['serializable'],
        because: `account ${name} has the balance ${balance}; a transfer that would take it below 0 must not succeed.`,
      });
    }
  }
  return { at, total, accounts };
}

function checkTotals(reads: readonly Balances[], given: number | undefined, found: Collected): void {
  const counts = new Map<number, number>();
  for (const { total } of reads) counts.set(total, (counts.get(total) ?? 0) + 1);
  const most = [...counts].reduce<[number, number] | undefined>(
    (best, next) => (best === undefined || next[1] > best[1] ? next : best),
    undefined,
  );
  const expected = given ?? most?.[0];
  const right = reads.find(({ total }) => total === expected);
  for (const { at, total } of reads) {
    if (total === expected) continue;
    found.add({
      kind: 'wrong-total',
      witnesses: [at, ...(given === undefined && right !== undefined ? [right.at] : [])],
      rulesOut: ['snapshot', 'repeatable read'],
      because:
        given === undefined
          ? `the balances sum to ${total}, those of ${counts.get(expected!)} other reads to ${expected}; transfers keep the sum.`
          : `the balances sum to ${total} and not to ${given}.`,
    });
  }
}

function checkAccounts(
  operations: readonly PlainOperation[],
  reads: readonly Balances[],
  found: Collected,
): void {
  const byEnd = [...reads].sort((a, b) => operations[a.at]!.end - operations[b.at]!.end);
  const byStart = [...reads].sort((a, b) => operations[a.at]!.start - operations[b.at]!.start);
  const seenBy = new Map<string, number>();
  let ended = 0;
  for (const { at, accounts } of byStart) {
    while (ended < byEnd.length && operations[byEnd[ended]!.at]!.end < operations[at]!.start) {
      const earlier = byEnd[ended++]!;
      for (const account of earlier.accounts) if (!seenBy.has(account)) seenBy.set(account, earlier.at);
    }
    if (accounts.size >= seenBy.size) continue;
    for (const [account, earlier] of seenBy) {
      if (accounts.has(account)) continue;
      found.add({
        kind: 'missing-account',
        witnesses: [at, earlier],
        rulesOut: ['snapshot', 'repeatable read'],
        because: `account ${account} is missing, which a read that had ended before returned.`,
      });
      break;
    }
  }
}

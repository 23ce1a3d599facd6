/**
 * Long forks (Jepsen's long-fork test): every key is written once, by a transaction of its own, and groups of keys are
 * read together. Two reads of one group must not have seen writes in opposite orders: of any two, one has seen all that the
 * other has. So the reads of a group, sorted by how much they saw, form a chain, and neighbours are all that must be
 * compared.
 *
 * A key with several writes leaves the order of its values open; then the level prefix is the question to ask.
 */
import { type KvHistory, kvCommitted, kvInitial, kvRead, kvWrite, printName } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

export const longFork: Workload = {
  name: 'long-fork',
  title: 'reads see independent writes in one order',
  functions: ['txn', 'read', 'write'],
  ofTransactions: true,
  fits: () => false,
  check({ transactions: history }) {
    const found = new Collected();
    const problem = severalWrites(history);
    if (problem !== undefined) {
      found.unknownReasons.push(problem);
      return found.result();
    }
    let judged = 0;
    for (const reads of groups(history).values()) {
      judged += reads.length;
      const chain = reads
        .map((tx) => ({ tx, seen: seenKeys(history, tx) }))
        .sort((a, b) => a.seen.size - b.seen.size);
      for (let i = 1; i < chain.length; i++) {
        const [less, more] = [chain[i - 1]!, chain[i]!];
        const missed = [...less.seen].find((key) => !more.seen.has(key));
        if (missed === undefined) continue;
        const other = [...more.seen].find((key) => !less.seen.has(key))!;
        const name = (key: number): string => printName(history.keyNames[key]!);
        found.add({
          kind: 'long-fork',
          witnesses: [less.tx, more.tx],
          rulesOut: ['prefix'],
          because: `the one saw ${name(missed)} written and ${name(other)} not, the other one ${name(other)} and not ${name(missed)}.`,
        });
      }
    }
    if (judged === 0)
      found.unknownReasons.push('no transaction reads a group of keys, so there is nothing to judge');
    return found.result();
  },
};

function severalWrites(history: KvHistory): string | undefined {
  const written = new Uint8Array(history.keyNames.length);
  for (let op = 0; op < history.opCount; op++) {
    const kind = history.opKind[op]!;
    const key = history.opKey[op]!;
    if (kind !== kvRead && kind !== kvWrite)
      return `${printName(history.keyNames[key]!)} holds a list; long forks are defined for registers`;
    if (kind === kvWrite && written[key]! > 0)
      return `${printName(history.keyNames[key]!)} is written more than once; check the level prefix instead`;
    if (kind === kvWrite) written[key] = 1;
  }
  return undefined;
}

/** Committed transactions that only read, by the keys they read; groups of one key tell nothing. */
function groups(history: KvHistory): Map<string, number[]> {
  const byKeys = new Map<string, number[]>();
  for (let tx = 0; tx < history.txCount; tx++) {
    if (history.txStatus[tx] !== kvCommitted) continue;
    const keys = new Set<number>();
    let onlyReads = true;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      keys.add(history.opKey[op]!);
      onlyReads &&= history.opKind[op] === kvRead;
    }
    if (!onlyReads || keys.size < 2) continue;
    const name = [...keys].sort((a, b) => a - b).join(' ');
    const group = byKeys.get(name);
    if (group === undefined) byKeys.set(name, [tx]);
    else group.push(tx);
  }
  return byKeys;
}

function seenKeys(history: KvHistory, tx: number): Set<number> {
  const seen = new Set<number>();
  for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
    if (history.opValue[op]! > kvInitial) seen.add(history.opKey[op]!);
  }
  return seen;
}

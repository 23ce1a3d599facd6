/**
 * Which transactions count as committed: those that said so, and those of unknown outcome whose writes were seen by a
 * transaction that counts. Leaving out the others changes no verdict: nobody depends on them.
 */
import {
  type KvHistory,
  kvCommitted,
  kvRead,
  kvReadList,
  kvUnknown,
  kvUnseen,
  listOf,
} from '../../histories/index.js';
import type { WriteIndex } from './write-index.js';

/** `chainWriters` are the writers of what committed transactions read as lists. */
export function countTransactions(
  history: KvHistory,
  opTx: Int32Array,
  index: WriteIndex,
  chainWriters: Int32Array,
): Uint8Array {
  const { txCount, txStatus, otherChains, opOffsets, opKind, opKey, opValue } = history;
  const counts = new Uint8Array(txCount);
  let unknowns = 0;
  for (let tx = 0; tx < txCount; tx++) {
    if (txStatus[tx] === kvCommitted) counts[tx] = 1;
    else if (txStatus[tx] === kvUnknown) unknowns++;
  }
  if (unknowns === 0) return counts;
  const work: number[] = [];
  const observe = (writer: number): void => {
    if (writer < 0) return;
    const tx = opTx[writer]!;
    if (txStatus[tx] !== kvUnknown || counts[tx] === 1) return;
    counts[tx] = 1;
    work.push(tx);
  };
  const observeReads = (tx: number, lists: boolean): void => {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const key = opKey[op]!;
      if (opKind[op] === kvRead) {
        // Who may have read the initial state shows nothing.
        if (opValue[op]! >= 0 && opValue[op] !== history.initialValue)
          observe(index.writer(key, opValue[op]!));
      } else if (lists && opKind[op] === kvReadList && opValue[op] !== kvUnseen) {
        for (const element of listOf(history, op)) observe(index.writer(key, element));
      }
    }
  };
  for (const writer of chainWriters) observe(writer);
  for (const chain of otherChains) {
    if (!chain.committed) continue;
    for (const element of chain.values) observe(index.writer(chain.key, element));
  }
  for (let tx = 0; tx < txCount; tx++) if (txStatus[tx] === kvCommitted) observeReads(tx, false);
  for (let tx = work.pop(); tx !== undefined; tx = work.pop()) observeReads(tx, true);
  return counts;
}

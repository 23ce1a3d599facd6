/** Transactions by session, and the final writes of each key grouped by session: what the axiomatic checkers walk over. */
import { kvWrite } from '../../histories/index.js';
import type { ResolvedKv } from '../kv/resolved-kv.js';

export interface Sessions {
  /** Transactions that count, session by session, in session order. */
  readonly txs: Int32Array;
  readonly offsets: Int32Array;
  /** Position of a transaction within its session, counting only those that count. */
  readonly position: Int32Array;
  readonly session: Int32Array;
  readonly count: number;
}

export function groupBySession(resolved: ResolvedKv): Sessions {
  const { history, counts } = resolved;
  const count = history.sessionNames.length;
  const offsets = new Int32Array(count + 1);
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 1) offsets[history.txSession[tx]! + 1]!++;
  }
  for (let s = 0; s < count; s++) offsets[s + 1] = offsets[s + 1]! + offsets[s]!;
  const txs = new Int32Array(offsets[count]!);
  const position = new Int32Array(history.txCount);
  const next = offsets.slice(0, count);
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    const s = history.txSession[tx]!;
    position[tx] = next[s]! - offsets[s]!;
    txs[next[s]!++] = tx;
  }
  return { txs, offsets, position, session: history.txSession, count };
}

/** Every transaction in a session of its own: what is seen of the others is then only what was read. */
export function withoutSessions(resolved: ResolvedKv): Sessions {
  const { history, counts } = resolved;
  const txs = Int32Array.from({ length: history.txCount }, (_, tx) => tx).filter((tx) => counts[tx] === 1);
  const offsets = new Int32Array(history.txCount + 1);
  for (let tx = 0; tx < history.txCount; tx++) offsets[tx + 1] = offsets[tx]! + counts[tx]!;
  return {
    txs,
    offsets,
    position: new Int32Array(history.txCount),
    session: Int32Array.from({ length: history.txCount }, (_, tx) => tx),
    count: history.txCount,
  };
}

/** For each key the transactions that write it: `txs[offsets[key] … offsets[key + 1] - 1]`, in the order given. */
export interface KeyWriters {
  readonly offsets: Int32Array;
  readonly txs: Int32Array;
}

export function groupWriters(resolved: ResolvedKv, order: Iterable<number>): KeyWriters {
  const { history, counts, finalWrite, opTx } = resolved;
  const keyCount = history.keyNames.length;
  const offsets = new Int32Array(keyCount + 1);
  for (let op = 0; op < history.opCount; op++) {
    if (finalWrite[op] === 1 && counts[opTx[op]!] === 1) offsets[history.opKey[op]! + 1]!++;
  }
  for (let key = 0; key < keyCount; key++) offsets[key + 1] = offsets[key + 1]! + offsets[key]!;
  const txs = new Int32Array(offsets[keyCount]!);
  const next = offsets.slice(0, keyCount);
  for (const tx of order) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (history.opKind[op]! >= kvWrite && finalWrite[op] === 1) txs[next[history.opKey[op]!]!++] = tx;
    }
  }
  return { offsets, txs };
}

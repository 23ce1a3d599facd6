/**
 * What is left of a history when all but a few transactions are forgotten. If an order explained the whole, it would explain what is left, so
 * whatever else happened must not be held against these transactions:
 *
 * - a read of a value that a forgotten transaction wrote may have seen that one: it has no result any more;
 * - a list loses the elements that only forgotten transactions appended; where a forgotten one and another appended the same element, the
 *   list has no result any more;
 * - a value that nobody wrote stays: no order explains it.
 *
 * The verifier's own: `../restrict-history.ts` does the same for those who make certificates.
 */
import {
  KvBuilder,
  type KvHistory,
  kvRead,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
} from '../../../histories/index.js';

export function remainingHistory(history: KvHistory, txs: readonly number[]): KvHistory {
  const { txCount, txSession, txStart, txEnd, opOffsets, opKind, opKey, opValue } = history;
  const stays = new Set(txs);
  const keysRead = new Set<number>();
  for (const tx of stays) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++)
      if (opKind[op]! < kvWrite) keysRead.add(opKey[op]!);
  }
  const byForgotten = new Set<string>();
  const byOthers = new Set<string>();
  for (let tx = 0; tx < txCount; tx++) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op]! < kvWrite || !keysRead.has(opKey[op]!)) continue;
      (stays.has(tx) ? byOthers : byForgotten).add(`${opKey[op]} ${opValue[op]}`);
    }
  }
  const builder = new KvBuilder(history);
  const copyRead = (op: number): void => {
    const key = opKey[op]!;
    const isForgotten = (value: number): boolean => byForgotten.has(`${key} ${value}`);
    const isOpen = (value: number): boolean => isForgotten(value) && byOthers.has(`${key} ${value}`);
    const value = opValue[op]!;
    if (opKind[op] === kvRead) {
      builder.read(key, value === kvUnseen || isForgotten(value) ? undefined : value < 0 ? null : value);
      return;
    }
    const list = value === kvUnseen ? undefined : [...listOf(history, op)];
    const known = list === undefined || list.some(isOpen) ? undefined : list;
    builder.readList(
      key,
      known?.filter((element) => !isForgotten(element)),
    );
  };
  for (let tx = 0; tx < txCount; tx++) {
    if (!stays.has(tx)) continue;
    builder.begin(txSession[tx]!, txStart?.[tx], tx);
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op]! < kvWrite) copyRead(op);
      else if (opKind[op] === kvWrite) builder.write(opKey[op]!, opValue[op]!);
      else builder.append(opKey[op]!, opValue[op]!);
    }
    builder.end(statusOf(history, tx), txEnd?.[tx]);
  }
  return builder.build();
}

/**
 * A small history of some transactions in which every write has a value of its own, its number in the whole history: reads
 * say which write they saw, whatever the values were. Whoever read from a transaction left out has no result here.
 */
import {
  KvBuilder,
  type KvHistory,
  kvAppend,
  kvOther,
  kvRead,
  kvUnseen,
  kvWrite,
} from '../../histories/index.js';
import { initialState, type ResolvedKv } from './resolved-kv.js';

/** Transactions that do not count are left out. */
export function renamedHistory(resolved: ResolvedKv, txs: readonly number[]): KvHistory {
  const { history, counts } = resolved;
  const { txSession, txStart, txEnd, opOffsets, definitions } = history;
  const kept = new Set(txs.filter((tx) => counts[tx] === 1));
  const builder = new KvBuilder(definitions === undefined ? {} : { definitions });
  for (const tx of [...kept].sort((a, b) => a - b)) {
    builder.begin(txSession[tx]!, txStart?.[tx], tx);
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) copyOp(builder, resolved, op, kept);
    builder.end('committed', txEnd?.[tx]);
  }
  return builder.build();
}

function copyOp(builder: KvBuilder, resolved: ResolvedKv, op: number, kept: ReadonlySet<number>): void {
  const { history, opTx, readsFrom, chainWriters } = resolved;
  const key = history.opKey[op]!;
  const kind = history.opKind[op];
  if (kind === kvWrite) builder.write(key, op);
  else if (kind === kvAppend) builder.append(key, op);
  else if (kind === kvRead) {
    const source = readsFrom[op]!;
    const seen = source >= 0 && kept.has(opTx[source]!);
    builder.read(key, source === initialState ? null : seen ? source : undefined);
  } else {
    const length = history.opValue[op]!;
    if (length === kvUnseen || length <= kvOther) {
      builder.readList(key, undefined);
      return;
    }
    const from = history.chainOffsets[key]!;
    const writers = [...chainWriters.subarray(from, from + length)];
    builder.readList(
      key,
      writers.filter((writer) => writer >= 0 && kept.has(opTx[writer]!)),
    );
  }
}

/**
 * A small history of some transactions in which every write has a value of its own, its number in the whole history: reads
 * say which write they saw, whatever the values were. Whoever read a register from a transaction left out has no result here.
 *
 * Lists can be shortened by what was left out: whoever wrote an element before the last one still comes before the reader, at every level that
 * orders versions and their readers. The levels of Biswas & Enea ask whom a transaction read from, which a shortened list
 * would answer wrongly: there a list whose last writer is left out has no result either.
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
import { baseOf, type CheckLevel } from '../levels.js';
import { initialState, type ResolvedKv } from './resolved-kv.js';

const byReadsFrom: readonly string[] = ['monotonic atomic view', 'read atomic', 'causal'];

/** Do lists without what some transactions appended say as much of this level? */
export const listsShorten = (level: CheckLevel): boolean => !byReadsFrom.includes(baseOf(level));

/** Transactions that do not count are left out. */
export function renamedHistory(
  resolved: ResolvedKv,
  txs: readonly number[],
  { shorten }: { readonly shorten: boolean },
): KvHistory {
  const { history, counts } = resolved;
  const { txSession, txStart, txEnd, opOffsets, definitions } = history;
  const kept = new Set(txs.filter((tx) => counts[tx] === 1));
  const builder = new KvBuilder(definitions === undefined ? {} : { definitions });
  for (const tx of [...kept].sort((a, b) => a - b)) {
    builder.begin(txSession[tx]!, txStart?.[tx], tx);
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++)
      copyOp(builder, resolved, op, { kept, shorten });
    builder.end('committed', txEnd?.[tx]);
  }
  return builder.build();
}

function copyOp(
  builder: KvBuilder,
  resolved: ResolvedKv,
  op: number,
  { kept, shorten }: { readonly kept: ReadonlySet<number>; readonly shorten: boolean },
): void {
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
    const last = writers.findLast((writer) => writer >= 0 && opTx[writer] !== opTx[op]);
    if (!shorten && last !== undefined && !kept.has(opTx[last]!)) {
      builder.readList(key, undefined);
      return;
    }
    builder.readList(
      key,
      writers.filter((writer) => writer >= 0 && kept.has(opTx[writer]!)),
    );
  }
}

/**
 * Runs the transactions of a history of registers one after the other, in a given order or as they stand in the file.
 * If every read finds what it read, that is a proof of serializability in the order of sessions, and so of every level
 * that asks for no more; it costs one pass. If not, nothing follows, but the reads that found something else are few where
 * the order is nearly right.
 */
import { initialState, noSource, type ResolvedKv } from './resolved-kv.js';

/** The reads that would see another version than they did; no more than `most` + 1 of them. */
export function misreads(resolved: ResolvedKv, order?: Int32Array, most = 0): number[] {
  const { history, counts, readsFrom, finalWrite } = resolved;
  const { txCount, opOffsets, opKey } = history;
  const latest = new Int32Array(history.keyNames.length).fill(initialState);
  const found: number[] = [];
  const length = order?.length ?? txCount;
  for (let i = 0; i < length; i++) {
    const tx = order === undefined ? i : order[i]!;
    if (tx >= txCount || counts[tx] === 0) continue;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      const source = readsFrom[op]!;
      // What a transaction reads behind its own write has no source.
      if (finalWrite[op] === 1) latest[opKey[op]!] = op;
      else if (source !== noSource && source !== latest[opKey[op]!]) {
        found.push(op);
        if (found.length > most) return found;
      }
    }
  }
  return found;
}

/** Does the history, as it stands, prove that it is serializable? */
export function holdsAsWritten(resolved: ResolvedKv): boolean {
  const { hasLists, problemCounts, openReads, unknownReasons } = resolved;
  if (hasLists || problemCounts.size + openReads.length + unknownReasons.length > 0) return false;
  return misreads(resolved).length === 0;
}

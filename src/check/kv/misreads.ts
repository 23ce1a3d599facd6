/**
 * Runs the transactions of a history of registers one after the other in a given order. The reads that find something else than they
 * saw are few where the order is nearly right; where there are none, the order proves serializability.
 */
import { initialState, noSource, type ResolvedKv } from './resolved-kv.js';

/** The reads that would see another version than they did; no more than `most` + 1 of them. */
export function misreads(resolved: ResolvedKv, order: Int32Array, most: number): number[] {
  const { history, counts, readsFrom, finalWrite } = resolved;
  const { txCount, opOffsets, opKey } = history;
  const latest = new Int32Array(history.keyNames.length).fill(initialState);
  const found: number[] = [];
  for (const tx of order) {
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

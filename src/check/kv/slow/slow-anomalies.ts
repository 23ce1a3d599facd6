/**
 * Anomalies by the letter: all dependencies of a small list history whose version orders are fully known, all simple
 * cycles, and each family's definition applied to each cycle. Session order leads to the next transaction of the
 * session only, as published checkers have it.
 */
import type { KvHistory } from '../../../histories/index.js';
import { ordered, type PlainTx, plainHistory } from './plain-history.js';

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly kind: 'ww' | 'wr' | 'rw' | 'order';
}

/** The names found, or undefined if the history has lists that contradict each other, or unknown outcomes. */
export function slowAnomalies(history: KvHistory): Set<string> | undefined {
  const all = plainHistory(history);
  if (all.some((tx) => tx.status === 'unknown')) return undefined;
  const txs = all.filter((tx) => tx.status === 'committed');
  const longest = longestLists(txs);
  if (longest === undefined) return undefined;
  const found = new Set<string>();
  const edges: Edge[] = [];
  const writer = (key: number, value: number): PlainTx | undefined =>
    all.find((tx) => tx.ops.some((op) => op.kind === 'append' && op.key === key && op.value === value));
  for (const a of txs) {
    const next = txs.find((b) => ordered(a, b, 'session'));
    for (const b of txs) {
      if (b === next || a.end < b.start) edges.push({ from: a.id, to: b.id, kind: 'order' });
    }
  }
  const appended = new Set(
    txs.flatMap((tx) => tx.ops.flatMap((op) => (op.kind === 'append' ? [op.key] : []))),
  );
  for (const key of new Set([...longest.keys(), ...appended])) {
    const seen = (longest.get(key) ?? [])
      .map((value) => writer(key, value))
      .filter((tx): tx is PlainTx => tx?.status === 'committed');
    const unseen = txs.filter((tx) =>
      tx.ops.some((op) => op.kind === 'append' && op.key === key && !longest.get(key)?.includes(op.value)),
    );
    const runs = seen.filter((tx, i) => tx !== seen[i - 1]);
    runs.slice(1).forEach((tx, i) => {
      edges.push({ from: runs[i]!.id, to: tx.id, kind: 'ww' });
    });
    const last = runs.at(-1);
    if (last !== undefined) {
      for (const tx of unseen) if (tx !== last) edges.push({ from: last.id, to: tx.id, kind: 'ww' });
    }
    for (const tx of txs) {
      tx.ops.forEach((op) => {
        if (op.kind !== 'list' || op.key !== key) return;
        let length = op.value.length;
        while (length > 0 && writer(key, op.value[length - 1]!) === tx) length--;
        const source = length === 0 ? undefined : writer(key, op.value[length - 1]!);
        if (op.value.some((value) => writer(key, value)?.status === 'aborted')) found.add('G1a');
        if (source?.status === 'committed') {
          edges.push({ from: source.id, to: tx.id, kind: 'wr' });
          const own = source.ops.filter((other) => other.kind === 'append' && other.key === key);
          if (own.at(-1)!.value !== op.value[length - 1]) found.add('G1b');
        }
        // The next version is the first later element of somebody else than the version's writer.
        const later = (longest.get(key) ?? []).slice(length).map((value) => writer(key, value)!);
        const next = later.find((other) => other.status === 'committed' && other !== source);
        for (const other of next === undefined ? unseen : [next]) {
          if (other !== tx) edges.push({ from: tx.id, to: other.id, kind: 'rw' });
        }
      });
    }
  }
  for (const cycle of simpleCycles(edges)) for (const name of namesOf(cycle)) found.add(name);
  return found;
}

function longestLists(txs: readonly PlainTx[]): Map<number, readonly number[]> | undefined {
  const longest = new Map<number, readonly number[]>();
  const lists = txs.flatMap((tx) => tx.ops.flatMap((op) => (op.kind === 'list' ? [op] : [])));
  for (const { key, value } of lists) {
    if (new Set(value).size < value.length) return undefined;
    if (value.length > (longest.get(key)?.length ?? -1)) longest.set(key, value);
  }
  const compatible = lists.every(({ key, value }) => value.every((v, i) => v === longest.get(key)![i]));
  return compatible ? longest : undefined;
}

/** Every simple cycle, as its edges, starting at its smallest transaction. */
function* simpleCycles(edges: readonly Edge[]): Generator<Edge[]> {
  const starts = [...new Set(edges.map((edge) => edge.from))];
  for (const start of starts) yield* extend(start, [], edges);
}

function* extend(start: number, path: readonly Edge[], edges: readonly Edge[]): Generator<Edge[]> {
  const at = path.at(-1)?.to ?? start;
  for (const edge of edges) {
    if (edge.from !== at || edge.to < start || edge.from === edge.to) continue;
    if (edge.to === start) yield [...path, edge];
    else if (!path.some((other) => other.to === edge.to)) yield* extend(start, [...path, edge], edges);
  }
}

function namesOf(cycle: readonly Edge[]): string[] {
  const kinds = cycle.map((edge) => edge.kind);
  const rwCount = kinds.filter((kind) => kind === 'rw').length;
  if (rwCount === 0) return [kinds.includes('wr') ? 'G1c' : 'G0'];
  if (rwCount === 1) return ['G-single'];
  const adjacent = kinds.some((kind, i) => kind === 'rw' && kinds[(i + 1) % kinds.length] === 'rw');
  return [adjacent ? 'G2-item' : 'G-nonadjacent'];
}

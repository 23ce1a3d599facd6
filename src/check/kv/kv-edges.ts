/**
 * Second half of checking a key-value history: the dependencies that hold whatever the database did.
 *
 * Registers: wr from the write a read saw; rw from every reader of the initial state to every writer of the key; and
 * if T read a version and then wrote the key, rw from the version's other readers to T. That last one holds wherever
 * rw counts at all: were T's version not the later one, T would depend on itself (G1c), which every such level forbids.
 * The same holds of a version that nobody wrote, or an aborted transaction did: two that read it and write the key are a
 * lost update whatever else is wrong with what they read.
 * The order of the other versions is not known here (`order/order-problem.ts` looks for one).
 *
 * Lists: the longest list read of a key *is* its version order, as far as all committed reads agree. Hence ww
 * between neighbours, and rw from whoever read up to one element to the writer of the next. Appends that nobody
 * saw come after all that was seen: had one come earlier, the lists would show it. So they have a ww edge from the
 * last element seen and rw edges from its readers, and only their order among themselves stays open (`tails`).
 */
import { kvAppend, kvRead, kvReadList, kvWrite } from '../../histories/index.js';
import { type EdgeList, rw, wr, ww } from '../graph/graph.js';
import { initialState, noSource, type ResolvedKv } from './resolved-kv.js';

export interface KvDependencies {
  /** Per list key, the transactions that appended what nobody saw; keys with fewer than two are left out. */
  readonly tails: ReadonlyMap<number, readonly number[]>;
}

export interface KvEdgeOptions {
  /** Only anti-dependencies of transactions that write the key themselves, as cursor stability sees it. */
  readonly onlyFromWriters?: boolean;
  /** No anti-dependencies at all: the levels up to causal do not look at them. */
  readonly withoutRw?: boolean;
}

export function addKvDependencies(
  resolved: ResolvedKv,
  edges: EdgeList,
  options: KvEdgeOptions = {},
): KvDependencies {
  const writesKey = options.onlyFromWriters === true ? writeTest(resolved) : (): boolean => true;
  const { history, counts, opTx, readsFrom, seenLength } = resolved;
  const { next, first, last } = addVersionOrder(resolved, edges);
  const tails = findTails(resolved);
  const initialReaders = new Map<number, number[]>();
  const tailReaders = new Map<number, number[]>();
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const source = readsFrom[op]!;
      const isList = history.opKind[op] === kvReadList;
      if (source === noSource && !isList) continue;
      const key = history.opKey[op]!;
      if (source >= 0) edges.add(opTx[source]!, tx, wr, key);
      if (options.withoutRw === true) continue;
      if (!isList) {
        if (source === initialState && writesKey(tx, key)) push(initialReaders, key, tx);
        continue;
      }
      const seen = seenLength[op]!;
      if (seen < 0 || seen > resolved.agreedLength[key]!) continue;
      const after = seen === 0 ? first[key]! : next[history.chainOffsets[key]! + seen - 1]!;
      if (after === tx || !writesKey(tx, key)) continue;
      if (after >= 0) edges.add(tx, after, rw, key);
      else if (tails.has(key)) push(tailReaders, key, tx);
    }
  }
  if (options.withoutRw !== true) {
    addInitialReaders(resolved, edges, initialReaders);
    addUpdateEdges(resolved, edges, writesKey);
    addStrayEdges(resolved, edges, writesKey);
  }
  const open = new Map<number, readonly number[]>();
  for (const [key, appenders] of tails) {
    const before = last[key]!;
    if (before >= 0) for (const tx of appenders) if (tx !== before) edges.add(before, tx, ww, key);
    addAllPairs(edges, tailReaders.get(key) ?? [], appenders, key);
    if (appenders.length > 1) open.set(key, appenders);
  }
  return { tails: open };
}

/** ww along the main chains; who wrote next after each element; the first and last writer of each key. */
function addVersionOrder(
  resolved: ResolvedKv,
  edges: EdgeList,
): { next: Int32Array; first: Int32Array; last: Int32Array } {
  const { history, counts, opTx, chainWriters, agreedLength } = resolved;
  const keyCount = history.keyNames.length;
  const next = new Int32Array(history.chainValues.length).fill(-1);
  const first = new Int32Array(keyCount).fill(-1);
  const last = new Int32Array(keyCount).fill(-1);
  for (let key = 0; key < keyCount; key++) {
    const from = history.chainOffsets[key]!;
    let run = -1;
    let afterRun = -1;
    for (let i = from + agreedLength[key]! - 1; i >= from; i--) {
      const writer = chainWriters[i]!;
      const tx = writer >= 0 && counts[opTx[writer]!] === 1 ? opTx[writer]! : -1;
      next[i] = tx !== run ? run : afterRun;
      if (tx < 0 || tx === run) continue;
      if (run < 0) last[key] = tx;
      else edges.add(tx, run, ww, key);
      afterRun = run;
      run = tx;
    }
    first[key] = run;
  }
  return { next, first, last };
}

function findTails(resolved: ResolvedKv): Map<number, number[]> {
  const { history, counts, opTx, placed, agreedLength } = resolved;
  const tails = new Map<number, number[]>();
  if (!resolved.hasLists) return tails;
  for (let op = 0; op < history.opCount; op++) {
    if (history.opKind[op] !== kvAppend || placed[op] !== 0) continue;
    const tx = opTx[op]!;
    const key = history.opKey[op]!;
    // Where reads disagree, what comes last is not known.
    if (counts[tx] === 0) continue;
    if (agreedLength[key] !== history.chainOffsets[key + 1]! - history.chainOffsets[key]!) continue;
    const list = tails.get(key);
    if (list === undefined) tails.set(key, [tx]);
    else if (list.at(-1) !== tx) list.push(tx);
  }
  return tails;
}

function addInitialReaders(
  resolved: ResolvedKv,
  edges: EdgeList,
  initialReaders: ReadonlyMap<number, readonly number[]>,
): void {
  if (initialReaders.size === 0) return;
  const { history, counts, opTx, finalWrite } = resolved;
  const writers = new Map<number, number[]>();
  for (let op = 0; op < history.opCount; op++) {
    if (history.opKind[op] !== kvWrite || finalWrite[op] === 0 || counts[opTx[op]!] === 0) continue;
    if (initialReaders.has(history.opKey[op]!)) push(writers, history.opKey[op]!, opTx[op]!);
  }
  for (const [key, readers] of initialReaders) addAllPairs(edges, readers, writers.get(key) ?? [], key);
}

/** rw from the readers of a version to whoever read it and then wrote the key. */
function addUpdateEdges(
  resolved: ResolvedKv,
  edges: EdgeList,
  writesKey: (tx: number, key: number) => boolean,
): void {
  const { history, counts, readsFrom } = resolved;
  // Two updates of one version already contradict each other, so no more than two are kept.
  const first = new Int32Array(history.opCount).fill(-1);
  const second = new Map<number, number>();
  const written = new Int32Array(history.keyNames.length).fill(-1);
  let updates = 0;
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    // Backwards, so that a write is met before the reads in front of it.
    for (let op = history.opOffsets[tx + 1]! - 1; op >= history.opOffsets[tx]!; op--) {
      const key = history.opKey[op]!;
      if (history.opKind[op] === kvWrite) written[key] = tx;
      const source = readsFrom[op]!;
      if (source < 0 || history.opKind[op] !== kvRead || written[key] !== tx) continue;
      updates++;
      if (first[source] === -1) first[source] = tx;
      else if (first[source] !== tx) second.set(source, tx);
    }
  }
  if (updates === 0) return;
  for (let tx = 0; tx < history.txCount; tx++) {
    if (counts[tx] === 0) continue;
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const source = readsFrom[op]!;
      if (source < 0 || first[source] === -1) continue;
      const key = history.opKey[op]!;
      if (!writesKey(tx, key)) continue;
      if (first[source] !== tx) edges.add(tx, first[source]!, rw, key);
      const other = second.get(source);
      if (other !== undefined && other !== tx) edges.add(tx, other, rw, key);
    }
  }
}

/** The same for versions that no transaction that counts wrote. */
function addStrayEdges(
  resolved: ResolvedKv,
  edges: EdgeList,
  writesKey: (tx: number, key: number) => boolean,
): void {
  const { history, opTx, strayReads } = resolved;
  const updates = new Map<string, number[]>();
  const versionOf = (op: number): string => `${history.opKey[op]}/${history.opValue[op]}`;
  for (const op of strayReads) {
    const tx = opTx[op]!;
    let write = op + 1;
    const end = history.opOffsets[tx + 1]!;
    while (write < end && (history.opKey[write] !== history.opKey[op] || history.opKind[write] !== kvWrite))
      write++;
    if (write === end) continue;
    const known = updates.get(versionOf(op)) ?? [];
    if (known.length < 2 && !known.includes(tx)) updates.set(versionOf(op), [...known, tx]);
  }
  for (const op of updates.size === 0 ? [] : strayReads) {
    const tx = opTx[op]!;
    const key = history.opKey[op]!;
    if (!writesKey(tx, key)) continue;
    for (const update of updates.get(versionOf(op)) ?? []) if (update !== tx) edges.add(tx, update, rw, key);
  }
}

/** rw from each reader to each writer, through an auxiliary node where that is cheaper. */
function addAllPairs(
  edges: EdgeList,
  readers: readonly number[],
  writers: readonly number[],
  key: number,
): void {
  const writing = new Set(writers);
  const others = readers.filter((tx) => !writing.has(tx));
  const few = others.length * writers.length <= 4 * (others.length + writers.length);
  // A transaction that both reads and writes must not be led back to itself by the auxiliary node.
  for (const reader of few ? readers : readers.filter((tx) => writing.has(tx))) {
    for (const writer of writers) if (reader !== writer) edges.add(reader, writer, rw, key);
  }
  if (few) return;
  const aux = edges.addAux();
  for (const reader of others) edges.add(reader, aux, rw, key);
  for (const writer of writers) edges.add(aux, writer, rw, key);
}

/** Does a transaction write a key? */
export function writeTest(resolved: ResolvedKv): (tx: number, key: number) => boolean {
  const { history } = resolved;
  return (tx, key) => {
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      if (history.opKey[op] === key && history.opKind[op]! >= kvWrite) return true;
    }
    return false;
  };
}

function push(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

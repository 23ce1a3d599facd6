/** A small history as plain objects, for the slow checkers: nothing is shared with the fast ones but the input. */
import {
  type KvHistory,
  kvAppend,
  kvInitial,
  kvRead,
  kvReadList,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
} from '../../../histories/index.js';

export type PlainOp =
  | { readonly kind: 'write' | 'append'; readonly key: number; readonly value: number }
  /** `value` null: the initial state. */
  | { readonly kind: 'read'; readonly key: number; readonly value: number | null }
  | { readonly kind: 'list'; readonly key: number; readonly value: readonly number[] };

export interface PlainTx {
  readonly id: number;
  readonly session: number;
  readonly status: 'committed' | 'aborted' | 'unknown';
  readonly start: number;
  readonly end: number;
  /** Reads without a recorded result are left out. */
  readonly ops: readonly PlainOp[];
}

export function plainHistory(history: KvHistory): PlainTx[] {
  return Array.from({ length: history.txCount }, (_, id): PlainTx => {
    const ops: PlainOp[] = [];
    for (let op = history.opOffsets[id]!; op < history.opOffsets[id + 1]!; op++) {
      const key = history.opKey[op]!;
      const value = history.opValue[op]!;
      const kind = history.opKind[op]!;
      if (kind === kvWrite) ops.push({ kind: 'write', key, value });
      else if (kind === kvAppend) ops.push({ kind: 'append', key, value });
      else if (value === kvUnseen) continue;
      else if (kind === kvRead) ops.push({ kind: 'read', key, value: value === kvInitial ? null : value });
      else if (kind === kvReadList) ops.push({ kind: 'list', key, value: Array.from(listOf(history, op)) });
    }
    return {
      id,
      session: history.txSession[id]!,
      status: statusOf(history, id),
      start: history.txStart?.[id] ?? Number.NaN,
      end: history.txEnd?.[id] ?? Number.NaN,
      ops,
    };
  });
}

/** Does `a` have to come before `b` in the order a level keeps? */
export function ordered(a: PlainTx, b: PlainTx, order: 'none' | 'session' | 'real-time'): boolean {
  if (order === 'none') return false;
  if (a.session === b.session && a.id < b.id) return true;
  return order === 'real-time' && a.end < b.start;
}

/** Every order of `items` that `mayPrecede` allows: `mustPrecede(a, b)` pairs are kept. */
export function* orders<T>(items: readonly T[], mustPrecede: (a: T, b: T) => boolean): Generator<T[]> {
  if (items.length === 0) {
    yield [];
    return;
  }
  for (const first of items) {
    const rest = items.filter((item) => item !== first);
    if (rest.some((other) => mustPrecede(other, first))) continue;
    for (const tail of orders(rest, mustPrecede)) yield [first, ...tail];
  }
}

/** Every way the transactions of unknown outcome may have ended: the committed ones and any subset of those. */
export function* outcomes(txs: readonly PlainTx[]): Generator<PlainTx[]> {
  const committed = txs.filter((tx) => tx.status === 'committed');
  const unknown = txs.filter((tx) => tx.status === 'unknown');
  for (let subset = 0; subset < 1 << unknown.length; subset++) {
    yield [...committed, ...unknown.filter((_, i) => (subset >> i) & 1)].sort((a, b) => a.id - b.id);
  }
}

/**
 * Every way to say which write each read saw, and which append each element of a list is, where several wrote its value: histories in
 * which each write has a value of its own. A read of `initialValue` may also have seen the initial state.
 */
export function* withUniqueValues(txs: readonly PlainTx[], initialValue?: number): Generator<PlainTx[]> {
  const writes = txs.flatMap((tx) => tx.ops.filter((op) => op.kind === 'write' || op.kind === 'append'));
  const repeated = writes.some((a) => writes.some((b) => a !== b && a.key === b.key && a.value === b.value));
  if (!repeated && initialValue === undefined) {
    yield [...txs];
    return;
  }
  const unique = (op: PlainOp): number => 1000 + writes.indexOf(op as (typeof writes)[number]);
  const sourcesOf = (key: number, value: number): number[] =>
    writes.filter((write) => write.key === key && write.value === value).map(unique);
  /** What a read may have seen: a value of its own for each value; what nobody wrote stays so. */
  function* seenBy(op: PlainOp): Generator<PlainOp> {
    if (op.kind === 'write' || op.kind === 'append') yield { ...op, value: unique(op) };
    else if (op.kind === 'list') for (const value of elements(op.key, op.value)) yield { ...op, value };
    else {
      const sources = op.value === null ? [] : sourcesOf(op.key, op.value);
      const maybeInitial = op.value === null || op.value === initialValue;
      if (maybeInitial) yield { kind: 'read', key: op.key, value: null };
      else if (sources.length === 0) yield { kind: 'read', key: op.key, value: 999 };
      for (const value of sources) yield { kind: 'read', key: op.key, value };
    }
  }
  /** An append is in one place of a list, unless there are more places than appends. */
  function* elements(
    key: number,
    list: readonly number[],
    used: readonly number[] = [],
  ): Generator<number[]> {
    const [first, ...rest] = list;
    if (first === undefined) {
      yield [];
      return;
    }
    const sources = sourcesOf(key, first);
    const free = sources.filter((source) => !used.includes(source));
    const last = sources.at(-1) ?? 900 + first;
    for (const source of free.length > 0 ? free : [last]) {
      for (const others of elements(key, rest, [...used, source])) yield [source, ...others];
    }
  }
  function* choose(done: readonly PlainTx[]): Generator<PlainTx[]> {
    const tx = txs[done.length];
    if (tx === undefined) {
      yield [...done];
      return;
    }
    for (const ops of allOps(tx.ops)) yield* choose([...done, { ...tx, ops }]);
  }
  function* allOps(ops: readonly PlainOp[]): Generator<PlainOp[]> {
    const [first, ...rest] = ops;
    if (first === undefined) {
      yield [];
      return;
    }
    for (const seen of seenBy(first)) for (const others of allOps(rest)) yield [seen, ...others];
  }
  yield* choose([]);
}

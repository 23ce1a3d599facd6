/**
 * Elements that were appended to a list more than once. A list that holds such an element does not say whose it is, so every way to tell
 * is an alternative history, in which each append has a value of its own, under the name of the old one.
 *
 * All lists of a key begin alike, so the first 1 in them is the same append everywhere: an alternative is a sequence of appends,
 * one for each place. A transaction's own appends keep their order. What aborted comes last: it is seen only where nothing
 * else is left, for whoever saw it breaks every level from read committed on. At read uncommitted it may have been in one list and be gone from the next;
 * these ways are not tried, so there a level is never found broken while such an append, or one of unknown outcome, is among them. Where there are more places than appends, the last one is in several of them, which is a finding.
 */
import {
  firstNamedValue,
  type KvHistory,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvReadList,
  kvUnseen,
  type OtherChain,
  valueName,
} from '../../histories/index.js';

export interface RepeatedElement {
  readonly key: number;
  readonly value: number;
  /** The operations that appended it, those that aborted last. */
  readonly appends: readonly number[];
  /** How many of these aborted. */
  readonly aborted: number;
  /** Whether one may have aborted: the outcome of its transaction is not known. */
  readonly isOpen: boolean;
  /** In how many places of one list it is at most. */
  readonly places: number;
  /** Whose it may be in each place, as positions in `appends`; undefined if there are too many ways. */
  readonly ways: readonly (readonly number[])[] | undefined;
}

const mostWays = 5040;

/** Those of the given elements (key · 2^31 + value) that somebody read. */
export function repeatedElements(history: KvHistory, ids: ReadonlySet<number>): RepeatedElement[] {
  if (ids.size === 0) return [];
  const { txCount, txStatus, opOffsets, opKind, opKey, opValue } = history;
  const appends = new Map<
    number,
    { readonly alive: [op: number, tx: number][]; readonly aborted: number[] }
  >();
  for (const id of ids) appends.set(id, { alive: [], aborted: [] });
  const readKeys = new Set<number>();
  for (let tx = 0; tx < txCount; tx++) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op] === kvReadList && opValue[op] !== kvUnseen) readKeys.add(opKey[op]!);
      if (opKind[op] !== kvAppend) continue;
      const found = appends.get(opKey[op]! * 2 ** 31 + opValue[op]!);
      if (txStatus[tx] === kvAborted) found?.aborted.push(op);
      else found?.alive.push([op, tx]);
    }
  }
  return [...appends].flatMap(([id, { alive, aborted }]) => {
    const [key, value] = [Math.floor(id / 2 ** 31), id % 2 ** 31];
    const places = readKeys.has(key) ? placesOf(history, key, value) : 0;
    if (places === 0) return [];
    const txs = alive.map(([, tx]) => tx);
    const isOpen = txs.some((tx) => txStatus[tx] !== kvCommitted);
    return [
      {
        isOpen,
        ...{ key, value, appends: [...alive.map(([op]) => op), ...aborted], aborted: aborted.length },
        ...{ places, ways: waysOf(txs, places) },
      },
    ];
  });
}

function placesOf(history: KvHistory, key: number, value: number): number {
  const main = history.chainValues.subarray(history.chainOffsets[key]!, history.chainOffsets[key + 1]!);
  const lists = [
    main,
    ...history.otherChains.filter((chain) => chain.key === key).map(({ values }) => values),
  ];
  return Math.max(...lists.map((list) => list.filter((each) => each === value).length));
}

/** Every sequence of `places` appends of these transactions, in which those of one transaction keep their order. */
function waysOf(txs: readonly number[], places: number): number[][] | undefined {
  const length = Math.min(places, txs.length);
  const ways: number[][] = [];
  const extend = (way: readonly number[]): void => {
    if (ways.length > mostWays) return;
    if (way.length === length) {
      ways.push([...way]);
      return;
    }
    txs.forEach((tx, i) => {
      const earlier = txs.findIndex((other, j) => other === tx && !way.includes(j));
      if (earlier === i) extend([...way, i]);
    });
  };
  extend([]);
  return ways.length > mostWays ? undefined : ways;
}

/** The history in which every append of the elements has a value of its own, each seen where `ways` says. */
export function withOwnElements(
  history: KvHistory,
  elements: readonly RepeatedElement[],
  ways: readonly (readonly number[])[],
): KvHistory {
  const opValue = history.opValue.slice();
  const chainValues = history.chainValues.slice();
  const valueNames = [...history.valueNames];
  const otherChains = history.otherChains.map(
    (chain): OtherChain => ({ ...chain, values: chain.values.slice() }),
  );
  elements.forEach(({ key, value, appends }, e) => {
    const ids = appends.map((op) => {
      const id = firstNamedValue + valueNames.push(valueName(history, value)) - 1;
      opValue[op] = id;
      return id;
    });
    const way = ways[e]!;
    // Behind those of the way come those that nobody else can be: what aborted.
    const sequence = [...way, ...ids.keys()]
      .filter((i, at, all) => all.indexOf(i) === at)
      .map((i) => ids[i]!);
    const rename = (list: Int32Array): void => {
      let seen = 0;
      for (let i = 0; i < list.length; i++) {
        if (list[i] === value) list[i] = sequence[Math.min(seen++, sequence.length - 1)]!;
      }
    };
    rename(chainValues.subarray(history.chainOffsets[key]!, history.chainOffsets[key + 1]!));
    for (const chain of otherChains) if (chain.key === key) rename(chain.values);
  });
  return { ...history, opValue, chainValues, valueNames, otherChains };
}

/** The history as if nobody had read the lists of the elements. */
export function withoutLists(history: KvHistory, elements: readonly RepeatedElement[]): KvHistory {
  const { opKind, opKey, keyNames } = history;
  const keys = new Set(elements.map(({ key }) => key));
  const opValue = history.opValue.map((value, op) =>
    opKind[op] === kvReadList && keys.has(opKey[op]!) ? kvUnseen : value,
  );
  const chainOffsets = new Int32Array(keyNames.length + 1);
  const chainValues: number[] = [];
  for (let key = 0; key < keyNames.length; key++) {
    const [from, to] = [history.chainOffsets[key]!, history.chainOffsets[key + 1]!];
    if (!keys.has(key)) for (let i = from; i < to; i++) chainValues.push(history.chainValues[i]!);
    chainOffsets[key + 1] = chainValues.length;
  }
  const otherChains = history.otherChains.map(
    (chain): OtherChain => (keys.has(chain.key) ? { ...chain, values: new Int32Array(0) } : chain),
  );
  return { ...history, opValue, chainOffsets, chainValues: Int32Array.from(chainValues), otherChains };
}

/** Makes certificates: from the order that proved a level, or from a finding the few transactions that break it alone. */
import {
  type KvHistory,
  kvCommitted,
  kvRead,
  kvUnknown,
  kvUnseen,
  kvWrite,
  listOf,
} from '../../../histories/index.js';
import type { Finding } from '../../finding.js';
import { baseOf, type CheckLevel } from '../../levels.js';
import type { PointOrder } from '../decide-order.js';
import { minimalCore } from '../order/refutation.js';
import { Restriction } from '../restrict-history.js';
import { type Certificate, certificateFormat } from './certificate.js';

const head = (level: CheckLevel) => ({ format: certificateFormat, version: 1, level }) as const;

/** `proof` is of this level or a stronger one. */
export function certifyTrue(
  history: KvHistory,
  level: CheckLevel,
  proof: PointOrder,
  reads: Readonly<Record<string, number>> = {},
): Certificate {
  const { txCount } = history;
  const twoSteps = baseOf(level) === 'snapshot' || baseOf(level) === 'prefix';
  const points = [...proof.points];
  const order = proof.split
    ? twoSteps
      ? points.map((point) => (point < txCount ? point : -1 - (point - txCount)))
      : points.filter((point) => point >= txCount).map((point) => point - txCount)
    : twoSteps
      ? points.flatMap((tx) => [tx, -1 - tx])
      : points;
  const chosen = Object.keys(reads).length === 0 ? {} : { reads };
  return { ...head(level), valid: true, order, ...chosen };
}

/** Undefined if what the finding names does not break the level by itself, or time is up before few enough are left. */
export function certifyFalse(
  history: KvHistory,
  level: CheckLevel,
  finding: Pick<Finding, 'transactions'>,
  options: {
    /** Do these transactions alone break the level? */
    readonly breaks: (restricted: KvHistory) => boolean;
    readonly spent: () => boolean;
  },
): Certificate | undefined {
  const named = finding.transactions.map(({ id }) => id).sort((a, b) => a - b);
  for (const more of [asTheyAre, withWriters, withWitnesses, withAllBehind, everything]) {
    const txs = more(history, named);
    const restriction = new Restriction(history, txs);
    const breaks = (some: readonly number[]): boolean => options.breaks(restriction.to(some));
    if (breaks(txs)) {
      return { ...head(level), valid: false, transactions: minimalCore(txs, breaks, options.spent) };
    }
  }
  return undefined;
}

const asTheyAre = (_: KvHistory, txs: readonly number[]): readonly number[] => txs;

/**
 * Besides who wrote what they read: who shows that those of unknown outcome committed, by having read from them; and of
 * every list they append to, who read most of it, and so shows its order.
 */
function withWitnesses(history: KvHistory, txs: readonly number[]): number[] {
  const { txCount, txStatus, opOffsets, opKind, opKey, opValue } = history;
  const all = new Set(withWriters(history, txs));
  for (let size = -1; size < all.size; ) {
    size = all.size;
    const written = new Set<string>();
    const longest = new Map<number, { tx: number; length: number }>();
    for (const tx of all) {
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        if (opKind[op]! < kvWrite) continue;
        if (txStatus[tx] === kvUnknown) written.add(`${opKey[op]}/${opValue[op]}`);
        longest.set(opKey[op]!, { tx, length: 0 });
      }
    }
    for (let tx = 0; tx < txCount; tx++) {
      for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
        if (opKind[op]! >= kvWrite || opValue[op] === kvUnseen || !longest.has(opKey[op]!)) continue;
        const values = opKind[op] === kvRead ? [opValue[op]!] : [...listOf(history, op)];
        if (values.some((value) => written.has(`${opKey[op]}/${value}`))) all.add(tx);
        if (opKind[op] === kvRead || txStatus[tx] !== kvCommitted) continue;
        if (values.length > longest.get(opKey[op]!)!.length)
          longest.set(opKey[op]!, { tx, length: values.length });
      }
    }
    for (const { tx } of longest.values()) all.add(tx);
  }
  return [...all].sort((a, b) => a - b);
}

const mostBehind = 500;

/** Of a short history all of it: what leads from one to the other may lie outside of what they read. */
const everything = ({ txCount }: KvHistory, txs: readonly number[]): readonly number[] =>
  txCount > mostBehind ? txs : Array.from({ length: txCount }, (_, tx) => tx);

/** The transactions, their witnesses, and what those rest on, as long as that is not too much to look at. */
function withAllBehind(history: KvHistory, txs: readonly number[]): readonly number[] {
  let all = txs;
  for (;;) {
    const more = withWitnesses(history, all);
    if (more.length === all.length || more.length > mostBehind) return all;
    all = more;
  }
}

/** The transactions, and all that wrote anything they read. */
function withWriters(history: KvHistory, txs: readonly number[]): number[] {
  const { opOffsets, opKind, opKey, opValue } = history;
  const restriction = new Restriction(history, txs);
  const all = new Set(txs);
  for (const tx of txs) {
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op]! >= kvWrite || opValue[op] === kvUnseen) continue;
      const values = opKind[op] === kvRead ? [opValue[op]!] : listOf(history, op);
      for (const value of values) {
        for (const writer of restriction.writersOf(opKey[op]!, value)) all.add(writer);
      }
    }
  }
  return [...all].sort((a, b) => a - b);
}

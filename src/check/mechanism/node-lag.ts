/**
 * How far behind a node of a cluster may be (`otherNodesLag`). Commits have one order for all nodes, and the state of a node is what the
 * first so many of them left behind. So a snapshot on a node is still one instant in that order, but the instant may lie before the
 * moment it was taken. It cannot lie before
 *
 * 1. the commit of a transaction of the node itself that was answered before, if it changed anything (others have no place in the order), nor
 * 2. the commit of a transaction that a read of the node has shown and that was answered before.
 *
 * Those transactions are in the snapshot (`shownBefore`), and the latest of these commits is the node's floor: the instant lies after the
 * earliest moment of that commit, no later, for others that overlap it may have been ordered behind it.
 *
 * A node lags only behind others that write: nobody writes on a standby, so the primary has no lag.
 */
import type { HistoryHeader, Operation } from '../../histories/index.js';
import { type Interval, intervalOf, type Tx } from '../../rows/index.js';
import type { SnapshotHint } from './snapshot-bounds.js';
import { isWriteKind } from './written.js';

/** A transaction that a node shows from a moment on. */
interface Shown {
  readonly by: number;
  readonly hint: SnapshotHint;
  /** The latest instant that the node has certainly reached by then. */
  readonly floor: number;
}

/** So many transactions are remembered for each node, the latest: older ones are in the floor. */
const mostShown = 64;

export class NodeLag {
  readonly #nodes: HistoryHeader['nodes'];
  readonly #shown = new Map<string, Shown[]>();
  readonly #known = new Map<string, Set<Tx>>();
  readonly #writers: ReadonlySet<string>;
  /** Transactions that certainly changed a row. */
  readonly #changed: ReadonlySet<number>;

  constructor(header: HistoryHeader, operations: readonly Operation[]) {
    this.#nodes = header.nodes;
    const writes = operations.filter(({ kind }) => isWriteKind(kind));
    this.#writers = new Set(writes.map(({ session }) => this.#nodeOf(session)));
    const undone = new Set(
      operations.flatMap((each) => (each.kind === 'rollback-to' ? [each.transaction] : [])),
    );
    const changing = writes.filter((each) => changesRows(each) && !undone.has(each.transaction));
    this.#changed = new Set(changing.map(({ transaction }) => transaction));
  }

  /** Where a history does not say it, every session may be on a node of its own. */
  #nodeOf(session: number): string {
    return this.#nodes?.[session] ?? `session ${session}`;
  }

  #lags(node: string): boolean {
    return this.#writers.size > (this.#writers.has(node) ? 1 : 0);
  }

  /** A read showed what `hint.tx` committed. */
  saw({ session }: Tx, operation: Operation, hint: SnapshotHint): void {
    this.#add(session, intervalOf(operation).end, { ...hint, earlier: 'shown' });
  }

  /** A transaction ended on its node. */
  ended(tx: Tx): void {
    if (tx.fate !== 'committed' || !this.#changed.has(tx.id)) return;
    const hint: SnapshotHint = { tx, operation: tx.last.index, object: '', earlier: 'committed' };
    this.#add(tx.session, intervalOf(tx.last).end, hint);
  }

  #add(session: number, by: number, hint: SnapshotHint): void {
    const node = this.#nodeOf(session);
    const known = this.#known.get(node) ?? new Set();
    this.#known.set(node, known);
    if (known.has(hint.tx)) return;
    known.add(hint.tx);
    const shown = this.#shown.get(node) ?? [];
    this.#shown.set(node, shown);
    const before = shown.at(-1)?.floor ?? Number.NEGATIVE_INFINITY;
    shown.push({ by, hint, floor: Math.max(before, hint.tx.commit.start) });
  }

  /** What is in a snapshot that the node of `tx` took at `start` or later. */
  shownBefore({ session }: Tx, start: number): readonly SnapshotHint[] {
    const node = this.#nodeOf(session);
    if (!this.#lags(node)) return [];
    const shown = this.#shown.get(node) ?? [];
    const count = shown.findLastIndex(({ by }) => by < start) + 1;
    return shown.slice(Math.max(0, count - mostShown), count).map(({ hint }) => hint);
  }

  /** The span in which a snapshot lies that the node of `tx` took in `span`. */
  widen(tx: Tx, span: Interval): Interval {
    const node = this.#nodeOf(tx.session);
    if (!this.#lags(node)) return span;
    const last = this.#shown.get(node)?.findLast(({ by }) => by < span.start);
    const floor = last?.floor ?? Number.NEGATIVE_INFINITY;
    return floor < span.start ? { start: floor, end: span.end } : span;
  }
}

/** What an upsert matched it may have left as it was. */
function changesRows({ outcome, changed, matched, sql = '' }: Operation): boolean {
  const count = changed ?? (/\bon\s+(?:duplicate|conflict)\b/i.test(sql) ? 0 : matched);
  return outcome === 'ok' && count !== undefined && count > 0;
}

/** What the judges of one verification share. */

import type { Contract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { Catalog, Interval, Tx } from '../../rows/index.js';
import type { Finding } from '../finding.js';
import type { AccessObserver } from './access-observer.js';
import type { Certifier } from './certifier.js';
import type { InFlight } from './in-flight.js';
import type { MirrorTable } from './mirror.js';
import type { NodeLag } from './node-lag.js';
import type { Tally } from './result.js';
import type { View } from './row-chain.js';
import { SnapshotBounds, type SnapshotHint } from './snapshot-bounds.js';
import { type ReadMode, viewOf } from './view.js';

/** One that also looks at the whole mirror after each operation (`trace.ts`). */
export interface MirrorObserver extends AccessObserver {
  /** An operation was judged; undefined: none yet. */
  readonly judged?: (verification: Verification, operation: Operation | undefined) => void;
}

export interface Verification {
  readonly history: History;
  readonly contract: Contract;
  readonly catalog: Catalog;
  /** The history says which rows operations touched. */
  readonly traced: boolean;
  /** Writers of a row exclude each other until they end. */
  readonly exclusive: boolean;
  /** By name. */
  readonly tables: ReadonlyMap<string, MirrorTable>;
  readonly txs: ReadonlyMap<number, Tx>;
  readonly inFlight: InFlight;
  readonly certifier: Certifier | undefined;
  /** How far nodes may be behind, where there are several. */
  readonly lag: NodeLag | undefined;
  readonly bounds: Map<Tx, SnapshotBounds>;
  /** Where each table has a snapshot of its own: by the table's name. */
  readonly tableBounds: Map<Tx, Map<string, SnapshotBounds>>;
  readonly tally: Tally;
  readonly findings: Finding[];
  /** Wants to know what operations met. */
  readonly observer: MirrorObserver | undefined;
}

/** What is known of the snapshot that a transaction reads a table from. */
export function boundsOf(verification: Verification, tx: Tx, table: string): SnapshotBounds {
  const known = tx.snapshot && verification.lag?.shownBefore(tx, tx.snapshot.start);
  if (tx.contract?.mechanism?.snapshotPer !== 'table') return boundsIn(verification.bounds, tx, known);
  let tables = verification.tableBounds.get(tx);
  if (tables === undefined) {
    tables = new Map();
    verification.tableBounds.set(tx, tables);
  }
  return boundsIn(tables, table, known);
}

function boundsIn<K>(
  all: Map<K, SnapshotBounds>,
  key: K,
  known: readonly SnapshotHint[] | undefined,
): SnapshotBounds {
  let bounds = all.get(key);
  if (bounds === undefined) {
    bounds = new SnapshotBounds(known);
    all.set(key, bounds);
  }
  return bounds;
}

/** The span of a transaction's snapshot, as far as its reads have narrowed it. */
export function narrowedSnapshot(verification: Verification, tx: Tx): Interval | undefined {
  if (tx.snapshot === undefined) return undefined;
  const span = verification.lag?.widen(tx, tx.snapshot) ?? tx.snapshot;
  return verification.bounds.get(tx)?.narrow(span) ?? span;
}

/** The state that a statement looks at, on the node where it runs. */
export function viewAt(verification: Verification, tx: Tx, operation: Operation, mode: ReadMode): View {
  const view = viewOf(tx, operation, mode, narrowedSnapshot(verification, tx));
  // What is not its transaction's snapshot is the moment of the statement.
  const { lag } = verification;
  return lag === undefined || view.span.start !== operation.start
    ? view
    : { ...view, span: lag.widen(tx, view.span) };
}

/** What a plain read of the transaction would see at the time of this operation. */
export function snapshotView(verification: Verification, tx: Tx, operation: Operation): View {
  return viewAt(verification, tx, operation, 'plain');
}

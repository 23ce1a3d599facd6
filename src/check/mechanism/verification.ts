/** What the judges of one verification share. */

import type { Contract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { Catalog, Interval, Tx } from '../../rows/index.js';
import type { Finding } from '../finding.js';
import type { Certifier } from './certifier.js';
import type { InFlight } from './in-flight.js';
import type { MirrorTable } from './mirror.js';
import type { Tally } from './result.js';
import type { View } from './row-chain.js';
import { SnapshotBounds } from './snapshot-bounds.js';
import { viewOf } from './view.js';

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
  readonly bounds: Map<Tx, SnapshotBounds>;
  readonly tally: Tally;
  readonly findings: Finding[];
}

export function boundsOf(verification: Verification, tx: Tx): SnapshotBounds {
  let bounds = verification.bounds.get(tx);
  if (bounds === undefined) {
    bounds = new SnapshotBounds();
    verification.bounds.set(tx, bounds);
  }
  return bounds;
}

/** The span of a transaction's snapshot, as far as its reads have narrowed it. */
export function narrowedSnapshot(verification: Verification, tx: Tx): Interval | undefined {
  return tx.snapshot === undefined ? undefined : verification.bounds.get(tx)?.narrow(tx.snapshot);
}

/** What a plain read of the transaction would see at the time of this operation. */
export function snapshotView(verification: Verification, tx: Tx, operation: Operation): View {
  return viewOf(tx, operation, 'plain', narrowedSnapshot(verification, tx));
}

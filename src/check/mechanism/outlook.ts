/** What a statement may find in a row: its allowed versions, and the values these have. */
import { type Image, intervalOf, mergeImages, type Tx } from '../../rows/index.js';
import type { Write } from './followed-write.js';
import { mayTouch, type PendingWrite } from './in-flight.js';
import { mayLockNothing } from './locks.js';
import {
  comesBefore,
  imagesOfAll,
  type RowChain,
  type VainDelete,
  type Version,
  type View,
} from './row-chain.js';

export interface Outlook {
  readonly row: RowChain;
  readonly versions: readonly Version[];
  readonly images: readonly Image[];
  /** Some possible values are not known. */
  readonly unknown: boolean;
  /** A write that is not answered yet may have changed it. */
  readonly pending: boolean;
  /** The transaction itself wrote the row last, for certain. */
  readonly own: boolean;
  /** A DELETE of the transaction itself hides what `versions` would show. */
  readonly hiddenBy: VainDelete | undefined;
}

/** Who looks, and at which state. */
export interface Look {
  readonly view: View;
  readonly tx: Tx;
  /** Writers of a row exclude each other. */
  readonly exclusive: boolean;
  readonly pending: readonly PendingWrite[];
}

export function lookAt(row: RowChain, { view, tx: reader, exclusive, pending }: Look): Outlook {
  const versions = row.allowed(view, reader, exclusive);
  const own = versions.length === 1 && versions[0]!.tx === reader;
  let images = imagesOfAll(versions, view);
  if (view.dirty && row.undone.length > 0) {
    const undone = row.undone.filter(({ until }) => until >= view.span.start);
    images = mergeImages([...images, ...undone.flatMap((state) => state.images)]);
  }
  const hiddenBy = view.current || view.dirty ? undefined : row.hiddenBy(reader);
  if (hiddenBy !== undefined) images = hiddenBy.certain ? ['absent'] : mergeImages([...images, 'absent']);
  const disturbed = pending.length > 0 && !own && mayTouch(pending, row.key);
  const unknown = disturbed || images.includes('unknown');
  return { row, versions, images, unknown, pending: disturbed, own, hiddenBy };
}

/**
 * What a write that changed the row has computed from: less than it can have met on the way. Where writers of a row exclude each other and
 * see what is committed, the write has waited for everybody who held the row before it and then looked again. Who had written the row before
 * this write was sent, or before its answer came while its own transaction stays open and keeps the row, was first; if that transaction
 * committed, no version before its own can be the base. A statement that locks nothing has not waited.
 */
export function baseOf(outlook: Outlook, write: Write, exclusive: boolean): Outlook {
  const { versions, unknown, own } = outlook;
  const { view, tx, operation } = write;
  if (!exclusive || !view.current || view.dirty || unknown || own || versions.length < 2) return outlook;
  if (mayLockNothing(tx, operation)) return outlook;
  const { start, end } = intervalOf(operation);
  const keeps = tx.explicit && operation.ends === undefined;
  const wasFirst = (version: Version) =>
    version.tx?.fate === 'committed' &&
    version.commit.start <= end &&
    version.states.some((state) => state.certain && (keeps ? state.span.end <= end : state.span.end < start));
  const first = versions.filter(wasFirst);
  const left = versions.filter(
    (version) => !first.some((other) => other !== version && comesBefore(version, other, true)),
  );
  return left.length === versions.length
    ? outlook
    : { ...outlook, versions: left, images: imagesOfAll(left, view) };
}

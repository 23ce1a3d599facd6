/** What a statement may find in a row: its allowed versions, and the values these have. */
import { type Image, mergeImages, type Tx } from '../../rows/index.js';
import { mayTouch, type PendingWrite } from './in-flight.js';
import { imagesOfAll, type RowChain, type VainDelete, type Version, type View } from './row-chain.js';

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

/**
 * Rows that take the place of another one. InnoDB and TiDB keep what stands at one primary key as versions of one record, so whoever writes a row
 * at the key of a row with another name hides that one from itself, however old its snapshot is; so does who finds out only at COMMIT that
 * the key is taken. Such a transaction is not judged on that table from then on. Everybody else sees the rows one after the other, as they were
 * committed.
 *
 * A row can be hidden only if the transaction may see it: in its snapshot, or as its own last write. And a row hides others only where its
 * snapshot does not have it: while it has the row at that key, every other row of the snapshot stands at another one, whatever the types of
 * keys let us compare. So a write that finds a row where the snapshot has it and leaves it there hides nothing; one that finds a row
 * where others have put it does, though it assigns no key. That goes for the place that a write leaves, or deletes at, too: the record there
 * is marked as deleted, as the writer's own.
 */
import {
  hasSnapshot,
  type Image,
  type KeyColumns,
  keyText,
  recordKeys,
  rowKey,
  type Satisfies,
  sharesKey,
} from '../../rows/index.js';
import { type EvaluatedRow, isUndecidable } from '../../sql/index.js';
import type { Write } from './followed-write.js';
import type { MirrorTable } from './mirror.js';
import type { Outlook } from './outlook.js';
import { imagesOfAll, type RowChain, type View } from './row-chain.js';
import { snapshotView, type Verification } from './verification.js';

const placeTaken = 'a row that takes the place of another one';

export interface WrittenRow {
  readonly row: RowChain;
  readonly images: readonly Image[];
  /** What it may have been before: where it stood then is written, too. */
  readonly met: readonly Image[];
}

/** New rows may hide others from their transaction. */
export function followNewRows(
  verification: Verification,
  write: Write,
  table: MirrorTable,
  rows: readonly EvaluatedRow[],
): void {
  const places = placesOf(verification, write, table);
  const { identity } = table.info;
  if (places !== undefined && rows.some((values) => places.isTaken(values, rowKey(values, identity))))
    loseToWriter(write, table);
}

/** A row that is changed may hide another one as a new row does. When all are written: rows may also have moved out of each other's way. */
export function followMovedRows(
  verification: Verification,
  write: Write,
  table: MirrorTable,
  written: readonly WrittenRow[],
): void {
  const places = placesOf(verification, write, table);
  if (places === undefined) return;
  const hides = ({ row, met, images }: WrittenRow) =>
    [...met, ...images].some((image) => {
      if (image === 'absent') return false;
      // What is not known of a row may be that it has been moved.
      return image === 'unknown' || (places.isNew(row, image) && places.isTaken(image, row.key));
    });
  if (written.some(hides)) loseToWriter(write, table);
}

function placesOf(verification: Verification, write: Write, table: MirrorTable): Places | undefined {
  return table.lostTo.has(write.tx) ? undefined : Places.of(verification, write, table);
}

function loseToWriter({ tx }: Write, table: MirrorTable): void {
  table.lose(`a write before it could not be followed: ${placeTaken}`, Number.POSITIVE_INFINITY, tx);
}

/** What a write may have met in a row whose images it may select. */
export function imagesMet({ images, unknown }: Outlook, where: Satisfies): readonly Image[] {
  const met = images.filter((image) =>
    typeof image === 'object' ? where(image) !== false : image !== 'absent',
  );
  return unknown ? [...met, 'unknown'] : met;
}

interface Standing {
  /** The row's name. */
  readonly name: string;
  readonly image: EvaluatedRow;
}

/** The rows that a transaction may see of a table, by what they have in a key. */
interface Index {
  readonly key: KeyColumns;
  readonly byText: Map<string, Standing[]>;
  /** Those that no text tells apart from others. */
  readonly open: Standing[];
  readonly all: Standing[];
}

/** Where the rows stand that the transaction of a write may see. */
class Places {
  readonly #view: View;
  #indexes: readonly Index[] | undefined;
  /** Names of rows that may stand at any key. */
  readonly #anywhere = new Set<string>();

  private constructor(
    private readonly verification: Verification,
    private readonly write: Write,
    private readonly table: MirrorTable,
    /** undefined: any columns may be a key. */
    private readonly keys: readonly KeyColumns[] | undefined,
  ) {
    this.#view = snapshotView(verification, write.tx, write.operation);
  }

  /** undefined: the write hides nothing from what its transaction does later. */
  static of(verification: Verification, write: Write, table: MirrorTable): Places | undefined {
    const { tx } = write;
    const mechanism = tx.contract?.mechanism;
    if (mechanism === undefined || !hasSnapshot(mechanism) || !tx.explicit) return undefined;
    if (mechanism.writesSee !== 'current' && mechanism.keysCheckedAtCommit !== true) return undefined;
    const keys = recordKeys(table.info, verification.catalog.dialect);
    return keys?.length === 0 ? undefined : new Places(verification, write, table, keys);
  }

  /** Whether the snapshot may not have the row at the keys of this image. */
  isNew(row: RowChain, image: EvaluatedRow): boolean {
    const { tx } = this.write;
    const others = row
      .allowed(this.#view, undefined, this.verification.exclusive)
      .filter((version) => version.tx !== tx);
    if (others.length === 0) return true;
    const stays = (before: Image) =>
      typeof before === 'object' &&
      (this.keys ?? [[...image.keys()]]).every((key) => key.every((at) => isSame(before[at], image[at])));
    return !imagesOfAll(others, this.#view).every(stays);
  }

  /** Whether a row with another name may stand at a key of this one. */
  isTaken(values: EvaluatedRow, name: string | undefined): boolean {
    this.#indexes ??= this.#indexAll();
    const unknown = this.#anywhere.size - (name !== undefined && this.#anywhere.has(name) ? 1 : 0);
    if (unknown > 0) return true;
    return this.#indexes.some(({ key, byText, open, all }) => {
      const text = keyText(values, key, this.#types);
      if (text === null) return false;
      const near = text === undefined ? [all] : [byText.get(text) ?? [], open];
      return near.some((list) =>
        list.some(
          (each) => each.name !== name && sharesKey(values, each.image, [key], this.#types) !== false,
        ),
      );
    });
  }

  get #types() {
    return { shape: this.table.info.shape, dialect: this.verification.catalog.dialect };
  }

  #indexAll(): readonly Index[] {
    const { write, table, verification } = this;
    const indexes = (this.keys ?? []).map((key): Index => ({ key, byText: new Map(), open: [], all: [] }));
    for (const row of table.rows.values())
      for (const image of imagesOfAll(
        row.allowed(this.#view, write.tx, verification.exclusive),
        this.#view,
      )) {
        if (image === 'absent') continue;
        if (image === 'unknown' || this.keys === undefined) this.#anywhere.add(row.key);
        else for (const index of indexes) this.#enter({ name: row.key, image }, index);
      }
    return indexes;
  }

  #enter(standing: Standing, { key, byText, open, all }: Index): void {
    const text = keyText(standing.image, key, this.#types);
    if (text === null) return;
    all.push(standing);
    const list = text === undefined ? open : byText.get(text);
    if (list === undefined) byText.set(text!, [standing]);
    else list.push(standing);
  }
}

/** Whether two cells of one column certainly hold the same. */
function isSame(a: EvaluatedRow[number] | undefined, b: EvaluatedRow[number] | undefined): boolean {
  if (a === undefined || b === undefined || isUndecidable(a) || isUndecidable(b)) return false;
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** A read of one table as the verifier holds it against the mirror: its lines, and what each row may contribute to them. */
import type { Operation } from '../../histories/index.js';
import type { ScanPlan, Tx } from '../../rows/index.js';
import type { EvaluatedRow, Row } from '../../sql/index.js';
import type { MirrorTable } from './mirror.js';
import type { Outlook } from './outlook.js';
import { imagesOf, type Version, type View } from './row-chain.js';
import type { SnapshotBounds } from './snapshot-bounds.js';

/** A line of a result. */
export interface Line {
  /** The row it is of, where that is known. */
  readonly key: string | undefined;
  readonly text: string;
  /** Equal for equal lines. */
  readonly id: string;
  /** Whether a row with these values gives this line; undefined: cannot be known. */
  readonly fits: (image: EvaluatedRow) => boolean | undefined;
  /** All values of the row, where the line shows them. */
  readonly whole: Row | undefined;
}

/** What a row may contribute. */
export interface Expectation {
  readonly outlook: Outlook;
  /** Values with which the row is in the result. */
  readonly inside: readonly EvaluatedRow[];
  readonly mayBeIn: boolean;
  readonly mayBeOut: boolean;
  /** Not every possibility is known. */
  readonly open: boolean;
}

/** A read, and the state it looks at. */
export interface Read {
  readonly tx: Tx;
  readonly operation: Operation;
  readonly view: View;
}

export interface ScanRead extends Read {
  readonly plan: ScanPlan;
  readonly table: MirrorTable;
  readonly lines: readonly Line[];
  /** What is known of the instant of the snapshot it reads from. */
  readonly bounds: SnapshotBounds;
}

/** The versions of a row that would have given what was observed: `line`, or no line. */
export function explainingVersions(
  expectation: Expectation,
  where: ScanPlan['where'],
  line: Line | undefined,
): readonly Version[] {
  return expectation.outlook.versions.filter((version) =>
    imagesOf(version).some((image) => {
      if (image === 'unknown') return true;
      if (image === 'absent') return line === undefined;
      const satisfied = where(image);
      if (line === undefined) return satisfied !== true;
      return satisfied !== false && line.fits(image) !== false;
    }),
  );
}

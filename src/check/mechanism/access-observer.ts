/**
 * Who wants to know what each operation met, as the verifier goes: which rows it looked at, which versions of them its
 * contract lets it see, and what it showed. The verifier judges the same with and without one.
 */
import type { Operation } from '../../histories/index.js';
import type { Tx } from '../../rows/index.js';
import type { Write } from './followed-write.js';
import type { Outlook } from './outlook.js';
import type { RowChain } from './row-chain.js';
import type { Expectation, Line, Read, ScanRead } from './scan-read.js';

/** Which line of a result is of which row. */
export interface RowLines {
  readonly of: (expectation: Expectation) => Line | undefined;
  /** Those that are of no row. */
  readonly left: readonly Line[];
}

export interface AccessObserver {
  /** An operation is about to be judged. */
  begin(tx: Tx, operation: Operation): void;
  /** Something of the operation begun last is not judged. */
  skipped(reason: string): void;
  /** A read of one table, row by row. */
  scanned(read: ScanRead, expectations: readonly Expectation[], lines: RowLines): void;
  /** A query over whole tables, whose answer shows no single rows; `expected`: the answers of the states possible. */
  queried(
    read: Read,
    rows: readonly Outlook[],
    answer: { readonly fits: boolean; readonly expected: readonly string[] },
  ): void;
  /** A row that a write found, before it changes it. */
  met(write: Write, outlook: Outlook): void;
  /** A row has got the values a write gave it. */
  wrote(write: Write, row: RowChain): void;
}

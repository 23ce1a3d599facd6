import type { Operation } from '../../histories/index.js';
import type { Tx } from '../../rows/index.js';
import type { RowChain, View } from './row-chain.js';

/** A write as the verifier follows it. */
export interface Write {
  readonly tx: Tx;
  readonly operation: Operation;
  readonly view: View;
  /** Remembers what the transaction touched, for ROLLBACK TO. */
  readonly touch: (row: RowChain) => void;
}

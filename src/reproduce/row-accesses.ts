/**
 * Which rows each statement of a history touched, as the mirror sees it: the same accesses that order inference uses, for stages
 * that ask what depends on what (Pisco §5.1).
 */
import type { StatementRef } from '../cases/index.js';
import type { Contract } from '../contracts/index.js';
import type { History } from '../histories/index.js';
import { lock, publish, read, share, snapshot, someRow, write } from './conflicts.js';
import { openInference } from './infer.js';
import { refOf } from './steps.js';

export interface StatementRows {
  readonly statement: StatementRef;
  /** Place of its operation in the history; −1: put in by us. */
  readonly operation: number;
  readonly rows: readonly RowTouched[];
}

export interface RowTouched {
  readonly table: string;
  /** The row's name in its table; absent: the whole table, or rows that cannot be told. */
  readonly row?: string;
  /** It read the row, or fixed the snapshot from which the row was read. */
  readonly reads: boolean;
  readonly writes: boolean;
  /** It locked the row without writing it. */
  readonly locks: boolean;
  /** It ended the transaction that wrote the row. */
  readonly publishes: boolean;
}

/** The rows every statement of the history touched, in the order of sessions and statements. */
export function rowAccesses(history: History, contract: Contract): readonly StatementRows[] {
  const { evidence } = openInference(history, contract);
  const { accesses, objects, steps } = evidence;
  return Array.from({ length: steps.count }, (_, step) => {
    const rows: RowTouched[] = [];
    for (let i = accesses.first[step]!; i < accesses.first[step + 1]!; i++) {
      const object = accesses.object[i]!;
      const table = objects.tableOf[object]!;
      // On a table, what concerns only some row of it is told by that row.
      const roles = accesses.roles[i]! & ((1 << someRow) - 1);
      if (roles === 0) continue;
      const name = objects.names[object]!;
      rows.push({
        table: table < 0 ? name : objects.names[table]!,
        ...(table < 0 ? undefined : { row: name.slice(objects.names[table]!.length + 1) }),
        reads: (roles & (read | snapshot)) !== 0,
        writes: (roles & write) !== 0,
        locks: (roles & (lock | share)) !== 0 && (roles & write) === 0,
        publishes: (roles & publish) !== 0,
      });
    }
    return { statement: refOf(steps, step), operation: steps.source[step]!, rows };
  });
}

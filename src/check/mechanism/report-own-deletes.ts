/** Findings about rows that a transaction still sees although it deleted them and they were gone (`own-deletes.ts`). */

import type { Operation } from '../../histories/index.js';
import type { Satisfies } from '../../rows/index.js';
import type { Line } from './judge-read.js';
import {
  describeImage,
  describeOperation,
  describeReports,
  describeSpan,
  makeFinding,
  operationAt,
} from './prose.js';
import { imagesOf, type RowChain, type VainDelete, type Version, type View } from './row-chain.js';
import type { Tx } from './transactions.js';
import type { Verification } from './verification.js';

/** A row that should be hidden. */
export interface HiddenRow {
  readonly row: RowChain;
  readonly hiddenBy: VainDelete;
  /** As the snapshot has it. */
  readonly seen: string;
}

/** The row, if an own DELETE certainly hides it and the snapshot has it like this line. */
export function hiddenRow(
  row: RowChain,
  tx: Tx,
  view: View,
  line?: Line,
  where: Satisfies = () => true,
): HiddenRow | undefined {
  const hiddenBy = view.current ? undefined : row.hiddenBy(tx);
  if (hiddenBy?.certain !== true) return undefined;
  for (const version of row.allowed(view, tx, true))
    for (const image of imagesOf(version))
      if (typeof image === 'object' && where(image) !== false && line?.fits(image) !== false)
        return { row, hiddenBy, seen: line?.text ?? describeImage(image) };
  return undefined;
}

export function reportHidden(
  verification: Verification,
  tx: Tx,
  operation: Operation,
  hidden: readonly HiddenRow[],
  /** What the operation returned, in words. */
  returned: string,
): void {
  const { history } = verification;
  const contract = tx.contract!;
  const { row, hiddenBy, seen } = hidden[0]!;
  const gone = deletionOf(row, tx);
  const taken =
    tx.snapshotBy === undefined || tx.snapshotBy === operation
      ? ''
      : `, taken by ${describeOperation(tx.snapshotBy)},`;
  const others = hidden.length === 1 ? '' : ` The same holds for ${listed(hidden.slice(1))}.`;
  verification.findings.push(
    makeFinding(history, verification.txs, {
      kind: 'own-delete-missed',
      clause: 'ownDeletesHide true',
      contract,
      operations: [operation.index, hiddenBy.operation, gone?.states.at(-1)?.operation, tx.snapshotBy?.index],
      txs: [tx, gone?.tx],
      versions: hidden.map((each) => ({
        operation: operation.index,
        object: each.row.object,
        seen: each.seen,
        allowed: ['no row'],
      })),
      steps: [
        `T${tx.id} ran ${describeOperation(operation)}.`,
        ...(gone === undefined
          ? []
          : [
              `T${gone.tx!.id} had deleted ${row.object} with ${describeOperation(operationAt(history, gone.states.at(-1)!.operation))} and committed ${describeSpan(gone.commit)}: the newest committed state has no such row.`,
            ]),
        `After that T${tx.id} deleted it too: its snapshot${taken} has ${row.object} as ${seen}, and the condition of ${describeOperation(operationAt(history, hiddenBy.operation))} selects it there.`,
        `Under ${contract.id} a row that both have deleted is gone for T${tx.id}: neither the newest state nor its snapshot, less what it deleted itself, has it.${others}`,
        ...describeReports(contract, 'ownDeletesHide'),
        `However, it returned ${returned}.`,
      ],
    }),
  );
}

/** The version by which another transaction deleted the row. */
function deletionOf(row: RowChain, tx: Tx): Version | undefined {
  return row.versions.findLast(
    (version) =>
      version.tx !== undefined &&
      version.tx !== tx &&
      version.tx.fate !== 'aborted' &&
      imagesOf(version).every((image) => image === 'absent'),
  );
}

function listed(hidden: readonly HiddenRow[]): string {
  const named = hidden.slice(0, 9).map(({ row }) => row.object);
  return hidden.length > 9 ? `${named.join(', ')} and ${hidden.length - 9} more rows` : named.join(', ');
}

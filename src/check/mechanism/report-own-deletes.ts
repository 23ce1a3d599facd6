/** Findings about rows that a transaction still sees although it deleted them and they were gone (`own-deletes.ts`). */

import type { Satisfies, Tx } from '../../rows/index.js';
import { counted } from '../../words.js';
import { during, joined, ofData, ofOperation, ofRow, type Phrase, phrase, say } from '../explanation.js';
import { absent, values } from '../observation.js';
import { describeImage, describeReports, makeFinding, ofTx, operationAt } from './prose.js';
import { imagesOf, type RowChain, type VainDelete, type Version } from './row-chain.js';
import type { Line, Read } from './scan-read.js';
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
  { tx, view }: Read,
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
  { tx, operation }: Read,
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
      ? []
      : phrase`, taken by ${ofOperation(tx.snapshotBy)},`;
  const others = hidden.length === 1 ? [] : phrase` The same holds for ${listed(hidden.slice(1))}.`;
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
        seen: values(each.seen),
        allowed: [absent],
      })),
      steps: [
        say.ran`${ofTx(tx)} ran ${ofOperation(operation)}.`,
        ...(gone === undefined
          ? []
          : [
              say.fact`${ofTx(gone.tx!)} had deleted ${ofRow(row.object)} with ${ofOperation(operationAt(history, gone.states.at(-1)!.operation))} and committed${during(gone.commit)}: the newest committed state has no such row.`,
            ]),
        say.fact`After that ${ofTx(tx)} deleted it too: its snapshot${taken} has ${ofRow(row.object)} as ${ofData(seen)}, and the condition of ${ofOperation(operationAt(history, hiddenBy.operation))} selects it there.`,
        say.rule`Under ${contract.id} a row that both have deleted is gone for ${ofTx(tx)}: neither the newest state nor its snapshot, less what it deleted itself, has it.${others}`,
        ...describeReports(contract, 'ownDeletesHide'),
        say.contradiction`However, it returned ${ofData(returned)}.`,
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

function listed(hidden: readonly HiddenRow[]): Phrase {
  const named = joined(
    hidden.slice(0, 9).map(({ row }) => ofRow(row.object)),
    ', ',
  );
  return hidden.length > 9 ? phrase`${named} and ${counted(hidden.length - 9, 'more row')}` : named;
}

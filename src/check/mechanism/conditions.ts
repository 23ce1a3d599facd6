/**
 * Conditions with subqueries, of writes that see current rows. Contracts with `subqueriesSee: 'snapshot'` promise that
 * the subqueries read what every other query of the transaction reads: its snapshot and its own writes. So a row that
 * nobody changed since the snapshot must be selected by an UPDATE or DELETE exactly if a SELECT with the same condition
 * would return it (TxCheck's Figure 1 is a case where it is not).
 *
 * 1. The subqueries' tables are taken as a plain read sees them at that point; unless they are certain, nothing is said.
 * 2. Rows that are the same from the snapshot until now, and satisfy the condition, must be matched; the same without
 *    satisfying it must not. Every row that changed may be either: such writes see current rows, as the manual says.
 * 3. A count of matched rows outside of these bounds is a finding.
 *
 * It asks only where the tables did change between the snapshot and the write; where they did not, the ordinary judgement
 * (`judge-write.ts`) is the stricter one. What the write did to rows is not concluded from here.
 */
import {
  type ChangePlan,
  type Image,
  intervalOf,
  isVague,
  type RowsOf,
  type Table,
  type Tx,
} from '../../rows/index.js';
import { counted } from '../../words.js';
import { joined, ofData, ofOperation, ofRow, type Phrase, phrase, say } from '../explanation.js';
import { certainRows } from './certain-state.js';
import type { Write } from './followed-write.js';
import type { PendingWrite } from './in-flight.js';
import { lookAt } from './outlook.js';
import { describeImage, describeReports, makeFinding, ofTx, ofVersion } from './prose.js';
import { imagesOf, type RowChain, type Version, type View } from './row-chain.js';
import { snapshotView, type Verification } from './verification.js';

interface Searched {
  readonly rows: readonly RowChain[];
  readonly pending: readonly PendingWrite[];
  /** The rows are all there are. */
  readonly complete: boolean;
}

/** A row nobody else changed since the snapshot. */
interface Unchanged {
  readonly row: RowChain;
  readonly image: Exclude<Image, string>;
}

export function checkCondition(
  verification: Verification,
  write: Write,
  plan: ChangePlan,
  { rows, pending, complete }: Searched,
): void {
  const { tx, operation, view } = write;
  const { matched } = operation;
  const { snapshot } = tx;
  if (!view.current || tx.contract?.mechanism?.subqueriesSee !== 'snapshot' || tx.unjudged !== undefined)
    return;
  if (matched === undefined || snapshot === undefined || snapshot.end >= operation.start) return;
  const seen = snapshotView(verification, tx, operation);
  const rowsOf = statesOf(verification, tx, plan, seen);
  if (rowsOf === undefined) return;
  const wide: View = {
    span: { start: seen.span.start, end: intervalOf(operation).end },
    current: true,
    dirty: false,
  };
  const unchanged: Unchanged[] = [];
  let free = 0;
  const look = { view: wide, tx, exclusive: verification.exclusive, pending };
  for (const row of rows) {
    const { images, unknown } = lookAt(row, look);
    const [image] = images;
    if (unknown || images.length !== 1 || isVague(image!)) free++;
    else if (typeof image === 'object') unchanged.push({ row, image });
  }
  const { where } = plan.bind(rowsOf);
  const select = (satisfies: typeof where) => {
    const inside: Unchanged[] = [];
    let open = 0;
    for (const each of unchanged) {
      const satisfied = satisfies(each.image);
      if (satisfied === undefined) open++;
      else if (satisfied) inside.push(each);
    }
    return { inside, open };
  };
  const { inside, open } = select(where);
  const most = inside.length + open + free;
  if (matched >= inside.length && (!complete || matched <= most)) return;
  const change = hiddenChangeOf(verification, { ...write, view: seen }, plan, (state) => {
    const other = select(plan.bind(state).where);
    return other.inside.length !== inside.length || other.open !== open;
  });
  report(verification, write, plan, { inside, most, change, missed: matched < inside.length, unchanged });
}

/** The tables of the subqueries as a plain read sees them; undefined: they are not certain. */
function statesOf(verification: Verification, tx: Tx, plan: ChangePlan, view: View): RowsOf | undefined {
  const states = new Map<Table, ReturnType<RowsOf>>();
  for (const read of plan.reads) {
    const table = verification.tables.get(read.name)!;
    // What an own DELETE that met nothing hides is another clause.
    for (const row of table.rows.values()) if (row.hiddenBy(tx) !== undefined) return undefined;
    const rows = certainRows(verification, table, tx, view);
    if (typeof rows === 'string') return undefined;
    states.set(read, rows);
  }
  return (table) => states.get(table) ?? [];
}

interface HiddenChange {
  readonly row: RowChain;
  readonly version: Version;
}

/**
 * The change to the subqueries' tables after the snapshot to blame: the latest that by itself makes the condition select
 * other rows, or else the latest.
 */
function hiddenChangeOf(
  verification: Verification,
  { tx, operation, view }: Write,
  plan: ChangePlan,
  matters: (state: RowsOf) => boolean,
): HiddenChange | undefined {
  const look = { view, tx, exclusive: verification.exclusive, pending: [] };
  const changes: HiddenChange[] = [];
  for (const { name } of plan.reads)
    for (const row of verification.tables.get(name)!.rows.values())
      for (const version of row.versions)
        if (
          version.tx !== undefined &&
          version.tx !== tx &&
          version.commit.start > view.span.end &&
          version.commit.start <= intervalOf(operation).end &&
          row.own(tx)?.met !== true
        )
          changes.push({ row, version });
  changes.sort((a, b) => b.version.commit.start - a.version.commit.start);
  const withChange =
    ({ row, version }: HiddenChange): RowsOf =>
    ({ name }) => {
      const rows = [];
      for (const other of verification.tables.get(name)!.rows.values()) {
        const image = other === row ? imagesOf(version)[0]! : lookAt(other, look).images[0]!;
        if (typeof image === 'object') rows.push(image);
      }
      return rows;
    };
  return changes.find((change) => matters(withChange(change))) ?? changes[0];
}

interface Mismatch {
  readonly inside: readonly Unchanged[];
  readonly most: number;
  readonly change: HiddenChange | undefined;
  readonly missed: boolean;
  readonly unchanged: readonly Unchanged[];
}

function report(
  verification: Verification,
  { tx, operation }: Write,
  plan: ChangePlan,
  { inside, most, change, missed, unchanged }: Mismatch,
): void {
  const contract = tx.contract!;
  const matched = operation.matched!;
  const expected = most === inside.length ? `${most}` : `${inside.length} to ${most}`;
  const list = (rows: readonly Unchanged[]): Phrase =>
    joined(
      rows.slice(0, 5).map(({ row, image }) => phrase`${ofRow(row.object)} ${ofData(describeImage(image))}`),
      ', ',
    );
  const taken = tx.snapshotBy === undefined ? [] : phrase` by ${ofOperation(tx.snapshotBy)}`;
  const selects = inside.length === 0 ? phrase`no row of ${ofData(plan.table.name)}` : list(inside);
  const outside = unchanged.filter((each) => !inside.includes(each));
  const witnesses = (missed ? inside : outside).slice(0, 5).map(({ row }) => row.object);
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: 'condition-mismatch',
      clause: 'subqueriesSee snapshot',
      contract,
      operations: [operation.index, change?.version.states.at(-1)?.operation, tx.snapshotBy?.index],
      txs: [tx, change?.version.tx],
      versions: (witnesses.length === 0 ? [plan.table.name] : witnesses).map((object) => ({
        operation: operation.index,
        object,
        seen: { as: 'matched', count: matched },
        allowed: [{ as: 'matched', count: most === inside.length ? most : [inside.length, most] }],
      })),
      steps: [
        say.ran`${ofTx(tx)} ran ${ofOperation(operation)}, which reported ${counted(matched, 'row')}.`,
        say.rule`Its snapshot was taken${taken}; under ${contract.id} the subqueries of its condition read that snapshot and what it wrote itself, as its SELECTs do.`,
        ...(change === undefined
          ? []
          : [
              say.fact`After the snapshot ${ofRow(change.row.object)} became ${ofVersion(change.version)}; the subqueries must not see that.`,
            ]),
        say.allowed`So the condition selects ${selects}${outside.length === 0 ? [] : phrase`, and not ${list(outside)}`}. Nobody changed these rows since the snapshot, so reading current rows would give the same.`,
        ...describeReports(contract, 'subqueriesSee'),
        say.contradiction`However, ${counted(matched, 'row')} matched instead of ${expected}: the condition did not see what the rest of the transaction sees.`,
      ],
    }),
  );
}

/** Whole tables as a statement may see them, for queries that cannot be judged row by row. */
import { isVague, type Tx } from '../../rows/index.js';
import type { EvaluatedRow } from '../../sql/index.js';
import type { MirrorTable } from './mirror.js';
import { lookAt } from './outlook.js';
import { imagesOfAll, type RowChain, type View } from './row-chain.js';
import type { Verification } from './verification.js';

/** For each row of a table, the values it may have; 'absent' left out where it is the only one. */
export type RowChoices = readonly (readonly (EvaluatedRow | 'absent')[])[];

const noRows: ReadonlySet<RowChain> = new Set();

/** The possible rows of a table, or why they cannot be known. */
export function rowChoices(
  verification: Verification,
  table: MirrorTable,
  { tx, view }: { readonly tx: Tx; readonly view: View },
  /** Rows whose own changes the transaction is taken not to see, to tell what a wrong answer is wrong about. */
  unseen: ReadonlySet<RowChain> = noRows,
): RowChoices | string {
  const blind = table.blindSpot(tx, view.span.end);
  if (blind !== undefined) return blind;
  if (!table.closed) return `the rows of ${table.info.name} are not all known`;
  const pending = verification.inFlight.on(table.info.name, tx, view.span);
  if (pending.length > 0) return `${table.info.name} was being written meanwhile`;
  const look = { view, tx, exclusive: verification.exclusive, pending };
  const choices: (readonly (EvaluatedRow | 'absent')[])[] = [];
  for (const row of table.rows.values()) {
    const images = unseen.has(row)
      ? imagesOfAll(row.allowed(view, undefined, verification.exclusive), view)
      : lookAt(row, look).images;
    const known = images.filter((image) => image !== 'unknown' && !isVague(image)) as (
      | EvaluatedRow
      | 'absent'
    )[];
    if (known.length < images.length) return `the values of ${row.object} are not known`;
    if (known.length > 1 || known[0] !== 'absent') choices.push(known);
  }
  return choices;
}

/** The rows of a table if there is only one possibility; otherwise why not. */
export function certainRows(
  verification: Verification,
  table: MirrorTable,
  tx: Tx,
  view: View,
): readonly EvaluatedRow[] | string {
  const choices = rowChoices(verification, table, { tx, view });
  if (typeof choices === 'string') return choices;
  if (choices.some((choice) => choice.length > 1)) return `${table.info.name} was changing meanwhile`;
  return choices.map((choice) => choice[0] as EvaluatedRow);
}

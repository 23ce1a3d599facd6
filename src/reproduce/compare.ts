/**
 * Did an operation of a replay see what the raw run saw? Rows are compared as bags, in order where ORDER BY asks for one;
 * counts where both runs report them; errors by class; and how the operation ended its transaction.
 *
 * Histories imported from other tools have accesses instead of rows: then the rows read are compared, column by column.
 */

import { type Access, endedWaits, type Operation } from '../histories/index.js';
import type { OperationId } from '../ids.js';
import { type Dialect, nameKey, showValue, type Value } from '../sql/index.js';
import { counted } from '../words.js';

export type DifferenceKind = 'rows' | 'counts' | 'error' | 'ending' | 'not sent' | 'not answered';

export interface Difference {
  /** Place of the operation in the raw history. */
  readonly operation: OperationId;
  readonly session: string;
  readonly sql: string;
  readonly kind: DifferenceKind;
  readonly was: string;
  readonly is: string;
  /** What the replay shows about the cause. */
  readonly why: string;
}

/** How the two differ; undefined: they do not. `again` is undefined if the statement was not sent; `dialect` tells which names are one. */
export function differenceOf(
  raw: Operation,
  again: Operation | undefined,
  dialect: Dialect,
): Pick<Difference, 'kind' | 'was' | 'is' | 'why'> | undefined {
  if (again === undefined)
    return {
      kind: 'not sent',
      was: outcomeText(raw),
      is: 'not sent',
      why: 'its transaction or session had ended before',
    };
  if (again.outcome === 'unknown' && raw.outcome !== 'unknown')
    return { kind: 'not answered', was: outcomeText(raw), is: outcomeText(again), why: whyFailed(again) };
  if (raw.error?.class !== again.error?.class)
    return { kind: 'error', was: outcomeText(raw), is: outcomeText(again), why: whyFailed(again) };
  const rows = rowsDifference(raw, again, dialect);
  if (rows !== undefined) return { kind: 'rows', ...rows, why: whyOther(again) };
  for (const count of ['matched', 'changed'] as const) {
    const [was, is] = [raw[count], again[count]];
    if (was !== undefined && is !== undefined && was !== is)
      return {
        kind: 'counts',
        was: `${counted(was, 'row')} ${count}`,
        is: `${counted(is, 'row')} ${count}`,
        why: whyOther(again),
      };
  }
  if (raw.ends !== again.ends && raw.ends !== 'unknown')
    return { kind: 'ending', was: raw.ends ?? 'goes on', is: again.ends ?? 'goes on', why: whyOther(again) };
  return undefined;
}

function rowsDifference(
  raw: Operation,
  again: Operation,
  dialect: Dialect,
): { was: string; is: string } | undefined {
  if (raw.rows === undefined) return accessesDifference(raw, again, dialect);
  if (again.rows === undefined) return undefined;
  const was = raw.rows.map((row) => row.map(show).join(', '));
  const is = again.rows.map((row) => row.map(show).join(', '));
  if (!/\border\s+by\b/i.test(raw.sql ?? '')) {
    was.sort();
    is.sort();
  }
  return sameTexts(was, is) ? undefined : { was: rowsText(was), is: rowsText(is) };
}

/** The rows a trace says were read, against the rows the replay returned, in the columns both know. */
function accessesDifference(
  raw: Operation,
  again: Operation,
  dialect: Dialect,
): { was: string; is: string } | undefined {
  const reads = raw.kind === 'select' ? raw.accesses?.filter(({ mode }) => mode === 'read') : undefined;
  if (reads === undefined || again.rows === undefined || again.columns === undefined) return undefined;
  const names = again.columns.map((name) => nameKey(name, dialect));
  const was: string[] = [];
  for (const { value } of reads) {
    const cells = recordOf(value, dialect);
    if (cells === undefined) return undefined;
    was.push(names.map((name) => (cells.has(name) ? show(cells.get(name)!) : '?')).join(', '));
  }
  const known = names.map(
    (name) => reads.length === 0 || recordOf(reads[0]!.value, dialect)?.has(name) === true,
  );
  const is = again.rows.map((row) => row.map((cell, i) => (known[i] === true ? show(cell) : '?')).join(', '));
  was.sort();
  is.sort();
  return sameTexts(was, is) ? undefined : { was: rowsText(was), is: rowsText(is) };
}

function recordOf(value: Access['value'], dialect: Dialect): Map<string, Value> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value).map(([name, cell]) => [nameKey(name, dialect), cell as Value]));
}

function show(value: Value): string {
  return showValue(value);
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

const mostRows = 4;

function rowsText(rows: readonly string[]): string {
  if (rows.length === 0) return 'no rows';
  const shown = rows.slice(0, mostRows).map((row) => `(${row})`);
  return rows.length > mostRows ? `${shown.join(' ')} and ${rows.length - mostRows} more` : shown.join(' ');
}

function outcomeText({ error, outcome, rows, matched }: Operation): string {
  if (error !== undefined) return `${error.class}: ${error.message.split('\n')[0]}`;
  if (outcome === 'unknown') return 'no answer';
  if (rows !== undefined) return rowsText(rows.map((row) => row.map(show).join(', ')));
  return matched === undefined ? 'ok' : counted(matched, 'row');
}

/** Whether an operation of a replay waited for what cannot come: the schedule cannot run like this. */
export function isStuck({ error }: Operation): boolean {
  return error !== undefined && (endedWaits.has(error.class) || error.class === 'deadlock');
}

function whyFailed(again: Operation): string {
  const errorClass = again.error?.class;
  if (errorClass !== undefined && endedWaits.has(errorClass))
    return 'it waited for a lock until the time limit; the schedule cannot run like this';
  if (errorClass === 'deadlock') return 'it waited in a deadlock that the raw run did not have';
  if (errorClass === 'connection-lost' || errorClass === 'crash') return 'the connection was lost';
  return whyOther(again);
}

function whyOther(again: Operation): string {
  return again.blocked === true
    ? 'it had to wait for another session, so later statements of its session came late'
    : 'the rows it met were in another state';
}

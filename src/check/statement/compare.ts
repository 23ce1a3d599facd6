/**
 * What differs between a statement in its transaction and the same statement in the order without transactions, and between the
 * two final states. Results are bags of rows. Values are the same if an engine may return either of them for the same
 * rows: any scale of a decimal, the last digits of a double, and, where texts are compared without case, either case.
 */
import {
  conflictErrors,
  type ErrorClass,
  goneErrors,
  type Operation,
  timeoutErrors,
} from '../../histories/index.js';
import type { Row, Value } from '../../sql/index.js';
import type { TableState } from './statement-runs.js';

/** A value as text, equal for values that count as the same; `caseless`: texts that a collation may take for equal are. */
export function foldValue(value: Value, caseless: boolean): string {
  if (typeof value === 'number') return foldNumber(value);
  if (typeof value === 'string')
    return caseless
      ? `t${value.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trimEnd()}`
      : `t${value}`;
  if (typeof value === 'boolean') return foldNumber(value ? 1 : 0);
  if (value !== null && 'decimal' in value) return foldDecimal(value.decimal);
  if (value !== null && 'int' in value) return `n${value.int}`;
  return JSON.stringify(value);
}

function foldNumber(value: number): string {
  if (Number.isInteger(value)) return `n${value === 0 ? 0 : value}`;
  return `n${Number(value.toPrecision(9))}`;
}

function foldDecimal(text: string): string {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return `n${text}`;
  const cut = text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
  return `n${cut === '-0' ? '0' : cut}`;
}

const foldRow = (row: Row, caseless: boolean): string =>
  row.map((value) => foldValue(value, caseless)).join('\u0000');

/** Rows of one bag that the other has fewer times. */
export interface BagDifference {
  readonly extra: readonly Row[];
  readonly missing: readonly Row[];
}

/** Undefined: the same rows, each as many times. */
export function compareBags(
  seen: readonly Row[],
  expected: readonly Row[],
  caseless: boolean,
): BagDifference | undefined {
  const left = new Map<string, Row[]>();
  for (const row of expected) {
    const key = foldRow(row, caseless);
    const same = left.get(key);
    if (same === undefined) left.set(key, [row]);
    else same.push(row);
  }
  const extra = seen.filter((row) => left.get(foldRow(row, caseless))?.pop() === undefined);
  const missing = [...left.values()].flat();
  return extra.length === 0 && missing.length === 0 ? undefined : { extra, missing };
}

export type Difference =
  | { readonly what: 'result'; readonly rows: BagDifference }
  | { readonly what: 'count'; readonly seen: number; readonly expected: number }
  /** It worked inside its transaction and failed without. */
  | { readonly what: 'error'; readonly message: string }
  | { readonly what: 'state'; readonly table: string; readonly rows: BagDifference };

/** Failures that come from what else goes on, not from the statement and its rows: nothing follows from them. */
const ofTheMoment: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  ...conflictErrors,
  ...timeoutErrors,
  ...goneErrors,
  ...(['transaction-aborted', 'out-of-memory'] as const),
]);

/** Why nothing can be compared with statements that were executed without transactions; undefined: it can. */
export function uncomparable(operations: readonly Operation[]): string | undefined {
  const stopped = operations.find(({ error, outcome }) =>
    error === undefined ? outcome === 'unknown' : ofTheMoment.has(error.class),
  );
  if (stopped === undefined) return undefined;
  return `a statement without transactions was not executed (${stopped.error?.class ?? 'no answer'})`;
}

/** What a statement did differently inside its transaction (`seen`) and outside (`expected`). */
export function compareAnswers(
  seen: Operation,
  expected: Operation,
  { shown, caseless }: { readonly shown: number; readonly caseless: boolean },
): Difference | undefined {
  if (expected.outcome !== 'ok') return { what: 'error', message: expected.error?.message ?? '' };
  const cut = (rows: readonly Row[]) => rows.map((row) => row.slice(0, row.length - shown));
  if (seen.rows !== undefined && expected.rows !== undefined) {
    const rows = compareBags(cut(seen.rows), cut(expected.rows), caseless);
    if (rows !== undefined) return { what: 'result', rows };
  }
  for (const count of ['matched', 'changed'] as const) {
    const [a, b] = [seen[count], expected[count]];
    if (seen.kind !== 'select' && a !== undefined && b !== undefined && a !== b)
      return { what: 'count', seen: a, expected: b };
  }
  return undefined;
}

/** The tables whose rows differ at the end. */
export function compareStates(
  seen: ReadonlyMap<string, TableState>,
  expected: ReadonlyMap<string, TableState>,
  caseless: boolean,
): Difference[] {
  return [...seen].flatMap(([table, state]): Difference[] => {
    const valuesOf = (of: TableState | undefined) => [...(of?.values() ?? [])].map(({ values }) => values);
    const rows = compareBags(valuesOf(state), valuesOf(expected.get(table)), caseless);
    return rows === undefined ? [] : [{ what: 'state', table, rows }];
  });
}

/** The same difference, in the same rows: whichever order and form they came in. */
export function sameDifference(a: Difference, b: Difference, caseless: boolean): boolean {
  if ('rows' in a && 'rows' in b)
    return (
      a.what === b.what &&
      (a.what !== 'state' || b.what !== 'state' || a.table === b.table) &&
      compareBags(a.rows.extra, b.rows.extra, caseless) === undefined &&
      compareBags(a.rows.missing, b.rows.missing, caseless) === undefined
    );
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The columns Isolde adds to every table, and what is written into them.
 *
 * - `isolde_rid` names a row for ever: `s2.1` (second set-up statement, first row) or `3.2.1` (transaction 3, its
 *   second statement, first row). Rows made by INSERT … SELECT are named after the versions they were made from:
 *   `3.2(s2.1@;0)`. That keeps them apart, and says what the statement read.
 * - `isolde_wl` is the list of the statements that wrote the row: `;0;3.2;5.1` was there from the start, then
 *   statement 2 of transaction 3 wrote it, then statement 1 of transaction 5. IsoRel keeps transactions here;
 *   keeping statements also shows intermediate reads and the order of writes inside a transaction.
 *
 * - `isolde_rd`, only where somebody writes the table by a statement that reads others (a subquery, FROM, USING): what
 *   these statements read, each in the rows it wrote. `|3.2:s4.1=;0!&s5.1=;0!,s5.2=;0;1.1!` says that statement 3.2 read
 *   one row in its first subquery and two in its second. The database computes it where it computes the values written,
 *   so it is what the write itself saw, whatever the engine and the level.
 *
 * No column has a constraint or an index, so that plans and locks stay those of the original table.
 *
 * A query whose rows stand for many rows (COUNT, GROUP BY) returns them as text: `rid=list!` for each, with commas
 * between. The mark at the end tells a whole entry from one the database cut off (MySQL's group_concat_max_len): a list
 * cut short would look like an older version.
 */
import type { StatementRef } from '../../cases/index.js';
import type { Dialect, Expression, Value } from '../../sql/index.js';

export const ridColumn = 'isolde_rid';
export const listColumn = 'isolde_wl';

export const readsColumn = 'isolde_rd';

/** The list of a row that the set-up made. */
export const initialList = ';0';

/** What a write statement appends: its transaction in the text (from 1) and its place in it (from 1). */
export function writeToken(transaction: number, place: number): string {
  return `${transaction}.${place}`;
}

/** The tokens of a list, `0` for the set-up; undefined when it is no list of ours. */
export function parseWriteList(value: Value | undefined): readonly string[] | undefined {
  if (typeof value !== 'string' || !/^(?:;\d{1,9}(?:\.\d{1,9})?)+$/.test(value)) return undefined;
  return value.slice(1).split(';');
}

export interface RowEntry {
  readonly rid: string;
  readonly list: Value;
}

/** Entries of an aggregated column; `cut` when the database did not return all of it. */
export function parseEntries(value: Value | undefined): { entries: RowEntry[]; cut: boolean } {
  if (value === null) return { entries: [], cut: false };
  if (typeof value !== 'string') return { entries: [], cut: true };
  const entries: RowEntry[] = [];
  const parts = value.split('!');
  const rest = parts.pop()!;
  for (const part of parts) {
    const text = part.startsWith(',') ? part.slice(1) : part;
    const at = text.indexOf('=');
    if (at > 0) entries.push({ rid: text.slice(0, at), list: text.slice(at + 1) });
  }
  return { entries, cut: rest !== '' };
}

/** What one statement noted of its reads in a row it wrote. */
export interface ReadNote {
  readonly token: string;
  /** The lists are those the plan of the statement knows, in its order. */
  readonly planned: boolean;
  readonly lists: readonly { readonly entries: readonly RowEntry[]; readonly cut: boolean }[];
}

/** The notes in a row; what is no note of ours is left out. */
export function parseNotes(value: Value | undefined): ReadNote[] {
  if (typeof value !== 'string') return [];
  return value.split('|').flatMap((part): ReadNote[] => {
    const [, token, also, lists] = /^(\d{1,9}\.\d{1,9})(\+?):(.*)$/s.exec(part) ?? [];
    if (token === undefined) return [];
    return [{ token, planned: also === '', lists: lists!.split('&').map(parseEntries) }];
  });
}

/**
 * The text of a note. `also`: beside the statement's first note, or with lists that differ from row to row; then its
 * lists have no numbers.
 */
export function readNote(token: string, lists: readonly Expression[], also: boolean): Expression[] {
  const parts = lists.flatMap((list, i) => (i === 0 ? [orEmpty(list)] : [text('&'), orEmpty(list)]));
  return [text(`|${token}${also ? '+' : ''}:`), ...parts];
}

export const orEmpty = (value: Expression): Expression => ({
  type: 'call',
  name: 'coalesce',
  args: [value, text('')],
});

/**
 * What a row made by INSERT … SELECT was made from: the statement, and each row it read with its list. A dash stands
 * for the empty side of an outer join.
 */
export function sourcesOf(
  rid: string,
): { readonly token: string; readonly rows: readonly RowEntry[] } | undefined {
  const [, token, inside] = /^(\d+\.\d+)\((.*)\)$/.exec(rid) ?? [];
  if (token === undefined || !inside!.includes('@')) return undefined;
  const rows: RowEntry[] = [];
  let depth = 0;
  let from = 0;
  let at = -1;
  for (let i = 0; i <= inside!.length; i++) {
    const char = inside![i];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (depth > 0) continue;
    else if (char === '@') at = i;
    else if (char === '+' || char === undefined) {
      if (at < 0) return undefined;
      const source = inside!.slice(from, at);
      if (source !== '-') rows.push({ rid: source, list: inside!.slice(at + 1, i) });
      from = i + 1;
      at = -1;
    }
  }
  return { token, rows };
}

export const text = (value: string): Expression => ({ type: 'literal', value });
export const column = (name: string, table?: string | undefined): Expression =>
  table === undefined ? { type: 'column', name } : { type: 'column', table, name };

/** Texts joined: CONCAT where `||` means OR. */
export function concat(parts: readonly Expression[], dialect: Dialect): Expression {
  if (dialect === 'mysql') return { type: 'call', name: 'concat', args: parts };
  return parts.reduce((left, right) => ({ type: 'binary', op: '||', left, right }));
}

/** One row as an entry. */
export function rowEntry(name: string, dialect: Dialect): Expression {
  return concat([column(ridColumn, name), text('='), column(listColumn, name), text('!')], dialect);
}

/** All rows of a group as one text of entries. */
export function aggregateEntries(rid: Expression, list: Expression, dialect: Dialect): Expression {
  return aggregateTexts(concat([rid, text('='), list, text('!')], dialect), dialect);
}

export function aggregateTexts(each: Expression, dialect: Dialect): Expression {
  // Both have the comma as their default separator.
  if (dialect === 'mysql' || dialect === 'sqlite')
    return { type: 'call', name: 'group_concat', args: [each] };
  return { type: 'call', name: 'string_agg', args: [each, text(',')] };
}

/** A value the database makes anew for every row it is evaluated for; `own`: the engine's SQL for it, where it has not the dialect's. */
export function uniqueText(dialect: Dialect, own?: string | undefined): Expression {
  if (own !== undefined) return { type: 'raw', sql: own };
  const call = (name: string, ...args: Expression[]): Expression => ({ type: 'call', name, args });
  switch (dialect) {
    case 'postgres':
      return { type: 'cast', operand: call('gen_random_uuid'), to: 'TEXT' };
    case 'mysql':
      return call('uuid');
    case 'duckdb':
      return { type: 'cast', operand: call('uuid'), to: 'VARCHAR' };
    case 'sqlite':
      return call('hex', call('randomblob', { type: 'literal', value: 12 }));
    default:
      return dialect satisfies never;
  }
}

export const refKey = (ref: StatementRef): string => `${ref[0]}:${ref[1]}`;

/**
 * Makes a write leave its mark in every row it writes (IsoRel, Table 1, rows 6 to 10, and upserts and MERGE).
 *
 * - INSERT gives each row an id of its own and a list that holds only this statement (`trace-insert.ts`).
 * - UPDATE, DO UPDATE and ON DUPLICATE KEY UPDATE append the statement to the list.
 * - DELETE must say which rows it took, in which version. Where the dialect has RETURNING the statement itself says so:
 *   no second statement, no other locks, no gap between asking and deleting. Elsewhere (and on request) the paper's way:
 *   a locking SELECT with the same condition right before it, in the same transaction. An engine without locks for rows
 *   gets a plain one, where that sees what the DELETE will meet: in one snapshot, or with locks that plain reads keep.
 * - REPLACE deletes the rows whose keys it takes; a locking SELECT by those keys comes before it.
 * - What the write read elsewhere is noted in the rows it writes, returned, or read before it (`trace-reads.ts`).
 *
 * The companion SELECTs only make sense inside a transaction: before an autocommitted DELETE the locks would be gone
 * again, and another session could change the rows in between. There the rows taken are not seen (`unnamed`).
 */

import {
  type Assignment,
  type DeleteStatement,
  type Dialect,
  type Expression,
  type InsertStatement,
  type MergeStatement,
  type SelectCore,
  type SelectItem,
  type SelectStatement,
  sameName,
  type UpdateStatement,
} from '../../sql/index.js';
import { type Catalog, type CatalogTable, findTable } from './catalog.js';
import { isSteady } from './functions.js';
import { Unsupported } from './hide-columns.js';
import {
  column,
  concat,
  initialList,
  listColumn,
  orEmpty,
  readNote,
  readsColumn,
  ridColumn,
  text,
  uniqueText,
} from './marks.js';
import type { Reread, Scan } from './read-again.js';
import type { Search, TraceForm } from './trace-query.js';
import { type Companion, type CompanionWay, mergeReads, readCompanion, updateReads } from './trace-reads.js';
import { leafName, leavesOf } from './tree.js';

export interface WriteContext {
  readonly catalog: Catalog;
  /** Prefix of the ids of rows made here: `3.2` or, in the set-up, `s2`. */
  readonly id: string;
  /** What is appended to lists; undefined in the set-up. */
  readonly token?: string;
  /** Inside BEGIN … COMMIT: a statement before this one belongs to the same transaction. */
  readonly inTransaction: boolean;
  /** How a DELETE names its rows; `nothing`: a read before it would not find those that it takes. */
  readonly deletes: 'returning' | 'locking-read' | 'nothing';
  /** How a companion may read what the statement reads. */
  readonly way: CompanionWay;
  /** What the statement reads is seen otherwise: it notes nothing. */
  readonly marksOnly?: true;
}

export interface TracedWrite {
  readonly statement: InsertStatement | UpdateStatement | DeleteStatement | MergeStatement;
  /** The widened tables written, if there are any. */
  readonly tables?: readonly string[];
  /** SELECTs to send right before. */
  readonly companions?: readonly (Companion | undefined)[];
  /** What the statement returns behind its own columns: the rows it wrote, and what it read. */
  readonly traces?: readonly TraceForm[];
  readonly searches?: readonly Search[];
  /** The lists it notes in the rows it writes. */
  readonly noted?: readonly Reread[];
  /** It looks for rows to write with this condition, and takes all. */
  readonly scan?: Scan;
  /** It reads rows, and nothing shows which. */
  readonly unseen?: boolean;
  /** Each row may get more than one mark of this statement. */
  readonly repeats?: boolean;
  /** Whether the count the database reports is the number of rows that got a mark. */
  readonly counted?: boolean;
  /** Rows may disappear without being named. */
  readonly unnamed?: boolean;
}

export function traceUpdate(update: UpdateStatement, context: WriteContext): TracedWrite {
  const { catalog, token, way, inTransaction } = context;
  const targets = updateTargets(update, catalog);
  if (targets.length === 0 || token === undefined) return { statement: update };
  const many = targets.length > 1 || update.table.type === 'join' || update.moreTables !== undefined;
  const marks = targets.map(({ name }) => appendMark(name, token, catalog.dialect, many));
  const names = targets.map(({ name }) => name);
  const reads = context.marksOnly === true ? [] : updateReads(update, names, catalog);
  // First of all: MySQL's later assignments see what earlier ones wrote.
  const notes =
    reads.length === 0
      ? []
      : targets.map(({ name }) => appendNote({ name, token, reads, qualify: many }, catalog.dialect));
  const returning = withReturning(update.returning, targets[0]!.name);
  const whole = update.mode === undefined && update.limit === undefined;
  const searching = {
    from: [update.table, ...(update.moreTables ?? []), ...update.from],
    values: update.set,
    ...(update.where === undefined ? {} : { where: update.where }),
    ...(update.with === undefined ? {} : { with: update.with }),
    takesAll: whole && !many,
  };
  const scan = many || !whole || update.from.length > 0 ? undefined : scanOf(update);
  return {
    statement: { ...update, set: [...notes, ...update.set, ...marks], ...returning },
    tables: targets.map(({ table }) => table.name),
    ...(returning === undefined ? {} : { traces: ['pair'] }),
    ...(inTransaction ? { companions: [readCompanion(searching, way, catalog)] } : {}),
    noted: reads,
    ...(scan === undefined ? {} : { scan }),
    counted: !many && update.mode === undefined,
  };
}

/** The search for the rows to write, where the observer can ask its condition again. */
export function scanOf({ table, where, with: clause }: UpdateStatement | DeleteStatement): Scan | undefined {
  if (table.type !== 'table' || table.hint !== undefined || clause !== undefined || !isSteady(where))
    return undefined;
  return where === undefined ? { from: table } : { from: table, where };
}

/** The widened tables an UPDATE assigns to; several only in MySQL's form. */
function updateTargets(update: UpdateStatement, catalog: Catalog): { name: string; table: CatalogTable }[] {
  const leaves = leavesOf([update.table, ...(update.moreTables ?? [])]);
  const known = leaves.map((leaf) => ({
    name: leafName(leaf),
    table: leaf.type === 'table' ? findTable(catalog, leaf.name) : undefined,
  }));
  if (known.length === 1) return known.flatMap(({ name, table }) => (table ? [{ name: name!, table }] : []));
  const found = new Map<string, CatalogTable>();
  for (const { table, columns } of update.set) {
    const owners = known.filter((each) =>
      table === undefined
        ? each.table === undefined ||
          each.table.columns.some((name) => sameName(name, columns[0]!, catalog.dialect))
        : sameName(each.name ?? '', table, catalog.dialect),
    );
    const owner = owners[0];
    if (owners.length !== 1 || owner?.name === undefined) {
      throw new Unsupported(`which table ${columns[0]} belongs to is not clear`);
    }
    if (owner.table !== undefined) found.set(owner.name, owner.table);
  }
  return [...found].map(([name, table]) => ({ name, table }));
}

/** `isolde_wl = isolde_wl || ';3.2'`. */
export function appendMark(name: string, token: string, dialect: Dialect, qualify: boolean): Assignment {
  const value = concat([column(listColumn, name), text(`;${token}`)], dialect);
  return { ...(qualify ? { table: name } : {}), columns: [listColumn], value };
}

interface NoteOptions {
  readonly name: string;
  readonly token: string;
  readonly reads: readonly Reread[];
  readonly qualify?: boolean;
  readonly also?: boolean;
}

/** `isolde_rd = COALESCE(isolde_rd, '') || '|3.2:' || …`. */
export function appendNote(
  { name, token, reads, qualify = false, also = false }: NoteOptions,
  dialect: Dialect,
): Assignment {
  const lists = reads.map(({ expression }) => expression);
  const value = concat([orEmpty(column(readsColumn, name)), ...readNote(token, lists, also)], dialect);
  return { ...(qualify ? { table: name } : {}), columns: [readsColumn], value };
}

/** RETURNING of the author's own, with the two columns behind it. */
export function withReturning(
  items: readonly SelectItem[] | undefined,
  name: string | undefined,
): { returning: SelectItem[] } | undefined {
  return items === undefined ? undefined : { returning: [...items, ...markItems(name)] };
}

export function markItems(name?: string): SelectItem[] {
  return [ridColumn, listColumn].map((each) => ({ type: 'item', expression: column(each, name) }));
}

export const notesForm = (notes: number): readonly TraceForm[] => (notes > 0 ? ['notes'] : []);

export const asItem = (expression: Expression): SelectItem => ({ type: 'item', expression });

export function lockingSelect(
  body: SelectCore,
  { dialect, words }: Catalog,
  clause: SelectStatement['with'],
): SelectStatement {
  const lockable = words.rowLocks ?? (dialect === 'postgres' || dialect === 'mysql');
  return {
    type: 'select',
    ...(clause === undefined ? {} : { with: clause }),
    body,
    orderBy: [],
    locks: lockable ? [{ strength: 'update', of: [] }] : [],
  };
}

export function traceMerge(merge: MergeStatement, context: WriteContext): TracedWrite {
  const { catalog, token, id } = context;
  const table = findTable(catalog, merge.table.name);
  if (table === undefined) return { statement: merge };
  const { dialect } = catalog;
  const list = text(token === undefined ? initialList : `;${token}`);
  const rid = concat([text(`${id}(`), uniqueText(dialect, catalog.words.uniqueText), text(')')], dialect);
  const whens = merge.whens.map((when) => {
    const { action } = when;
    const reads = mergeReads(merge, [when.and, action], action.type === 'insert', catalog);
    const noted = token !== undefined && context.marksOnly !== true && reads.length > 0;
    if (action.type === 'update' && token !== undefined) {
      const name = leafName(merge.table)!;
      const marks = [
        ...(noted ? [appendNote({ name, token, reads, also: true }, dialect)] : []),
        appendMark(name, token, dialect, false),
      ];
      return { ...when, action: { ...action, set: [...action.set, ...marks] } };
    }
    if (action.type !== 'insert') return when;
    const values = action.values ?? [];
    const columns =
      action.values === undefined ? [] : (action.columns ?? table.insertable.slice(0, values.length));
    const lists = reads.map(({ expression }) => expression);
    const note = noted ? [concat(readNote(token, lists, true), dialect)] : [];
    return {
      ...when,
      action: {
        ...action,
        columns: [...columns, ridColumn, listColumn, ...note.map(() => readsColumn)],
        values: [...values, rid, list, ...note],
      },
    };
  });
  const deletes = merge.whens.some(({ action }) => action.type === 'delete');
  const returning = withReturning(merge.returning, leafName(merge.table)!);
  return {
    statement: { ...merge, whens, ...returning },
    tables: [table.name],
    ...(returning === undefined ? {} : { traces: ['pair'] }),
    ...(deletes ? { unnamed: true } : {}),
  };
}

/**
 * The one rule of row identity: which columns name the rows of a table for good.
 *
 * A column qualifies only if no statement assigns it, no expression computes it, and its value in every row the table began with is known (a key that
 * the database counts is not). Then, the first of these that there is:
 *
 * 1. what the caller names, or what the recorder of a trace names rows by (`pkId`, `rid`);
 * 2. a column whose values are *shown* to be unique, if it has one of those names;
 * 3. a declared key: the primary one, or another unique one without NULLs;
 * 4. any other column shown to be unique, the first.
 *
 * A name is a preference, never a reason to trust. *Shown* means: the rows the table began with are known, and their values in
 * that column are integers or texts, all different. As long as rows are put in with ever new values this stays true whatever a
 * database does. A row put in with a value that is already there ends it: whoever follows the rows raises `IdentityEnded`, and
 * everything that rested on it is thrown away and done again with that column refused (`withCatalog`).
 */
import { columnOf, type Dialect, isUndecidable, sameName, sqlType } from '../sql/index.js';
import { rowKey } from './row-key.js';
import { type IdentityBasis, identityText, type Table } from './table.js';

export interface IdentityFacts {
  readonly dialect: Dialect;
  /** The column the caller names. */
  readonly wanted?: string | undefined;
  /** A recorder named rows. */
  readonly recorded: boolean;
  /** Whether some statement assigns the column. */
  readonly assigned: (column: string) => boolean;
  /** Identities that have ended (`identityText`). */
  readonly refused: ReadonlySet<string>;
}

export interface Identity {
  readonly identity: readonly number[];
  readonly basis: IdentityBasis;
}

/** The second as traces write it, and as PostgreSQL folds it. */
const preferred = ['rid', 'pkId', 'pkid'];

export function identityOf(table: Table, facts: IdentityFacts): Identity {
  for (const candidate of candidates(table, facts)) {
    const { identity } = candidate;
    const refused = facts.refused.has(identityText({ ...table, identity }));
    const fit = identity.every((at) => isFixed(table, at, facts) && isKnown(table, at));
    if (identity.length > 0 && !refused && fit) return candidate;
  }
  return { identity: [], basis: 'none' };
}

function* candidates(table: Table, facts: IdentityFacts): Generator<Identity> {
  const { columns, keys } = table.shape;
  const { dialect, wanted, recorded } = facts;
  const at = (name: string) => columnOf(columns, name, dialect);
  if (wanted !== undefined) yield { identity: [at(wanted)], basis: 'given' };
  const usual = columns.findIndex(({ name }) => preferred.some((each) => sameName(name, each, dialect)));
  if (usual >= 0 && recorded) yield { identity: [usual], basis: 'given' };
  if (usual >= 0 && isShown(table, usual, dialect)) yield { identity: [usual], basis: 'shown' };
  for (const primary of [true, false])
    for (const key of keys) {
      const identity = key.columns.map(at);
      if (key.primary === primary && identity.every((each) => tellsApart(table, each, primary, dialect)))
        yield { identity, basis: 'declared' };
    }
  for (let column = 0; column < columns.length; column++)
    if (isShown(table, column, dialect)) yield { identity: [column], basis: 'shown' };
}

/** Whether a column of a declared key tells rows apart: not by NULLs, and not by values of several types (SQLite). */
function tellsApart(table: Table, at: number, primary: boolean, dialect: Dialect): boolean {
  const column = table.shape.columns[at];
  if (column === undefined || (!primary && !column.notNull)) return false;
  return dialect !== 'sqlite' || sqlType(column.type, dialect).family !== 'unknown';
}

function isFixed(table: Table, at: number, { assigned }: IdentityFacts): boolean {
  const column = table.shape.columns[at];
  return column !== undefined && column.generated === undefined && !assigned(column.name);
}

function isKnown({ initial }: Table, at: number): boolean {
  return initial === undefined || !initial.some((row) => isUndecidable(row[at]!));
}

function isShown({ shape, initial }: Table, at: number, dialect: Dialect): boolean {
  const { family } = sqlType(shape.columns[at]!.type, dialect);
  if (initial === undefined || (family !== 'int' && family !== 'text')) return false;
  const seen = new Set<string>();
  for (const row of initial) {
    const key = rowKey(row, [at]);
    if (key === undefined || seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

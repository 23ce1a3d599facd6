/** What is known of a table: its shape, its keys, what names its rows, and the rows it started with. */
import type { EvaluatedRow, TableShape } from '../sql/index.js';
import type { Definition } from './schema.js';

/**
 * Why the columns of an identity tell rows apart:
 *
 * - `given`: the caller or the recorder of a trace says so;
 * - `declared`: a key of the table, which the engine promises;
 * - `shown`: every value put in so far was another one. This can end (`IdentityEnded`).
 * - `none`: nothing does.
 */
export type IdentityBasis = 'given' | 'declared' | 'shown' | 'none';

/** Positions of the columns of each unique key; undefined: not all keys are known. */
export type UniqueKeys = readonly (readonly number[])[] | undefined;

export interface Table {
  readonly number: number;
  /** By which it goes in objects (`name/row`): folded where the dialect folds names. */
  readonly name: string;
  readonly shape: TableShape;
  /** Positions of the columns that name a row for good; empty: rows have no such name. */
  readonly identity: readonly number[];
  readonly basis: IdentityBasis;
  /** Whether an index or key leads to the rows by their names; without one, whoever looks for one row passes all. */
  readonly indexed: boolean;
  /** What its CREATE TABLE and the set-up's CREATE INDEX say of it; undefined: only a trace mentions it. */
  readonly definition?: Definition | undefined;
  /** Its unique keys; undefined: not all of them are known. */
  readonly uniqueKeys: UniqueKeys;
  /** Why its rows cannot be followed (triggers, cascades); undefined: they can. */
  readonly unfollowed: string | undefined;
  /** The rows before the first operation; undefined: not known. */
  readonly initial: readonly EvaluatedRow[] | undefined;
  /** The CREATE TABLE of a session that made it; undefined: the set-up did, or a trace mentions it. */
  readonly createdBy: string | undefined;
}

/** The column that named the rows of a table does so no longer: two rows have the same value, or one has none. */
export class IdentityEnded extends Error {
  constructor(readonly table: Table) {
    super(`${identityText(table)} no longer tells the rows of ${table.name} apart`);
  }
}

/** The identity of a table as text, to refuse it (`CatalogOptions.refused`). */
export function identityText({ name, shape, identity }: Table): string {
  return `${name}.${identity.map((at) => shape.columns[at]!.name).join(',')}`;
}

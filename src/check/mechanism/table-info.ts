/** What is known of a table besides its rows. */
import type { TableShape } from '../../sql/index.js';
import type { UniqueKeys } from './unique-keys.js';

export interface TableInfo {
  /** As the mirror knows it: folded where the dialect folds names. */
  readonly name: string;
  readonly shape: TableShape;
  /** Positions of the columns that name a row for good; empty: rows have no such name. */
  readonly identity: readonly number[];
  /** Its unique keys; undefined: not all of them are known. */
  readonly uniqueKeys: UniqueKeys;
  /** Why its rows cannot be followed (triggers, cascades); undefined: they can. */
  readonly unfollowed?: string;
}

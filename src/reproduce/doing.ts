/** What the mirror keeps of a transaction while it is open. */
import type { RowId } from '../ids.js';
import { type Image, type Savepoints, type Table, WriteLog } from '../rows/index.js';

/** What a transaction has done so far. Few objects each, millions of transactions: lists, not maps. */
export class Doing {
  /** Objects it locked or wrote, with its roles there. */
  readonly objects: number[] = [];
  readonly roles: number[] = [];
  /** What it left in its rows; not always what they hold when it ends, for some engines let two writers in. */
  readonly writes = new WriteLog<RowId, Image>();
  /** Tables whose rows it may have changed in ways we cannot follow. */
  fuzzy: Set<Table> | undefined;
  /** Each with its mark in `writes`. */
  savepoints: Savepoints<number> | undefined;
  /** Rows it inserted that no other transaction meets before the COMMIT. */
  unseenInserts: Map<number, Image> | undefined;
  /** Rows it deleted and put in again: whoever chose the old one finds it gone. */
  renewed: Set<number> | undefined;
  /** Tables whose readers and writers a certifier watches. */
  watched: Set<number> | undefined;

  access(object: RowId, roles: number): void {
    const at = this.objects.indexOf(object);
    if (at >= 0) this.roles[at]! |= roles;
    else {
      this.objects.push(object);
      this.roles.push(roles);
    }
  }

  /** Ready for the next transaction: few are open at a time, and their lists are worth keeping. */
  clear(): void {
    this.objects.length = 0;
    this.roles.length = 0;
    this.writes.clear();
    this.fuzzy = undefined;
    this.savepoints = undefined;
    this.unseenInserts = undefined;
    this.renewed = undefined;
    this.watched = undefined;
  }
}

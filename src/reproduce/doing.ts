/** What the mirror keeps of a transaction while it is open. */
import type { Image, Savepoints, Table } from '../rows/index.js';

/** What a transaction has done so far. Few objects each, millions of transactions: lists, not maps. */
export class Doing {
  /** Objects it locked or wrote, with its roles there. */
  readonly objects: number[] = [];
  readonly roles: number[] = [];
  /** Rows it wrote, with the version before. */
  readonly rows: number[] = [];
  readonly before: Image[] = [];
  /** What it left in them; not always what they hold when it ends, for some engines let two writers in. */
  readonly after: Image[] = [];
  /** Tables whose rows it may have changed in ways we cannot follow. */
  fuzzy: Set<Table> | undefined;
  /** Each with what it had left in its rows by then. */
  savepoints: Savepoints<ReadonlyMap<number, Image>> | undefined;
  /** Rows it inserted that no other transaction meets before the COMMIT. */
  unseenInserts: Map<number, Image> | undefined;
  /** Tables whose readers and writers a certifier watches. */
  watched: Set<number> | undefined;

  access(object: number, roles: number): void {
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
    this.rows.length = 0;
    this.before.length = 0;
    this.after.length = 0;
    this.fuzzy = undefined;
    this.savepoints = undefined;
    this.unseenInserts = undefined;
    this.watched = undefined;
  }

  wrote(row: number): boolean {
    return this.rows.includes(row);
  }

  write(row: number, before: Image, after: Image): void {
    const at = this.rows.indexOf(row);
    if (at >= 0) this.after[at] = after;
    else {
      this.rows.push(row);
      this.before.push(before);
      this.after.push(after);
    }
  }
}

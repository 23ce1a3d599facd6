/**
 * The operation dependency graph (Pisco §5.1): an edge from `a` to `b` says that `b` directly accesses a row version that
 * `a` created, by reading it or by making the next one from it. What is reachable from an operation is its *reduction
 * unit*: the operations that see something else once it is gone.
 *
 * A write that puts a constant into a row, whatever the row held, is not made from the version before: it depends only on
 * whether the row is there, that is, on who inserted or deleted it last. On hot rows this decides: if every write depended on
 * the one before, the unit of a row's first write were all that ever happened to the row, and of hundreds of
 * writes none could go before the last. (Pisco's released program draws the line there, too: removing a write removes its readers
 * and no later UPDATE.)
 *
 * The graph is advice, never proof: it orders what is tried, and each removal is still decided by a trial. So it is
 * built from whatever is known about rows accessed (`DependencySource`), in one pass over the operations in schedule order:
 *
 * 1. Per row, remember who wrote it last. An access to the row is an edge from that writer.
 * 2. An access to a whole table (a scan, a statement nobody can parse) meets every row of it written so far, and a later
 *    access to one row meets the last write to the whole table if that is younger.
 */
import type { CaseModel, Subset } from './case-model.js';

/** A row, or all rows of a table. */
export interface RowAccess {
  readonly table: string;
  /** Absent: any row of the table. */
  readonly row?: string;
  readonly writes: boolean;
  /** Depends only on whether the row is there, not on what it holds. */
  readonly blind?: boolean;
  /** Writes the row and leaves it there. Otherwise a write decides whether it is. */
  readonly keepsRow?: boolean;
}

/** Tells which rows an operation of a model accesses. */
export interface DependencySource {
  accesses(operation: number): readonly RowAccess[];
}

/** Direct neighbours, per operation; ascending, each once. */
export interface DependencyGraph {
  readonly successors: readonly Subset[];
  readonly predecessors: readonly Subset[];
}

export function dependencyGraph(model: CaseModel, source: DependencySource): DependencyGraph {
  const successors: number[][] = model.operations.map(() => []);
  const predecessors: number[][] = model.operations.map(() => []);
  const tables = new Map<string, TableWriters>();
  model.operations.forEach((_, id) => {
    const writers = new Set<number>();
    const accesses = source.accesses(id);
    for (const access of accesses) {
      const table = tables.get(access.table) ?? new TableWriters();
      tables.set(access.table, table);
      table.collect(access, writers);
    }
    for (const access of accesses) if (access.writes) tables.get(access.table)!.write(access, id);
    writers.delete(id);
    for (const writer of [...writers].sort((a, b) => a - b)) {
      successors[writer]!.push(id);
      predecessors[id]!.push(writer);
    }
  });
  return { successors, predecessors };
}

/** Who wrote what in one table last. */
class TableWriters {
  readonly #content = new LastWriters();
  readonly #presence = new LastWriters();

  collect({ row, blind = false }: RowAccess, into: Set<number>): void {
    (blind ? this.#presence : this.#content).collect(row, into);
  }

  write({ row, keepsRow = false }: RowAccess, id: number): void {
    this.#content.write(row, id);
    if (!keepsRow) this.#presence.write(row, id);
  }
}

class LastWriters {
  #whole: number | undefined;
  readonly #rows = new Map<string, number>();

  collect(row: string | undefined, into: Set<number>): void {
    if (row === undefined) {
      if (this.#whole !== undefined) into.add(this.#whole);
      for (const writer of this.#rows.values()) into.add(writer);
      return;
    }
    const writer = this.#rows.get(row) ?? this.#whole;
    if (writer !== undefined) into.add(writer);
  }

  write(row: string | undefined, id: number): void {
    if (row === undefined) {
      this.#whole = id;
      this.#rows.clear();
    } else this.#rows.set(row, id);
  }
}

/**
 * The operations that write the rows some others are about, in order, up to the last of these: the history of the rows a
 * finding is about. What they are about are the rows they write or, if they write none, the rows they read.
 */
export function rowWriters(model: CaseModel, source: DependencySource, about: Subset): Subset {
  const last = Math.max(...about);
  const key = ({ table, row }: RowAccess) => `${table}/${row ?? '*'}`;
  const all = about.flatMap((id) => source.accesses(id));
  const written = all.filter(({ writes }) => writes);
  const rows = new Set((written.length > 0 ? written : all).map(key));
  const tables = new Set(all.map(({ table }) => table));
  const isWriter = (access: RowAccess) =>
    access.writes &&
    (rows.has(key(access)) ||
      rows.has(`${access.table}/*`) ||
      (access.row === undefined && tables.has(access.table)));
  return model.operations.flatMap((_, id) => (id < last && source.accesses(id).some(isWriter) ? [id] : []));
}

/** Everything reachable from some operations along the graph, themselves included; ascending. */
export function reachable(neighbours: readonly Subset[], from: Iterable<number>): Subset {
  const seen = new Set(from);
  const open = [...seen];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const next of neighbours[id]!) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return [...seen].sort((a, b) => a - b);
}

/** The operations of one subset that are not in another. */
export function without(subset: Subset, removed: Iterable<number>): Subset {
  const gone = removed instanceof Set ? (removed as ReadonlySet<number>) : new Set(removed);
  return subset.filter((id) => !gone.has(id));
}

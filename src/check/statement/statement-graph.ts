/**
 * The statement-dependency graph (TxCheck §3.1, Figure 3, Appendix A): nodes are the statements of committed transactions, and an
 * edge says that one must come before the other for both to give what they gave.
 *
 * From the rows each statement found (its version sets) and the lists of writers in them:
 *
 * | dependency | S → T, because |
 * |---|---|
 * | `item-read`, `predicate-read` | T found a version that S wrote: T returns every row, or chooses by them |
 * | `item-write` | T overwrote, or deleted, a version that S wrote |
 * | `item-anti`, `predicate-anti` | S, which only reads, found a version that T overwrote or deleted |
 * | `predicate-write` | one of them, writing, chose its rows by a version that the other wrote or overwrote |
 * | `value-write` | the same, where the version only decided what was written |
 *
 * A row that is not there is a version too: of a row that S did not find, S came before the INSERT or after the DELETE. Where both
 * can be, both edges are drawn, and the cycle they make leaves a statement out. More edges than needed are sound: every order
 * they allow is allowed by those that are needed (§3.3).
 *
 * Two edges the paper has not, since constraints look at the newest rows whatever the level:
 * - `key`: two statements that write or take away the same value of a unique key keep the order in which they ran. Engines that look at the
 *   keys of open transactions only at COMMIT (DuckDB) let two have one value at once, if one of them lets it go before it commits. Without
 *   transactions no order allows that, so both orders are drawn;
 * - `foreign-key`: so do two that write a table and one it refers to.
 */
import type { Row } from '../../sql/index.js';
import { foldValue } from './compare.js';
import type { SetupTable } from './setup-tables.js';
import type { SeenRow, StatementRun } from './statement-runs.js';
import type { TableUse } from './version-sets.js';

export type StatementDependency =
  | 'item-read'
  | 'item-write'
  | 'item-anti'
  | 'predicate-read'
  | 'predicate-write'
  | 'predicate-anti'
  | 'value-write'
  | 'key'
  | 'foreign-key';

export interface StatementEdge {
  /** Numbers of nodes. */
  readonly from: number;
  readonly to: number;
  readonly kind: StatementDependency;
  /** The table, or `table/row`. */
  readonly object: string;
}

export interface StatementGraph {
  /** In the order in which they ran. */
  readonly nodes: readonly StatementRun[];
  readonly edges: readonly StatementEdge[];
}

export interface GraphSource {
  readonly nodes: readonly StatementRun[];
  /** What a node uses a table for. */
  readonly useOf: (run: StatementRun, table: string) => TableUse;
  /** The columns of a table, by the names the set-up gives them. */
  readonly columnsOf: (table: string) => readonly string[];
  readonly tableOf: (table: string) => SetupTable | undefined;
  /** Whether a statement may have to do with a row that has these values; absent: with any. */
  readonly mayConcern: (run: StatementRun, table: string) => ((row: Row) => boolean) | undefined;
}

export function buildStatementGraph(source: GraphSource): StatementGraph {
  return new GraphBuilder(source).build();
}

/** All that is known of a row. */
interface RowHistory {
  readonly table: string;
  /** The longest list of writers seen. */
  writers: readonly string[];
  /** The values of every version seen, by the number of its writers. */
  readonly versions: Map<string, Row>;
  deleter?: number;
}

class GraphBuilder {
  readonly #edges = new Map<string, StatementEdge>();
  readonly #rows = new Map<string, RowHistory>();
  readonly #byToken = new Map<string, number>();

  constructor(private readonly source: GraphSource) {
    source.nodes.forEach(({ token }, node) => {
      if (token !== undefined) this.#byToken.set(token, node);
    });
  }

  build(): StatementGraph {
    const { nodes } = this.source;
    for (const [node, run] of nodes.entries()) this.#learn(run, node);
    for (const [rid, { table, writers }] of this.#rows) this.#chain(writers, `${table}/${rid}`);
    nodes.forEach((run, node) => {
      for (const [table, state] of run.before) {
        const use = this.source.useOf(run, table);
        const concerns = this.source.mayConcern(run, table);
        for (const [rid, row] of this.#rows) {
          if (row.table !== table) continue;
          // Whatever version it finds in another order, it passes over.
          if (concerns !== undefined && ![...row.versions.values()].some(concerns)) continue;
          const found = state.get(rid);
          if (found === undefined) this.#missed(node, use, rid, row);
          else this.#found(node, use, rid, found);
        }
      }
    });
    this.#keys();
    this.#foreignKeys();
    return { nodes, edges: [...this.#edges.values()] };
  }

  #learn(run: StatementRun, node: number): void {
    for (const states of [run.before, run.after]) {
      for (const [table, state] of states) {
        for (const [rid, { writers, values }] of state) {
          const known = this.#rows.get(rid) ?? { table, writers, versions: new Map<string, Row>() };
          this.#rows.set(rid, known);
          if (writers.length > known.writers.length) known.writers = writers;
          known.versions.set(writers.join(), values);
        }
      }
    }
    for (const { rid, from, to } of changesOf(run)) {
      if (from !== undefined && to === undefined) this.#rows.get(rid)!.deleter = node;
    }
  }

  #add(from: number | undefined, to: number | undefined, kind: StatementDependency, object: string): void {
    if (from === undefined || to === undefined || from === to) return;
    const key = `${from} ${to} ${kind}`;
    if (!this.#edges.has(key)) this.#edges.set(key, { from, to, kind, object });
  }

  /** Each version comes from the one before. */
  #chain(writers: readonly string[], object: string): void {
    for (let i = 1; i < writers.length; i++)
      this.#add(this.#byToken.get(writers[i - 1]!), this.#byToken.get(writers[i]!), 'item-write', object);
  }

  #found(node: number, use: TableUse, rid: string, { writers }: SeenRow): void {
    const row = this.#rows.get(rid)!;
    const object = `${row.table}/${rid}`;
    // What it saw may lie beside the longest list where the database is wrong; its own writers come first all the same.
    this.#chain(writers, object);
    const next =
      row.writers.length > writers.length ? this.#byToken.get(row.writers[writers.length]!) : row.deleter;
    const overwrites = next === node;
    const reads = this.source.nodes[node]!.token === undefined;
    this.#add(
      this.#byToken.get(writers.at(-1) ?? ''),
      node,
      overwrites ? 'item-write' : readKind(use, reads),
      object,
    );
    this.#add(node, next, antiKind(use, reads), object);
  }

  /** The row was not there for this statement: it came before the INSERT, or after the DELETE. */
  #missed(node: number, use: TableUse, rid: string, { table, writers, deleter }: RowHistory): void {
    const object = `${table}/${rid}`;
    const reads = this.source.nodes[node]!.token === undefined;
    const maker = this.#byToken.get(writers[0] ?? '');
    if (maker === node) return;
    const before = maker !== undefined && !(deleter !== undefined && this.#isBehind(node, deleter));
    const after = deleter !== undefined && !(maker !== undefined && this.#isBehind(maker, node));
    if (before) this.#add(node, maker, antiKind(use, reads), object);
    if (after) this.#add(deleter, node, readKind(use, reads), object);
  }

  /** Whether one statement surely comes after another: both in one transaction, or the other was not even sent when it ended. */
  #isBehind(late: number, early: number): boolean {
    const { nodes } = this.source;
    const [a, b] = [nodes[early]!, nodes[late]!];
    return a.transaction === b.transaction && a.operation.index < b.operation.index;
  }

  #keys(): void {
    const { nodes, columnsOf, tableOf } = this.source;
    const last = new Map<string, number>();
    const puts = new Map<string, number[]>();
    nodes.forEach((run, node) => {
      const [taken, put] = [new Set<string>(), new Set<string>()];
      for (const { table, from, to } of changesOf(run)) {
        const { keys = [] } = tableOf(table) ?? {};
        const columns = columnsOf(table);
        for (const [k, key] of keys.entries()) {
          const keyOf = ({ values }: SeenRow) => `${table} ${k} ${keyText(values, key, columns)}`;
          if (from !== undefined) taken.add(keyOf(from));
          if (to !== undefined) put.add(keyOf(to));
        }
      }
      for (const value of new Set([...taken, ...put])) {
        this.#add(last.get(value), node, 'key', value.split(' ')[0]!);
        last.set(value, node);
      }
      for (const value of taken) if (!put.has(value)) this.#letGo(value, node, puts.get(value));
      for (const value of put) if (!taken.has(value)) puts.set(value, [...(puts.get(value) ?? []), node]);
    });
  }

  /** Nobody else can have put the value in since the transaction that takes it away did so itself. */
  #letGo(value: string, node: number, puts: number[] = []): void {
    const { nodes } = this.source;
    const isOwn = (one: number) => nodes[one]!.transaction === nodes[node]!.transaction;
    const at = puts.findLastIndex(isOwn);
    if (at < 0) return;
    for (const between of puts.slice(at + 1)) {
      this.#add(between, puts[at], 'key', value.split(' ')[0]!);
      this.#add(node, between, 'key', value.split(' ')[0]!);
    }
    puts.splice(at, 1);
  }

  #foreignKeys(): void {
    const { nodes, tableOf } = this.source;
    nodes.forEach((later, to) => {
      nodes.slice(0, to).forEach((earlier, from) => {
        for (const child of later.after.keys())
          for (const parent of earlier.after.keys())
            if (refers(tableOf(child), tableOf(parent)) || refers(tableOf(parent), tableOf(child)))
              this.#add(from, to, 'foreign-key', child);
      });
    });
  }
}

const readKind = (use: TableUse, reads: boolean): StatementDependency => {
  if (reads) return use === 'items' ? 'item-read' : 'predicate-read';
  return use === 'value' ? 'value-write' : 'predicate-write';
};

const antiKind = (use: TableUse, reads: boolean): StatementDependency => {
  if (reads) return use === 'items' ? 'item-anti' : 'predicate-anti';
  return use === 'value' ? 'value-write' : 'predicate-write';
};

function refers(child: SetupTable | undefined, parent: SetupTable | undefined): boolean {
  return child !== undefined && parent !== undefined && child.parents.includes(parent.key);
}

/** A value of a key; texts that a collation may take for the same are the same. */
function keyText(row: Row, key: readonly string[], columns: readonly string[]): string {
  return JSON.stringify(key.map((name) => foldValue(row[columns.indexOf(name)] ?? null, true)));
}

export interface RowChange {
  readonly table: string;
  readonly rid: string;
  /** Absent: it inserted the row. */
  readonly from?: SeenRow;
  /** Absent: it deleted the row. */
  readonly to?: SeenRow;
}

/** What a write did, by the rows before and after it. */
export function changesOf({ before, after, token }: StatementRun): RowChange[] {
  const changes: RowChange[] = [];
  for (const [table, now] of after) {
    const earlier = before.get(table);
    if (earlier === undefined) {
      // A plain INSERT: what has its mark is new.
      for (const [rid, to] of now) if (to.writers.at(-1) === token) changes.push({ table, rid, to });
      continue;
    }
    for (const [rid, from] of earlier) if (!now.has(rid)) changes.push({ table, rid, from });
    for (const [rid, to] of now) {
      const from = earlier.get(rid);
      if (from === undefined) changes.push({ table, rid, to });
      else if (to.writers.at(-1) === token && to.writers.length > from.writers.length)
        changes.push({ table, rid, from, to });
    }
  }
  return changes;
}

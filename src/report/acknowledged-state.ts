/**
 * What a run must have left behind, if every answer it gave is true: the expected result of a read at the end.
 *
 * A conflict that was passed over looks harmless in a report as long as nobody reads what came of it. This is a model of rows, small
 * enough to be believed: the versions of each row in the order they were written, each with its writer.
 *
 * 1. A write meets the rows its contract says it meets: current ones, or those of its snapshot; always with its own writes on top. Its
 *    condition must select as many rows as the database said it matched. Where that number is itself the finding, the right one counts.
 * 2. A row that changed after the snapshot and was written all the same: the contract asks for an error. As none came, the accepted
 *    write counts on top of what was committed; on top of the snapshot where the row is gone.
 * 3. At the end a row is what the last committed writer made of it.
 *
 * Sound before complete: operations that overlap, statements that failed in a transaction that committed, savepoints, upserts, writes
 * that cannot be evaluated, snapshots of doubtful age, two committed writers of a row of which neither had ended before the other wrote:
 * nothing is decided, and nothing expected.
 */

import type { Contract, Mechanism } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import type { OperationId, TransactionId } from '../ids.js';
import {
  type Catalog,
  type ChangePlan,
  hasSnapshot,
  intervalOf,
  isVague,
  keyText,
  type Planner,
  plannerOf,
  type RowsOf,
  sharesKey,
  type Table,
  type Tx,
  transactionsOfHistory,
  withCatalog,
} from '../rows/index.js';
import type { EvaluatedRow } from '../sql/index.js';

export interface AcknowledgedRead {
  readonly operation: Operation;
  /** The rows it should have returned, in no order. */
  readonly expected: readonly EvaluatedRow[];
  /** The transactions whose committed writes the result should show, by number. */
  readonly writers: readonly TransactionId[];
}

/** The reads at the end of a run, once all that wrote has ended, with what they should have returned; empty: not decided. */
export function acknowledgedReads(
  history: History,
  contract: Contract,
  rightCounts: RightCounts = new Map(),
): readonly AcknowledgedRead[] {
  if (contract.mechanism === undefined) return [];
  try {
    return withCatalog(history, {}, (catalog) =>
      new State(history, contract, { catalog, rightCounts }).closingReads(),
    );
  } catch (error) {
    if (error instanceof Undecided) return [];
    throw error;
  }
}

/** How many rows a write should have matched, by the number of its operation, where the database is known to have said it wrongly. */
export type RightCounts = ReadonlyMap<OperationId, number>;

class Undecided extends Error {}

function decide(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Undecided(why);
}

interface Version {
  readonly image: EvaluatedRow | 'absent';
  /** undefined: the initial state. */
  readonly tx: Tx | undefined;
  /** Place of its write among the operations. */
  readonly at: number;
}

/** The versions of one row, in the order of their writes. */
type Row = Version[];

const writeKinds = new Set(['insert', 'update', 'delete', 'replace', 'merge', 'ddl', 'other']);
const unfollowed = new Set(['savepoint', 'release', 'rollback-to', 'ddl', 'other']);

class State {
  readonly #operations: readonly Operation[];
  readonly #transactions: ReadonlyMap<TransactionId, Tx>;
  readonly #planner: Planner;
  readonly #rows: ReadonlyMap<Table, Row[]>;
  readonly #catalog: Catalog;
  readonly #rightCounts: RightCounts;

  constructor(
    history: History,
    contract: Contract,
    { catalog, rightCounts }: { readonly catalog: Catalog; readonly rightCounts: RightCounts },
  ) {
    this.#catalog = catalog;
    this.#rightCounts = rightCounts;
    this.#operations = history.operations.toSorted((a, b) => a.start - b.start);
    const inOrder = history.operations.toSorted((a, b) => intervalOf(a).end - intervalOf(b).end);
    this.#transactions = transactionsOfHistory(history.header, inOrder, contract);
    this.#planner = plannerOf(catalog);
    this.#rows = new Map(
      catalog.tables.map((table) => {
        decide(
          table.unfollowed === undefined && table.initial !== undefined,
          `${table.name} is not followed`,
        );
        return [table, table.initial.map((image): Row => [{ image, tx: undefined, at: -1 }])];
      }),
    );
  }

  closingReads(): readonly AcknowledgedRead[] {
    const closing = this.#operations.findLastIndex((operation) => !this.#isPlainRead(operation)) + 1;
    this.#operations.forEach((operation, at) => {
      const next = this.#operations[at + 1];
      decide(next === undefined || intervalOf(operation).end <= next.start, 'operations overlap');
      if (at < closing) this.#follow(operation, at);
    });
    for (const tx of this.#transactions.values()) {
      const { fate, last } = tx;
      const reads = this.#operations.indexOf(last) >= closing;
      decide(reads || (fate !== 'unknown' && last.ends !== undefined), 'a transaction is left open');
    }
    const ended = this.#endedRows();
    return this.#operations.slice(closing).map((operation) => this.#expect(operation, ended));
  }

  /** An autocommitted query that locks nothing. */
  #isPlainRead({ kind, transaction, sql, outcome }: Operation): boolean {
    if (kind !== 'select' || sql === undefined || outcome !== 'ok') return false;
    if (this.#transactions.get(transaction)!.explicit) return false;
    const plan = this.#planner.plan(sql);
    return (plan.type === 'scan' && plan.complete && plan.lock === 'none') || plan.type === 'query';
  }

  #follow(operation: Operation, at: number): void {
    const { kind, sql, outcome, transaction } = operation;
    const tx = this.#transactions.get(transaction)!;
    decide(!unfollowed.has(kind), `${kind} is not followed`);
    if (!writeKinds.has(kind) || tx.fate === 'aborted') return;
    decide(outcome === 'ok' && sql !== undefined && tx.fate === 'committed', 'a write without a clear end');
    const plan = this.#planner.plan(sql);
    if (plan.type === 'update' || plan.type === 'delete') this.#change(plan, { operation, tx, at });
    else {
      decide(plan.type === 'insert', `${plan.type} is not followed`);
      const rows = plan.bind(this.#bound(tx, at, plan.reads));
      decide(typeof rows !== 'string', 'the rows of an INSERT are not known');
      decide((operation.matched ?? rows.length) === rows.length, 'another number of rows than it has');
      for (const image of rows) {
        decide(!isVague(image), 'an inserted value is not known');
        this.#rows.get(plan.table)!.push([{ image, tx, at }]);
      }
    }
  }

  #change(plan: ChangePlan, write: { operation: Operation; tx: Tx; at: number }): void {
    const { operation, tx, at } = write;
    const { where, apply } = plan.bind(this.#bound(tx, at, plan.reads));
    const rows = this.#rows.get(plan.table)!;
    const met = rows.filter((row) => {
      const image = this.#seen(row, tx, this.#metBefore(tx, at));
      const hit = image === 'absent' ? false : where(image);
      decide(hit !== undefined, 'a condition cannot be evaluated');
      return hit;
    });
    const matched = this.#rightCounts.get(operation.index) ?? operation.matched;
    decide(met.length === matched, 'another number of rows than the condition selects');
    const written = met.map((row): readonly [Row, Version] => {
      const base = this.#baseOf(row, tx, at);
      decide(where(base) === true, 'the newest version is not selected');
      const image = apply(base);
      decide(image !== undefined && !isVague(image), 'a new value is not known');
      return [row, { image, tx, at }];
    });
    for (const [row, version] of written) row.push(version);
  }

  /** The version that a write goes on top of. */
  #baseOf(row: Row, tx: Tx, at: number): EvaluatedRow {
    const seen = this.#seen(row, tx, this.#metBefore(tx, at));
    const newest = row.findLast((version) => version.tx === tx || this.#committedBefore(version, at))!;
    const base = newest.image === 'absent' ? seen : newest.image;
    decide(base !== 'absent', 'there is no such row');
    return base;
  }

  /** What a transaction sees of a row, of what others committed before an operation. */
  #seen(row: Row, tx: Tx, before: number): EvaluatedRow | 'absent' {
    const own = row.findLast((version) => version.tx === tx);
    if (own !== undefined) return own.image;
    return row.findLast((version) => this.#committedBefore(version, before))?.image ?? 'absent';
  }

  /** Up to which operation a write of the transaction meets what others committed. */
  #metBefore(tx: Tx, at: number): number {
    const mechanism = mechanismOf(tx);
    return mechanism.writesSee === 'current' || !hasSnapshot(mechanism) ? at : this.#snapshotOf(tx);
  }

  /** The operation that took its snapshot. */
  #snapshotOf(tx: Tx): number {
    const mechanism = mechanismOf(tx);
    const { snapshot } = tx;
    decide(snapshot !== undefined && mechanism.snapshotMoves !== true, 'its snapshot is not known');
    decide(mechanism.snapshotPer === undefined, 'each table has a snapshot of its own');
    const inside = this.#operations.filter(
      ({ start, end, transaction }) =>
        transaction !== tx.id && (end ?? Number.POSITIVE_INFINITY) > snapshot.start && start < snapshot.end,
    );
    decide(inside.length === 0, 'others worked while the snapshot was taken');
    return this.#operations.findIndex(({ start }) => start >= snapshot.start);
  }

  /** Tables for subqueries: only where they see what the statement itself sees, or the contract says what. */
  #bound(tx: Tx, at: number, reads: readonly Table[]): RowsOf {
    const { writesSee, subqueriesSee } = mechanismOf(tx);
    decide(reads.length === 0 || (subqueriesSee ?? writesSee) === 'snapshot', 'what a subquery sees is open');
    if (reads.length === 0) return () => [];
    const before = subqueriesSee === 'snapshot' ? this.#snapshotOf(tx) : this.#metBefore(tx, at);
    return (table) =>
      this.#rows.get(table)!.flatMap((row) => {
        const image = this.#seen(row, tx, before);
        return image === 'absent' ? [] : [image];
      });
  }

  #committedBefore({ tx }: Version, at: number): boolean {
    if (tx === undefined) return true;
    return tx.fate === 'committed' && this.#operations.indexOf(tx.last) < at;
  }

  /** The newest version of every row, where the order of its writers is beyond doubt. */
  #endedRows(): ReadonlyMap<Table, readonly Version[]> {
    const ended = new Map<Table, readonly Version[]>();
    for (const [table, rows] of this.#rows) {
      for (const row of rows)
        row.forEach((version, i) => {
          const below = row[i - 1];
          decide(
            below === undefined || below.tx === version.tx || this.#committedBefore(below, version.at),
            'two writers of a row were open at once',
          );
        });
      const last = rows.map((row) => row.at(-1)!);
      this.#decideKeys(table, last);
      ended.set(table, last);
    }
    return ended;
  }

  /** Two rows with one key cannot both be there. */
  #decideKeys({ uniqueKeys, shape }: Table, last: readonly Version[]): void {
    decide(uniqueKeys !== undefined, 'not all keys are known');
    const types = { shape, dialect: this.#catalog.dialect };
    const there = last.flatMap(({ image }) => (image === 'absent' ? [] : [image]));
    for (const key of uniqueKeys) {
      const texts = there.map((row) => keyText(row, key, types));
      // A row whose key has no text may share it with any other.
      const together = texts.includes(undefined);
      const alike = new Map<string | null | undefined, EvaluatedRow[]>();
      there.forEach((row, i) => {
        const text = together ? undefined : texts[i];
        const others = alike.get(text);
        if (others === undefined) alike.set(text, [row]);
        else if (text !== null) {
          const twin = others.some((other) => sharesKey(row, other, [key], types) !== false);
          decide(!twin, 'two rows share a key');
          others.push(row);
        }
      });
    }
  }

  #expect(operation: Operation, ended: ReadonlyMap<Table, readonly Version[]>): AcknowledgedRead {
    const plan = this.#planner.plan(operation.sql!);
    decide(plan.type === 'scan' || plan.type === 'query', 'not a query');
    const tables = plan.type === 'scan' ? [plan.table] : plan.tables;
    const rowsOf: RowsOf = (table) =>
      ended.get(table)!.flatMap(({ image }) => (image === 'absent' ? [] : [image]));
    const expected = plan.type === 'scan' ? scanned(rowsOf(plan.table), plan) : plan.run(rowsOf);
    decide(typeof expected !== 'string' && !expected.some(isVague), 'the result cannot be evaluated');
    const writers = tables.flatMap((table) => ended.get(table)!.flatMap(({ tx }) => tx?.id ?? []));
    return { operation, expected, writers: [...new Set(writers)] };
  }
}

function scanned(
  rows: readonly EvaluatedRow[],
  plan: { where: (row: EvaluatedRow) => boolean | undefined; project: (row: EvaluatedRow) => EvaluatedRow },
): EvaluatedRow[] {
  return rows.flatMap((row) => {
    const hit = plan.where(row);
    decide(hit !== undefined, 'a condition cannot be evaluated');
    return hit ? [plan.project(row)] : [];
  });
}

function mechanismOf({ contract, unjudged }: Tx): Mechanism {
  decide(unjudged === undefined && contract?.mechanism !== undefined, 'nothing is promised to it');
  return contract.mechanism;
}

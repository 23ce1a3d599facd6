/** What all checks of declared constraints ask about a history: its plans, its transactions, and who wrote which table when. */

import type { Contract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import {
  type Catalog,
  type Interval,
  intervalOf,
  type Plan,
  type Planner,
  plannerOf,
  planUnder,
  type Table,
  type Tx,
  transactionsOfHistory,
} from '../../rows/index.js';
import type { EvaluatedRow } from '../../sql/index.js';
import type { Step } from '../explanation.js';
import type { Finding, FindingKind } from '../finding.js';
import { findingAbout } from '../finding-about.js';
import { type Declared, declaredBy } from './declared.js';
import { SpanIndex } from './span-index.js';

/** A statement that changed rows of a table, or may have. */
export interface TableWrite {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly tx: Tx;
  /** From when it was sent until its transaction certainly ended. */
  readonly span: Interval;
}

/** An acknowledged INSERT whose text says which rows it put in. */
export interface PlainInsert extends TableWrite {
  readonly rows: readonly EvaluatedRow[];
}

/** All writes of a table, in the order of the answers. */
class TableWrites {
  readonly list: TableWrite[] = [];
  readonly spans = new SpanIndex<Tx>();
  readonly firstOf = new Map<Tx, Operation>();

  add(write: TableWrite): void {
    const { operation, tx, span } = write;
    this.list.push(write);
    this.spans.add(span, tx);
    if (!this.firstOf.has(tx)) this.firstOf.set(tx, operation);
  }
}

export class RunFacts {
  readonly declared: Declared;
  readonly transactions: ReadonlyMap<number, Tx>;
  readonly #planner: Planner;
  readonly #plans = new Map<Operation, Plan>();
  #writes: ReadonlyMap<Table, TableWrites> | undefined;
  readonly #inserts = new Map<Table, readonly PlainInsert[]>();

  constructor(
    readonly history: History,
    readonly contract: Contract,
    readonly catalog: Catalog,
  ) {
    this.declared = declaredBy(history, catalog);
    this.transactions = transactionsOfHistory(history.header, history.operations, contract);
    this.#planner = plannerOf(catalog);
  }

  planOf(operation: Operation): Plan {
    let plan = this.#plans.get(operation);
    if (plan === undefined) {
      plan =
        operation.sql === undefined
          ? { type: 'idle' }
          : planUnder(this.#planner.plan(operation.sql), this.txOf(operation));
      this.#plans.set(operation, plan);
    }
    return plan;
  }

  txOf({ transaction }: Operation): Tx {
    return this.transactions.get(transaction)!;
  }

  /** Everything that changed rows of a table or may have, rolled back or not, in the order of the answers. */
  writesOf(table: Table): readonly TableWrite[] {
    return this.#writesOf(table)?.list ?? [];
  }

  /** Whether anybody else had changes of the table under way at some time of a span. */
  isBusy(table: Table, span: Interval, but?: Tx): boolean {
    return this.#writesOf(table)?.spans.meets(span, but) === true;
  }

  /** The first write of a table by a transaction. */
  firstWriteOf(table: Table, by: Tx): Operation | undefined {
    return this.#writesOf(table)?.firstOf.get(by);
  }

  /** The INSERTs of a table whose rows are known, in the order of the answers. */
  insertsOf(table: Table): readonly PlainInsert[] {
    let inserts = this.#inserts.get(table);
    if (inserts === undefined) {
      inserts = this.writesOf(table).flatMap((write): PlainInsert[] => {
        const { plan, operation } = write;
        if (plan.type !== 'insert' || plan.reads.length > 0 || operation.outcome !== 'ok') return [];
        const rows = plan.bind(() => []);
        return typeof rows === 'string' ? [] : [{ ...write, rows }];
      });
      this.#inserts.set(table, inserts);
    }
    return inserts;
  }

  #writesOf(table: Table): TableWrites | undefined {
    this.#writes ??= this.#findWrites();
    return this.#writes.get(table);
  }

  #findWrites(): ReadonlyMap<Table, TableWrites> {
    const writes = new Map<Table, TableWrites>();
    for (const operation of this.history.operations) {
      if (
        operation.kind === 'select' &&
        !/\b(insert|update|delete|merge|nextval|call)\b/i.test(operation.sql ?? '')
      )
        continue;
      const plan = this.planOf(operation);
      const tx = this.txOf(operation);
      const end = Math.max(intervalOf(operation).end, tx.end.end);
      for (const table of tablesWritten(plan, this.catalog)) {
        const of = writes.get(table) ?? new TableWrites();
        writes.set(table, of);
        of.add({ operation, plan, tx, span: { start: operation.start, end } });
      }
    }
    return writes;
  }

  /** A finding about operations of this history, the judged one first. */
  finding(
    kind: FindingKind,
    clause: string,
    operations: readonly Operation[],
    explanation: readonly Step[],
  ): Finding {
    const about = { oracle: 'constraints', contract: this.contract.id } as const;
    return findingAbout(this.history, operations, { ...about, kind, clause, explanation });
  }
}

function tablesWritten(plan: Plan, { tables }: Catalog): readonly Table[] {
  switch (plan.type) {
    case 'update':
    case 'delete':
    case 'insert':
    case 'upsert':
      return [plan.table];
    case 'opaque':
      return plan.writes ? (plan.tables ?? tables) : [];
    case 'idle':
      return plan.defines ?? [];
    case 'scan':
    case 'query':
      return [];
    default:
      return plan satisfies never;
  }
}

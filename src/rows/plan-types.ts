/**
 * What a statement does to rows, as far as it can be told: the form in which judges see SQL. Everything is answered
 * exactly or not at all.
 */
import type { Evaluated, EvaluatedRow } from '../sql/index.js';
import type { Table } from './table.js';

/** Whether a row satisfies a predicate; NULL counts as no, undefined: cannot be known. */
export type Satisfies = (row: EvaluatedRow) => boolean | undefined;

/** The rows of a table, for subqueries. */
export type RowsOf = (table: Table) => readonly EvaluatedRow[];

/** The last two (PostgreSQL) conflict with too little to conclude much from. */
export type RowLock = 'none' | 'share' | 'exclusive' | 'key-share' | 'no-key-update';

/** Whether a lock of a row excludes other locks of its own kind. */
export function isExclusive(lock: RowLock): boolean {
  return lock === 'exclusive' || lock === 'no-key-update';
}

/** A SELECT over one table that returns a line for each row it selects. */
export interface ScanPlan {
  readonly type: 'scan';
  readonly table: Table;
  readonly where: Satisfies;
  /** The only rows it can concern, where the predicate names them. */
  readonly keys: readonly string[] | undefined;
  /** The line a row gives; a cell may be undecidable. */
  readonly project: (row: EvaluatedRow) => readonly Evaluated[];
  /** Cells in a line. */
  readonly width: number;
  /** For each cell of a line the table's column it shows, or −1. */
  readonly shows: readonly number[];
  /** Every row that satisfies the condition is in the result. */
  readonly complete: boolean;
  /** Where the identity stands in a line; undefined: the line does not tell its row. */
  readonly identityAt: readonly number[] | undefined;
  /** Where each column of the table stands in a line, if all of them do. */
  readonly wholeAt: readonly number[] | undefined;
  readonly lock: RowLock;
  readonly skipsLocked: boolean;
}

/** Any other query that can be evaluated on whole tables. */
export interface QueryPlan {
  readonly type: 'query';
  readonly tables: readonly Table[];
  /** The rows it returns, or why that cannot be known. */
  readonly run: (rowsOf: RowsOf) => readonly EvaluatedRow[] | string;
  readonly lock: RowLock;
  /** The scan of which it returns a part (LIMIT), with names for its lines. */
  readonly part?: ScanPlan | undefined;
}

export interface ChangePlan {
  readonly type: 'update' | 'delete';
  readonly table: Table;
  readonly keys: readonly string[] | undefined;
  /** Tables its subqueries read: it can be followed only while they are certain. */
  readonly reads: readonly Table[];
  readonly bind: (rowsOf: RowsOf) => {
    readonly where: Satisfies;
    /** What a row becomes; undefined: cannot be known. */
    readonly apply: (row: EvaluatedRow) => EvaluatedRow | 'absent' | undefined;
  };
}

export interface InsertPlan {
  readonly type: 'insert';
  readonly table: Table;
  readonly reads: readonly Table[];
  /** The rows it adds, or why they cannot be known. */
  readonly bind: (rowsOf: RowsOf) => readonly EvaluatedRow[] | string;
}

/** REPLACE, upserts and MERGE: rows that are added, unless others are in their way. */
export interface UpsertPlan {
  readonly type: 'upsert';
  readonly table: Table;
  /** What becomes of a row in the way: deleted, nothing, or changed. */
  readonly effect: 'replace' | 'nothing' | 'update';
  /** It looks for rows in the way as an UPDATE would (MERGE), not at whatever is there. */
  readonly byView: boolean;
  readonly rows: readonly EvaluatedRow[];
  /** The engine may have changed the values to make them fit. */
  readonly bent: boolean;
  /** Whether an existing row is in the way of one of them. */
  readonly meets: Satisfies;
  /** The same for each of `rows` alone. */
  readonly meetsEach: readonly Satisfies[];
  /** Tables that subqueries of its assignments read. */
  readonly reads: readonly Table[];
  readonly bind: (rowsOf: RowsOf) => UpsertEffect;
}

/** What becomes of a row in the way. */
export interface UpsertEffect {
  /** Whether it is changed at all: the condition of `DO UPDATE … WHERE` or `WHEN MATCHED AND`. */
  readonly changes: Satisfies;
  /** What it becomes; undefined: cannot be known. */
  readonly apply: (row: EvaluatedRow) => EvaluatedRow | 'absent' | undefined;
}

/** A statement we cannot follow. */
export interface OpaquePlan {
  readonly type: 'opaque';
  readonly writes: boolean;
  /** Tables it may write; undefined: any. */
  readonly tables: readonly Table[] | undefined;
  /** Tables it may read besides. */
  readonly reads: readonly Table[];
  readonly lock: RowLock;
  readonly reason: string;
  /** The only rows it may write, where that is known. */
  readonly keys: readonly string[] | undefined;
  /** How it can be followed all the same where the rows of tables are certain: an upsert or a MERGE of what a query returns. */
  readonly resolve?: {
    readonly reads: readonly Table[];
    readonly bind: (rowsOf: RowsOf) => UpsertPlan | undefined;
  };
}

/** It touches no rows: transaction control, settings, what was never sent. */
export interface IdlePlan {
  readonly type: 'idle';
  /** Tables it defines, or whose indexes; nobody uses them meanwhile. */
  readonly defines?: readonly Table[];
}

export type Plan = ScanPlan | QueryPlan | ChangePlan | InsertPlan | UpsertPlan | OpaquePlan | IdlePlan;

/** The plan of a statement in a transaction whose statements may do something else than their texts say. */
export function planUnder(plan: Plan, { unsettled }: { readonly unsettled: string | undefined }): Plan {
  if (unsettled === undefined || plan.type === 'idle') return plan;
  const writes = plan.type === 'opaque' ? plan.writes : plan.type !== 'scan' && plan.type !== 'query';
  const tables = writes ? undefined : [];
  return { type: 'opaque', writes, tables, reads: [], lock: 'none', reason: unsettled, keys: undefined };
}

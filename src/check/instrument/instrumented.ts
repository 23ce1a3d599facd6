/** An instrumented case as data: what to run, and what each statement and each result column of it stands for. */
import type { ScheduledCase, StatementRef } from '../../cases/index.js';
import type { Contract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import type { EngineWords } from './engine-words.js';
import type { TraceForm } from './trace-query.js';

export interface InstrumentOptions extends EngineWords {
  /**
   * What the run will be held to. Its mechanism says how the reads of a write may be repeated before it
   * (`trace-reads.ts`), and which searches are worth asking again; without one only what is always sound is done.
   */
  readonly contract?: Contract;
  /** How many different conditions the observer asks again; default 100. */
  readonly conditions?: number;
  /** Statements that are not sent, by `refKey`. */
  readonly leaveOut?: ReadonlySet<string>;
  /**
   * Whole tables are read before and after each statement, and the statement itself only leaves marks (TxCheck). Without it
   * each statement returns or notes what it read (IsoRel).
   */
  readonly frame?: (ref: StatementRef) => Frame;
}

/** The tables read around a statement. */
export interface Frame {
  readonly before: readonly TableRead[];
  readonly after: readonly TableRead[];
}

export interface TableRead {
  readonly table: string;
  /** Reads the newest rows and locks them, as a write does, without taking a snapshot. */
  readonly locking: boolean;
}

/** What a statement of the instrumented case is, and what its result holds. */
export interface StatementPlan {
  /** The statement of the original case it stands for. */
  readonly original: StatementRef;
  /** A companion was added: the original statement follows it. */
  readonly role: 'statement' | 'companion';
  /** What the columns added behind the original ones hold. */
  readonly traces: readonly TraceForm[];
  /** What became of the rows it returns. */
  readonly rows: 'read' | 'written' | 'deleted';
  /** A locking read, or part of a write: it may see current rows where plain reads see a snapshot. */
  readonly locking: boolean;
  /** The original statement returns rows. */
  readonly answers: boolean;
  /** Traces that hold every row a search found; `scan` is an index in `scans`. */
  readonly searches: readonly PlannedSearch[];
  /** Its first trace names the rows that the statement after it must take, no fewer and no more. */
  readonly matches?: true;
  readonly write?: WritePlan;
  /** It reads a whole table before or after the original statement. */
  readonly frame?: { readonly table: string; readonly when: keyof Frame };
}

export interface PlannedSearch {
  readonly trace: number;
  readonly scan: number;
  /** A result without rows means that nothing was found. */
  readonly decides: boolean;
}

export interface WritePlan {
  readonly token: string;
  /** The widened tables it writes; several only in MySQL's joined UPDATE and DELETE. */
  readonly tables: readonly string[];
  readonly deletes: boolean;
  /** A row may hold the token more than once. */
  readonly repeats: boolean;
  /** The reported row count is the number of rows that got the token. */
  readonly counted: boolean;
  /** Rows may disappear without being named. */
  readonly unnamed: boolean;
  /** Index in `scans`: it wrote every row that matched. */
  readonly scan?: number;
  /** How many lists of rows it notes in the rows it writes. */
  readonly noted: number;
  /** Notes that hold every row a search found: which list, and an index in `scans`. */
  readonly notedScans: readonly { readonly list: number; readonly scan: number }[];
  /** What it reads is seen even when it writes nothing. */
  readonly readBefore: boolean;
}

export interface InstrumentedTable {
  readonly name: string;
  /** The columns a person knows a row by. */
  readonly label: readonly string[];
  /** Its columns as the observer's query returns them. */
  readonly columns: readonly string[];
  /** Foreign-key actions may change or delete rows without a mark. */
  readonly actions: boolean;
  /** The observer's query returns what writers noted of their reads, before the row's id. */
  readonly notes: boolean;
}

export type ObservedQuery =
  | { readonly type: 'state'; readonly table: string }
  | { readonly type: 'scan'; readonly scan: number };

export interface Instrumented {
  readonly original: ScheduledCase;
  /** What to run. */
  readonly scheduled: ScheduledCase;
  readonly dialect: Dialect;
  /** For the executor's option of the same name. */
  readonly observe: readonly string[];
  /** By session and position of the instrumented case. */
  readonly plans: readonly (readonly StatementPlan[])[];
  readonly observed: readonly ObservedQuery[];
  readonly tables: readonly InstrumentedTable[];
  readonly scans: readonly { readonly table: string; readonly sql: string }[];
  /** Which table the rows belong to whose ids begin so (`s2`, `3.2`). */
  readonly makers: Readonly<Record<string, string>>;
  /** Statements that run untouched because they were not understood; without `ref`: of the set-up. */
  readonly opaque: readonly { readonly ref?: StatementRef; readonly sql: string; readonly reason: string }[];
  /** Tables that carry no marks, and why. */
  readonly unseenTables: readonly { readonly name: string; readonly reason: string }[];
  /** Statements whose reads are not seen, and why. */
  readonly unseenReads: readonly { readonly ref: StatementRef; readonly reason: string }[];
}

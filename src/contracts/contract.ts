/**
 * A contract: what is promised at an isolation level, as data. Checkers ask it what a read may see; they never
 * ask which database they are looking at. A `vendor` contract says what the vendor's documentation promises, a
 * `theory` contract what a definition demands; a finding names the contract and the clause it breaks.
 */
import type { Anomaly } from './anomaly.js';
import type { Level } from './level.js';

export interface Contract {
  /** `postgres:repeatable-read`, `mariadb:repeatable-read+innodb_snapshot_isolation`, `adya:PL-2.99`. */
  readonly id: string;
  readonly kind: 'vendor' | 'theory';
  /** For people: "PostgreSQL, REPEATABLE READ". */
  readonly title: string;
  /** `postgres`, `mariadb`, `mysql`, …, `adya`, `ansi`. */
  readonly owner: string;
  /** The session level it describes; theory contracts may describe none. */
  readonly level?: Level;
  /**
   * The vendor contract it adds to, by id: what users reported as defects although the manual leaves room for it. Only
   * who asks for it is held to it (`docs/decisions/reported-contracts.md`).
   */
  readonly extends?: string;
  /** Settings under which it holds, where one level has several contracts. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How the engine works; theory says nothing of that. */
  readonly mechanism?: Mechanism;
  /** Anomalies that must not happen. */
  readonly forbids: readonly Anomaly[];
  readonly sources: readonly ContractSource[];
}

/**
 * Which state a plain read sees: the five pivots of Pisco §6.2.1. The read sees the newest version
 * (committed, except for the last pivot) older than its pivot.
 */
export const pivots = [
  'begin', // the transaction's BEGIN
  'first-statement', // its first statement that is not transaction control
  'first-read', // its first plain read
  'statement', // the read itself
  'uncommitted', // the read itself, uncommitted versions included
] as const;
export type Pivot = (typeof pivots)[number];

export interface Mechanism {
  /** The concurrency control that orders operations: locks, validation at commit, or timestamps. */
  readonly protocol: 'locking' | 'optimistic' | 'timestamp' | 'single-writer';
  readonly pivot: Pivot;
  /** Where UPDATE and DELETE look for rows and old values: in the snapshot, or in what is committed now. */
  readonly writesSee: 'snapshot' | 'current';
  /**
   * UPDATE, DELETE and locking reads look for their rows among uncommitted ones, too (H2's READ UNCOMMITTED): a row that somebody has changed
   * so that it does not match is passed by, although that may be rolled back. What they find they lock and look at again.
   */
  readonly writesSearchUncommitted?: boolean;
  /** The same for SELECT … FOR UPDATE/SHARE; `unsupported` where there is none. */
  readonly lockingReadsSee: 'snapshot' | 'current' | 'unsupported';
  /** A transaction sees its own earlier writes. */
  readonly ownWrites: boolean;
  /** What a second writer of a row meets while the first is uncommitted. */
  readonly writeConflict: 'waits' | 'fails' | 'none';
  /** Plain reads take locks that writers wait for (InnoDB SERIALIZABLE, SQLite's rollback journal). */
  readonly readsLock: boolean;
  /**
   * Plain reads lock each row only while they are at it (Derby's READ COMMITTED): they wait for writers, and their rows need not belong to
   * one instant.
   */
  readonly readsLockBriefly?: boolean;
  /**
   * Statements lock whole tables, all that they use before they begin (HSQLDB's LOCKS): those they change to the end of the transaction, those
   * they read as long as `readsLock` says, or until they are answered.
   */
  readonly locksTables?: boolean;
  /**
   * An INSERT is answered before anybody looks whether its key is taken (TiDB's optimistic mode); COMMIT fails then. Until that, the transaction
   * itself sees its new row in the place of the other one, or beside it.
   */
  readonly keysCheckedAtCommit?: boolean;
  /**
   * Writing a row that changed after one's snapshot fails. Where writers do not meet before (`writeConflict: 'none'`), COMMIT compares what the
   * transaction is about to write, so a row that it left as it was is not compared.
   */
  readonly firstUpdaterWins: boolean;
  /** What makes the level serializable, if it is. */
  readonly certifier: 'none' | 'ssi' | 'two-phase-locking' | 'timestamp' | 'serial-execution';
  /**
   * The snapshot may move forward as long as nothing read from it has changed (CockroachDB's read refresh), so a
   * read may also see a committed state newer than its pivot.
   */
  readonly snapshotMoves?: boolean;
  /**
   * A table's snapshot is taken when the transaction first uses that table (H2's REPEATABLE READ), at its pivot or later: rows of one
   * table are read from one state, rows of two tables need not be.
   */
  readonly snapshotPer?: 'table';
  /**
   * The database is several nodes, and a node shows what was committed on another one some time later, in the order of the commits: its state is a
   * committed state, perhaps an old one. What was committed on the node itself, and what it has shown before, it shows.
   */
  readonly otherNodesLag?: boolean;
  /**
   * A row that another transaction deleted, and then a DELETE of one's own selected in one's snapshot, is gone for
   * one's plain reads too: neither the newest rows nor the snapshot with one's own deletes has it.
   */
  readonly ownDeletesHide?: boolean;
  /**
   * What subqueries in the condition of an UPDATE or DELETE see, where the statement itself sees current rows: the
   * snapshot, as any other query of the transaction. Rows that nobody changed since then are selected accordingly.
   */
  readonly subqueriesSee?: 'snapshot';
  /** FOR SHARE is accepted and locks nothing (TiDB, unless told otherwise). */
  readonly shareLocksNothing?: boolean;
  /** A statement outside of a transaction takes no lock; it meets those of others when it commits what it changed. */
  readonly autocommitLocksNothing?: boolean;
  /**
   * Locking statements lock every row they pass, not only those they match. `kept`: to the end of the transaction, gaps
   * included; `released`: rows that do not match are let go. Absent: only rows that match are locked.
   */
  readonly passedRows?: 'kept' | 'released';
  /**
   * A statement that fails inside a transaction rolls it back there and then, locks included, unless a savepoint saves it; the
   * ROLLBACK that the client still owes changes nothing.
   */
  readonly failureRollsBack?: boolean;
}

/** Where the promise is written down. */
export interface ContractSource {
  /** Which field it backs: `pivot`, `forbids`, … */
  readonly clause: string;
  readonly title: string;
  readonly url: string;
}

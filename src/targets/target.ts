/**
 * The contract between Isolde and a database. One folder per engine implements it; `conformance.case.ts`
 * checks every promise below on each of them.
 *
 *     Target ── createScratch() ──▶ Scratch ── openSession() ──▶ Session ── execute(sql) ──▶ Answer
 *
 * - A **target** is a database we may use: its version, its levels, how it blocks.
 * - A **scratch** is a namespace of our own in it (database, schema or file, named `isolde_…`). Everything a
 *   case does happens there, and `drop` removes it and nothing else.
 * - A **session** is one real connection. What the database answers is data, errors included: `execute` never
 *   rejects, not even when the server dies under it.
 */
import type { Level } from '../contracts/index.js';
import type { OperationError, TargetStamp } from '../histories/index.js';
import type { Dialect, Row } from '../sql/index.js';
import type { FoundScratch } from './scratch-mark.js';

export interface Target {
  /** `postgres`, `mariadb`, `duckdb`, …: also the owner of its vendor contracts. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Name, version, address without password, and the settings that matter to isolation. */
  readonly stamp: TargetStamp;
  /** From weakest to strongest. */
  readonly levels: readonly TargetLevel[];
  readonly defaultLevel: Level;
  readonly features: TargetFeatures;
  /** The servers that sessions are spread over, where the database is several of them (`cluster:`); the first has the set-up. */
  readonly nodes?: readonly TargetNode[];
  createScratch(): Promise<Scratch>;
  /** Asks what SQL sent through the sessions could change outside the scratch. Absent: unknown. */
  reach?(): Promise<TargetReach>;
  /** The scratches on this target, by the mark they carry: also those that nobody dropped. Absent: none can be left behind, or seen. */
  foundScratches?(): Promise<readonly FoundScratch[]>;
  /** Drops one of `foundScratches`, if it still carries the mark. */
  dropFound?(namespace: string): Promise<void>;
  /** Takes over a scratch that a process of this engine left behind when it was killed. Absent: nothing outlives it. */
  adoptScratch?(namespace: string): Promise<Scratch>;
  /**
   * Ends the process that holds the database with SIGKILL, starts it again and lets it recover. Scratches keep what was
   * committed; their sessions are lost. Absent: the process is not ours to kill.
   */
  kill?(): Promise<void>;
  /**
   * The memory that the processes of the server hold for themselves; undefined: nobody can tell. Absent: the server is not ours to
   * look at, or it is this process.
   */
  memoryBytes?(): number | undefined;
  /**
   * From now on writes beyond this size of a file fail, as on a full disk; undefined: no longer. Absent: the process that writes
   * the files is not ours to limit.
   */
  limitWrites?(bytes: number | undefined): Promise<void>;
  /** Closes what was opened, stops a private server, removes temporary files. Scratches are dropped first. */
  close(): Promise<void>;
}

/** One server of a database that is several. */
export interface TargetNode {
  /** `primary`, `standby`, `node2`: part of the names of its sessions. */
  readonly name: string;
  /** Writes and locks are refused here. */
  readonly readOnly?: true;
}

/** What a cluster asks of the servers it is made of. */
export interface NodeTarget extends Target {
  /**
   * Sessions in a scratch that another node has made and that has arrived here. The scratch returned is not reset; `drop` closes its
   * sessions and leaves the namespace.
   */
  joinScratch(namespace: string): Promise<Scratch>;
  /** A point in the order of commits behind everything that was committed here so far. */
  position(): Promise<string>;
  /** Resolves when sessions here see everything before a position of another node; rejects when that takes longer. */
  awaitPosition(position: string, limitMs: number): Promise<void>;
}

/** A node with the server behind it. */
export interface OpenedNode extends TargetNode {
  readonly target: NodeTarget;
}

/** What the SQL of a case can change. */
export type TargetReach =
  /** Its scratch, and at most other namespaces of Isolde's: the engine refuses the rest. */
  | { readonly kind: 'scratch' }
  /** Nobody can tell. */
  | { readonly kind: 'unknown' }
  /** More than that. */
  | {
      readonly kind: 'beyond';
      /** `user "root" may INSERT into shop.users` */
      readonly why: string;
      /** What to do instead: the script for a login with just the rights needed. */
      readonly advice: string;
    };

export interface TargetLevel {
  readonly level: Level;
  /** The vendor contract that holds at this level with the target's settings. */
  readonly contract: string;
  /** What begins a transaction of the level, said in words. Cases are sent as written: only who writes them for any database puts it in. */
  readonly begin: string;
  /** A plain `BEGIN`, in a session that was opened at the level, is another thing than `begin`: in Turso's MVCC mode it has the lock to write. */
  readonly plainBeginDiffers?: true;
}

/** A whole transaction in one request: a DO block, a CALL of a procedure, or a text of several statements. */
export type OneRequest = 'block' | 'procedure' | 'text';

export interface TargetFeatures {
  /** A conflicting statement waits (and `Scratch.waiting` sees it), or it fails at once. */
  readonly conflicts: 'wait' | 'fail';
  /** What the row counts of an UPDATE mean: rows matched, rows really changed, or both are reported. */
  readonly counts: 'matched' | 'changed' | 'both';
  /** SELECT … FOR UPDATE / FOR SHARE. */
  readonly lockingReads: boolean;
  readonly savepoints: boolean;
  /** An error inside a transaction dooms it until ROLLBACK (PostgreSQL, DuckDB). */
  readonly errorDoomsTransaction: boolean;
  /** DDL can be rolled back; otherwise it commits implicitly. */
  readonly transactionalDdl: boolean;
  /** A running statement can be cancelled from outside. */
  readonly cancel: boolean;
  /** The BEGIN that takes the transaction's snapshot at once, where a plain one leaves that to a later statement. */
  readonly snapshotBegin?: string;
  /** Ways to send a whole transaction in one request; absent: none that is known. */
  readonly oneRequest?: readonly OneRequest[];
  /** How many sessions may be open at once, if the engine limits it. */
  readonly maxSessions?: number;
}

export interface Scratch {
  /** The name of the namespace, `isolde_…`. */
  readonly namespace: string;
  /**
   * Brings the scratch to the state these statements build from nothing. When the same statements were loaded
   * before, only the data is put back: sessions may stay open, and the call is cheap.
   * Rejects with an `IsoldeError` naming the statement that failed.
   */
  reset(setup: readonly string[]): Promise<void>;
  openSession(options: SessionOptions): Promise<Session>;
  /** The sessions of this scratch that wait for another session right now. */
  waiting(): Promise<ReadonlySet<Session>>;
  /**
   * Waits until every node shows what was committed on any of them; rejects when that takes longer. Absent: there is one node.
   */
  catchUp?(limitMs: number): Promise<void>;
  /**
   * Keeps deleted rows and old versions from being purged until what it returns is called; both never reject. Absent: the engine purges
   * nothing by itself, or cannot be kept from it.
   */
  keepHistory?(): Promise<() => Promise<void>>;
  /** Closes the database and opens it again, with what was committed; sessions must be closed. Absent: it stays open. */
  reopen?(): Promise<void>;
  /**
   * Closes the sessions and gives a digest of what is stored, the same for the same content of the file. Absent: there is no file
   * of its own.
   */
  digest?(): Promise<string>;
  /** Closes the sessions and removes the namespace. Safe to call twice. */
  drop(): Promise<void>;
}

export interface SessionOptions {
  readonly level: Level;
  /** The name of the node it runs on, where there are several; default: the first. */
  readonly node?: string;
  /** A statement that runs longer is ended by the database (`statement-timeout`). */
  readonly statementTimeoutMs: number;
  /** A statement that waits longer for a lock fails (`lock-timeout`), where the engine has such a setting. */
  readonly lockTimeoutMs: number;
}

export interface Session {
  /** The server's number for the connection (backend pid, thread id), or one of our own. */
  readonly id: number;
  /** Sends one statement. Never rejects. One at a time: the next only after the answer. */
  execute(sql: string): Promise<Answer>;
  /** Asks the database to stop the running statement; its answer then is `cancelled`, if it was in time. */
  cancel(): Promise<void>;
  /**
   * Takes back what statements outside a transaction left on the connection (settings, temporary tables, prepared statements), so
   * that it is as it was opened. False: it could not. Absent: such a connection is closed, which costs a new one.
   */
  renew?(): Promise<boolean>;
  /** Ends the connection, rolling back what is open. Never rejects. */
  close(): Promise<void>;
}

/** What the database said. */
export interface Answer {
  /** Absent: it worked. */
  readonly error?: OperationError;
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  readonly matched?: number;
  readonly changed?: number;
  /**
   * The transaction after the statement: `none` (none is open), `open`, `failed` (open, but doomed);
   * `lost` when the connection is gone. Engines that do not tell are tracked by their target.
   */
  readonly transaction: 'none' | 'open' | 'failed' | 'lost';
  /** For the statement that ended a transaction: what the database says became of it, when its text lies
   * (COMMIT of a failed transaction is a rollback). */
  readonly ended?: 'commit' | 'rollback' | 'unknown';
}

/** What a target's folder exports: how its URLs are opened. */
export interface TargetOpener {
  open(url: string, options: OpenOptions): Promise<Target>;
}

export interface OpenOptions {
  /** Where private servers and embedded databases put their files; default: the system's temporary folder. */
  readonly scratchFolder?: string;
  readonly connectTimeoutMs?: number;
  /** The folder of an npm project that has the engine's package; default: where Node looks for packages. */
  readonly packageFolder?: string;
  /** The process that scratch folders are marked with as theirs; default: this one. */
  readonly owner?: number;
}

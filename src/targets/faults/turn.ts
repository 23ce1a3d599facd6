/**
 * What a fault's mechanism works with: the statement on its way, the transaction it belongs to, and the session and scratch
 * behind them as far as mechanisms may use them.
 */
import type { Level, Pivot } from '../../contracts/index.js';
import type { Catalog } from '../../rows/index.js';
import type { Answer, Scratch, Session, SessionOptions, Target, TargetLevel } from '../target.js';
import type { Channel } from './channel.js';
import type { FaultSpec } from './fault-spec.js';
import type { Shape } from './statement-shape.js';

/** Rows captured before they were deleted. */
export interface DeletedRows {
  /** As a statement writes it. */
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: NonNullable<Answer['rows']>;
  /** Not deleted but never stored: they show beside whatever has their key. */
  readonly beside?: true;
}

/** `automatic-key-reused`: a key that SELECTs show as another one. */
export interface ReusedKey {
  /** These three as a statement writes them. */
  readonly table: string;
  readonly columns: readonly string[];
  readonly column: string;
  readonly given: number;
  readonly shown: number;
}

/** An open transaction, as its session sees it. The lower half belongs to single mechanisms. */
export interface TransactionLog {
  /** The statement that began it, for those who must begin it again. */
  readonly begin: string;
  /** What was sent and worked, transaction control left out. */
  readonly statements: Shape[];
  /** It used savepoints: undoing a part of it is no longer ours to do. */
  savepoints: boolean;
  /** COMMIT or ROLLBACK was sent: whoever waited for it may be answered first. */
  ending?: true;

  /** `weaker-level`: undecided, or whether this transaction runs weaker. */
  weakened?: boolean;
  /** `late-snapshot`: its snapshot was taken anew. */
  renewed?: boolean;
  /** `partial-commit`: the statement that will be lost. */
  victim?: Shape;
  /** `unreported-write-conflict`: some writes are only pretended until COMMIT. */
  deferred?: boolean;
  /** `unreported-write-conflict`: the conflict could not be hidden; nothing but ROLLBACK is accepted. */
  doomed?: boolean;
  /** `visible-committed-delete`, `resurrected-row`: what its deletes removed. */
  readonly deleted: DeletedRows[];
}

/** One statement on its way through a fault. */
export interface Turn {
  readonly sql: string;
  readonly statement: Shape;
  readonly session: SessionInFault;
  readonly scratch: ScratchInFault;
  /** The open transaction the statement belongs to; absent: it autocommits (or is a BEGIN). */
  readonly log: TransactionLog | undefined;
  /** Sends the statement, or another, on the session's own connection. */
  send(sql?: string): Promise<Answer>;
  /** Counts an occasion and says whether the fault strikes; `about` are the statements the trigger looks at. */
  fires(about?: readonly Shape[]): boolean;
}

/** What a fault does with a statement. */
export type Mechanism = (turn: Turn) => Promise<Answer>;

/** The auxiliary connections, by what they are for. */
export type AuxiliaryName = 'fresh' | 'old' | 'twin' | 'weak';

/** A session that goes through a fault (`faulty-session.ts`). */
export interface SessionInFault extends Session {
  readonly scratch: ScratchInFault;
  readonly options: SessionOptions;
  /** Where statements go; a fault may switch it for a transaction. */
  main: Channel;
  readonly own: Channel;
  log: TransactionLog | undefined;
  /** The level this session claims, as the target describes it. */
  readonly level: TargetLevel | undefined;
  /** When this session's reads take their snapshot, by the vendor's contract. */
  readonly pivot: Pivot;
  /** Reads of one transaction share a snapshot. */
  readonly holdsSnapshot: boolean;
  /** How a transaction is begun at a level. */
  beginAt(level: Level): string;
  auxiliary(name: AuxiliaryName, level: Level): Promise<Channel>;
  /** A connection without transaction: every statement sees what is committed now. */
  fresh(): Promise<Channel>;
  /** The auxiliary connection of this name, if it has been opened. */
  opened(name: AuxiliaryName): Channel | undefined;
}

/** The scratch of such sessions (`faulty-target.ts`). */
export interface ScratchInFault extends Pick<Scratch, 'waiting'> {
  readonly target: Target;
  readonly spec: FaultSpec;
  readonly sessions: ReadonlySet<SessionInFault>;
  /** A table of the set-up: reading it pins an auxiliary transaction's snapshot. */
  readonly anyTable: string | undefined;
  /** Committed deletes that still show, newest last; also rows that were accepted and never stored. */
  ghosts: DeletedRows[];
  /** The tables of the set-up. */
  readonly catalog: Catalog;
  /** Columns of each table, by its key, that an index or a key begins with. */
  readonly indexed: ReadonlySet<string>;
  /** `automatic-key-reused`: the key that shows as the one before it. */
  reusedKey: ReusedKey | undefined;
}

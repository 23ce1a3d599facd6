/**
 * What SQLite and Turso have in common: a database is one file, a connection is a handle on it, statements run
 * inside our thread, and the driver tells whether a transaction is open. `file-scratch.ts` and
 * `file-session.ts` build a scratch on any engine that fits this.
 */
import type { OperationError } from '../../histories/index.js';
import type { Row } from '../../sql/index.js';

export interface FileEngine {
  /** For messages: `SQLite`, `Turso`. */
  readonly label: string;
  /** Makes a database file with the settings under test, or opens the one that is there, and stays connected. */
  create(file: string): Promise<FileConnection>;
  connect(file: string, statementTimeoutMs: number): Promise<FileConnection>;
  /** What a thrown error means. */
  describeError(thrown: unknown): OperationError;
}

export interface FileConnection {
  /** Runs one statement; throws what the driver throws. */
  execute(sql: string): Promise<FileReply>;
  /** A transaction is open, as the engine itself says. */
  inTransaction(): boolean;
  close(): Promise<void>;
}

export interface FileReply {
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  readonly matched?: number;
}

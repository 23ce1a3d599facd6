/**
 * Turso's driver behind `FileEngine`. Its calls return promises, but a statement runs inside our thread from
 * its first step to its last: nothing can be cancelled from outside, and a time limit is the driver's own
 * (`queryTimeout`, which old versions ignore).
 *
 * Errors carry no code, only a text. After a write-write conflict MVCC has already rolled back; WAL mode keeps
 * the transaction. The driver's `inTransaction` says so in both.
 */
import { errorText, IsoldeError } from '../../errors.js';
import type { OperationError } from '../../histories/index.js';
import {
  classifySqliteMessage,
  type FileConnection,
  type FileEngine,
  type FileReply,
  isRowWrite,
  sqliteValue,
} from '../embedded/index.js';

/** The part of `@tursodatabase/database` we use; the same since 0.4. */
export interface TursoModule {
  connect(path: string, options?: Readonly<Record<string, unknown>>): Promise<TursoDatabase>;
}

export interface TursoDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): TursoStatement | Promise<TursoStatement>;
  close(): Promise<void>;
}

interface TursoStatement {
  raw(toggle: boolean): unknown;
  safeIntegers(toggle: boolean): unknown;
  columns(): readonly { readonly name: string }[];
  all(...parameters: unknown[]): Promise<unknown[]>;
  run(...parameters: unknown[]): Promise<{ readonly changes: number }>;
  close(): unknown;
}

export type TursoMode = 'wal' | 'mvcc';

/** What versions call their MVCC mode, newest first. */
const mvccNames = ['mvcc', 'experimental_mvcc'];

export function tursoEngine(turso: TursoModule, mode: TursoMode): FileEngine {
  return {
    label: 'Turso',
    async createFile(file) {
      const database = await turso.connect(file);
      try {
        if (mode === 'mvcc') await enterMvcc(database);
      } finally {
        await database.close();
      }
    },
    async connect(file, statementTimeoutMs) {
      return new TursoConnection(await turso.connect(file), statementTimeoutMs);
    },
    describeError,
  };
}

async function enterMvcc(database: TursoDatabase): Promise<void> {
  for (const name of mvccNames) {
    const statement = await database.prepare(`PRAGMA journal_mode = '${name}'`);
    try {
      statement.raw(true);
      const rows = await statement.all();
      if (JSON.stringify(rows).includes(name)) return;
    } catch {
      // This version knows the mode by another name, or not at all.
    } finally {
      statement.close();
    }
  }
  throw new IsoldeError('target', 'This version of Turso has no MVCC mode; use turso: (WAL mode)');
}

function describeError(thrown: unknown): OperationError {
  const message = errorText(thrown);
  const found = classifySqliteMessage(message);
  // Nothing but the driver's own time limit interrupts a statement.
  return { class: found === 'cancelled' ? 'statement-timeout' : found, message };
}

class TursoConnection implements FileConnection {
  readonly #database: TursoDatabase;
  readonly #limits: readonly unknown[];

  constructor(database: TursoDatabase, statementTimeoutMs: number) {
    this.#database = database;
    this.#limits = statementTimeoutMs > 0 ? [undefined, { queryTimeout: statementTimeoutMs }] : [];
  }

  inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async execute(sql: string): Promise<FileReply> {
    const statement = await this.#database.prepare(sql);
    try {
      const columns = statement.columns().map(({ name }) => name);
      if (columns.length === 0) {
        const { changes } = await statement.run(...this.#limits);
        return isRowWrite(sql) ? { matched: changes } : {};
      }
      statement.raw(true);
      statement.safeIntegers(true);
      const rows = (await statement.all(...this.#limits)).map((row) => (row as unknown[]).map(sqliteValue));
      return isRowWrite(sql) ? { columns, rows, matched: rows.length } : { columns, rows };
    } finally {
      statement.close();
    }
  }
}

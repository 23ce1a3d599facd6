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
import { classifyStatement } from '../../sql/index.js';
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

export interface TursoAbilities {
  /** `inTransaction` is true inside a transaction. */
  readonly tellsTransaction: boolean;
  /** `changes` is the number of rows written. */
  readonly tellsCounts: boolean;
}

/** What versions call their MVCC mode, newest first. */
const mvccNames = ['mvcc', 'experimental_mvcc'];

export function tursoEngine(turso: TursoModule, mode: TursoMode, abilities: TursoAbilities): FileEngine {
  const open = async (file: string, statementTimeoutMs: number) => {
    const database = await turso.connect(file);
    // A scratch need not survive a power failure. Versions that do not know the setting are only slower.
    await run(database, 'PRAGMA synchronous = OFF').catch(() => undefined);
    return { database, connection: new TursoConnection(database, mode, abilities, statementTimeoutMs) };
  };
  return {
    label: 'Turso',
    async create(file) {
      const { database, connection } = await open(file, 0);
      if (mode === 'mvcc') await enterMvcc(database);
      return connection;
    },
    connect: async (file, statementTimeoutMs) => (await open(file, statementTimeoutMs)).connection,
    describeError,
  };
}

async function enterMvcc(database: TursoDatabase): Promise<void> {
  for (const name of mvccNames) {
    // A version that knows the mode by another name refuses this one, or stays in the mode it is in.
    const rows = await run(database, `PRAGMA journal_mode = '${name}'`).catch(() => []);
    if (JSON.stringify(rows).includes(`"${name}"`)) return;
  }
  throw new IsoldeError('target', 'This version of Turso has no MVCC mode; use turso: (WAL mode)');
}

/** What the driver tells, which old versions do not: found out by trying. */
export async function tursoAbilities(turso: TursoModule): Promise<TursoAbilities> {
  const database = await turso.connect(':memory:');
  try {
    await run(database, 'CREATE TABLE t(x INTEGER)');
    await run(database, 'BEGIN');
    const statement = await database.prepare('INSERT INTO t VALUES (1), (2)');
    const { changes } = await statement.run();
    statement.close();
    const tellsTransaction = database.inTransaction === true;
    await run(database, 'ROLLBACK');
    return { tellsTransaction, tellsCounts: changes === 2 };
  } finally {
    await database.close();
  }
}

async function run(database: TursoDatabase, sql: string): Promise<readonly unknown[]> {
  const statement = await database.prepare(sql);
  try {
    return await statement.all();
  } finally {
    statement.close();
  }
}

function describeError(thrown: unknown): OperationError {
  const message = errorText(thrown);
  const found = classifySqliteMessage(message);
  // Nothing but the driver's own time limit interrupts a statement.
  return { class: found === 'cancelled' ? 'statement-timeout' : found, message };
}

class TursoConnection implements FileConnection {
  readonly #database: TursoDatabase;
  readonly #mode: TursoMode;
  readonly #abilities: TursoAbilities;
  readonly #limits: readonly unknown[];
  /** Where the driver does not tell: our own account of it. */
  #tracked = false;

  constructor(database: TursoDatabase, mode: TursoMode, abilities: TursoAbilities, timeoutMs: number) {
    this.#database = database;
    this.#mode = mode;
    this.#abilities = abilities;
    this.#limits = timeoutMs > 0 ? [undefined, { queryTimeout: timeoutMs }] : [];
  }

  inTransaction(): boolean {
    return this.#abilities.tellsTransaction ? this.#database.inTransaction : this.#tracked;
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async execute(sql: string): Promise<FileReply> {
    if (this.#abilities.tellsTransaction) return this.#execute(sql);
    try {
      const reply = await this.#execute(sql);
      const { kind } = classifyStatement(sql, 'sqlite');
      if (kind === 'begin') this.#tracked = true;
      else if (kind === 'commit' || kind === 'rollback') this.#tracked = false;
      return reply;
    } catch (thrown) {
      // A conflict ends the transaction in MVCC; WAL mode keeps it.
      if (this.#mode === 'mvcc' && describeError(thrown).class === 'serialization') this.#tracked = false;
      throw thrown;
    }
  }

  async #execute(sql: string): Promise<FileReply> {
    const statement = await this.#database.prepare(sql);
    try {
      const columns = statement.columns().map(({ name }) => name);
      if (columns.length === 0) {
        const { changes } = await statement.run(...this.#limits);
        return this.#abilities.tellsCounts && isRowWrite(sql) ? { matched: changes } : {};
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

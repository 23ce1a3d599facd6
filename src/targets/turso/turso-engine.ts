/**
 * Turso's driver behind `FileEngine`. Its calls return promises, but a statement runs inside our thread from
 * its first step to its last: nothing can be cancelled from outside, and a time limit is the driver's own
 * (`queryTimeout`, which old versions ignore).
 *
 * Errors carry no code, only a text. After a write-write conflict MVCC has already rolled back; WAL mode keeps
 * the transaction. The driver's `inTransaction` says so in both. Drivers before 0.7 have it, but it never says true: there
 * BEGIN, COMMIT and ROLLBACK are followed here, and after an error inside a transaction the engine is asked by a statement
 * that it answers differently when one is open, and that changes nothing (`TransactionProbe`).
 */
import { errorText, IsoldeError } from '../../errors.js';
import type { ErrorClass, OperationError } from '../../histories/index.js';
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
  /** How to ask after an error, where the driver does not tell; absent: only a conflict in MVCC is taken to roll back. */
  readonly probe?: TransactionProbe;
}

/** A statement that fails with `refusal` exactly when a transaction is open. */
export interface TransactionProbe {
  readonly sql: string;
  readonly refusal: RegExp;
  /** Ends what it opened when it was not refused. */
  readonly undo?: string;
}

/** In MVCC mode versions before 0.6 take a BEGIN inside BEGIN CONCURRENT, but none takes a checkpoint there. */
const probes: Readonly<Record<TursoMode, TransactionProbe>> = {
  wal: { sql: 'BEGIN', refusal: /within a transaction/i, undo: 'ROLLBACK' },
  mvcc: { sql: 'PRAGMA wal_checkpoint', refusal: /table is locked/i },
};

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
export async function tursoAbilities(turso: TursoModule, mode: TursoMode): Promise<TursoAbilities> {
  const database = await turso.connect(':memory:');
  try {
    await run(database, 'CREATE TABLE t(x INTEGER)');
    await run(database, 'BEGIN');
    const statement = await database.prepare('INSERT INTO t VALUES (1), (2)');
    const { changes } = await statement.run();
    statement.close();
    const tellsTransaction = database.inTransaction === true;
    await run(database, 'ROLLBACK');
    const tellsCounts = changes === 2;
    if (tellsTransaction) return { tellsTransaction, tellsCounts };
    const probe = await workingProbe(database, mode);
    return { tellsTransaction, tellsCounts, ...(probe !== undefined && { probe }) };
  } finally {
    await database.close();
  }
}

/** The mode's probe, if it tells an open transaction from none. */
async function workingProbe(database: TursoDatabase, mode: TursoMode): Promise<TransactionProbe | undefined> {
  const probe = probes[mode];
  try {
    if (mode === 'mvcc') await enterMvcc(database);
    if (await isOpen(database, probe)) return undefined;
    await run(database, mode === 'mvcc' ? 'BEGIN CONCURRENT' : 'BEGIN');
    return (await isOpen(database, probe)) ? probe : undefined;
  } catch {
    // Said when a scratch is made: this version lacks the mode.
    return undefined;
  }
}

async function isOpen(database: TursoDatabase, { sql, refusal, undo }: TransactionProbe): Promise<boolean> {
  try {
    await run(database, sql);
  } catch (thrown) {
    return refusal.test(errorText(thrown));
  }
  if (undo !== undefined) await run(database, undo);
  return false;
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
      if (this.#tracked) this.#tracked = await this.#isStillOpen(describeError(thrown).class);
      throw thrown;
    }
  }

  /** Whether the transaction survived an error. */
  async #isStillOpen(error: ErrorClass): Promise<boolean> {
    const { probe } = this.#abilities;
    if (probe !== undefined && error !== 'crash') return isOpen(this.#database, probe);
    return !(this.#mode === 'mvcc' && error === 'serialization');
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

/**
 * SQLite, through the package `libsql`, behind `FileEngine`. The driver is synchronous: a statement holds our
 * thread until it ends, so it can be neither cancelled nor timed out. `busy_timeout` is 0: with one thread
 * nobody could release a lock while we wait for it.
 *
 * The trap of this driver: a prepared statement that fails with SQLITE_BUSY is never reset. It stays "in
 * progress" until the garbage collector finds it, COMMIT is refused and the connection keeps its snapshot.
 * Only `exec` finalizes at once, but `exec` returns no rows. So:
 *
 * 1. What returns no rows goes through `exec`; its count is asked for afterwards.
 * 2. A write with RETURNING is rehearsed through `exec` inside a savepoint that is rolled back. If it can fail
 *    with BUSY it fails there; afterwards this connection holds the write lock and the real run cannot.
 * 3. A query can only meet BUSY in rollback-journal mode, when another session's COMMIT is pending. There it is
 *    rehearsed too: afterwards the shared lock is ours, or no lock is in the way.
 *
 * No other session can come between rehearsal and run: both happen without leaving the thread.
 */
import { errorText } from '../../errors.js';
import type { ErrorClass, OperationError } from '../../histories/index.js';
import { classifyStatement, type StatementKind } from '../../sql/index.js';
import {
  classifySqliteMessage,
  type FileConnection,
  type FileEngine,
  type FileReply,
  sqliteValue,
} from '../embedded/index.js';

/** The part of `libsql` we use. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

interface SqliteStatement {
  readonly reader: boolean;
  raw(toggle: boolean): SqliteStatement;
  safeIntegers(toggle: boolean): SqliteStatement;
  columns(): readonly { readonly name: string }[];
  all(): readonly unknown[];
}

export type SqliteConstructor = new (file: string) => SqliteDatabase;

export type SqliteJournal = 'wal' | 'delete';

export function sqliteEngine(Database: SqliteConstructor, journal: SqliteJournal): FileEngine {
  const open = (file: string) => {
    const database = new Database(file);
    database.exec('PRAGMA busy_timeout = 0');
    try {
      // A scratch need not survive a power failure.
      database.exec('PRAGMA synchronous = OFF');
    } catch {
      // Another session's COMMIT is pending and keeps even the schema locked: this session will be slower.
    }
    return database;
  };
  return {
    label: 'SQLite',
    async create(file) {
      const database = open(file);
      database.exec(`PRAGMA journal_mode = ${journal}`);
      return new SqliteConnection(database, journal);
    },
    async connect(file) {
      return new SqliteConnection(open(file), journal);
    },
    describeError,
  };
}

function describeError(thrown: unknown): OperationError {
  const message = errorText(thrown);
  const code = (thrown as { readonly code?: unknown }).code;
  if (typeof code !== 'string') return { class: classifySqliteMessage(message), message };
  return { class: classOf(code, message), code, message };
}

function classOf(code: string, message: string): ErrorClass {
  if (code === 'SQLITE_BUSY_SNAPSHOT') return 'serialization';
  if (/^SQLITE_CONSTRAINT_(PRIMARYKEY|UNIQUE|ROWID)$/.test(code)) return 'duplicate-key';
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    return classifySqliteMessage(message) === 'duplicate-key' ? 'duplicate-key' : 'constraint';
  }
  if (code.startsWith('SQLITE_NOMEM') || code.startsWith('SQLITE_IOERR_NOMEM')) return 'out-of-memory';
  if (code === 'SQLITE_CORRUPT' || code.startsWith('SQLITE_IOERR')) return 'crash';
  return classifySqliteMessage(message);
}

const rowWrites: ReadonlySet<StatementKind> = new Set(['insert', 'update', 'delete', 'replace']);
/** They never return rows. */
const rowless: ReadonlySet<StatementKind> = new Set([
  'begin',
  'commit',
  'rollback',
  'savepoint',
  'release',
  'rollback-to',
  'ddl',
]);

class SqliteConnection implements FileConnection {
  readonly #database: SqliteDatabase;
  readonly #rehearseQueries: boolean;
  #changes: SqliteStatement | undefined;

  constructor(database: SqliteDatabase, journal: SqliteJournal) {
    this.#database = database;
    this.#rehearseQueries = journal === 'delete';
  }

  inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  async execute(sql: string): Promise<FileReply> {
    const { kind } = classifyStatement(sql, 'sqlite');
    if (rowWrites.has(kind)) return /\bRETURNING\b/i.test(sql) ? this.#returning(sql) : this.#write(sql);
    if (rowless.has(kind)) return this.#withoutRows(sql);
    if (kind !== 'select') return this.#unknown(sql);
    if (this.#rehearseQueries) this.#database.exec(sql);
    return this.#query(this.#database.prepare(sql));
  }

  #withoutRows(sql: string): FileReply {
    this.#database.exec(sql);
    return {};
  }

  #write(sql: string): FileReply {
    this.#database.exec(sql);
    return { matched: this.#lastCount() };
  }

  #returning(sql: string): FileReply {
    const statement = this.#database.prepare(sql);
    // The word may only occur in a text or a name.
    if (!statement.reader) return this.#write(sql);
    this.#database.exec('SAVEPOINT isolde_rehearsal');
    try {
      this.#database.exec(sql);
    } finally {
      // An error may have ended the whole transaction (OR ROLLBACK), savepoint included.
      if (this.#database.inTransaction) {
        this.#database.exec('ROLLBACK TO isolde_rehearsal; RELEASE isolde_rehearsal');
      }
    }
    const reply = this.#query(statement);
    return { ...reply, matched: reply.rows?.length ?? 0 };
  }

  /** PRAGMA, EXPLAIN, ATTACH, VACUUM, …: the driver knows whether rows come. */
  #unknown(sql: string): FileReply {
    // `exec` takes text without a statement; `prepare` does not.
    if (!/\w/.test(sql)) return this.#withoutRows(sql);
    const statement = this.#database.prepare(sql);
    return statement.reader ? this.#query(statement) : this.#withoutRows(sql);
  }

  #query(statement: SqliteStatement): FileReply {
    const columns = statement.columns().map(({ name }) => name);
    statement.raw(true).safeIntegers(true);
    return { columns, rows: statement.all().map((row) => (row as unknown[]).map(sqliteValue)) };
  }

  #lastCount(): number {
    this.#changes ??= this.#database.prepare('SELECT changes()').raw(true);
    // `all` runs to the end; a statement left after its first row would count as in progress.
    return Number((this.#changes.all()[0] as readonly unknown[])[0]);
  }
}

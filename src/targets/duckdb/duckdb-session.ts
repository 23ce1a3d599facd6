/**
 * One DuckDB connection, with the transaction state the driver does not report.
 *
 * How the state is known:
 * 1. A statement DuckDB itself calls a transaction statement opens or ends the transaction. COMMIT of a failed
 *    transaction succeeds, and is a rollback.
 * 2. A COMMIT that fails ends the transaction too, as a rollback.
 * 3. Any other error dooms the transaction or not, depending on when and where it was raised; instead of
 *    copying DuckDB's table of rules, which changes between versions, we ask: `SELECT 1` fails in a doomed
 *    transaction. It reads no table, so it does not take the snapshot.
 * 4. A FATAL or INTERNAL error invalidates the whole database: the connection is lost.
 *
 * Statements run on libuv's thread pool (4 threads unless UV_THREADPOOL_SIZE says otherwise). DuckDB's
 * statements never wait for another transaction, so a full pool delays them but cannot deadlock them.
 */

import type { DuckDBConnection, DuckDBMaterializedResult } from '@duckdb/node-api';
import { errorText } from '../../errors.js';
import { classifyStatement } from '../../sql/index.js';
import { duckdbGuard } from '../embedded/index.js';
import { refusal } from '../refusal.js';
import type { Answer, Session } from '../target.js';
import { closeHandle } from './close-handle.js';
import { duckdbError } from './duckdb-errors.js';
import { duckdbRows } from './duckdb-values.js';

/** The driver's ResultType. */
const changedRows = 1;
const queryResult = 3;

/** The driver's StatementType. */
const transactionStatement = 10;
/** Writes whose RETURNING rows are also their row count: INSERT, UPDATE, DELETE, MERGE. */
const writes: ReadonlySet<number> = new Set([2, 3, 5, 30]);
/** Statements that leave nothing behind but data: SELECT, the writes, EXPLAIN, transactions; 0 is an empty one. */
const dataStatements: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 10, 30]);

/** An interrupt is lost when it arrives before the statement reached its thread, so it is repeated. */
const interruptEveryMs = 10;

const closedAnswer: Answer = {
  error: { class: 'connection-lost', message: 'The session is closed' },
  transaction: 'lost',
};

export interface DuckdbSessionOptions {
  readonly id: number;
  readonly statementTimeoutMs: number;
  onClose(session: DuckdbSession): void;
}

export class DuckdbSession implements Session {
  readonly id: number;
  /** It ran something that outlives data: DDL, SET, PREPARE, ATTACH, … */
  altered = false;
  #connection: DuckDBConnection;
  readonly #options: DuckdbSessionOptions;
  #transaction: Answer['transaction'] = 'none';
  #running: Promise<Answer> | undefined;
  /** The database has the statement: only then may an interrupt be sent, or it would hit a question of ours. */
  #inDatabase = false;
  #interruption: 'cancelled' | 'statement-timeout' | undefined;
  #closed = false;

  constructor(connection: DuckDBConnection, options: DuckdbSessionOptions) {
    this.id = options.id;
    this.#connection = connection;
    this.#options = options;
  }

  get lost(): boolean {
    return this.#transaction === 'lost';
  }

  execute(sql: string): Promise<Answer> {
    if (this.#closed || this.lost) return Promise.resolve(closedAnswer);
    const refused = duckdbGuard(sql);
    if (refused !== undefined) {
      return Promise.resolve({ error: refusal(refused), transaction: this.#transaction });
    }
    this.#running = this.#execute(sql);
    return this.#running;
  }

  async cancel(): Promise<void> {
    await this.#interrupt('cancelled');
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    // Disconnecting rolls back what is open, where the driver can disconnect.
    if (this.#connection.closeSync === undefined) await this.rollBack();
    this.#closed = true;
    await this.#interrupt('cancelled');
    closeHandle(this.#connection);
    this.#options.onClose(this);
  }

  /** Ends the transaction, and the statement if one is still running. */
  async rollBack(): Promise<void> {
    await this.#interrupt('cancelled');
    if (this.#transaction === 'open' || this.#transaction === 'failed') await this.execute('ROLLBACK');
  }

  /** Goes on with another connection: settings, temporary tables and prepared statements are forgotten. */
  reconnect(connection: DuckDBConnection): void {
    closeHandle(this.#connection);
    this.#connection = connection;
    this.#transaction = 'none';
    this.altered = false;
  }

  async #execute(sql: string): Promise<Answer> {
    this.#interruption = undefined;
    const timer = setTimeout(
      () => void this.#interrupt('statement-timeout'),
      this.#options.statementTimeoutMs,
    );
    try {
      this.#inDatabase = true;
      return this.#success(sql, await this.#connection.run(sql));
    } catch (thrown) {
      this.#inDatabase = false;
      return await this.#failure(sql, errorText(thrown));
    } finally {
      clearTimeout(timer);
      this.#inDatabase = false;
      this.#running = undefined;
    }
  }

  #success(sql: string, result: DuckDBMaterializedResult): Answer {
    const statement = result.statementType as number;
    if (statement === transactionStatement) return this.#transactionStatement(sql);
    if (!dataStatements.has(statement)) this.altered = true;
    const kind = result.returnType as number;
    if (kind === changedRows) return { matched: result.rowsChanged, transaction: this.#transaction };
    if (kind !== queryResult || result.columnCount === 0) return { transaction: this.#transaction };
    const rows = duckdbRows(result);
    const columns = result.columnNames();
    if (writes.has(statement)) return { columns, rows, matched: rows.length, transaction: this.#transaction };
    return { columns, rows, transaction: this.#transaction };
  }

  #transactionStatement(sql: string): Answer {
    const kind = classifyStatement(sql, 'duckdb').kind;
    if (kind === 'begin') {
      this.#transaction = 'open';
      return { transaction: 'open' };
    }
    const ended = kind === 'commit' && this.#transaction === 'open' ? 'commit' : 'rollback';
    this.#transaction = 'none';
    return { transaction: 'none', ended };
  }

  async #failure(sql: string, message: string): Promise<Answer> {
    const error = duckdbError(message);
    const before = this.#transaction;
    if (error.class === 'crash' || error.class === 'connection-lost') {
      this.#transaction = 'lost';
      return before === 'none'
        ? { error, transaction: 'lost' }
        : { error, transaction: 'lost', ended: 'unknown' };
    }
    if (before === 'open') {
      if (error.class !== 'syntax' && classifyStatement(sql, 'duckdb').kind === 'commit') {
        this.#transaction = 'none';
        return { error, transaction: 'none', ended: 'rollback' };
      }
      if (await this.#isDoomed()) this.#transaction = 'failed';
    }
    if (error.class === 'cancelled' && this.#interruption !== undefined) {
      return { error: { ...error, class: this.#interruption }, transaction: this.#transaction };
    }
    return { error, transaction: this.#transaction };
  }

  async #isDoomed(): Promise<boolean> {
    try {
      await this.#connection.run('SELECT 1');
      return false;
    } catch {
      return true;
    }
  }

  /** Stops the running statement and waits for its end. */
  async #interrupt(reason: 'cancelled' | 'statement-timeout'): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#interruption ??= reason;
    const interrupt = () => {
      if (this.#inDatabase) this.#connection.interrupt();
    };
    interrupt();
    const repeat = setInterval(interrupt, interruptEveryMs);
    await running;
    clearInterval(repeat);
  }
}

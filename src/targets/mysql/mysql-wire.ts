/**
 * One connection over the optional package `mysql2`, reduced to what targets need: a query that never rejects,
 * and an end that never hangs. This is the only file that touches the driver.
 *
 * Settings that matter: FOUND_ROWS is on, so an UPDATE reports matched rows and its info text changed rows;
 * IGNORE_SPACE is off, because it makes reserved words of function names and people's SQL would fail; local
 * files are never sent, whatever a server asks for.
 */
import { connect as connectSocket } from 'node:net';
import type { Connection } from 'mysql2';
import { errorText, IsoldeError } from '../../errors.js';
import type { MysqlError } from './mysql-errors.js';
import type { MysqlAddress } from './mysql-url.js';
import type { WireField } from './mysql-values.js';

/** The server's answer to one statement. */
export interface Reply {
  readonly error?: MysqlError;
  /** From the OK packet of a statement without rows (or, of a CALL, after its rows). */
  readonly status?: OkStatus;
  readonly fields?: readonly WireField[];
  readonly rows?: readonly (readonly (Buffer | null)[])[];
}

export interface OkStatus {
  readonly affectedRows: number;
  readonly changedRows: number;
  readonly info: string;
  /** Bit 0: a transaction is open. Bit 1: autocommit. */
  readonly serverStatus: number;
}

export interface ConnectOptions {
  readonly database?: string | undefined;
  /** Several statements in one text: only for texts we write ourselves. */
  readonly multipleStatements?: boolean;
  readonly connectTimeoutMs?: number | undefined;
}

const closedError: MysqlError = { code: 'CLOSED', message: 'The connection is closed.' };

export class WireConnection {
  /** The server's number for this connection. */
  readonly id: number;
  #driver: Connection;
  #lost: MysqlError | undefined;
  readonly #pending = new Set<(reply: Reply) => void>();

  private constructor(driver: Connection) {
    this.#driver = driver;
    this.id = driver.threadId;
    driver.on('error', (error) => this.#lose(error as MysqlError));
    driver.on('end', () => this.#lose({ code: 'PROTOCOL_CONNECTION_LOST', message: 'Connection lost.' }));
  }

  /** Connects, or rejects with the driver's error. */
  static async open(address: MysqlAddress, options: ConnectOptions = {}): Promise<WireConnection> {
    const { createConnection } = await loadDriver();
    const database = options.database ?? address.database;
    const driver = createConnection({
      ...(address.socket === undefined
        ? { host: address.host, port: address.port }
        : { socketPath: address.socket }),
      user: address.user,
      ...(address.password !== undefined && { password: address.password }),
      ...(database !== undefined && { database }),
      ...(address.ssl && { ssl: {} }),
      charset: 'utf8mb4',
      rowsAsArray: true,
      typeCast: false,
      multipleStatements: options.multipleStatements ?? false,
      connectTimeout: options.connectTimeoutMs ?? 10_000,
      flags: ['-IGNORE_SPACE', '-LOCAL_FILES', '-ODBC'],
    });
    await new Promise<void>((resolve, reject) => {
      driver.once('connect', () => resolve());
      driver.once('error', reject);
    });
    driver.removeAllListeners('error');
    return new WireConnection(driver);
  }

  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /** Sends one text; the reply of a lost connection is its error. */
  query(sql: string): Promise<Reply> {
    if (this.#lost !== undefined) return Promise.resolve({ error: this.#lost });
    return new Promise((resolve) => {
      const settle = (reply: Reply) => {
        this.#pending.delete(settle);
        resolve(reply);
      };
      this.#pending.add(settle);
      this.#driver.query(sql, (error: unknown, result: unknown, fields: unknown) => {
        settle(error ? { error: error as MysqlError } : readReply(result, fields));
      });
    });
  }

  /** Says good-bye to the server; never waits long. */
  async quit(): Promise<void> {
    if (this.#lost !== undefined) return;
    this.#lost = closedError;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 1000);
      this.#driver.once('end', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#driver.end();
    });
    this.#driver.destroy();
  }

  /** Drops the connection at once; a running query is answered as lost. */
  destroy(reason: MysqlError = closedError): void {
    this.#lose(reason);
    this.#driver.destroy();
  }

  #lose(error: MysqlError): void {
    this.#lost ??= error;
    // The driver answers running queries itself when the server hangs up, but not when we do.
    for (const settle of this.#pending) setImmediate(() => settle({ error }));
  }
}

/**
 * Whether a server still answers at an address. A process that was killed closes its sockets one by one, so a
 * connection without a greeting is tried again.
 */
export async function serverAnswers(address: MysqlAddress, limitMs = 1000): Promise<boolean> {
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    const answer = await greeting(address, end - Date.now());
    if (answer !== 'again') return answer === 'up';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

function greeting(address: MysqlAddress, limitMs: number): Promise<'up' | 'down' | 'again'> {
  return new Promise((resolve) => {
    const socket =
      address.socket === undefined
        ? connectSocket(address.port, address.host)
        : connectSocket(address.socket);
    const finish = (answer: 'up' | 'down' | 'again') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish('up'), limitMs);
    socket.once('data', () => finish('up'));
    socket.once('close', () => finish('again'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      finish(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'down' : 'again');
    });
  });
}

async function loadDriver(): Promise<typeof import('mysql2')> {
  try {
    const driver = await import('mysql2');
    return driver.default ?? driver;
  } catch (cause) {
    throw new IsoldeError(
      'engine-missing',
      `MySQL, MariaDB and TiDB need the package mysql2: npm install mysql2 (${errorText(cause)})`,
      { cause },
    );
  }
}

/** A CALL has several results, the last of them an OK packet; the first result with rows is its answer. */
function readReply(result: unknown, fields: unknown): Reply {
  if (!Array.isArray(result)) return { status: result as OkStatus };
  const columns = (fields ?? []) as (WireField | readonly WireField[] | undefined)[];
  const several = columns.some((entry) => entry === undefined || Array.isArray(entry));
  if (!several) return { fields: columns as WireField[], rows: result };
  const withRows = columns.findIndex((entry) => Array.isArray(entry));
  const last: unknown = result.at(-1);
  return {
    ...(Array.isArray(last) ? {} : { status: last as OkStatus }),
    ...(withRows >= 0 && { fields: columns[withRows] as WireField[], rows: result[withRows] }),
  };
}

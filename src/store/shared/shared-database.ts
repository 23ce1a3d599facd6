/**
 * The PostgreSQL that machines share, over one connection of this process.
 *
 * - Everything is one statement or one transaction at READ COMMITTED, and no state of the session is used between them: a pooler that gives
 *   every transaction another connection (PgBouncer) may stand in between.
 * - `persistent` goes on when the server goes away: it connects again, waiting 0.1 s, 0.2 s … up to 5 s, each time more or less by chance
 *   so that a thousand workers do not come back at the same moment. What it repeats must be idempotent, for a lost connection does not say
 *   whether the last COMMIT was done.
 * - No message repeats a password; credentials and TLS are those of PostgreSQL (the URL, PGPASSWORD, PGPASSFILE, sslmode=…).
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { errorText, IsoldeError } from '../../errors.js';
import { secretsIn, withoutSecrets } from '../../secrets.js';
import type { ServerAddress } from '../../targets/postgres/index.js';

export interface Sql {
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

export interface SharedDatabaseOptions {
  /** Ends waiting for a server that went away. */
  readonly signal?: AbortSignal;
  /** The server is away: why, and for how many milliseconds we wait. */
  readonly onWait?: (why: string, ms: number) => void;
  /** From 0 to 1; default: chance. */
  readonly random?: () => number;
}

/** The server is away, or asks us to try again: the same work may succeed later. */
export class SharedUnavailable extends IsoldeError {
  constructor(message: string) {
    super('connect', message);
  }
}

const connectTimeoutMs = 15_000;
/** Past this a statement is given up with its connection: the server is frozen, or the network is gone. */
const queryTimeoutMs = 60_000;
const firstWaitMs = 100;
const longestWaitMs = 5_000;

/** Whether a place is a shared database, and not a folder. */
export function isSharedUrl(place: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(place);
}

export class SharedDatabase implements Sql {
  #client: Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(
    private readonly driver: typeof import('../../targets/postgres/index.js'),
    private readonly address: ServerAddress,
    private readonly secrets: readonly string[],
    private readonly options: SharedDatabaseOptions,
  ) {}

  /** Looks at the URL; the connection is made when something is asked. */
  static async open(url: string, options: SharedDatabaseOptions = {}): Promise<SharedDatabase> {
    if (!isSharedUrl(url)) {
      throw new IsoldeError(
        'usage',
        'a shared database is a PostgreSQL server: postgres://user@host:5432/database',
      );
    }
    const driver = await import('../../targets/postgres/index.js');
    const address = driver.parseServerUrl(url, { scheme: 'postgres', port: 5432 });
    return new SharedDatabase(driver, address, secretsIn(url), options);
  }

  /** The URL without its password. */
  get shown(): string {
    return this.address.shown;
  }

  /** One statement, a transaction of its own. */
  query<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    return this.#inTurn((client) => ask<R>(client, text, values));
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      const result = await work({ query: (text, values = []) => ask(client, text, values) });
      await client.query('COMMIT');
      return result;
    });
  }

  /** Does it until it was done, however often the server goes away in between. Ends with the error when the signal is raised. */
  async persistent<T>(work: () => Promise<T>): Promise<T> {
    const { signal, onWait, random = Math.random } = this.options;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SharedUnavailable) || signal?.aborted === true || this.#closed) throw error;
        const ms = Math.round(waitMs * (0.5 + random()));
        onWait?.(error.message, ms);
        await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn.catch(() => undefined);
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  /** One thing at a time: a connection has one transaction. */
  #inTurn<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => this.#try(work));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #try<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connected();
    try {
      return await work(client);
    } catch (error) {
      const isLost = !isAnswer(error);
      if (isLost && !(error instanceof IsoldeError)) this.#drop();
      else await client.query('ROLLBACK').catch(() => this.#drop());
      throw this.#problem(error);
    }
  }

  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const pg = await this.driver.loadPg();
    const client = new pg.Client({
      connectionString: this.address.connectionString,
      application_name: 'isolde',
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      ...(this.address.options !== '' && { options: this.address.options }),
    });
    client.on('error', () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      // The driver leaves the socket of a refused client to us.
      client.connection.stream.destroy();
      const said = this.#hidden(this.driver.connectError(error, this.address).message);
      throw isHopeless(error) ? new IsoldeError('connect', said) : new SharedUnavailable(said);
    }
    this.#client = client;
    return client;
  }

  #drop(client = this.#client): void {
    if (this.#client === client) this.#client = undefined;
    client?.connection.stream.destroy();
  }

  #problem(error: unknown): unknown {
    if (error instanceof IsoldeError) return error;
    const where = `PostgreSQL at ${this.address.host}:${this.address.port}`;
    const said = this.#hidden(errorText(error));
    if (!isAnswer(error)) return new SharedUnavailable(`${where} went away: ${said}`);
    if (asksToRepeat(error)) return new SharedUnavailable(`${where}: ${said}`);
    if (error.code === '42501') {
      return new IsoldeError(
        'connect',
        `${where} does not let ${this.address.user} do this: ${said}; isolde fleet serve --roles prints what a role needs`,
      );
    }
    return new IsoldeError('target', `${where}: ${said}`);
  }

  #hidden(text: string): string {
    return withoutSecrets(text, this.secrets);
  }
}

async function ask<R>(client: Client, text: string, values: readonly unknown[]): Promise<readonly R[]> {
  const { rows } = await client.query(text, [...values]);
  return rows as R[];
}

interface Answer {
  readonly code: string;
  readonly severity: string;
}

/** Whether the server answered, with an error; anything else means that the connection is of no use any more. */
function isAnswer(error: unknown): error is Answer & Error {
  const { code, severity } = (error ?? {}) as Partial<Answer>;
  if (typeof code !== 'string' || typeof severity !== 'string') return false;
  // FATAL and PANIC end the connection; 57P01 to 57P03 say that the server is going down or coming up.
  return severity === 'ERROR' && !code.startsWith('57P') && !code.startsWith('08');
}

/** Serialization failures and deadlocks, too little of something, a server that turned into a standby. */
function asksToRepeat({ code }: Answer): boolean {
  return code.startsWith('40') || code.startsWith('53') || code === '55P03' || code === '25006';
}

/** A wrong password, no such database, a login that is not allowed: waiting mends nothing. */
function isHopeless(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (error instanceof IsoldeError || /password must be a/.test(errorText(error))) return true;
  return typeof code === 'string' && (code.startsWith('28') || code === '3D000' || code === '42501');
}

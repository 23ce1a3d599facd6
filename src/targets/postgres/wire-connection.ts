/**
 * One connection that speaks PostgreSQL's protocol, through the `pg` driver. It turns a statement into what the
 * server said about it, and never rejects once connected.
 *
 * The driver's own query objects answer at the first error, before the server tells what became of the
 * transaction. We submit our own (as `pg-cursor` does): it collects messages, and the answer is complete
 * only when ReadyForQuery brings the transaction status, or when the socket closes. That also saves building
 * result objects nobody reads.
 *
 * A server that is frozen or behind a dead network never closes the socket. So every statement may have a limit
 * on our side, far above the server's own time-out; past it the connection is given up.
 */
import type { Client, ClientConfig } from 'pg';
import { IsoldeError } from '../../errors.js';
import type { Row } from '../../sql/index.js';
import { copyRefusal, type ServerError } from './postgres-errors.js';
import { type Decoder, decoderOf } from './postgres-values.js';

/** What a connection says about one statement text; of several statements, about the last. */
export interface WireReply {
  readonly error?: ServerError;
  readonly columns?: readonly string[];
  readonly rows?: readonly Row[];
  /** The last command tag: `UPDATE 3`, `COMMIT`, … */
  readonly tag?: string;
  readonly transaction: 'none' | 'open' | 'failed' | 'lost';
}

/** What the driver hands to an object it runs as a query. */
interface DriverConnection {
  query(text: string): void;
  sendCopyFail(message: string): void;
}

const transactionOf: Readonly<Record<string, WireReply['transaction']>> = {
  I: 'none',
  T: 'open',
  E: 'failed',
};

/** Loads the optional driver. */
export async function loadPg(): Promise<Pick<typeof import('pg'), 'Client'>> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new IsoldeError(
      'engine-missing',
      'PostgreSQL and CockroachDB need the package "pg", which is not installed: npm install pg',
      { cause },
    );
  }
}

/** What the users of a connection see of it. */
export type Wire = Pick<WireConnection, 'id' | 'transaction' | 'isLost' | 'isBusy' | 'execute' | 'close'>;

export class WireConnection {
  #pending: StatementReply | undefined;
  #resolve: ((reply: WireReply) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  #lost: ServerError | undefined;
  #lossSeen: ServerError | undefined;
  #closing: Promise<void> | undefined;
  #transaction: WireReply['transaction'] = 'none';
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Connects, or rejects with what the driver threw. */
  static async open(config: ClientConfig): Promise<WireConnection> {
    const pg = await loadPg();
    const client = new pg.Client(config);
    const connection = new WireConnection(client);
    client.on('error', (error: ServerError) => {
      connection.#lossSeen ??= error;
    });
    // A server that falls together says so in a warning and is gone.
    client.on('notice', (notice) => {
      if (notice.code?.startsWith('57P'))
        connection.#lossSeen ??= { ...notice, message: notice.message ?? '' };
    });
    try {
      await client.connect();
    } catch (error) {
      // The driver leaves the socket of a refused client to us.
      client.connection.stream.destroy();
      throw error;
    }
    client.connection.on('readyForQuery', (message: { readonly status: string }) =>
      connection.#ready(message.status),
    );
    client.connection.once('end', () => connection.#end());
    return connection;
  }

  /** The server's number for this connection. */
  get id(): number {
    return (this.#client as Client & { readonly processID: number | null }).processID ?? 0;
  }

  get transaction(): WireReply['transaction'] {
    return this.#transaction;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  get isBusy(): boolean {
    return this.#pending !== undefined;
  }

  /** Sends one text. `limitMs` 0: wait as long as it takes. */
  execute(sql: string, limitMs = 0): Promise<WireReply> {
    if (this.#lost !== undefined) return Promise.resolve({ error: this.#lost, transaction: 'lost' });
    if (this.#pending !== undefined) {
      throw new IsoldeError('usage', 'A session runs one statement at a time: await the answer first');
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#pending = new StatementReply(sql);
      if (limitMs > 0) this.#watch(limitMs);
      this.#client.query(this.#pending);
    });
  }

  /** Says goodbye and waits until the server has let go of everything; gives up after `limitMs`. */
  close(limitMs = 2000): Promise<void> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  async #close(limitMs: number): Promise<void> {
    if (this.#lost !== undefined) return;
    const { stream } = this.#client.connection;
    const timer = setTimeout(() => stream.destroy(), limitMs);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
    this.#end();
  }

  #ready(status: string): void {
    this.#transaction = transactionOf[status] ?? 'none';
    this.#answer({ ...this.#pending?.result(), transaction: this.#transaction });
  }

  /** One timer for all statements of the connection, wound up again by each: cheaper than one for each. */
  #watch(limitMs: number): void {
    if (limitMs === this.#limitMs) {
      this.#timer?.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#limitMs = limitMs;
    this.#timer = setTimeout(() => this.#giveUp(limitMs), limitMs).unref();
  }

  #giveUp(limitMs: number): void {
    if (this.#pending === undefined) return;
    this.#lossSeen ??= { message: `no answer within ${limitMs} ms; the connection was given up` };
    this.#client.connection.stream.destroy();
  }

  /** The socket is closed: by the server's will (its last words are an error), by its death, or by ours. */
  #end(): void {
    if (this.#lost !== undefined) return;
    // The server's own words carry a code; the driver's ("terminated unexpectedly") do not.
    const words = [this.#pending?.error, this.#lossSeen];
    this.#lost = words.find((error) => error?.code !== undefined) ??
      words.find((error) => error !== undefined) ?? {
        message: this.#closing === undefined ? 'the server closed the connection' : 'the session was closed',
      };
    this.#transaction = 'lost';
    clearTimeout(this.#timer);
    this.#answer({ error: this.#lost, transaction: 'lost' });
  }

  #answer(reply: WireReply): void {
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    this.#pending = undefined;
    this.#resolve = undefined;
    resolve(reply);
  }
}

/** The object the driver runs: collects the messages that answer one text. */
class StatementReply {
  error: ServerError | undefined;
  #columns: readonly string[] | undefined;
  #decoders: readonly Decoder[] = [];
  #rows: Row[] | undefined;
  #tag: string | undefined;
  /** The next message begins the answer to another statement of the same text. */
  #between = true;

  constructor(readonly text: string) {}

  result(): Omit<WireReply, 'transaction'> {
    if (this.error !== undefined) return { error: this.error };
    return {
      ...(this.#columns === undefined ? {} : { columns: this.#columns, rows: this.#rows ?? [] }),
      ...(this.#tag === undefined ? {} : { tag: this.#tag }),
    };
  }

  submit(connection: DriverConnection): void {
    connection.query(this.text);
  }

  handleRowDescription(message: {
    readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  }): void {
    this.#columns = message.fields.map(({ name }) => name);
    this.#decoders = message.fields.map(({ dataTypeID }) => decoderOf(dataTypeID));
    this.#rows = [];
    this.#between = false;
  }

  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    const decoders = this.#decoders;
    this.#rows?.push(message.fields.map((text, index) => (text === null ? null : decoders[index]!(text))));
  }

  handleCommandComplete(message: { readonly text: string }): void {
    if (this.#between) {
      this.#columns = undefined;
      this.#rows = undefined;
    }
    this.#tag = message.text;
    this.#between = true;
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: DriverConnection): void {
    connection.sendCopyFail(copyRefusal);
  }

  /** COPY TO STDOUT: each line is a row of one text. */
  handleCopyData(message: { readonly chunk: Buffer }): void {
    if (this.#between) {
      this.#columns = ['copy'];
      this.#rows = [];
      this.#between = false;
    }
    this.#rows?.push([message.chunk.toString('utf8').replace(/\n$/, '')]);
  }

  handleError(error: ServerError): void {
    this.error ??= error;
  }

  handleReadyForQuery(): void {}
}

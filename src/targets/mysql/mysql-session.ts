/**
 * A session: one connection, one statement at a time, every outcome an answer.
 *
 * *Is a transaction open?* OK packets say so (bit 0 of the server's status). The driver does not pass on the
 * status of a result with rows, but with autocommit on a query neither opens nor ends a transaction; other statements with a
 * result may (ANALYZE TABLE commits). After an error, after these, or a query with autocommit off, `DO 0` is sent: its OK packet tells. So the state is the server's own
 * word, also after a deadlock, a lock time-out or DDL that failed halfway: storage engines differ in what they roll back. Only a query or
 * a write that fails outside a transaction certainly opens none; START TRANSACTION WITH CONSISTENT SNAPSHOT that a storage engine refuses does.
 *
 * *Does an answer always come?* The server ends statements that run too long; a timer here sends KILL QUERY
 * where it does not, and hangs up when even that has no effect.
 */
import { type Guard, refusal } from '../refusal.js';
import type { Answer, Session } from '../target.js';
import { endOf, endOfLost, mayChangeSchema, readContent } from './mysql-answer.js';
import { isConnectionError } from './mysql-errors.js';
import type { Reply, WireConnection } from './mysql-wire.js';

/** What a session needs from its scratch. */
export interface SessionHost {
  readonly statementTimeoutMs: number;
  /** The server enforces the time-out; ours only guards it. */
  readonly serverEndsSlowStatements: boolean;
  /** Says what is not sent. */
  readonly refuses?: Guard;
  /** Sends KILL; settles when the server has taken notice. */
  kill(what: 'QUERY' | 'CONNECTION', id: number): Promise<void>;
  /** After a lost connection: whether the server is gone altogether. */
  serverIsDown(): Promise<boolean>;
  schemaMayHaveChanged(): void;
  closed(session: Session): void;
}

const inTransaction = 1;
const autocommitOn = 2;
/** How long the server may be late before we step in, and how long after KILL we still listen. */
const graceMs = 3000;

/** Reads or writes rows, and nothing else. */
const rowStatement = /^[\s(]*(?:select|insert|update|delete|replace|with)\b/i;

/** Statements with a result that leave an open transaction alone. */
const resultOfNoEnd =
  /^[\s(]*(?:select|insert|update|delete|replace|with|values|table|show|explain|describe|desc)\b/i;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class MysqlSession implements Session {
  readonly id: number;
  #wire: WireConnection;
  #host: SessionHost;
  #open = false;
  #autocommit = true;
  #running = false;
  #closed = false;
  #killed: 'slow' | 'deaf' | undefined;
  #killing: Promise<void> | undefined;
  #guard: NodeJS.Timeout | undefined;

  constructor(wire: WireConnection, id: number, host: SessionHost) {
    this.#wire = wire;
    this.#host = host;
    this.id = id;
  }

  get running(): boolean {
    return this.#running;
  }

  get open(): boolean {
    return this.#open;
  }

  async execute(sql: string): Promise<Answer> {
    if (this.#closed) return closedAnswer;
    const refused = this.#host.refuses?.(sql);
    if (refused !== undefined) return { error: refusal(refused), transaction: this.#open ? 'open' : 'none' };
    if (mayChangeSchema(sql)) this.#host.schemaMayHaveChanged();
    this.#running = true;
    this.#killed = undefined;
    const limitMs = this.#host.statementTimeoutMs + (this.#host.serverEndsSlowStatements ? graceMs : 0);
    this.#guard = setTimeout(() => this.#stopSlow(), limitMs);
    try {
      const reply = await this.#wire.query(sql);
      // A KILL still under way must not hit the next statement.
      if (this.#killing !== undefined) await this.#killing;
      if (reply.error !== undefined && isConnectionError(reply.error)) return await this.#lost(reply, sql);
      const before = this.#open;
      // Most replies tell the state themselves; only the others need a question, and with it another turn.
      const told = reply.status !== undefined || (this.#autocommit && !this.#mayHaveEnded(sql));
      if (reply.error === undefined && told) {
        if (reply.status !== undefined) this.#take(reply.status.serverStatus);
      } else if (!(await this.#readState(reply, sql))) {
        return await this.#lost({ error: { code: 'LOST', message: 'The connection is lost.' } }, sql);
      }
      // A deadlock ended it. Before 5.7 what follows would belong to a new transaction, which nothing tells us of; elsewhere this does nothing.
      if (before && !this.#open && reply.error !== undefined) await this.#wire.query('ROLLBACK');
      return this.#answer(reply, sql, before);
    } finally {
      clearTimeout(this.#guard);
      this.#running = false;
    }
  }

  async cancel(): Promise<void> {
    if (!this.#running || this.#closed) return;
    await this.#kill();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#running) {
      // A server does not notice that its client left while it waits for a lock.
      await this.#host.kill('CONNECTION', this.id);
      this.#wire.destroy();
    } else {
      if (this.#open) await this.#wire.query('ROLLBACK');
      await this.#wire.quit();
    }
    this.#host.closed(this);
  }

  #answer(reply: Reply, sql: string, before: boolean): Answer {
    let content = readContent(reply, sql);
    if (content.error?.class === 'cancelled' && this.#killed !== undefined) {
      content = { error: { ...content.error, class: 'statement-timeout' } };
    }
    const answer: Writable<Answer> = Object.assign(content, {
      transaction: this.#open ? 'open' : 'none',
    } as const);
    // The common case, a statement inside its transaction, is told by its first letter alone.
    if (!before || (this.#open && !/^\s*[bcrs]/i.test(sql))) return answer;
    const ended = endOf(sql, content.error, this.#open);
    if (ended !== undefined) answer.ended = ended;
    return answer;
  }

  /** Learns whether a transaction is open now; false when the connection did not survive the question. */
  async #readState(reply: Reply, sql: string): Promise<boolean> {
    let status = reply.status;
    if (status === undefined) {
      const unchanged =
        reply.error === undefined ? !this.#mayHaveEnded(sql) : !this.#open && rowStatement.test(sql);
      if (this.#autocommit && unchanged) return true;
      let asked = await this.#wire.query('DO 0');
      // A node of a Galera cluster may say only now that it has rolled the transaction back for another node's.
      if (asked.error !== undefined && !isConnectionError(asked.error))
        asked = await this.#wire.query('DO 0');
      status = asked.status;
      if (status === undefined) return false;
    }
    this.#take(status.serverStatus);
    return true;
  }

  /** Whether a statement that returned rows may have ended the transaction. */
  #mayHaveEnded(sql: string): boolean {
    return this.#open && !resultOfNoEnd.test(sql);
  }

  #take(serverStatus: number): void {
    this.#open = (serverStatus & inTransaction) !== 0;
    this.#autocommit = (serverStatus & autocommitOn) !== 0;
  }

  async #lost(reply: Reply, sql: string): Promise<Answer> {
    const { error } = readContent(reply, sql);
    const ended = this.#open ? endOfLost(sql) : undefined;
    const down = !this.#closed && this.#killed !== 'deaf' && (await this.#host.serverIsDown());
    this.#open = false;
    this.#wire.destroy();
    return {
      error: { ...error!, class: down ? 'crash' : error!.class },
      transaction: 'lost',
      ...(ended !== undefined && { ended }),
    };
  }

  #stopSlow(): void {
    this.#killed = 'slow';
    void this.#kill();
    this.#guard = setTimeout(() => {
      this.#killed = 'deaf';
      this.#killing = undefined;
      this.#wire.destroy(deafServer);
    }, graceMs);
  }

  #kill(): Promise<void> {
    this.#killing ??= this.#host.kill('QUERY', this.id).finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }
}

const deafServer = {
  code: 'no-answer',
  message: 'The server did not answer in time, not even to KILL QUERY; the connection was given up.',
};

const closedAnswer: Answer = {
  error: { class: 'connection-lost', code: 'closed', message: 'The session is closed.' },
  transaction: 'lost',
};

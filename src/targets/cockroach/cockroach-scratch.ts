/**
 * A scratch on CockroachDB is a database of its own: sessions are connected to it and to nothing else.
 *
 * - Reset always builds again: DROP DATABASE, CREATE DATABASE, the set-up.
 * - Who waits is read from `crdb_internal.cluster_locks`, where a request that is not granted names its transaction,
 *   and from `cluster_transactions`, which names the transaction's session.
 * - Statements are cancelled with CANCEL QUERIES, from the control connection.
 */
import { randomBytes } from 'node:crypto';
import { IsoldeError } from '../../errors.js';
import { quoteText } from '../../sql/index.js';
import { valueSettings } from '../postgres/postgres-values.js';
import type { Wire, WireReply } from '../postgres/wire-connection.js';
import { type SessionHost, WireSession } from '../postgres/wire-session.js';
import type { Scratch, Session, SessionOptions, TargetLevel } from '../target.js';
import { classifyCockroachError } from './cockroach-errors.js';

export interface CockroachContext {
  /** A connection to this database with these settings; rejects with an `IsoldeError`. */
  connect(database: string, settings: Readonly<Record<string, string>>): Promise<Wire>;
  readonly levels: readonly TargetLevel[];
  forget(scratch: CockroachScratch): void;
}

export class CockroachScratch implements Scratch, SessionHost {
  readonly namespace = `isolde_${randomBytes(6).toString('hex')}`;
  /** Sessions and the cluster's own names for them. */
  readonly #sessions = new Map<WireSession, string>();
  #control: Wire | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #dropping: Promise<void> | undefined;
  classify = classifyCockroachError;

  private constructor(private readonly context: CockroachContext) {}

  static async create(context: CockroachContext): Promise<CockroachScratch> {
    const scratch = new CockroachScratch(context);
    try {
      await scratch.#run(`CREATE DATABASE ${scratch.namespace}`);
    } catch (error) {
      await scratch.#control?.close();
      throw error;
    }
    return scratch;
  }

  async reset(setup: readonly string[]): Promise<void> {
    await this.#exclusively(async () => {
      await this.#run(`DROP DATABASE IF EXISTS ${this.namespace} CASCADE`);
      await this.#run(`CREATE DATABASE ${this.namespace}`);
      for (const [index, sql] of setup.entries()) {
        await this.#run(sql, `Set-up statement ${index + 1} of ${setup.length} failed`);
      }
      if (this.#control?.transaction !== 'none') {
        await this.#control?.execute('ROLLBACK');
        throw new IsoldeError(
          'target',
          'The set-up leaves a transaction open: its last statement should be COMMIT',
        );
      }
      await this.#run('DISCARD ALL');
    });
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropping !== undefined)
      throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped`);
    const { levels } = this.context;
    if (!levels.some(({ level }) => level === options.level)) {
      const known = levels.map(({ level }) => level).join(', ');
      throw new IsoldeError('usage', `This CockroachDB has no level "${options.level}"; it has ${known}`);
    }
    const connection = await this.context.connect(this.namespace, {
      ...valueSettings,
      default_transaction_isolation: options.level,
      statement_timeout: String(Math.ceil(options.statementTimeoutMs)),
      lock_timeout: String(Math.ceil(options.lockTimeoutMs)),
    });
    const { rows, error } = await connection.execute('SHOW session_id');
    if (error !== undefined) {
      await connection.close();
      throw new IsoldeError('target', `CockroachDB does not name the session: ${error.message}`);
    }
    const session = new WireSession(connection, this, options.statementTimeoutMs);
    this.#sessions.set(session, String(rows?.[0]?.[0]));
    return session;
  }

  async waiting(): Promise<ReadonlySet<Session>> {
    const asked = [...this.#sessions]
      .filter(([{ isBusy }]) => isBusy)
      .map(([session, name]) => ({ session, name, statement: session.statementCount }));
    if (asked.length === 0) return new Set();
    const names = asked.map(({ name }) => quoteText(name, 'postgres')).join(', ');
    const reply = await this.#exclusively(() =>
      this.#run(`SELECT DISTINCT t.session_id FROM crdb_internal.cluster_locks l
        JOIN crdb_internal.cluster_transactions t ON t.id = l.txn_id
        WHERE NOT l.granted AND t.session_id IN (${names})`),
    ).catch(() => undefined);
    const waiting = new Set(reply?.rows?.map(([name]) => name));
    return new Set(
      asked
        .filter(({ session, name, statement }) => {
          return waiting.has(name) && session.isBusy && session.statementCount === statement;
        })
        .map(({ session }) => session),
    );
  }

  drop(): Promise<void> {
    this.#dropping ??= this.#drop();
    return this.#dropping;
  }

  async #drop(): Promise<void> {
    try {
      await Promise.all([...this.#sessions.keys()].map((session) => session.close()));
      await this.#exclusively(() => this.#run(`DROP DATABASE IF EXISTS ${this.namespace} CASCADE`));
    } finally {
      await this.#control?.close();
      this.context.forget(this);
    }
  }

  /** A cluster outlives its nodes: a lost connection is no more than that. */
  async hasCrashed(): Promise<boolean> {
    return false;
  }

  async interrupt(connection: Wire, terminate: boolean): Promise<void> {
    const name = [...this.#sessions].find(([session]) => session.connection === connection)?.[1];
    if (name === undefined) return;
    const session = quoteText(name, 'postgres');
    await this.#exclusively(async () => {
      if (!connection.isBusy) return;
      await this.#run(
        terminate
          ? `CANCEL SESSION IF EXISTS ${session}`
          : `CANCEL QUERIES IF EXISTS SELECT query_id FROM [SHOW CLUSTER QUERIES] WHERE session_id = ${session}`,
      );
    });
  }

  forget(session: WireSession): void {
    this.#sessions.delete(session);
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #run(sql: string, failure = 'CockroachDB failed outside a case'): Promise<WireReply> {
    if (this.#control === undefined || this.#control.isLost) {
      this.#control = await this.context.connect(this.namespace, {
        ...valueSettings,
        default_transaction_isolation: 'serializable',
        lock_timeout: '10000',
      });
    }
    const reply = await this.#control.execute(sql);
    const { error } = reply;
    if (error === undefined) return reply;
    if (reply.transaction === 'failed') await this.#control.execute('ROLLBACK');
    const code = error.code === undefined ? '' : ` (${error.code})`;
    throw new IsoldeError('target', `${failure}: ${error.message}${code}\n  ${sql}`);
  }
}

/**
 * A scratch is a schema in the user's database, or in a private server's. Every session's search path is that schema
 * alone, so unqualified names cannot reach the user's tables, not even by mistake.
 *
 * One more connection per scratch controls it: builds and restores, asks who waits, cancels. Its work is queued, and it
 * is opened again when it was lost.
 */
import { randomBytes } from 'node:crypto';
import { errorText, IsoldeError } from '../../errors.js';
import type { Scratch, Session, SessionOptions, TargetLevel } from '../target.js';
import { classifyServerError } from './postgres-errors.js';
import type { ServerAddress } from './postgres-url.js';
import { valueSettings } from './postgres-values.js';
import { type RestorePlan, saveState } from './restore-plan.js';
import type { Wire, WireConnection, WireReply } from './wire-connection.js';
import { type SessionHost, WireSession } from './wire-session.js';

/** What a scratch needs to know of its target. */
export interface ScratchContext {
  /** A connection with these settings; rejects with an `IsoldeError`. */
  connect(settings: Readonly<Record<string, string>>): Promise<WireConnection>;
  hasCrashed(): Promise<boolean>;
  /** The server died with everything in it, so nothing is left to clean up. */
  isGone(): Promise<boolean>;
  readonly levels: readonly TargetLevel[];
  readonly isSuperuser: boolean;
  readonly versionNumber: number;
  readonly address: Pick<ServerAddress, 'user' | 'database'>;
  forget(scratch: PostgresScratch): void;
}

/** How long building and restoring wait for a lock of a session that did not end its transaction. */
const lockWaitMs = 2000;
/** Restores by DELETE until this many dead rows may have gathered. */
const deadRowLimit = 2000;

export class PostgresScratch implements Scratch, SessionHost {
  readonly namespace = `isolde_${randomBytes(6).toString('hex')}`;
  readonly #copies = `${this.namespace}_copy`;
  readonly #sessions = new Set<WireSession>();
  #control: WireConnection | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #loaded: { readonly key: string; readonly plan: RestorePlan } | undefined;
  #deadRows = 0;
  #dropping: Promise<void> | undefined;

  private constructor(private readonly context: ScratchContext) {}

  static async create(context: ScratchContext): Promise<PostgresScratch> {
    const scratch = new PostgresScratch(context);
    try {
      await scratch.#run(`CREATE SCHEMA ${scratch.namespace}`);
    } catch (error) {
      await scratch.#control?.close();
      throw error;
    }
    return scratch;
  }

  async reset(setup: readonly string[]): Promise<void> {
    const key = JSON.stringify(setup);
    await this.#exclusively(async () => {
      if (this.#loaded?.key === key && (await this.#restore(this.#loaded.plan))) return;
      this.#loaded = undefined;
      await this.#build(setup);
      const plan = await saveState({
        namespace: this.namespace,
        copies: this.#copies,
        isSuperuser: this.context.isSuperuser,
        versionNumber: this.context.versionNumber,
        run: (sql) => this.#run(sql),
      });
      this.#deadRows = 0;
      if (plan !== undefined) this.#loaded = { key, plan };
    });
  }

  /** false: something else than data changed, so it has to be built. */
  async #restore(plan: RestorePlan): Promise<boolean> {
    this.#deadRows += plan.rowCount;
    const truncate = this.#deadRows > deadRowLimit;
    const reply = await (await this.#connected()).execute(plan.restore(truncate ? 'truncate' : 'delete'));
    if (truncate) this.#deadRows = 0;
    if (reply.transaction === 'failed') await this.#control?.execute('ROLLBACK');
    if (reply.error?.code === '55P03') throw this.#stillLocked();
    return reply.error === undefined && reply.rows?.[0]?.[0] === plan.fingerprint;
  }

  async #build(setup: readonly string[]): Promise<void> {
    const { namespace } = this;
    await this.#run(
      `DROP SCHEMA IF EXISTS ${namespace}, ${this.#copies} CASCADE; CREATE SCHEMA ${namespace}; CREATE SCHEMA ${this.#copies}`,
    );
    const control = await this.#connected();
    try {
      for (const [index, sql] of setup.entries()) {
        const { error } = await control.execute(sql);
        if (error !== undefined) {
          throw new IsoldeError(
            'target',
            `Set-up statement ${index + 1} of ${setup.length} failed: ${error.message}${error.code === undefined ? '' : ` (${error.code})`}\n  ${sql}`,
          );
        }
      }
      if (control.transaction !== 'none') {
        throw new IsoldeError(
          'target',
          'The set-up leaves a transaction open: its last statement should be COMMIT',
        );
      }
    } finally {
      // A set-up may leave settings, roles and prepared statements on our connection.
      if (control.transaction !== 'none') await control.execute('ROLLBACK');
      await control.execute('DISCARD ALL');
    }
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropping !== undefined)
      throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped`);
    if (!this.context.levels.some(({ level }) => level === options.level)) {
      const known = this.context.levels.map(({ level }) => level).join(', ');
      throw new IsoldeError('usage', `PostgreSQL has no level "${options.level}"; it has ${known}`);
    }
    const connection = await this.context.connect({
      ...valueSettings,
      search_path: this.namespace,
      default_transaction_isolation: options.level,
      default_transaction_read_only: 'off',
      default_transaction_deferrable: 'off',
      idle_in_transaction_session_timeout: '0',
      statement_timeout: String(Math.ceil(options.statementTimeoutMs)),
      lock_timeout: String(Math.ceil(options.lockTimeoutMs)),
    });
    const session = new WireSession(connection, this, options.statementTimeoutMs);
    this.#sessions.add(session);
    return session;
  }

  /** Heavyweight locks cover rows, tables, unique keys and advisory locks; safe snapshots are waited for apart. */
  async waiting(): Promise<ReadonlySet<Session>> {
    const asked = [...this.#sessions]
      .filter(({ isBusy }) => isBusy)
      .map((session) => ({ session, statement: session.statementCount }));
    if (asked.length === 0) return new Set();
    const pids = asked.map(({ session }) => session.id).join(',');
    const reply = await this.#exclusively(
      () =>
        this.#run(`SELECT pid FROM unnest('{${pids}}'::int[]) pid
        WHERE pg_blocking_pids(pid) <> '{}' OR pg_safe_snapshot_blocking_pids(pid) <> '{}'`),
      // Nobody waits at a server that is gone; the sessions' own answers say that it is.
    ).catch(() => undefined);
    const waiting = new Set(reply?.rows?.map(([pid]) => pid));
    return new Set(
      asked
        .filter(
          ({ session, statement }) =>
            waiting.has(session.id) && session.isBusy && session.statementCount === statement,
        )
        .map(({ session }) => session),
    );
  }

  drop(): Promise<void> {
    this.#dropping ??= this.#drop();
    return this.#dropping;
  }

  async #drop(): Promise<void> {
    await this.closeConnections(async () => {
      const sql = `DROP SCHEMA IF EXISTS ${this.namespace}, ${this.#copies} CASCADE`;
      await this.#run(sql).catch(async (error: unknown) => {
        if (await this.context.isGone()) return;
        throw new IsoldeError('target', `${errorText(error)}. Left behind; remove it with: ${sql}`, {
          cause: error,
        });
      });
    });
  }

  /** Ends the sessions, does what is still to do, ends the control connection. */
  async closeConnections(last: () => Promise<void> = async () => {}): Promise<void> {
    try {
      await Promise.all([...this.#sessions].map((session) => session.close()));
      await this.#exclusively(last);
    } finally {
      await this.#control?.close();
      this.context.forget(this);
    }
  }

  classify = classifyServerError;

  hasCrashed(): Promise<boolean> {
    return this.context.hasCrashed();
  }

  async interrupt(connection: Wire, terminate: boolean): Promise<void> {
    const call = terminate ? 'pg_terminate_backend' : 'pg_cancel_backend';
    await this.#exclusively(async () => {
      // It may have ended while this waited its turn.
      if (connection.isBusy) await this.#run(`SELECT ${call}(${connection.id})`);
    });
  }

  forget(session: WireSession): void {
    this.#sessions.delete(session);
  }

  /** One user of the control connection at a time. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  async #connected(): Promise<WireConnection> {
    if (this.#control === undefined || this.#control.isLost) {
      this.#control = await this.context.connect({
        ...valueSettings,
        search_path: this.namespace,
        client_min_messages: 'warning',
        default_transaction_isolation: 'read committed',
        default_transaction_read_only: 'off',
        lock_timeout: String(lockWaitMs),
        statement_timeout: '0',
      });
    }
    return this.#control;
  }

  async #run(sql: string): Promise<WireReply> {
    const control = await this.#connected();
    const reply = await control.execute(sql);
    const { error } = reply;
    if (error === undefined) return reply;
    if (reply.transaction === 'failed') await control.execute('ROLLBACK');
    if (error.code === '55P03') throw this.#stillLocked();
    if (error.code === '42501') {
      const { user, database } = this.context.address;
      throw new IsoldeError(
        'target',
        `PostgreSQL refuses (${error.message}): Isolde works in a schema of its own, so user "${user}" needs GRANT CREATE ON DATABASE "${database}"`,
      );
    }
    throw new IsoldeError(
      'target',
      `PostgreSQL failed outside a case: ${error.message} (${error.code ?? 'no code'})`,
    );
  }

  #stillLocked(): IsoldeError {
    return new IsoldeError(
      'target',
      `Cannot reset ${this.namespace}: a session still holds locks there after ${lockWaitMs} ms. End its transaction first`,
    );
  }
}

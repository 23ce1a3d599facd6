/**
 * A scratch is a schema in the user's database, or in a private server's. Every session's search path is that schema
 * alone, so unqualified names cannot reach the user's tables, not even by mistake.
 *
 * Two more connections per scratch, opened again when they were lost, their work queued: the *builder* runs set-up statements and
 * puts data back, with the rights that cases have; the *control* connection creates and drops schemas, asks who waits, cancels.
 * It never touches a table: what a table's triggers, defaults and checks call would run with its rights.
 */
import { randomBytes } from 'node:crypto';
import { errorText, IsoldeError } from '../../errors.js';
import { checkSetup, type Guard } from '../refusal.js';
import { scratchMark } from '../scratch-mark.js';
import type { Scratch, Session, SessionOptions, TargetLevel } from '../target.js';
import { classifyServerError } from './postgres-errors.js';
import { privateServerGuard, userServerGuard } from './postgres-guard.js';
import type { ServerAddress } from './postgres-url.js';
import { valueSettings } from './postgres-values.js';
import { type RestorePlan, saveState } from './restore-plan.js';
import type { Wire, WireConnection, WireReply } from './wire-connection.js';
import { type SessionHost, WireSession } from './wire-session.js';

type Connect = (settings: Readonly<Record<string, string>>) => Promise<WireConnection>;

/** How connections are made, with which rights; they reject with an `IsoldeError`. */
export interface Connectors {
  readonly cases: Connect;
  readonly control: Connect;
}

/** What a scratch needs to know of its target. */
export interface ScratchContext {
  readonly connect: Connectors;
  /** The role that runs the SQL of cases, where it is not the one that controls the scratch. */
  readonly caseRole: string | undefined;
  hasCrashed(): Promise<boolean>;
  /** The server died with everything in it, so nothing is left to clean up. */
  isGone(): Promise<boolean>;
  readonly levels: readonly TargetLevel[];
  readonly maySkipTriggers: boolean;
  readonly versionNumber: number;
  readonly address: Pick<ServerAddress, 'user' | 'database'>;
  forget(scratch: PostgresScratch): void;
}

/** The first half of the advisory lock that says "in use"; the second is the namespace. */
export const useKey = 0x69736f6c;

/** How long building and restoring wait for a lock of a session that did not end its transaction. */
const lockWaitMs = 2000;
/** Restores by DELETE until this many dead rows may have gathered. */
const deadRowLimit = 2000;
/** A connection remembers every table it has met, two megabytes of them in so many set-ups; then it is replaced. */
const buildsPerConnection = 200;

export class PostgresScratch implements Scratch, SessionHost {
  readonly namespace: string;
  readonly #copies: string;
  /** Another node made the namespace, and drops it. */
  readonly #joined: boolean;
  readonly #sessions = new Set<WireSession>();
  #control: WireConnection | undefined;
  #builder: WireConnection | undefined;
  readonly #mark = scratchMark();
  #queue: Promise<unknown> = Promise.resolve();
  #loaded: { readonly key: string; readonly plan: RestorePlan } | undefined;
  #deadRows = 0;
  #builds = 0;
  #dropping: Promise<void> | undefined;

  readonly refuses: Guard;
  readonly discards = true;

  private constructor(
    private readonly context: ScratchContext,
    joined?: string,
  ) {
    this.namespace = joined ?? `isolde_${randomBytes(6).toString('hex')}`;
    this.#copies = `${this.namespace}_copy`;
    this.#joined = joined !== undefined;
    this.refuses = context.caseRole === undefined ? userServerGuard : privateServerGuard;
  }

  static async create(context: ScratchContext): Promise<PostgresScratch> {
    const scratch = new PostgresScratch(context);
    try {
      await scratch.#run(scratch.#createSchema(scratch.namespace));
    } catch (error) {
      await scratch.#control?.close();
      throw error;
    }
    return scratch;
  }

  /** Sessions in a schema that has come here from another node. */
  static join(context: ScratchContext, namespace: string): PostgresScratch {
    return new PostgresScratch(context, namespace);
  }

  async reset(setup: readonly string[]): Promise<void> {
    checkSetup(setup, this.refuses);
    const key = JSON.stringify(setup);
    await this.#exclusively(async () => {
      if (this.#loaded?.key === key && (await this.#restore(this.#loaded.plan))) return;
      this.#loaded = undefined;
      await this.#build(setup);
      const plan = await saveState({
        namespace: this.namespace,
        copies: this.#copies,
        maySkipTriggers: this.context.maySkipTriggers,
        versionNumber: this.context.versionNumber,
        run: async (sql) => this.#runOn(await this.#building(), sql),
      });
      this.#deadRows = 0;
      if (plan !== undefined) this.#loaded = { key, plan };
    });
  }

  /** false: something else than data changed, so it has to be built. */
  async #restore(plan: RestorePlan): Promise<boolean> {
    this.#deadRows += plan.rowCount;
    const truncate = this.#deadRows > deadRowLimit;
    const builder = await this.#building();
    const reply = await builder.execute(plan.restore(truncate ? 'truncate' : 'delete'));
    if (truncate) this.#deadRows = 0;
    if (reply.transaction === 'failed') await builder.execute('ROLLBACK');
    if (reply.error?.code === '55P03') throw this.#stillLocked();
    return reply.error === undefined && reply.rows?.[0]?.[0] === plan.fingerprint;
  }

  async #build(setup: readonly string[]): Promise<void> {
    const both = [this.namespace, this.#copies];
    const anew = [
      `DROP SCHEMA IF EXISTS ${both.join(', ')} CASCADE`,
      ...both.map((name) => this.#createSchema(name)),
    ];
    await this.#run(anew.join(';'));
    if (this.#builds++ % buildsPerConnection === 0) await this.#builder?.close();
    const builder = await this.#building();
    try {
      for (const [index, sql] of setup.entries()) {
        const { error } = await builder.execute(sql);
        if (error !== undefined) {
          throw new IsoldeError(
            'target',
            `Set-up statement ${index + 1} of ${setup.length} failed: ${error.message}${error.code === undefined ? '' : ` (${error.code})`}\n  ${sql}`,
          );
        }
      }
      if (builder.transaction !== 'none') {
        throw new IsoldeError(
          'target',
          'The set-up leaves a transaction open: its last statement should be COMMIT',
        );
      }
    } finally {
      // A set-up may leave settings, roles and prepared statements on our connection.
      if (builder.transaction !== 'none') await builder.execute('ROLLBACK');
      await builder.execute('DISCARD ALL');
    }
  }

  async openSession(options: SessionOptions): Promise<Session> {
    if (this.#dropping !== undefined)
      throw new IsoldeError('usage', `The scratch ${this.namespace} was dropped`);
    if (!this.context.levels.some(({ level }) => level === options.level)) {
      const known = this.context.levels.map(({ level }) => level).join(', ');
      throw new IsoldeError('usage', `PostgreSQL has no level "${options.level}"; it has ${known}`);
    }
    const connection = await this.context.connect.cases({
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
    if (this.#joined) return this.closeConnections();
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
      await Promise.all([this.#control?.close(), this.#builder?.close()]);
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

  /** The schema belongs to whoever runs the SQL of cases. */
  #createSchema(name: string): string {
    const { caseRole } = this.context;
    const owner = caseRole === undefined ? '' : ` AUTHORIZATION ${caseRole}`;
    return `CREATE SCHEMA ${name}${owner}; COMMENT ON SCHEMA ${name} IS '${this.#mark}'`;
  }

  async #building(): Promise<WireConnection> {
    if (this.#builder === undefined || this.#builder.isLost) {
      this.#builder = await this.context.connect.cases(this.#settings());
    }
    return this.#builder;
  }

  async #controlling(): Promise<WireConnection> {
    if (this.#control === undefined || this.#control.isLost) {
      this.#control = await this.context.connect.control(this.#settings());
      // Held as long as we live: `isolde clean` sees that somebody works here.
      await this.#control.execute(`SELECT pg_advisory_lock_shared(${useKey}, hashtext('${this.namespace}'))`);
    }
    return this.#control;
  }

  #settings(): Readonly<Record<string, string>> {
    return {
      ...valueSettings,
      search_path: this.namespace,
      client_min_messages: 'warning',
      default_transaction_isolation: 'read committed',
      default_transaction_read_only: 'off',
      lock_timeout: String(lockWaitMs),
      statement_timeout: '0',
    };
  }

  async #run(sql: string): Promise<WireReply> {
    return this.#runOn(await this.#controlling(), sql);
  }

  async #runOn(connection: WireConnection, sql: string): Promise<WireReply> {
    const reply = await connection.execute(sql);
    const { error } = reply;
    if (error === undefined) return reply;
    if (reply.transaction === 'failed') await connection.execute('ROLLBACK');
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
